"use strict";
(() => {
  const status = document.querySelector("[role=status]");
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers give no clipboard to some local files: select the text in a field and copy it the old way.
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    status.textContent = what + " copied.";
    setTimeout(() => { status.textContent = ""; }, 2500);
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    const what = button.dataset.copy;
    button.addEventListener("click", () => copy(document.getElementById(what).value, button.textContent.slice(5)));
  }
  for (const button of document.querySelectorAll("[data-latex]")) {
    button.addEventListener("click", () => copy(button.dataset.latex, "LaTeX"));
  }
  const fold = document.querySelector("[data-fold]");
  fold?.addEventListener("click", () => {
    const folded = fold.getAttribute("aria-pressed") !== "true";
    for (const step of document.querySelectorAll("details.step")) step.open = !folded;
    fold.setAttribute("aria-pressed", String(folded));
    fold.textContent = folded ? "Open all steps" : "Fold all steps";
  });
  addEventListener("beforeprint", () => {
    for (const step of document.querySelectorAll("details.step")) step.open = true;
  });
})();
