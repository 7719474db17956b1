"""People's code that is missing, raises, prints, never ends, or needs what is not known: one message with the place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from symres.errors import BudgetExceeded, Unsupported, UsageError
from symres.trace.guard import CodeRaised
from symres.trace.run import trace, trace_pair
from symres.trace.source import load

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def enter(text: str) -> str:
        file = tmp_path / f"code{len(list(tmp_path.iterdir()))}.py"
        file.write_text("import numpy as np\n" + text)
        return str(file)

    return enter


def test_files_and_names(write: Write) -> None:
    with pytest.raises(UsageError, match=r"no file 'missing\.py'"):
        load("missing.py:f")
    with pytest.raises(UsageError, match=r"is not FILE\.py:NAME"):
        load("forward")
    file = write("def forward(x):\n    return x\n")
    with pytest.raises(UsageError, match="has no 'foward'") as caught:
        load(f"{file}:foward")
    assert "forward" in caught.value.remedy
    with pytest.raises(UsageError, match="raised SyntaxError") as caught:
        load(write("def f(x)\n    return x\n") + ":f")
    assert caught.value.place is not None and caught.value.place.line == 2
    with pytest.raises(UsageError, match="raised ZeroDivisionError") as caught:
        load(write("a = 1\nb = a / 0\n") + ":f")
    assert caught.value.place is not None and caught.value.place.line == 3


def test_names_of_arguments(write: Write) -> None:
    file = write("def f(x, gamma):\n    return x * gamma\n")
    with pytest.raises(UsageError, match="has no argument 'gama'") as caught:
        trace(f"{file}:f", shapes="x: N D, gama: D")
    assert caught.value.remedy == "Did you mean gamma?"


@pytest.mark.parametrize(
    ("body", "message", "line"),
    [
        ("    y = x * 2\n    raise ValueError('no')\n", "f raised ValueError: no", 4),
        ("    if x.sum() > 0:\n        return x\n    return -x\n", "a branch on data", 3),
        ("    y = 1\n    return np.linalg.svd(x)\n", "linalg.svd", 4),
        ("    while x[0, 0] > 0:\n        x = x - 1\n    return x\n", "a branch on data", 3),
        ("    return x.wobble()\n", "wobble", 3),
    ],
)
def test_errors_have_the_line_of_the_source(write: Write, body: str, message: str, line: int) -> None:
    file = write("def f(x):\n" + body)
    with pytest.raises(Unsupported) as caught:
        trace(f"{file}:f", shapes="x: N D")
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place.line == line
    assert caught.value.place.file == Path(file).name


def test_the_line_is_that_of_the_helper(write: Write) -> None:
    file = write("def g(x):\n    return np.linalg.qr(x)\n\ndef f(x):\n    return g(x)\n")
    with pytest.raises(Unsupported) as caught:
        trace(f"{file}:f", shapes="x: N D")
    assert caught.value.place is not None and caught.value.place.line == 3


ENDLESS = "def f(x):\n    k = 0\n    while True:\n        k += 1\n    return x\n"


def test_a_function_that_never_ends(write: Write) -> None:
    with pytest.raises(BudgetExceeded, match=r"longer than 0\.2 s"):
        trace(write(ENDLESS) + ":f", shapes="x: N D", timeout=0.2)


def test_a_function_that_never_ends_in_a_thread(write: Write) -> None:
    file, caught = write(ENDLESS), []

    def run() -> None:
        try:
            trace(f"{file}:f", shapes="x: N D", timeout=0.2)
        except BudgetExceeded as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    assert len(caught) == 1


# The alarm may go off inside a callback of the interpreter, which reports it and goes on; the next one stops the code.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("clause", ["except Exception", "except"])
def test_a_try_does_not_swallow_the_limit(write: Write, clause: str) -> None:
    file = write(
        f"def f(x):\n    while True:\n        try:\n            x = x + 0\n        {clause}:\n            pass\n"
    )
    with pytest.raises(BudgetExceeded):
        trace(f"{file}:f", shapes="x: N D", timeout=0.2)


def test_a_try_does_not_hide_what_the_trace_cannot_do(write: Write) -> None:
    file = write("def f(x):\n    try:\n        return np.linalg.svd(x)[0]\n    except Exception:\n        return x\n")
    with pytest.raises(Unsupported, match="svd"):
        trace(f"{file}:f", shapes="x: N D")
    file = write("def f(x):\n    try:\n        return x.reshape(3, -1)\n    except:\n        return x\n")
    assert trace(f"{file}:f", shapes="x: N D").assumptions == ["N is divisible by 3 (N = 3·K)"]


def test_prints_are_kept_apart(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("def f(x):\n    print('shape', x.shape)\n    return x * 2\n\ndef b(dout):\n    return dout * 2\n")
    traced = trace_pair(f"{file}:f", f"{file}:b", shapes="x: N D")
    assert capsys.readouterr().out == ""
    assert any("f printed" in note for note in traced.notes)


def test_leaving_the_program(write: Write) -> None:
    with pytest.raises(CodeRaised, match="ends the program"):
        trace(write("def f(x):\n    exit(1)\n") + ":f", shapes="x: N D")


def test_assertions_on_shapes(write: Write) -> None:
    file = write(
        "def f(x, w):\n    assert x.shape[1] == w.shape[0], 'shapes'\n    assert x.ndim == 2\n    return x @ w\n"
    )
    assert trace(f"{file}:f", shapes="x: N D, w: D M").assumptions == []
    with pytest.raises(CodeRaised, match="AssertionError"):
        trace(f"{file}:f", shapes="x: N D 2, w: D 2 M")


def test_live_functions_lambdas_and_closures() -> None:
    import numpy as np

    def outer(scale: float) -> Callable[..., object]:
        def inner(x: object) -> object:
            doubled = np.exp(x) * scale
            return doubled + 1

        return inner

    program = trace(outer(3.0), shapes="x: N")
    assert [tensor.name for tensor in program.definitions] == ["doubled"]
    assert trace(lambda x: np.sin(x) * 2, shapes="x: N").outputs
    namespace: dict[str, object] = {"np": np}
    exec("f = lambda x: np.tanh(x) / 2", namespace)
    assert trace(namespace["f"], shapes="x: N").outputs  # type: ignore[arg-type]
