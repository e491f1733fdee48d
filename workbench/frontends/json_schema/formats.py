r"""The formats that the drafts define, as regular expressions over whole texts.

Some formats are not regular, or only with enormous automata; for those the part of the language is
written that matters, and ``LEFT_OUT`` says what is missing, so that the outcome can be "restricted".

Next file to read: ``strings.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from workbench.automaton.finite import Dfa, complement, determinise, minimise
from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import Expr

__all__ = [
    "BOUNDED",
    "DATE",
    "FORMATS",
    "HOUR",
    "IPV4",
    "LEFT_OUT",
    "UNCLEAR",
    "bounded_format",
    "format_automaton",
    "format_expression",
    "without_format",
]

#: Formats of draft 3 that it does not define well enough to be asserted.
UNCLEAR = frozenset({"phone", "style", "utc-millisec"})

#: What is not written of a format although it belongs to it.
LEFT_OUT = {
    "date": "the year 0000, which many libraries do not have",
    "time": "leap seconds at another offset than zero",
    "date-time": "the year 0000; leap seconds at another offset than zero",
    "hostname": "labels that start with xn--; more than 3 labels with one above 20 characters",
    "host-name": "labels that start with xn--; more than 3 labels with one above 20 characters",
    "idn-hostname": "scripts other than Latin, Greek, Cyrillic, Han, Kana, Hangul and Thai; "
    "such labels above 13 characters",
    "email": "what hostname leaves out in domains; above 64 characters, or 32 with dots, before the @",
    "idn-email": "domains in other scripts than those of idn-hostname",
    "regex": "groups more than three deep, back-references, rare escapes, ranges and counts",
}

_ODD_DAYS = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
_EVEN_DAYS = "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_SHORT_DAYS = "02-(?:0[1-9]|1[0-9]|2[0-8])"
_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
#: A day of the years 1 to 9999.
DATE = f"(?:{_YEAR}-(?:{_ODD_DAYS}|{_EVEN_DAYS}|{_SHORT_DAYS})|{_LEAP_YEAR}-02-29)"
_YEAR_ZERO = f"0000-(?:{_ODD_DAYS}|{_EVEN_DAYS}|{_SHORT_DAYS}|02-29)"
HOUR = "(?:[01][0-9]|2[0-3])"
_MINUTE = "[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"
_TIME = (
    f"(?:{HOUR}:{_MINUTE}:{_MINUTE}{_FRACTION}(?:[Zz]|[+-]{HOUR}:{_MINUTE})"
    f"|23:59:60{_FRACTION}(?:[Zz]|[+-]00:00))"
)

_CLOCK = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DAYS = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = f"P(?:{_DAYS}(?:{_CLOCK})?|{_CLOCK}|[0-9]+W)"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{IPV4})"
_IPV6 = (
    "(?:"
    + "|".join(
        [f"(?:{_H16}:){{6}}{_LS32}"]
        + [
            (f"(?:{_H16}(?::{_H16}){{0,{before - 1}}})?" if before else "")
            + "::"
            + f"(?:{_H16}:){{{after}}}{_LS32}"
            for before, after in zip(range(6), range(5, -1, -1), strict=True)
        ]
        + [f"(?:{_H16}(?::{_H16}){{0,5}})?::{_H16}", f"(?:{_H16}(?::{_H16}){{0,6}})?::"]
    )
    + ")"
)


def _label(letter: str, most: int) -> str:
    """A label of a host name: no hyphen at the ends, none in third and fourth place together."""
    inner = f"(?:{letter}|-)"
    short = f"{letter}(?:{inner}?{letter})?"
    third = f"{letter}{inner}{letter}(?:{inner}{{0,{most - 4}}}{letter})?"
    fourth = f"{letter}{inner}-{letter}(?:{inner}{{0,{most - 5}}}{letter})?"
    return f"(?:{short}|{third}|{fourth})"


def _host(letter: str, dot: str = r"\.", most: int = 63) -> str:
    long, short = _label(letter, most), _label(letter, min(most, 20))
    return f"(?:{long}(?:{dot}{long}){{0,2}}|{short}(?:{dot}{short}){{3,11}})"


_ALNUM = "[A-Za-z0-9]"
_HOSTNAME = _host(_ALNUM)
_WIDE = (
    "[a-z0-9ß-öø-ÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžα-ωάέήίόύώа-яё"
    "ぁ-ゖァ-ヺー々一-鿋가-힣ก-ฮะ-ฺเ-ไ]"
)
_IDN_HOSTNAME = f"(?:{_HOSTNAME}|{_host(_WIDE, '[.。．｡]', 13)})"

_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_LOCAL = rf"(?:{_ATEXT}{{1,64}}|{_ATEXT}(?:\.?{_ATEXT}){{0,31}}|{_QUOTED})"
_EMAIL = rf"{_LOCAL}@(?:{_HOSTNAME}|\[(?:{IPV4}|IPv6:{_IPV6})\])"
_WIDE_ATEXT = r"(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[\u0080-\u{10ffff}])"
_WIDE_QUOTED = r'"(?:[ !#-\[\]-~\u0080-\u{10ffff}]|\\[ -~])*"'
_IDN_EMAIL = (
    rf"(?:{_WIDE_ATEXT}+(?:\.{_WIDE_ATEXT}+)*|{_WIDE_QUOTED})@"
    rf"(?:{_IDN_HOSTNAME}|\[(?:{IPV4}|IPv6:{_IPV6})\])"
)

_ESCAPED = "%[0-9A-Fa-f]{2}"
_UCS = r"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    rf"\u{{{plane:x}0000}}-\u{{{plane:x}fffd}}" for plane in range(1, 15)
)
_PRIVATE = r"\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}"


def _uri(wide: str = "", private: str = "", *, relative: bool = False) -> str:
    plain = rf"A-Za-z0-9._~!$&'()*+,;={wide}\-"
    char = f"(?:[{plain}:@]|{_ESCAPED})"
    part = f"(?:[{plain}]|{_ESCAPED})"
    user = f"(?:(?:[{plain}:]|{_ESCAPED})*@)?"
    future = (
        rf"[vV][0-9A-Fa-f]+\.[{plain}:]+".replace(wide, "")
        if wide
        else (rf"[vV][0-9A-Fa-f]+\.[{plain}:]+")
    )
    host = rf"(?:\[(?:{_IPV6}|{future})\]|{part}*)"
    authority = f"//{user}{host}(?::[0-9]*)?(?:/{char}*)*"
    rooted = f"/(?:{char}+(?:/{char}*)*)?"
    rootless = f"{char}+(?:/{char}*)*"
    tail = rf"(?:\?(?:{char}|[/?{private}])*)?(?:#(?:{char}|[/?])*)?"
    absolute = f"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|{rooted}|{rootless})?{tail}"
    if not relative:
        return absolute
    first = f"(?:[{plain}@]|{_ESCAPED})+(?:/{char}*)*"
    return f"(?:{absolute}|(?:{authority}|{rooted}|{first})?{tail})"


_VARCHAR = f"(?:[A-Za-z0-9_]|{_ESCAPED})"
_VARSPEC = rf"{_VARCHAR}(?:\.?{_VARCHAR})*(?::[1-9][0-9]{{0,3}}|\*)?"
_URI_TEMPLATE = (
    rf"(?:[!#$&-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|{_ESCAPED}"
    rf"|\{{[+#./;?&=,!@|]?{_VARSPEC}(?:,{_VARSPEC})*\}})*"
)
_POINTER = "(?:/(?:[^~/]|[\n\r\u2028\u2029]|~[01])*)*"

_COLORS = (
    "aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white"
    "|yellow"
)


def _regex(depth: int = 3) -> str:
    escape = r"\\(?:[dDwWsSnrtfv0^$\\.*+?()\[\]{}|/-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|c[A-Za-z])"
    member = rf"(?:[^\\\]\[^-]|{escape}|a-z|A-Z|0-9|a-f|A-F)"
    group = rf"\[\^?(?:{member}+-?|-)?\]"
    counts = "|".join([f"{least},[{least}-9]" for least in range(10)])
    counts += "|[0-9],[1-9][0-9]{1,4}|[1-9][0-9],[1-9][0-9]{2,3}|[0-9]{1,4},?"
    counts += "|" + "|".join([f"{tens}[0-9],[{tens + 1}-9][0-9]" for tens in range(1, 9)])
    count = rf"(?:[*+?]|\{{(?:{counts})\}})\??"
    char = rf"(?:[^\\^$.|?*+()\[\]{{}}]|\.|{escape}|{group})"
    assertion = r"(?:\^|\$|\\[bB])"
    inner = ""
    for level in range(depth + 1):
        group = rf"|\((?:\?(?:[:=!]|<[=!]|<[A-Za-z_]{{1,9}}>))?{inner}\)" if level else ""
        item = rf"(?:(?:{char}{group})(?:{count})?|{assertion})"
        inner = rf"(?:{item}*(?:\|{item}*)*)"
    return inner


_TEXTS: dict[str, Callable[[], str]] = {
    "date": lambda: DATE,
    "time": lambda: _TIME,
    "date-time": lambda: f"{DATE}[Tt]{_TIME}",
    "duration": lambda: _DURATION,
    "email": lambda: _EMAIL,
    "idn-email": lambda: _IDN_EMAIL,
    "hostname": lambda: _HOSTNAME,
    "host-name": lambda: _HOSTNAME,
    "idn-hostname": lambda: _IDN_HOSTNAME,
    "ipv4": lambda: IPV4,
    "ip-address": lambda: IPV4,
    "ipv6": lambda: _IPV6,
    "uri": _uri,
    "uri-reference": lambda: _uri(relative=True),
    "iri": lambda: _uri(_UCS, _PRIVATE),
    "iri-reference": lambda: _uri(_UCS, _PRIVATE, relative=True),
    "uuid": lambda: "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "uri-template": lambda: _URI_TEMPLATE,
    "json-pointer": lambda: _POINTER,
    "relative-json-pointer": lambda: f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
    "regex": _regex,
    "color": lambda: f"(?:#[0-9A-Fa-f]{{3}}|#[0-9A-Fa-f]{{6}}|{_COLORS})",
}

#: What is taken for a format where it must not hold: no text of the format is outside.
_WIDE_TEXTS = {
    "date": f"{DATE}|{_YEAR_ZERO}",
    "time": r"[0-9]{2}:[0-9]{2}:[0-9]{2}[\s\S]*",
    "date-time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][\s\S]*",
    "hostname": "[A-Za-z0-9.-]+",
    "host-name": "[A-Za-z0-9.-]+",
    "idn-hostname": r"[^\s@/]+",
    "email": r"[\s\S]+@[\s\S]+",
    "idn-email": r"[\s\S]+@[\s\S]+",
    "regex": r"[\s\S]*",
}


def _bounded_email(most: int) -> str:
    local = min(64, most // 3)
    rest = most - 1 - local
    half, labels = min(63, (rest - 1) // 2), (rest + 1) // 21
    return (
        rf"{_ATEXT}(?:{_ATEXT}{{0,{local - 1}}}|(?:\.?{_ATEXT}){{0,{(local - 1) // 2}}})@"
        rf"(?:{_label(_ALNUM, half)}(?:\.{_label(_ALNUM, half)})?"
        rf"|{_label(_ALNUM, 20)}(?:\.{_label(_ALNUM, 20)}){{0,{labels - 1}}})"
    )


def _bounded_uri(most: int) -> str:
    """A scheme, a host, a path and a fragment that cannot be longer together."""
    char = "[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
    host = min(100, most // 4)
    left = most - 11 - 2 - host - 6 - 2
    path, fragment = left * 3 // 4, left // 4
    tails = [
        f"(?:/{part}{{0,{path // unit}}})?(?:#{part}{{0,{fragment // unit}}})?"
        for part, unit in ((char, 1), (f"(?:{char}|{_ESCAPED})", 3))
    ]
    return (
        rf"[A-Za-z][A-Za-z0-9+.-]{{0,9}}://[A-Za-z0-9._~-]{{0,{host}}}(?::[0-9]{{0,5}})?"
        rf"(?:{'|'.join(tails)})"
    )


#: Formats of which an easy part is written under a greatest length.
BOUNDED = {"email": _bounded_email, "uri": _bounded_uri}


@lru_cache(maxsize=256)
def bounded_format(name: str, most: int) -> Expr | None:
    """Texts of a format with at most so many characters, where there is an easy part of them."""
    if name not in BOUNDED or most < 60:
        return None
    return full_match(parse_regex(BOUNDED[name](most)))


@lru_cache(maxsize=64)
def without_format(name: str) -> Dfa:
    """The texts that surely do not have a format."""
    if name not in _WIDE_TEXTS:
        return complement(format_automaton(name))
    return complement(minimise(determinise(full_match(parse_regex(_WIDE_TEXTS[name])))))


#: Formats that are asserted.
FORMATS = frozenset(_TEXTS)


@lru_cache(maxsize=64)
def format_expression(name: str) -> Expr:
    """The texts that have a format, over characters."""
    return full_match(parse_regex(_TEXTS[name]()))


@lru_cache(maxsize=64)
def format_automaton(name: str) -> Dfa:
    """The minimal automaton of a format."""
    return minimise(determinise(format_expression(name), rule=f"format {name}"))
