"""Host names and the parts of mail addresses, as expressions that count what they read.

A name has at most 253 characters and a label at most 63. To count both exactly takes 16,000 states; so names
are written as several shapes, labels of some lengths in some number, that cannot be longer together. Punycode is
not looked into: of labels that start with ``xn--`` those are written that are known to be valid.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache

from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import Alt, CharSet, Expr, Graph, Literal, Seq

__all__ = [
    "LATIN",
    "MOST_HOST",
    "bounded_host",
    "host",
    "label_text",
    "local_part",
    "punycode_hosts",
    "short_host",
    "wide_local_part",
]

#: Characters of a host name, by RFC 1123 and RFC 1035 (255 octets on the wire).
MOST_HOST = 253
#: Characters of a label.
MOST_LABEL = 63
_DIGITS = (ord("0"), ord("9"))
_LOWER = (ord("a"), ord("z"))
_ALNUM, _INNER = "[A-Za-z0-9]", "[A-Za-z0-9-]"
_ATEXT = CharSet(
    (
        (0x21, 0x21), (0x23, 0x27), (0x2A, 0x2B), (0x2D, 0x2D), (0x2F, 0x39), (0x3D, 0x3D),
        (0x3F, 0x3F), (0x41, 0x5A), (0x5E, 0x7E),
    )
)  # fmt: skip
_DOT = CharSet(((0x2E, 0x2E),))


def local_part(most: int) -> Expr:
    """What stands before the @ of a mail address in up to ``most`` characters: words with dots, or in quotes."""
    # 2 * count: behind so many characters; 2 * count + 1: the last of them is a dot
    edges: list[tuple[int, Expr, int]] = []
    for count in range(1, most + 1):
        edges.append((2 * count - 2, _ATEXT, 2 * count))
        if 1 < count < most:
            edges.append((2 * count - 2, _DOT, 2 * count + 1))
        if count > 2:
            edges.append((2 * count - 1, _ATEXT, 2 * count))
    words = Graph(2 * most + 2, 0, tuple(range(2, 2 * most + 2, 2)), tuple(edges))
    inside, room = r"[ !#-\[\]-~]", max(0, most - 2)
    quoted = rf'"(?:{inside}{{0,{room}}}|(?:{inside}|\\[ -~]){{0,{room // 2}}})"'
    return Alt((words, _read(quoted))) if most > 2 else words


def wide_local_part(most: int) -> Expr:
    """The same in up to ``most`` octets and with characters beyond ASCII, which take two, three or four."""
    ways = []
    for last, octets in (("\\u07ff", 2), ("\\uffff", 3), ("\\u{10ffff}", 4)):
        atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\u0080-{last}-]"
        inside = rf"[ !#-\[\]-~\u0080-{last}]"
        ways += [
            f"{atom}{{1,{most // octets}}}",
            rf"{atom}(?:\.?{atom}){{0,{(most - octets) // (octets + 1)}}}",
            f'"{inside}{{0,{(most - 2) // octets}}}"',
            rf'"(?:{inside}|\\[ -~]){{0,{(most - 2) // octets}}}"',
        ]
    return Alt((local_part(most), _read("|".join(ways))))


def label_text(letter: str, most: int, first: str | None = None) -> str:
    """A label as a pattern: no hyphen at the ends, none in third and fourth place together."""
    inner, first = f"(?:{letter}|-)", first or letter
    short = f"{first}(?:{inner}?{letter})?"
    third = f"{first}{inner}{letter}(?:{inner}{{0,{most - 4}}}{letter})?"
    fourth = f"{first}{letter}-{letter}(?:{inner}{{0,{most - 5}}}{letter})?"
    return f"(?:{short}|{third}|{fourth})"


def _label(most: int, reserved: str) -> str:
    """A label of up to ``most`` characters; see ``host`` for those that are left out."""
    if reserved == "hyphens":
        return label_text(_ALNUM, most)
    if not reserved:
        return f"(?:{_ALNUM}(?:{_INNER}{{0,{most - 2}}}{_ALNUM})?)"
    others = f"[A-WYZa-wyz0-9](?:{_INNER}{{0,{most - 2}}}{_ALNUM})?"
    return f"(?:{others}|{label_text(_ALNUM, most, '[Xx]')})"


@lru_cache(maxsize=64)
def host(most: int = MOST_HOST, reserved: str = "") -> Expr:
    """Names of letters, digits and hyphens, with at most so many characters.

    ``reserved`` labels are left out: those that begin with ``xn--`` (``"punycode"``), or all with two hyphens in
    third and fourth place (``"hyphens"``).
    """
    room = most + 1  # each label and what follows it
    long = min(MOST_LABEL, most if most < 8 else room // 2 - 1)
    ways: list[str] = []
    known = 0
    for count in (50, 12, 7, 3, 2, 1):
        length = min(MOST_LABEL, room // count - 1)
        if length > known:
            ways.append(_several(_label(length, reserved), count))
            known = length
    for before, after in ((4, 5), (1, 2)):
        length = (room - long - 1) // (before + after) - 1
        if length > 0:
            one, other = _label(long, reserved), _label(length, reserved)
            ways.append(rf"(?:{other}\.){{0,{before}}}{one}(?:\.{other}){{0,{after}}}")
    length = (room - 2 * (MOST_LABEL + 1)) // 6 - 1
    if length > 0:
        one, other = _label(MOST_LABEL, reserved), _label(length, reserved)
        ways.append(rf"{one}\.{one}(?:\.{other}){{0,6}}")
    return _read("|".join(ways))


def bounded_host(most: int, reserved: str) -> Expr:
    """Names of at most so many characters: all up to 63, and beyond it some shapes."""
    exact = _counted_host(min(most, MOST_LABEL), reserved)
    return exact if most <= MOST_LABEL else Alt((exact, host(most, reserved)))


def _counted_host(most: int, reserved: str) -> Graph:
    """All names of at most so many characters, of which a label cannot have too many."""
    x, n, other = (
        CharSet(tuple([(ord(char), ord(char)) for char in chars])) for chars in ("Xx", "Nn", "-")
    )
    alnum = CharSet(((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)))
    not_x = CharSet(((0x30, 0x39), (0x41, 0x57), (0x59, 0x5A), (0x61, 0x77), (0x79, 0x7A)))
    not_n = CharSet(((0x30, 0x39), (0x41, 0x4D), (0x4F, 0x5A), (0x61, 0x6D), (0x6F, 0x7A)))
    # by what was read last of a label: nothing, a letter or digit, a hyphen, "x", "xn", "xn-"
    inner = [(alnum, 1), (other, 2), (_DOT, 0)]
    steps = [[(alnum, 1)], inner, [(alnum, 1), (other, 2)]]
    if reserved:
        steps[0] = [(not_x, 1), (x, 3)]
        steps += [
            [(not_n, 1), (n, 4), *inner[1:]],
            [(alnum, 1), (other, 5), (_DOT, 0)],
            [(alnum, 1)],
        ]
    size = len(steps)
    edges = [
        (size * count + at, label, size * (count + 1) + to)
        for count in range(most)
        for at, ways in enumerate(steps)
        for label, to in ways
        if to in (1, 3, 4) or count + 1 < most
    ]
    finals = [
        size * count + at
        for count in range(1, most + 1)
        for at in (1, 3, 4)[: 3 if reserved else 1]
    ]
    return Graph(size * (most + 1), 0, tuple(finals), tuple(edges))


def short_host(reserved: str, count: int) -> Expr:
    """Names of so many labels of up to 20 characters."""
    return _read(_several(_label(20, reserved), count))


def _several(label: str, most: int) -> str:
    return rf"(?:{label}\.){{0,{most - 1}}}{label}"


def _read(text: str) -> Expr:
    return full_match(parse_regex(text))


def punycode_hosts(reserved: str) -> list[Expr]:
    """Names with labels in Punycode that are surely valid: with a Latin letter, or a top-level domain."""
    short, long = _label(20, reserved), _label(MOST_LABEL, reserved)
    # 0: the start; 1: before a label in Punycode; 2: behind it; 3: before a top-level domain; 4: the end
    edges: tuple[tuple[int, Expr, int], ...] = (
        (0, _read(rf"(?:{short}\.){{0,4}}"), 1),
        (1, _lettered(), 2),
        (2, _read(rf"(?:\.{short}){{0,4}}"), 4),
        (2, _read(rf"\.(?:{short}\.)?"), 3),
        (1, _read(rf"(?:{long}\.)?"), 3),
        (1, Seq((_punycode(_EXAMPLES), _DOT)), 3),
        (3, _punycode(_LEFT_TO_RIGHT), 4),
    )
    # a name that is written from right to left in part has labels that begin with a letter (RFC 5893)
    first = label_text(_ALNUM, MOST_LABEL, "[A-Za-z]")
    backward = Seq((_read(rf"(?:{first}\.){{0,3}}"), _punycode(_RIGHT_TO_LEFT)))
    return [Graph(5, 0, (4,), edges), backward]


def _names(text: str) -> list[str]:
    return text.split()


#: Top-level domains in Punycode, without ``xn--``; those that are written from left to right.
_LEFT_TO_RIGHT = _names(
    """
    0zwm56d 11b4c3d 11b5bs3a9aj6g 1ck2e1b 1jqy23i 1qqw23a 2scrj9c 30rr7y 3bst00m 3ds443g
    3e0b707e 3hcrj9c 3oq18vl8pn36a 3pxu8k 42c2d9a 45br5cyl 45brj9c 45q11c 54b7fta0cc 55qw42g
    55qx5d 5su34j936bgsg 5tzm5g 6frz82g 6qq986b3xl 80adxhks 80akhbyknj4f 80ao21a 80aqecdr1a
    80asehdb 80aswg 8y0a063a 90a3ac 90ae 90ais 9et52u 9krt00a 9t4b11yi5a b4w605ferd
    bck1b9a5dre4c c1avg c2br7g cck2b3b cckwcxetd cg4bki clchc0ea0b2g2a9gcd czr694b czrs0t czru2d
    d1acj3b d1alf e1a4c eckvdtc9d efvy88h estv75g fct429k fiq228c5hs fiqs8s fiqz9s fjq720a
    flw351e fpcrj9c3d fzc2c9e2c g2xv08c g6w251d gckr3f0f gecrj9c gk3at1e h2breg3eve h2brj9c
    h2brj9c8c hlcj6aya9esc7a hxt324i hxt814e i1b6b1a6a2e imr513n io0a7i j1aef j1amh j6w193g
    jlq480n2rg jlq61u9w7b jny84jb6db3v jvr189m jxalpdlp kcrx77d1x4a kprw13d kpry57d kput3i l1acc
    mix891f mk1bu44c mxtq1m node nqv7f nqv7fs00ema nyqy26a o3cw4h otu796d p1acf p1ai pssy2u
    q7ce6a q9jyb4c qcka1pmc qxa6a qxam rvc1e0am3e s9brj9c ses554g t60b56a tckwe tiq49xqyj unup4y
    vhquv vuq861b w4r85el8fhu5dnra w4rs40l wnyo7av7dy20a xhq521b xkc2al3hye2a xkc2dl3a5ee0h
    y9a3aq yfro4i67o zckzah zfr164b
    """
)
#: "Example" in the scripts of those, as it stands before the top-level domains for tests.
_EXAMPLES = _names(
    """
    9n2bp8q e1afmkfd fsqu00a hxajbheg2az3al p1b6ci4b4b3a r8jz45g zkc6cc5bi7f6e
    """
)
#: The others. A name that has one of them needs labels that begin with a letter (RFC 5893).
_RIGHT_TO_LEFT = _names(
    """
    4dbrk0ce 4gbrim 9dbq2a deba0ad fhbei hgbk6aj7f53bba kgbechtv lgbbat1ad8j mgb2ddes mgb9awbf
    mgba3a3ejt mgba3a4f16a mgba7c0bbn0a mgbaa2b2gb74gda mgbaakc7dvf mgbaam7a8h mgbab2bd
    mgbah1a3hjkrd mgbai9azgqp6j mgbayh7gpa mgbbh1a mgbbh1a71e mgbc0a9azcg mgbca7dzdo
    mgbcpq6gpa1a mgberp4a5d4ar mgbfoq7gek97g mgbgu82a mgbi4ecexp mgbpl2fh mgbt3dhd mgbtf8fl
    mgbtx2b mgbx4cd0ab ngbc5azd ngbe9e0a ngbrx ogbpf8fl pgbs0dh wgbh1c wgbl6a ygbi2ammx
    """
)


def _punycode(names: list[str]) -> Expr:
    return Seq((Literal(b"xn--"), Alt(tuple([Literal(name.encode()) for name in names]))))


#: Characters of ASCII that a label with one Latin letter beyond it may have, and what it has at most in Punycode.
_MOST_BASIC = 20
#: Small Latin letters beyond ASCII that a host name may have.
LATIN = (
    "ßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĸĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżž"
)


#: Those of them that may stand in a label in Punycode: the others would make the automaton four times as large.
_WESTERN = LATIN[: LATIN.index("ā")]


@lru_cache(maxsize=1)
def _lettered() -> Expr:
    """The labels in Punycode of ASCII characters with one Latin letter among them.

    Behind the last hyphen stand three digits to base 36, the lowest first: the number of the letter times the
    places it may have, plus its place (RFC 3492).
    """
    small = (_DIGITS, _LOWER)
    edges: list[tuple[int, Expr, int]] = []
    hyphen = CharSet(((0x2D, 0x2D),))
    end, following = 0, 1 + 2 * _MOST_BASIC
    for count in range(1, _MOST_BASIC + 1):
        # 2 * count - 1: behind a letter or digit; 2 * count: behind a hyphen
        here, before = 2 * count - 1, 2 * count - 3
        if count > 1:
            edges += [(before, CharSet(small), here), (before + 1, CharSet(small), here)]
            if count < _MOST_BASIC:
                edges.append((before, hyphen, before + 3))
        tails: dict[int, dict[int, set[int]]] = {}
        for letter in _WESTERN:
            first = (ord(letter) - 128) * (count + 1)
            for delta in range(first, first + count + 1):
                high, low = divmod(delta - 1, 35)
                higher, middle = divmod(high - 1, 35)
                tails.setdefault(low + 1, {}).setdefault(middle + 1, set()).add(higher)
        thirds: dict[frozenset[int], int] = {}
        seconds: dict[Hashable, tuple[int, list[int]]] = {}
        for digit, more in tails.items():
            key = frozenset([(second, frozenset(last)) for second, last in more.items()])
            if key not in seconds:
                seconds[key] = (following, [])
                following += 1
                by_third: dict[frozenset[int], list[int]] = {}
                for second, last in more.items():
                    by_third.setdefault(frozenset(last), []).append(second)
                for third, digits in by_third.items():
                    if third not in thirds:
                        thirds[third] = following
                        edges.append((following, _base36(third), end))
                        following += 1
                    edges.append((seconds[key][0], _base36(digits), thirds[third]))
            seconds[key][1].append(digit)
        behind = following
        following += 1
        edges.append((here, hyphen, behind))
        edges += [(behind, _base36(digits), node) for node, digits in seconds.values()]
    start = following
    edges.append((start, CharSet(small), 1))
    return Seq((Literal(b"xn--"), Graph(following + 1, start, (end,), tuple(edges))))


def _base36(digits: Iterable[int]) -> Expr:
    """Digits in their usual spelling; all spellings would take many more states."""
    return Alt(
        tuple([Literal(b"abcdefghijklmnopqrstuvwxyz0123456789"[d : d + 1]) for d in sorted(digits)])
    )
