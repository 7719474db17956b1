r"""Names of program variables as mathematical symbols: ``x_hat`` is x̂, ``rstd`` is ρ, ``W1`` is W₁, ``that`` is a word.

An explicit table comes first; what it does not know is read by general rules: letters in italics, Greek words as Greek
letters, trailing digits and words after ``_`` as subscripts, ``_hat``, ``_bar``, ``_tilde`` as accents, and every other
name upright. A word is never taken apart.
"""

from __future__ import annotations

import re
import unicodedata

from symres.typeset.greek import LETTERS
from symres.typeset.layout import Accent, Digits, Fraction, Letter, Node, Row, Script, Sign, Upright, subscripted

_GREEK = {name: Sign(name) for name in LETTERS.values()} | {
    "epsilon": Sign("varepsilon"),
    "eps": Sign("varepsilon"),
    "lam": Sign("lambda"),
    "lamda": Sign("lambda"),
}
_COMBINING = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde", "\u0307": "dot", "\u20d7": "vec"}
ACCENTS = ("hat", "bar", "tilde", "dot", "vec")
_VARIANCE = Script(Sign("sigma"), sup=Digits("2"))

_WEIGHTS = (*(f"{letter}{of}" for letter in "WU" for of in "qkvoxhifgcruz"), "bq", "bk", "bv", "bo")

EXPLICIT: dict[str, Node] = {
    **dict.fromkeys(("mu", "mean", "avg"), Sign("mu")),
    **dict.fromkeys(("var", "sigma2", "sigma_sq", "variance"), _VARIANCE),
    **dict.fromkeys(("std", "sigma", "stddev"), Sign("sigma")),
    **dict.fromkeys(("rstd", "rho", "inv_std", "invstd", "istd", "rsigma", "inv_rms", "rrms"), Sign("rho")),
    **dict.fromkeys(("dout", "dy", "dY", "g", "upstream", "grad_out", "grad_output"), Letter("g")),
    **{f"{letter}hat": Accent("hat", Letter(letter)) for letter in "xyzpu"},
    "out": Letter("y"),
    "probs": Letter("p"),
    "logits": Letter("z"),
    "scores": Letter("s"),
    "hidden": Letter("h"),
    **{name: Script(Letter(name[0]), sub=Letter(name[1])) for name in _WEIGHTS},
    "loss": Sign("ell"),
    "infinity": Sign("infty"),
    "running_mean": Script(Sign("mu"), sub=Upright("run")),
    "running_var": Script(Sign("sigma"), sub=Upright("run"), sup=Digits("2")),
}
"""Names with a symbol of their own, the customary one of the field."""

_DIFFERENTIAL = re.compile(r"(?:d|grad_|d_)(?P<name>[A-Za-z].*)")
_QUOTIENT = re.compile(r"d(?P<top>[A-Za-z]|loss)_?d(?P<bottom>[A-Za-z]\w*)")
_TRAILING = re.compile(r"(?P<word>\D.*?)(?P<digits>\d+)")


def symbols(name: str) -> list[Node]:
    """The candidates for a name, best first; the last is the name itself, upright, which no other name has."""
    found = [EXPLICIT[name]] if name in EXPLICIT else []
    quotient, differential = _QUOTIENT.fullmatch(name), _DIFFERENTIAL.fullmatch(name)
    if quotient:
        found.append(derivative(general(quotient["top"]), general(quotient["bottom"])))
    elif differential and name not in EXPLICIT:
        inner = general(differential["name"])
        if not isinstance(inner, Upright) and _is_known(differential["name"]):
            found.append(Row((Upright("d"), inner)))
    return [*found, general(name), literal(name)]


def derivative(top: Node, bottom: Node) -> Fraction:
    """∂top/∂bottom; subscripts of such a symbol go to what it is taken by."""
    return Fraction(Row((Sign("partial"), top)), Row((Sign("partial"), bottom)))


def literal(name: str) -> Node:
    """The name as it is written."""
    return Letter(name) if re.fullmatch("[A-Za-z]", name) else Upright(name)


def _is_known(name: str) -> bool:
    """Whether ``dNAME`` may be read as the gradient of NAME: a symbol of the table, a letter, a Greek word."""
    stem = re.sub(r"(_(hat|bar|tilde)|_?\d+)$", "", name)
    return name in EXPLICIT or stem in EXPLICIT or stem in _GREEK or re.fullmatch("[A-Za-z]", stem) is not None


def general(name: str) -> Node:
    """The symbol of a name by the general rules."""
    first, *rest = unicodedata.normalize("NFD", name).rstrip("_").split("_") or [name]
    if not first:
        return literal(name)
    symbol = EXPLICIT.get(first) or _word(first)
    for position, part in enumerate(rest):
        if part in ACCENTS:
            if position or isinstance(symbol, Upright):
                return literal(name)
            symbol = _accented(part, symbol)
        elif part:
            symbol = subscripted(symbol, _word(part))
    return symbol


def _word(word: str) -> Node:
    if word.isdecimal() and word.isascii():
        return Digits(word)
    simple = _letter(word)
    if simple is not None:
        return simple
    split = _TRAILING.fullmatch(word)
    stem = _letter(split["word"]) if split else None
    if split and stem is not None:
        return Script(stem, sub=Digits(split["digits"]))
    return Upright(unicodedata.normalize("NFC", word))


def _letter(word: str) -> Node | None:
    """A Latin or Greek letter, with accents if it has any."""
    if re.fullmatch("[A-Za-z]", word):
        return Letter(word)
    if word in _GREEK:
        return _GREEK[word]
    if word in LETTERS:
        return Sign(LETTERS[word])
    accent = _COMBINING.get(word[-1]) if len(word) > 1 else None
    inner = _letter(word[:-1]) if accent else None
    return Accent(accent, inner) if accent and inner is not None else None


def _accented(accent: str, symbol: Node) -> Node:
    if isinstance(symbol, Script):
        return Script(Accent(accent, symbol.base), symbol.sub, symbol.sup)
    return Accent(accent, symbol)
