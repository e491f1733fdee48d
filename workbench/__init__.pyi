"""What a user types: each public name once. ``__init__.py`` loads them from here when they are first used."""

from . import formats as formats
from .automaton.budgets import (
    Budgets as Budgets,
)
from .automaton.linear import (
    NotRegular as NotRegular,
)
from .content_cache import (
    CacheInfo as CacheInfo,
)
from .decoding import (
    Generation as Generation,
    GrammarLogitsProcessor as GrammarLogitsProcessor,
    generate as generate,
)
from .decoding.trace import (
    Trace as Trace,
    TraceStep as TraceStep,
)
from .diagnostics.contrast.contrast import (
    Contrast as Contrast,
    contrast as contrast,
)
from .diagnostics.coverage.coverage import (
    coverage as coverage,
)
from .diagnostics.coverage.covered import (
    Coverage as Coverage,
)
from .diagnostics.dead_ends.dead_ends import (
    dead_ends as dead_ends,
)
from .diagnostics.dead_ends.findings import (
    DeadEndReport as DeadEndReport,
    Finding as Finding,
)
from .diagnostics.dead_ends.live import (
    live_dead_ends as live_dead_ends,
)
from .diagnostics.dead_ends.unspellable import (
    SpellingReport as SpellingReport,
    unspellable as unspellable,
)
from .diagnostics.explain.explain import (
    explain as explain,
)
from .diagnostics.lint.lint import (
    lint as lint,
)
from .diagnostics.lint.report import (
    LintFinding as LintFinding,
    LintReport as LintReport,
)
from .diagnostics.profile.profile import (
    Profile as Profile,
    profile as profile,
)
from .engine import (
    CompiledGrammar as CompiledGrammar,
    Explanation as Explanation,
    Matcher as Matcher,
    accept_all as accept_all,
    compile as compile,
    empty_mask as empty_mask,
    fill_masks as fill_masks,
    fork_all as fork_all,
    rollback_all as rollback_all,
)
from .engine.compile import (
    cache_info as cache_info,
    clear_cache as clear_cache,
    load_compiled as load_compiled,
)
from .engine.matching import (
    Capture as Capture,
    Match as Match,
    match as match,
)
from .engine.why import (
    Why as Why,
    WhyByte as WhyByte,
)
from .errors import (
    ArtifactError as ArtifactError,
    BrokenTool as BrokenTool,
    BrokenTools as BrokenTools,
    BudgetTooSmall as BudgetTooSmall,
    BundleError as BundleError,
    DeadEnd as DeadEnd,
    ExportRefused as ExportRefused,
    GrammarSyntaxError as GrammarSyntaxError,
    GrammarTooComplex as GrammarTooComplex,
    ModelNotFound as ModelNotFound,
    UnsatisfiableGrammar as UnsatisfiableGrammar,
    UnsupportedConstraint as UnsupportedConstraint,
    VocabularyError as VocabularyError,
    WorkbenchError as WorkbenchError,
    WrongType as WrongType,
)
from .export import export as export
from .export.bundle import (
    Exported as Exported,
)
from .export.gbnf_writer import (
    to_gbnf as to_gbnf,
)
from .export.structural_tags import (
    to_structural_tag as to_structural_tag,
)
from .export.verify import (
    Verification as Verification,
    verify as verify,
)
from .frontends.calls import (
    calls as calls,
)
from .frontends.choice import (
    choice as choice,
)
from .frontends.combine import (
    complement as complement,
    difference as difference,
    intersection as intersection,
    until as until,
)
from .frontends.compose import (
    alt as alt,
    capture as capture,
    define as define,
    marker as marker,
    optional as optional,
    ref as ref,
    repeat as repeat,
    seq as seq,
    text_until as text_until,
    token as token,
)
from .frontends.gbnf import (
    gbnf as gbnf,
)
from .frontends.json_schema import (
    json_schema as json_schema,
)
from .frontends.json_text import (
    json_text as json_text,
)
from .frontends.python_types import (
    from_type as from_type,
)
from .frontends.regex import (
    regex as regex,
)
from .frontends.sql import (
    sql as sql,
)
from .frontends.substring import (
    substring as substring,
)
from .frontends.tags.response_format import (
    response_format as response_format,
)
from .frontends.tags.structural_tag import (
    structural_tag as structural_tag,
)
from .frontends.tools import (
    Reasoning as Reasoning,
    ToolCall as ToolCall,
    ToolFormat as ToolFormat,
    read_calls as read_calls,
    tool_formats as tool_formats,
    tools as tools,
)
from .grammar.ir import (
    Grammar as Grammar,
    Outcome as Outcome,
)
from .grammar.written import (
    from_rules as from_rules,
    to_rules as to_rules,
)
from .models import (
    LoadedModel as LoadedModel,
    load_model as load_model,
    scripted_model as scripted_model,
)
from .notebook import (
    Workbench as Workbench,
    show_mask as show_mask,
    step as step,
    write_report as write_report,
)
from .vocabulary import (
    Vocabulary as Vocabulary,
)

__version__: str

def load_ipython_extension(shell: object) -> None: ...
