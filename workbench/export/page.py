"""The one-page report of a bundle: HTML without scripts, that loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.diagnostics.dead_ends.findings import counted, distinct
from workbench.grammar.outcomes import grouped
from workbench.vocabulary.labels import label_bytes
from workbench.wording import number_of, percent

if TYPE_CHECKING:
    from workbench.diagnostics.coverage.covered import Coverage
    from workbench.diagnostics.dead_ends.findings import DeadEndReport
    from workbench.diagnostics.verdicts import Verdict
    from workbench.export.gbnf_writer import GbnfText
    from workbench.export.recipe import Recipe
    from workbench.grammar.ir import Grammar
    from workbench.grammar.outcomes import OutcomeGroup

__all__ = ["page"]

#: Characters of a source or text that are shown; the files hold all.
_SHOWN = 20_000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
html { color-scheme: light dark; }
body { margin: 16px auto; max-width: 960px; padding: 0 12px; background: #ffffff; color: #1b1b1b;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 20px; } h2 { font-size: 16px; }
table { border-collapse: collapse; } caption { text-align: left; }
th, td { border: 1px solid #8a8a8a; padding: 2px 8px; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
pre { overflow: auto; border: 1px solid #8a8a8a; padding: 8px; }
@media (prefers-color-scheme: dark) { body { background: #111111; color: #e8e8e8; } }
"""


def page(
    recipe: Recipe,
    grammar: Grammar,
    verdicts: Sequence[Verdict],
    report: DeadEndReport,
    covered: Coverage,
    gbnf: GbnfText | None,
    gbnf_entry: dict[str, Any],
) -> str:
    """The page, as text."""
    title = recipe.title or f"A tested {recipe.kind.replace('_', ' ')} grammar"
    outcomes = grouped(grammar.outcomes)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _table(
            "In short", ("what", "found"), _facts(recipe, verdicts, report, covered, gbnf_entry)
        ),
        "<h2>Examples</h2>",
        _table("", ("expected", "text", "verdict", "result"), _examples(recipe, verdicts)),
        "<h2>Dead ends</h2>",
        f"<pre>{escape(str(report))}</pre>",
    ]
    if recipe.tokenizer_report is not None:
        parts += _with_tokenizer(recipe.tokenizer_report)
    parts += ["<h2>Coverage</h2>", f"<pre>{escape(str(covered))}</pre>"]
    if outcomes:
        parts += [
            "<h2>What became of each constraint</h2>",
            _outcomes(outcomes),
        ]
    parts += ["<h2>Source</h2>", _text(recipe.source)]
    if gbnf is not None:
        parts += ["<h2>GBNF</h2>", _text(gbnf.text)]
    parts.append("<p>Prove it again: <code>workbench verify</code> and the name of the bundle.</p>")
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def _facts(
    recipe: Recipe,
    verdicts: Sequence[Verdict],
    report: DeadEndReport,
    covered: Coverage,
    gbnf_entry: dict[str, Any],
) -> list[tuple[str, str]]:
    """The page in short."""
    passed = sum(e.fits(v) for e, v in zip(recipe.examples, verdicts, strict=True))
    facts = [
        ("examples", f"{passed} of {len(recipe.examples)} as expected"),
        ("dead ends", counted(*distinct(recipe.reports(report)))),
        ("GBNF", _gbnf_words(gbnf_entry)),
        ("coverage of accepted examples", percent(covered.share)),
        ("made", recipe.created),
        ("versions", ", ".join(f"{name} {v}" for name, v in sorted(recipe.versions.items()))),
    ]
    if recipe.dead_end_note:
        facts.insert(2, ("note on dead ends", recipe.dead_end_note))
    if recipe.tokenizer is not None:
        facts.append(
            ("tokenizer", ", ".join(f"{k} {v}" for k, v in sorted(recipe.tokenizer.items())))
        )
    return facts


def _examples(recipe: Recipe, verdicts: Sequence[Verdict]) -> list[tuple[str, ...]]:
    """A row for each example."""
    return [
        (
            example.expected,
            label_bytes(example.data) or "(nothing)",
            verdict.word,
            "● as expected" if example.fits(verdict) else "✕ not as expected",
        )
        for example, verdict in zip(recipe.examples, verdicts, strict=True)
    ]


def _with_tokenizer(report: Mapping[str, Any]) -> list[str]:
    """What was found with the tokenizer of the recipe."""
    parts = [
        "<h2>Dead ends with the tokenizer</h2>",
        f"<p>{escape(counted(*distinct([report])))}</p>",
    ]
    rows = [
        (_sign(f), f["kind"], f["message"], f.get("path") or "", f["place"])
        for f in report.get("findings", [])
    ]
    if rows:
        parts.append(_table("", ("", "kind", "what", "after", "from"), rows))
    return parts


def _sign(finding: Mapping[str, Any]) -> str:
    return "⚠ warning" if finding["warning"] else "⊘ error"


def _outcomes(groups: Sequence[OutcomeGroup]) -> str:
    """Constraints by kind; of several places the pointers unfold."""
    rows = []
    for group in groups:
        where = escape(group.where)
        if len(group.pointers) > 1:
            listed = "<br>".join(map(escape, group.pointers))
            where = f"<details><summary>{where}</summary>{listed}</details>"
        cells = (escape(group.status), where, escape(group.keyword), escape(group.detail))
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    heads = "".join(
        f'<th scope="col">{name}</th>' for name in ("outcome", "where", "keyword", "detail")
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{chr(10).join(rows)}\n</tbody></table>"


def _gbnf_words(entry: dict[str, Any]) -> str:
    if not entry["written"]:
        return f"not written: {entry['reason']}"
    words = f"round trip {entry['agree']} of {entry['examples']}"
    if not entry["proved"]:
        words = "written, too long to be read back"
    for key, what in (("looser", "accepts more"), ("extensions", "beyond llama.cpp")):
        if entry[key]:
            words += f"; {what}: {', '.join(entry[key])}"
    return words


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>\n{body}</tbody></table>"


def _text(text: str) -> str:
    more = f"\n… {number_of(len(text) - _SHOWN, 'character')} more" if len(text) > _SHOWN else ""
    return f"<pre>{escape(text[:_SHOWN] + more)}</pre>"
