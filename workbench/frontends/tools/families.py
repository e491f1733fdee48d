"""How families of models write calls of tools: a table, read from the chat templates of the models.

In a ``call`` stand ``«name»``, ``«arguments»``, ``«number»`` (digits) and ``«id»`` (nine letters and digits) for what
differs from call to call; all else is written as it stands. Where templates of one family differ there are several
forms, the usual one first. ``source`` says where the format can be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from workbench.frontends.json_schema.emit.tag_styles import STYLES

__all__ = ["FAMILIES", "Reasoning", "ToolFormat"]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a family marks what the model thinks before it answers.

    ``opened`` says whether the prompt ends with ``open`` when the model is to think; ``empty`` is what templates write
    in place of the block when it is not to, None where they write nothing. ``after`` stands behind the block.
    """

    open: str
    close: str
    after: str = ""
    opened: bool = False
    empty: str | None = None


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """The format of a family.

    Calls stand by themselves in the text, or, where ``begin`` is not empty, all together between one of ``begin`` and
    ``end`` with ``between`` among them. ``trigger`` is the text after which nothing but a call may follow. ``style`` is
    how arguments are written. ``markers`` are the texts that are tokens by themselves in vocabularies of the family.
    ``lead`` is what templates write before a call that follows nothing. ``any_order`` is for families that see the
    properties of a schema in another order than its own (sorted). ``answers`` are markers between which an answer may
    stand that is no call. ``shape`` is the whole turn: ``"text"`` in
    which calls stand, ``"messages"`` of channels, or ``"blocks"`` in a fixed order. Raises ``ValueError`` for calls
    that cannot be read back.
    """

    name: str
    models: tuple[str, ...]
    source: str
    call: tuple[str, ...]
    trigger: str
    markers: tuple[str, ...] = ()
    style: str = "json"
    begin: tuple[str, ...] = ()
    end: str = ""
    between: str = ""
    lead: str = ""
    any_order: bool = False
    answers: tuple[tuple[str, str], ...] = ()
    reasoning: Reasoning | None = None
    shape: Literal["text", "messages", "blocks"] = "text"
    #: calls of tools that a service has built in; none for most families
    builtin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for call in (*self.call, *self.builtin):
            fields = re.findall("«([a-z]+)»", call)
            if sorted(set(fields) & {"name", "arguments"}) != ["arguments", "name"]:
                raise ValueError(f"ToolFormat: a call holds «name» and «arguments»: {call!r:.80}")
            if len(fields) != len(set(fields)) or set(fields) - {
                "name",
                "arguments",
                "number",
                "id",
            }:
                raise ValueError(f"ToolFormat: a call holds each field once: {call!r:.80}")
            if fields.index("name") > fields.index("arguments") or call.startswith("«"):
                raise ValueError(
                    f"ToolFormat: a call begins with a text, and its name comes first: {call!r:.80}"
                )
        if self.style not in STYLES:
            raise ValueError(
                f"ToolFormat: {self.style!r:.60} is no style; there are {', '.join(STYLES)}"
            )
        if not self.call or not self.trigger:
            raise ValueError("ToolFormat: there is no call, or no trigger")
        heads = self.begin or tuple(call.partition("«")[0] for call in self.call)
        if self.shape == "text" and not all(head.startswith(self.trigger) for head in heads):
            raise ValueError(f"ToolFormat: the trigger {self.trigger!r:.80} begins no call")


_THINK = ("<think>", "</think>")
_TOOL_CALL = ("<tool_call>", "</tool_call>")
_DEEPSEEK = (
    *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>"),
    *("<｜tool▁call▁end｜>", "<｜tool▁sep｜>"),
)
_ARGUMENT_MARKERS = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_COMMAND_TEXT = ("<|START_TEXT|>", "<|END_TEXT|>")
_COMMAND_RESPONSE = ("<|START_RESPONSE|>", "<|END_RESPONSE|>")
_M3 = "]<]minimax[>["
_HERMES_CALL = '<tool_call>\n{"name": "«name»", "arguments": «arguments»}\n</tool_call>'
_QWEN_THINKS = Reasoning("<think>", "</think>", "\n\n", empty="<think>\n\n</think>\n\n")
_QWEN_CODER_CALL = "<tool_call>\n<function=«name»>\n«arguments»</function>\n</tool_call>"
_DEEPSEEK_THINKS = Reasoning("<think>", "</think>", opened=True, empty="</think>")
_GLM_CALL = "<tool_call>«name»«arguments»</tool_call>"


def _dsml(name: str, models: tuple[str, ...], source: str, calls: str, gap: str) -> ToolFormat:
    """The formats of DeepSeek V3.2 and later, which differ in names of tags."""
    mark = "｜DSML｜"
    return ToolFormat(
        name,
        models,
        source,
        call=(f'<{mark}{gap}invoke name="«name»">\n«arguments»</{mark}{gap}invoke>\n',),
        trigger=f"<{mark}{calls}>",
        markers=(*_THINK, mark),
        style="deepseek_v4_1_xml" if gap else "deepseek_xml",
        begin=(f"<{mark}{calls}>\n",),
        end=f"</{mark}{calls}>",
        lead="\n\n",
        reasoning=_DEEPSEEK_THINKS,
    )


#: By name; each name of a model stands in one of them.
FAMILIES: dict[str, ToolFormat] = {
    one.name: one
    for one in (
        ToolFormat(
            "llama3",
            ("llama", "llama_3", "llama_3_1", "llama_3_2", "llama_3_3", "meta_llama_3"),
            "https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/ (JSON based tool calling)",
            call=('{"name": "«name»", "parameters": «arguments»}',),
            trigger='{"name": ',
        ),
        ToolFormat(
            "llama3_python_tag",
            ("llama_python_tag", "llama_3_python_tag"),
            "vllm-project/vllm, llama_tool_parser.py: calls behind <|python_tag|>, with '; ' between them",
            call=('{"name": "«name»", "parameters": «arguments»}',),
            trigger="<|python_tag|>",
            markers=("<|python_tag|>",),
            begin=("<|python_tag|>",),
            between="; ",
        ),
        ToolFormat(
            "hermes",
            ("hermes_2_pro", "hermes_3", "nous_hermes", "qwen_2_5", "qwen2_5"),
            "NousResearch/Hermes-Function-Calling, README.md",
            call=(_HERMES_CALL,),
            trigger="<tool_call>",
            markers=_TOOL_CALL,
        ),
        ToolFormat(
            "qwen3",
            ("qwen_3", "qwen3_next", "qwq"),
            "https://qwen.readthedocs.io/en/latest/framework/function_call.html",
            call=(_HERMES_CALL,),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK),
            reasoning=_QWEN_THINKS,
        ),
        ToolFormat(
            "qwen3_coder",
            ("qwen_3_coder", "qwen3_coder_next"),
            "https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct (chat_template.jinja)",
            call=(_QWEN_CODER_CALL,),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK),
            style="qwen_xml",
            reasoning=_QWEN_THINKS,
        ),
        ToolFormat(
            "qwen3_5",
            ("qwen_3_5", "qwen_3_6", "qwen3_6"),
            "https://huggingface.co/Qwen/Qwen3.5-35B-A3B (chat_template.jinja)",
            call=(_QWEN_CODER_CALL,),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK),
            style="qwen_xml",
            reasoning=Reasoning(
                "<think>", "</think>", "\n\n", opened=True, empty="<think>\n\n</think>\n\n"
            ),
        ),
        ToolFormat(
            "mimo",
            ("mimo_v2", "mimo_v2_6"),
            "https://huggingface.co/XiaomiMiMo/MiMo-V2.6-Pro-RL (chat_template.jinja)",
            call=("<tool_call><function=«name»>«arguments»</function></tool_call>",),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK),
            style="qwen_xml",
            reasoning=Reasoning("<think>", "</think>", empty="<think></think>"),
        ),
        ToolFormat(
            "exaone4",
            ("exaone", "exaone_4", "exaone_4_0"),
            "https://huggingface.co/LGAI-EXAONE/EXAONE-4.0-32B (chat_template.jinja)",
            call=('<tool_call>{"name": "«name»", "arguments": «arguments»}</tool_call>',),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK),
            reasoning=Reasoning(
                "<think>", "</think>", "\n\n", opened=True, empty="<think>\n\n</think>\n\n"
            ),
        ),
        ToolFormat(
            "mistral_v3",
            ("mistral_v7", "mistral_7b_instruct_v0_3", "mistral_nemo", "mistral_small_3_1"),
            "mistralai/cookbook, concept-deep-dive/tokenization; "
            "vllm-project/vllm, examples/tool_chat_template_mistral3.jinja",
            call=(
                '{"name": "«name»", "arguments": «arguments»}',
                '{"name": "«name»", "arguments": «arguments», "id": "«id»"}',
            ),
            trigger="[TOOL_CALLS]",
            markers=("[TOOL_CALLS]",),
            begin=("[TOOL_CALLS] [", "[TOOL_CALLS]["),
            end="]",
            between=", ",
        ),
        ToolFormat(
            "mistral",
            (
                "mistral_v11",
                "mistral_v13",
                "magistral",
                "devstral",
                "ministral_3",
                "mistral_small_3_2",
            ),
            "mistralai/mistral-common; chat_template.jinja of Ministral-3 and Devstral-Small-2",
            call=(
                "[TOOL_CALLS]«name»[ARGS]«arguments»",
                "[TOOL_CALLS]«name»[CALL_ID]«id»[ARGS]«arguments»",
            ),
            trigger="[TOOL_CALLS]",
            markers=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"),
            reasoning=Reasoning("[THINK]", "[/THINK]"),
        ),
        ToolFormat(
            "deepseek_v3",
            ("deepseek_v3_0324",),
            "https://huggingface.co/deepseek-ai/DeepSeek-V3 (tokenizer_config.json)",
            call=(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>«name»\n```json\n«arguments»\n```<｜tool▁call▁end｜>",
            ),
            trigger="<｜tool▁calls▁begin｜>",
            markers=_DEEPSEEK,
            begin=("<｜tool▁calls▁begin｜>",),
            end="<｜tool▁calls▁end｜>",
            between="\n",
        ),
        ToolFormat(
            "deepseek_r1",
            ("deepseek_r1_0528",),
            "https://huggingface.co/deepseek-ai/DeepSeek-R1 (tokenizer_config.json)",
            call=(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>«name»\n```json\n«arguments»\n```<｜tool▁call▁end｜>",
            ),
            trigger="<｜tool▁calls▁begin｜>",
            markers=(*_DEEPSEEK, *_THINK),
            begin=("<｜tool▁calls▁begin｜>",),
            end="<｜tool▁calls▁end｜>",
            between="\n",
            reasoning=Reasoning("<think>", "</think>", opened=True),
        ),
        ToolFormat(
            "deepseek_v3_1",
            ("deepseek_v3_1_terminus", "deepseek_v3_2_exp"),
            "https://huggingface.co/deepseek-ai/DeepSeek-V3.1 (tokenizer_config.json)",
            call=("<｜tool▁call▁begin｜>«name»<｜tool▁sep｜>«arguments»<｜tool▁call▁end｜>",),
            trigger="<｜tool▁calls▁begin｜>",
            markers=(*_DEEPSEEK, *_THINK),
            begin=("<｜tool▁calls▁begin｜>",),
            end="<｜tool▁calls▁end｜>",
            reasoning=_DEEPSEEK_THINKS,
        ),
        _dsml(
            "deepseek_v3_2",
            (),
            "https://huggingface.co/deepseek-ai/DeepSeek-V3.2 (encoding)",
            "function_calls",
            "",
        ),
        _dsml(
            "deepseek_v4",
            (),
            "https://huggingface.co/deepseek-ai/DeepSeek-V4-Pro (encoding)",
            "tool_calls",
            "",
        ),
        _dsml(
            "deepseek_v4_1",
            ("deepseek_v4_1_flash",),
            "https://huggingface.co/deepseek-ai/DeepSeek-V4.1-Flash (encoding)",
            " calls",
            " ",
        ),
        ToolFormat(
            "kimi_k2",
            ("kimi", "kimi_k2_5", "kimi_k2_thinking"),
            "https://huggingface.co/moonshotai/Kimi-K2-Instruct (docs/tool_call_guidance.md)",
            call=(
                "<|tool_call_begin|>functions.«name»:«number»<|tool_call_argument_begin|>«arguments»<|tool_call_end|>",
            ),
            trigger="<|tool_calls_section_begin|>",
            markers=(
                *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
                *("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
                *_THINK,
            ),
            begin=("<|tool_calls_section_begin|>",),
            end="<|tool_calls_section_end|>",
            reasoning=Reasoning("<think>", "</think>", empty="<think></think>"),
        ),
        ToolFormat(
            "kimi_k3",
            (),
            "https://huggingface.co/moonshotai/Kimi-K3 (chat_template.jinja)",
            call=(
                '<|open|>call tool="«name»" index="«number»"<|sep|>«arguments»<|close|>call<|sep|>',
            ),
            trigger="<|open|>tools<|sep|>",
            markers=("<|open|>", "<|close|>", "<|sep|>"),
            style="kimi_k3_xml",
            any_order=True,
            begin=("<|open|>tools<|sep|>",),
            end="<|close|>tools<|sep|>",
            reasoning=Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>", opened=True),
            shape="blocks",
        ),
        ToolFormat(
            "glm_4_5",
            ("glm_4_6", "glm4_5", "glm4_6"),
            "https://huggingface.co/zai-org/GLM-4.5 (chat_template.jinja)",
            call=(_GLM_CALL,),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK, *_ARGUMENT_MARKERS),
            style="glm_xml",
            lead="\n",
            reasoning=Reasoning("\n<think>", "</think>", empty="\n<think></think>"),
        ),
        ToolFormat(
            "glm_4_7",
            ("glm_5", "glm4_7", "glm_4_7_flash"),
            "https://huggingface.co/zai-org/GLM-4.7-Flash (chat_template.jinja)",
            call=(_GLM_CALL,),
            trigger="<tool_call>",
            markers=(*_TOOL_CALL, *_THINK, *_ARGUMENT_MARKERS),
            style="glm_xml",
            reasoning=Reasoning("<think>", "</think>", opened=True, empty="</think>"),
        ),
        ToolFormat(
            "minimax_m2",
            ("minimax", "minimax_m2_5", "minimax_m2_7"),
            "https://huggingface.co/MiniMaxAI/MiniMax-M2 (chat_template.jinja)",
            call=('<invoke name="«name»">\n«arguments»</invoke>\n',),
            trigger="<minimax:tool_call>",
            markers=("<minimax:tool_call>", "</minimax:tool_call>", *_THINK),
            style="minimax_xml",
            begin=("<minimax:tool_call>\n",),
            end="</minimax:tool_call>",
            lead="\n",
            reasoning=Reasoning(
                "<think>", "</think>", "\n\n", opened=True, empty="<think>\n</think>\n\n"
            ),
        ),
        ToolFormat(
            "minimax_m3",
            (),
            "https://huggingface.co/MiniMaxAI/MiniMax-M3 (chat_template.jinja)",
            call=(f'{_M3}<invoke name="«name»">«arguments»{_M3}</invoke>\n',),
            trigger=f"{_M3}<tool_call>",
            markers=(_M3, "<mm:think>", "</mm:think>"),
            style="minimax_m3_xml",
            begin=(f"{_M3}<tool_call>\n",),
            end=f"{_M3}</tool_call>",
            reasoning=Reasoning("<mm:think>", "</mm:think>", opened=True, empty="</mm:think>"),
        ),
        ToolFormat(
            "command_a",
            ("command_r7b", "command_r", "cohere_command_a"),
            "https://huggingface.co/CohereLabs/c4ai-command-r7b-12-2024 (tool_use template)",
            call=(
                '{"tool_call_id": "«number»", "tool_name": "«name»", "parameters": «arguments»}',
            ),
            trigger="<|START_ACTION|>",
            markers=(
                *("<|START_ACTION|>", "<|END_ACTION|>"),
                *("<|START_THINKING|>", "<|END_THINKING|>"),
                *_COMMAND_TEXT,
                *_COMMAND_RESPONSE,
            ),
            answers=(_COMMAND_RESPONSE, _COMMAND_TEXT),
            begin=("<|START_ACTION|>[\n    ", "<|START_ACTION|>["),
            end="\n]<|END_ACTION|>",
            between=",\n    ",
            reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
        ),
        ToolFormat(
            "cohere",
            ("command_a_plus", "cohere_cmd5"),
            "https://pypi.org/project/cohere-melody/ (the cmd5 format)",
            call=('<cofl:tool_call id="«number»" name="«name»">«arguments»</cofl:tool_call>',),
            trigger="<cofl:tool_calls>",
            markers=(
                *("<cofl:tool_calls>", "</cofl:tool_calls>"),
                *("<|START_THINKING|>", "<|END_THINKING|>"),
                *_COMMAND_TEXT,
            ),
            answers=(_COMMAND_TEXT,),
            style="cohere_xml",
            begin=("<cofl:tool_calls>",),
            end="</cofl:tool_calls>",
            reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>", opened=True),
        ),
        ToolFormat(
            "gemma_4",
            ("gemma", "gemma4"),
            "https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4",
            call=("<|tool_call>call:«name»«arguments»<tool_call|>",),
            trigger="<|tool_call>",
            markers=("<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>", '<|"|>'),
            style="gemma",
            any_order=True,
            reasoning=Reasoning(
                "<|channel>thought\n", "<channel|>", empty="<|channel>thought\n<channel|>"
            ),
        ),
        ToolFormat(
            "harmony",
            ("gpt_oss",),
            "https://developers.openai.com/cookbook/articles/openai-harmony; "
            "https://huggingface.co/openai/gpt-oss-120b (chat_template.jinja)",
            call=(
                "<|channel|>commentary to=functions.«name» <|constrain|>json<|message|>«arguments»<|call|>",
                "<|channel|>commentary to=functions.«name»<|constrain|>json<|message|>«arguments»<|call|>",
                " to=functions.«name»<|channel|>commentary <|constrain|>json<|message|>«arguments»<|call|>",
                " to=functions.«name»<|channel|>commentary json<|message|>«arguments»<|call|>",
            ),
            trigger="<|channel|>commentary to=",
            markers=(
                *("<|channel|>", "<|message|>", "<|constrain|>", "<|call|>"),
                *("<|start|>", "<|end|>", "<|return|>"),
            ),
            builtin=(
                "<|channel|>commentary to=«name» code<|message|>«arguments»<|call|>",
                " to=«name»<|channel|>commentary code<|message|>«arguments»<|call|>",
            ),
            reasoning=Reasoning("<|channel|>analysis<|message|>", "<|end|>"),
            shape="messages",
        ),
    )
}
