"use strict";
(() => {
  const search = document.getElementById("search");
  const filters = [...document.querySelectorAll("[data-filter]")];
  const entries = [...document.querySelectorAll("#list > li")];
  const count = document.getElementById("count");
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const texts = entries.map((entry) => plain(entry.dataset.text));
  const show = () => {
    const words = plain(search.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    entries.forEach((entry, i) => {
      const fits = words.every((word) => texts[i].includes(word)) &&
        filters.every((filter) => !filter.value || entry.dataset[filter.dataset.filter].split("|").includes(filter.value));
      entry.hidden = !fits;
      shown += fits;
    });
    count.textContent = shown + (shown === 1 ? " derivation" : " derivations");
  };
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", show);
  for (const filter of filters) filter.addEventListener("change", show);
  show();
})();
