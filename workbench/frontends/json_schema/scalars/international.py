"""Host names in other scripts, as RFC 5891 to 5893 have them.

In Punycode a label has at most 63 characters too. How many characters of a script surely fit was found by going
through all that Punycode can make of a block of code points of that size. A name with a label that is written
from right to left has labels that begin with a letter, and no others.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.frontends.json_schema.scalars.hosts import LATIN, label_text
from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import Alt, CharSet, Expr, Repeat, Seq

__all__ = ["international_hosts"]

_DOTS = CharSet(((0x2E, 0x2E), (0x3002, 0x3002), (0xFF0E, 0xFF0E), (0xFF61, 0xFF61)))
_ASCII = "a-z0-9"
_THAI = "(?:[กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮฯะาเแโใไๅๆ][ัิ-ู]?[็-๎]?)"
#: Scripts from left to right: the letters, and how many characters, ASCII among them, fit in 35 and in 63.
_SCRIPTS = [
    ("ΐά-ώ", 14, 27),
    ("а-џ", 14, 28),
    ("ա-ֆ", 14, 28),
    ("ა-ჰ", 14, 28),
    ("가-힣", 8, 16),
    ("々-〇ぁ-ゖァ-ヺー-ヾ一-鿿", 8, 15),
]
#: Those from right to left.
_BACKWARD = [("א-ת", 14, 28), ("ؠ-ؿف-يٮٯٱ-ٴٹ-ۓ", 12, 24)]


_PLAIN, _INNER, _LATIN = f"[{_ASCII}]", f"[{_ASCII}-]", f"[{_ASCII}{LATIN}]"
#: Long labels with one or two Latin letters beyond ASCII, side by side.
_LONG_LATIN = (
    rf"{_PLAIN}{{4}}(?:{_INNER}{{0,18}}{_PLAIN})?[{LATIN}]{{1,2}}(?:{_INNER}{{0,27}}{_PLAIN})?",
    rf"{_PLAIN}{{4}}(?:{_INNER}{{0,38}}{_PLAIN})?[{LATIN}]{{1,2}}(?:{_INNER}{{0,7}}{_PLAIN})?",
)


def _labels(most: int, place: int) -> Expr:
    """Labels written from left to right that have at most ``most`` octets in Punycode."""
    ways = [label_text(f"[{_ASCII}A-Z]", most)]
    for letters, *fit in _SCRIPTS:
        ways.append(label_text(f"[{_ASCII}{letters}]", fit[place]))
    fit_indic = (13, 26)[place]
    ways.append(label_text(f"[{_ASCII}ऄ-हा-ौ्]", fit_indic, f"[{_ASCII}ऄ-ह]"))
    # a piece has up to three characters
    ways.append(f"(?:{_THAI}|[{_ASCII}]){{1,{fit_indic // 3}}}")
    ways += [label_text(_LATIN, 24), *_LONG_LATIN] if place else [label_text(_LATIN, 12)]
    return full_match(parse_regex("|".join(ways)))


def _directed(most: int, place: int) -> Expr:
    """Labels for a name that has some from right to left."""
    ways = [label_text(f"[{_ASCII}A-Z]", most, "[a-zA-Z]")]
    for letters, *fit in _BACKWARD:
        ways.append(label_text(f"[0-9{letters}]", fit[place], f"[{letters}]"))
    return full_match(parse_regex("|".join(ways)))


def _named(before: str, first: Expr, short: Expr) -> Expr:
    """Names of up to six labels, of which one may be long, the first or behind one of ASCII."""
    ahead = Repeat(Seq((full_match(parse_regex(before)), _DOTS)), 0, 1)
    return Seq((ahead, first, Repeat(Seq((_DOTS, short)), 0, 4)))


@lru_cache(maxsize=1)
def international_hosts() -> tuple[Expr, Expr]:
    """Names in the scripts above: those from left to right, and those with labels from right to left."""
    short, back = _labels(35, 0), _directed(35, 0)
    return (
        _named(label_text(f"[{_ASCII}A-Z]", 20), Alt((short, _labels(63, 1))), short),
        _named(label_text(f"[{_ASCII}A-Z]", 20, "[a-zA-Z]"), Alt((back, _directed(63, 1))), back),
    )
