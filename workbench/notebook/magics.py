"""``%load_ext workbench``: grammars in cells, stepping, reasons and profiles, each a call of a public function.

::

    %%grammar dates
    root ::= [0-9]{4} "-" [0-9]{2}

    %%example dates
    2031-07
    %step --grammar dates "A month:"
    %why 13
    %profile

Errors of a grammar point to a line of the cell.
"""

# mypy: disallow-untyped-decorators=False
from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from workbench.errors import GrammarSyntaxError, WorkbenchError
from workbench.grammar.ir import Grammar
from workbench.notebook.editor import KINDS, read
from workbench.notebook.reprs import register

__all__ = ["WorkbenchMagics", "load"]


@magics_class
class WorkbenchMagics(Magics):
    """The magics; they remember the grammar and the screen that were made last."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.grammar_name: str | None = None
        self.screen: Any = None

    # Grammars.

    @magic_arguments()
    @argument("name", help="the variable that the grammar goes to")
    @argument("--kind", choices=KINDS, default="gbnf", help="what the cell's text is")
    @argument("--start", default="root", help="the start rule of a GBNF text")
    @argument("--live", action="store_true", help="open the workbench on it")
    @argument("--prompt", default="", help="the prompt of the workbench")
    @cell_magic("grammar")
    def grammar(self, line: str, cell: str) -> Any:
        """Make a grammar of the cell's text: ``%%grammar NAME``."""
        given = parse_argstring(self.grammar, line)
        made = self._read(cell, given.kind, given.start)
        self.shell.user_ns[given.name] = made
        self.grammar_name = given.name
        if not given.live:
            return made
        import workbench

        self.screen = workbench.Workbench(
            self._model(None), made, given.prompt, title=given.name, tab="grammar"
        )
        return self.screen

    def _read(self, cell: str, kind: str, start: str) -> Grammar:
        try:
            if kind == "gbnf" and start != "root":
                from workbench.frontends.gbnf import gbnf

                return gbnf(cell, start)
            return read(cell, kind)
        except GrammarSyntaxError as error:
            where = ""
            if error.line is not None:
                # the line of the magic is line 1 of the cell
                where = f"cell line {error.line + 1}, column {error.column}: "
            parts = str(error).split("\n")
            parts[0] = error.message if where else parts[0]
            raise UsageError(where + "\n".join(parts)) from None
        except (WorkbenchError, ValueError) as error:
            raise UsageError(f"{type(error).__name__}: {error}") from None

    @magic_arguments()
    @argument("name", help="the grammar")
    @argument("--no", action="store_true", help="the grammar should not match it")
    @argument("--prefix", action="store_true", help="it should begin a match")
    @cell_magic("example")
    def example(self, line: str, cell: str) -> str:
        """Say whether a grammar matches the cell's text: ``%%example NAME [--no]``."""
        given = parse_argstring(self.example, line)
        want = "not" if given.no else "prefix" if given.prefix else "match"
        text = cell.removesuffix("\n")
        return _verdict(self._grammar(given.name), text, want)

    # A run.

    @magic_arguments()
    @argument("prompt", nargs="*", help="what the model is told")
    @argument("--grammar", help="a grammar; by default the one made last")
    @argument("--model", help="a loaded model; by default the one there is, or the packaged one")
    @argument("--all", action="store_true", help="all screens, not the stepper alone")
    @line_magic("step")
    def step(self, line: str) -> Any:
        """Open the stepper: ``%step [--grammar NAME] PROMPT``."""
        import workbench

        given = parse_argstring(self.step, line)
        prompt = " ".join(given.prompt).strip("\"'")
        name = given.grammar or self.grammar_name
        grammar = None if name is None else self._grammar(name)
        model = self._model(given.model)
        title = name or "free text"
        if given.all or not prompt:
            self.screen = workbench.Workbench(model, grammar, prompt, title=title)
        else:
            self.screen = workbench.step(model, prompt, grammar, title=title)
        return self.screen

    @magic_arguments()
    @argument("token", help="an id, or the text of a token")
    @argument("--grammar", help="a grammar to ask instead of the run that was opened last")
    @argument("--after", default="", help="the text before it, with --grammar")
    @line_magic("why")
    def why(self, line: str) -> Any:
        """Say why a token may or may not come next: ``%why TOKEN``."""
        from workbench.diagnostics.explain.explain import explain

        given = parse_argstring(self.why, line)
        token = int(given.token) if given.token.isdigit() else given.token.strip("\"'")
        try:
            if given.grammar is None and self.screen is not None:
                session = self.screen.session
                return explain(session.look(session.cursor).matcher, token)
            return explain(self._matcher(given.grammar, given.after.strip("\"'")), token)
        except WorkbenchError as error:
            raise UsageError(str(error)) from None

    def _matcher(self, name: str | None, after: str) -> Any:
        """A matcher of a grammar after a text, byte by byte."""
        from workbench.engine import compile as compile_grammar
        from workbench.vocabulary import byte_vocabulary

        name = name or self.grammar_name
        if name is None:
            raise UsageError("there is no grammar and no run yet: begin with %%grammar or %step")
        matcher = compile_grammar(self._grammar(name), byte_vocabulary()).matcher()
        data = after.encode()
        reached = matcher.accept_tokens(data)
        if reached < len(data):
            raise UsageError(f"the grammar does not allow byte {reached + 1} of {after!r}")
        return matcher

    @magic_arguments()
    @argument("trace", nargs="?", help="a trace or a generation; by default the last run")
    @line_magic("profile")
    def profile(self, line: str) -> Any:
        """Say where the time of a run went: ``%profile [NAME]``."""
        given = parse_argstring(self.profile, line)
        if given.trace is not None:
            found = self._variable(given.trace)
            trace = getattr(found, "trace", found)
        elif self.screen is not None:
            trace = self.screen.session.decoder.trace
        else:
            raise UsageError("there is no run yet: begin with %step, or name a trace")
        from workbench.diagnostics.profile.profile import profile

        return profile(trace)

    # What was named.

    def _variable(self, name: str) -> Any:
        try:
            return self.shell.user_ns[name]
        except KeyError:
            raise UsageError(f"there is no variable {name!r}") from None

    def _grammar(self, name: str) -> Any:
        found = self._variable(name)
        found = getattr(found, "grammar", found)
        if not isinstance(found, Grammar):
            raise UsageError(f"{name} is no grammar: {type(found).__name__}")
        return found

    def _model(self, name: str | None) -> Any:
        from workbench.models import LoadedModel, load_model

        if name is not None:
            return self._variable(name)
        for found in self.shell.user_ns.values():
            if isinstance(found, LoadedModel):
                return found
        model = self.shell.user_ns["model"] = load_model()
        return model


class _Text(str):
    """A text that a cell shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _verdict(grammar: Grammar, text: str, want: str) -> str:
    from workbench.notebook.editor import judged
    from workbench.vocabulary import byte_vocabulary

    found = judged({"text": text, "want": want}, grammar, byte_vocabulary())
    line = f"{'●' if found['ok'] else '✕'} {text!r}: {found['verdict']}"
    if found["failing"] is not None:
        line += f"; byte {found['failing'] + 1} is {found['byte']}, expected {found['expected']}"
    elif found["verdict"] == "prefix":
        line += f"; goes on with {found['expected']}"
    return _Text(line)


def load(shell: Any) -> None:
    """Add the magics and the displays to an IPython shell."""
    shell.register_magics(WorkbenchMagics(shell))
    register(shell)
