"""Values of each format as they occur, and others that come close to it: all have their verdict.

The verdicts in ``format_values.json`` are from the documents that define the formats; a second judge that
shares nothing with the front end looks at them where there is one.
"""

from __future__ import annotations

import ipaddress
import json
import random
import re
from pathlib import Path
from typing import Any

import idna
import pytest
from jsonschema import Draft3Validator, Draft202012Validator

from workbench.engine import compile as compile_grammar
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.scalars.formats import FORMATS, format_automaton
from workbench.frontends.json_schema.scalars.hosts import _LEFT_TO_RIGHT, _RIGHT_TO_LEFT
from workbench.vocabulary import Vocabulary

VALUES: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("format_values.json").read_text()
)
#: Formats of which the library looks at all that their definition says.
STRICT = {
    "date", "hostname", "idn-hostname", "ipv4", "ipv6", "json-pointer", "relative-json-pointer", "uri", "uuid",
}  # fmt: skip
#: Values on which the library is known to be wrong or of another opinion.
ODD = {
    "time": lambda text: ":60" in text,  # leap seconds
    "date-time": lambda text: ":60" in text,
    "iri": lambda text: "[" in text or "😀" in text,
    "iri-reference": lambda text: "[" in text or "😀" in text,
    "uri-template": lambda text: "{%" in text,
    "regex": lambda text: "?<year>" in text,  # Python spells it ?P<year>
    # the root's dot is one of RFC 1035's, not of RFC 1123; labels in Punycode are not looked into
    "hostname": lambda text: text.endswith(".") or text.lower().startswith("xn--"),
    "idn-hostname": lambda text: text.endswith(".") or text == "0a.א",
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_ids=(256,))


def accepts(compiled: Any, text: str) -> bool:
    matcher = compiled.matcher()
    data = json.dumps(text, ensure_ascii=False).encode()
    return matcher.accept_tokens(list(data)) == len(data) and bool(matcher.is_accepting)


def options_of(name: str) -> dict[str, Any]:
    return {"draft": 4} if name == "host-name" else {"draft": 2020}


def test_all_formats_have_values() -> None:
    assert set(VALUES) == FORMATS
    assert all(len(values["valid"]) >= 15 for values in VALUES.values())


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values_of_a_format(name: str, vocabulary: Vocabulary) -> None:
    grammar = json_schema({"type": "string", "format": name}, **options_of(name))
    compiled = compile_grammar(grammar, vocabulary)
    assert [text for text in VALUES[name]["valid"] if not accepts(compiled, text)] == []
    assert [text for text in VALUES[name]["invalid"] if accepts(compiled, text)] == []


@pytest.mark.parametrize("name", sorted(VALUES))
def test_another_judge_agrees(name: str) -> None:
    drafts = (Draft202012Validator, Draft3Validator)
    checkers = [one.FORMAT_CHECKER for one in drafts if name in one.FORMAT_CHECKER.checkers]
    odd = ODD.get(name, lambda text: False)
    for text in VALUES[name]["valid"]:
        assert not checkers or odd(text) or checkers[0].conforms(text, name), text
    for text in VALUES[name]["invalid"]:
        if name in STRICT:
            assert odd(text) or not checkers[0].conforms(text, name), text


def mailbox(text: str) -> bool:
    """RFC 5321, 4.1.2: Mailbox, with the limits of 4.5.3.1."""
    local, at, domain = text.rpartition("@")
    atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
    words = rf"{atom}(\.{atom})*"
    quoted = r'"([\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"'
    if not at or len(local) > 64 or len(text) > 254 or not re.fullmatch(f"{words}|{quoted}", local):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        try:
            inside = domain[1:-1]
            if inside.lower().startswith("ipv6:"):
                return bool(ipaddress.IPv6Address(inside[5:]))
            return bool(ipaddress.IPv4Address(inside)) or True
        except ValueError:
            return False
    labels = domain.split(".")
    return all(
        re.fullmatch("[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?", label) and len(label) <= 63
        for label in labels
    )


def test_the_grammar_of_mail_addresses_agrees() -> None:
    assert [text for text in VALUES["email"]["valid"] if not mailbox(text)] == []
    assert [text for text in VALUES["email"]["invalid"] if mailbox(text)] == []


def walks(name: str, count: int, seed: int) -> list[str]:
    """Random texts of a format."""
    dfa = format_automaton(name)
    chance = random.Random(seed)
    ranges = dfa.ranges()
    found = []
    while len(found) < count:
        state, text = 0, ""
        while not (dfa.accepting[state] and chance.random() < 0.08):
            ways = [kind for kind in range(dfa.n_classes) if dfa.table[state, kind] >= 0]
            if not ways:
                break
            kind = chance.choice(ways)
            low, high = chance.choice(ranges[kind])
            text += chr(chance.randint(low, high))
            state = int(dfa.table[state, kind])
        if dfa.accepting[state]:
            found.append(text)
    return found


def test_random_mail_addresses_are_some() -> None:
    assert [text for text in walks("email", 300, 1) if not mailbox(text)] == []


@pytest.mark.parametrize("name", ["hostname", "idn-hostname"])
def test_random_host_names_are_some(name: str) -> None:
    for text in walks(name, 400, 2):
        dotted = re.sub("[。．｡]", ".", text)
        labels = dotted.split(".")
        for label in labels:
            if name == "hostname" and label[2:4] == "--" and label[:2].lower() != "xn":
                continue  # RFC 1123 has them
            punycode = idna.encode(label.lower()).decode()
            assert len(punycode) <= 63, text
            idna.decode(punycode)
        size = sum(len(idna.alabel(label.lower())) + 1 for label in labels if label[2:4] != "--")
        assert size <= 254, text


def test_the_longest_labels_of_each_script_fit() -> None:
    """Letters that lie far apart, in orders that are bad for Punycode."""
    automaton = format_automaton("idn-hostname")
    chance = random.Random(3)
    blocks = [
        "ΐάέύώαω", "аџяёѓ", "աֆև", "აჰ", "가힣뷁믜", "々ぁヺ一鿿ー丈", "אתמ", "ؠيٮۓءپ",
        "ऄहा्ौ", "ßàāžŷ",
    ]  # fmt: skip
    for block in blocks:
        longest = 0
        for _ in range(60):
            for length in range(1, 40):
                text = "".join(chance.choice(block + "a0") for _ in range(length))
                if automaton.accepts(text):
                    longest = max(longest, length)
                    assert len(idna.alabel(text)) <= 63, text
        assert longest >= 10


def test_the_top_level_domains_in_punycode_are_valid() -> None:
    for names, directions in ((_LEFT_TO_RIGHT, {False}), (_RIGHT_TO_LEFT, {True})):
        for name in names:
            text = idna.decode(f"xn--{name}")
            assert {any(0x590 <= ord(char) < 0x900 for char in text)} == directions


@pytest.mark.parametrize("draft", [None, 4, 6])
def test_labels_in_punycode_are_not_looked_into_before_draft_7(
    draft: int | None, vocabulary: Vocabulary
) -> None:
    grammar = json_schema({"type": "string", "format": "hostname"}, draft=draft)
    compiled = compile_grammar(grammar, vocabulary)
    assert [text for text in VALUES["host-name"]["valid"] if not accepts(compiled, text)] == []


@pytest.mark.parametrize(
    ("name", "most", "texts"),
    [
        ("hostname", 64, ["my-lb-1234567890.us-east-1.elb.amazonaws.com", "a.b.c.d.e", "x" * 63]),
        ("hostname", 20, ["mail.example.co.uk", "a" * 20, "a.b.c.d.e.f.g.h.i.j"]),
        ("hostname", 1, ["a"]),
        ("hostname", 255, VALUES["host-name"]["valid"]),
        ("email", 100, ["first.last+tag@mail.example.co.uk", '"a b"@example.com']),
        ("email", 254, VALUES["email"]["valid"]),
        (
            "uri",
            255,
            [
                "mailto:a@example.com",
                "urn:isbn:0451450523",
                "https://example.com?x=1#y",
                "https://user@example.com:8080/a/b?c=d",
                "http://[2001:db8::1]/x",
                "file:///etc/hosts",
                "https://example.com/a%20b",
            ],
        ),
    ],
)
def test_with_a_greatest_length(
    name: str, most: int, texts: list[str], vocabulary: Vocabulary
) -> None:
    grammar = json_schema({"type": "string", "format": name, "maxLength": most})
    compiled = compile_grammar(grammar, vocabulary)
    assert [text for text in texts if not accepts(compiled, text)] == []
    assert not accepts(compiled, "a." * most + "com")
    assert not accepts(compiled, "http://example.com/" + "x" * most)
