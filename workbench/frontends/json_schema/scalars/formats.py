r"""The formats that the drafts define, as regular expressions over whole texts.

Some formats are not regular, or only with enormous automata; for those the part of the language is
written that matters, and ``LEFT_OUT`` says what is missing, so that the outcome can be "restricted".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, reduce

from workbench.automaton.finite import Dfa, complement, determinise, intersect, minimise
from workbench.frontends.json_schema.scalars.hosts import (
    MOST_HOST,
    bounded_host,
    host,
    local_part,
    punycode_hosts,
    short_host,
    wide_local_part,
)
from workbench.frontends.json_schema.scalars.international import international_hosts
from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import Alt, Expr, Seq, literal

__all__ = [
    "BOUNDED",
    "DATE",
    "FORMATS",
    "HOUR",
    "IPV4",
    "LEFT_OUT",
    "MOST",
    "UNCLEAR",
    "bounded_format",
    "format_automaton",
    "format_expression",
    "without_format",
]

#: Formats of draft 3 that it does not define well enough to be asserted.
UNCLEAR = frozenset({"phone", "style", "utc-millisec"})

_SHAPES = (
    "names but those of up to 12 labels of 20 characters, 7 of 35, 3 of 63, 50 of 4, one of 63 among 9 of 20, or "
    "two of 63 before 6 of 20"
)
#: What is not written of a format although it belongs to it.
LEFT_OUT = {
    "date": "the year 0000, which many libraries do not have",
    "time": "leap seconds at another offset than zero",
    "date-time": "the year 0000; leap seconds at another offset than zero",
    "hostname": "labels that start with xn--, except top-level domains and those with one letter "
    f"of Western Europe beyond ASCII; {_SHAPES}",
    "host-name": _SHAPES,
    "idn-hostname": "scripts other than Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, "
    "Devanagari, Thai, Han, Kana and Hangul; their labels above 35 octets in Punycode but one, which has up to "
    "15 to 28 letters; more than 6 labels; xn-- as in hostname",
    "email": "domains but those of up to 12 labels of 14 characters, 7 of 26, 3 of 62, one of 63 among 9 of 13, or "
    "two of 63 before 6 of 9",
    "idn-email": "domains in other scripts than those of idn-hostname or of more than 189 characters; more "
    "than 48 octets before the @ (12 to 24 characters) where there are others than those of ASCII",
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


def _read(text: str) -> Expr:
    return full_match(parse_regex(text))


_LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{_IPV6})\]"
#: Most characters of an address in brackets.
_MOST_LITERAL = 53
#: Octets before the @ of a mail address, and in all: a path of 256 without its brackets (RFC 5321).
_MOST_LOCAL, _MOST_MAIL = 64, 254
#: Octets that a domain in other scripts surely leaves.
_LOCAL_ABROAD = 48


def _email(most: int = _MOST_MAIL) -> Expr:
    local = min(_MOST_LOCAL, max(most // 3, most - 190))
    rest = most - 1 - local
    domain = host(rest) if most == _MOST_MAIL else bounded_host(rest, "")
    if rest >= _MOST_LITERAL:
        domain = Alt((domain, _read(_LITERAL)))
    return Seq((local_part(local), literal("@"), domain))


def _idn_email() -> Expr:
    wide, narrow = wide_local_part(_LOCAL_ABROAD), local_part(_MOST_LOCAL)
    domains = (short_host("", 9), _read(_LITERAL), *international_hosts())
    ways = [Seq((wide, literal("@"), domain)) for domain in domains]
    return Alt((*ways, *[Seq((narrow, literal("@"), domain)) for domain in domains[:2]]))


def _hostname() -> Expr:
    return Alt((host(reserved="punycode"), *punycode_hosts("punycode")))


def _idn_hostname() -> Expr:
    return Alt((short_host("hyphens", 12), *international_hosts(), *punycode_hosts("hyphens")))


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
    member = rf"(?:[^\\\]\[^-]|{escape}|a-[b-z]|A-[B-Z]|[0-8]-9|0-[1-8]|1-[2-8])"
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


#: Formats of host names, and the labels that each leaves out.
_HOSTS = {"hostname": "punycode", "host-name": ""}

_EXPRESSIONS: dict[str, Callable[[], str | Expr]] = {
    "date": lambda: DATE,
    "time": lambda: _TIME,
    "date-time": lambda: f"{DATE}[Tt]{_TIME}",
    "duration": lambda: _DURATION,
    "email": _email,
    "idn-email": _idn_email,
    "hostname": _hostname,
    "host-name": host,
    "idn-hostname": _idn_hostname,
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

#: Formats whose alternatives take long to tell apart all at once.
_SEPARATE = frozenset({"hostname", "idn-hostname", "idn-email"})

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


def _bounded_uri(most: int) -> str:
    """A scheme and parts that cannot be longer together; with a host, with a user as well, or with neither."""
    plain = "A-Za-z0-9._~!$&'()*+,;="

    def rest(room: int, before: str) -> str:
        """A path or query, and a fragment."""
        path, fragment = max(room * 3 // 4 - 1, 0), max(room // 4 - 1, 0)
        ways = [
            f"(?:{before}{char}{{0,{path // unit}}})?(?:#{char}{{0,{fragment // unit}}})?"
            for char, unit in ((_QUERY, 1), (f"(?:{_QUERY}|{_ESCAPED})", 3))
        ]
        return f"(?:{'|'.join(ways)})"

    _QUERY = f"[{plain}:@/?-]"
    scheme = "[A-Za-z][A-Za-z0-9+.-]{0,9}:"
    # a colon, two slashes, a port
    room = most - 10 - 1
    name, user = min(100, room // 4), min(64, room // 5)
    address = rf"\[{_IPV6}\]"
    near = f"(?:[{plain}-]{{0,{max(name, 0)}}}" + (f"|{address})" if name >= 41 else ")")
    port = "(?::[0-9]{0,5})?"
    hosted = f"//{near}{port}{rest(room - 2 - name - 6, '[/?]')}"
    with_user = (
        f"//[{plain}:-]{{1,{user}}}@{near}{port}{rest(room - 2 - user - 1 - name - 6, '[/?]')}"
    )
    bare = rf"(?:[{plain}:@-]|/[{plain}:@-]|\?)"
    return f"{scheme}(?:{hosted}|{with_user}|{rest(room - 1, bare)})"


#: Most characters that texts of a format have.
MOST = {"hostname": MOST_HOST, "host-name": MOST_HOST, "email": _MOST_MAIL}
#: Formats of which an easy part is written under a greatest length.
BOUNDED: dict[str, Callable[[int], str | Expr]] = {
    "email": _email,
    "uri": _bounded_uri,
    **{name: partial(bounded_host, reserved=reserved) for name, reserved in _HOSTS.items()},
}


def _expression(said: str | Expr) -> Expr:
    return _read(said) if isinstance(said, str) else said


@lru_cache(maxsize=256)
def bounded_format(name: str, most: int) -> Expr | None:
    """Texts of a format with at most so many characters, where there is an easy part of them."""
    if name not in BOUNDED or most < (60 if name in ("email", "uri") else 1):
        return None
    return _expression(BOUNDED[name](most))


@lru_cache(maxsize=64)
def without_format(name: str) -> Dfa:
    """The texts that surely do not have a format."""
    if name not in _WIDE_TEXTS:
        return complement(format_automaton(name))
    return complement(minimise(determinise(full_match(parse_regex(_WIDE_TEXTS[name])))))


#: Formats that are asserted.
FORMATS = frozenset(_EXPRESSIONS)


@lru_cache(maxsize=64)
def format_expression(name: str) -> Expr:
    """The texts that have a format, over characters."""
    return _expression(_EXPRESSIONS[name]())


@lru_cache(maxsize=64)
def format_automaton(name: str) -> Dfa:
    """The minimal automaton of a format."""
    expr = format_expression(name)
    if name not in _SEPARATE:
        return minimise(determinise(expr, rule=f"format {name}"))
    assert isinstance(expr, Alt)
    ways = [minimise(determinise(way, rule=f"format {name}")) for way in expr.items]
    return reduce(_either, ways)


def _either(left: Dfa, right: Dfa) -> Dfa:
    return minimise(complement(intersect(complement(left), complement(right))))
