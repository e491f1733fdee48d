"""Turns of an assistant as the chat templates of families write them.

Each function is what the template says of one message, read there; ``SOURCES`` names where. Nothing here is taken from
the table of formats that is tested with it. Those of Qwen 3, 3.5 and Coder, Llama 3.1, DeepSeek R1, Mistral, Command A,
Kimi K2 and GLM were held against what the templates themselves render, for all calls of ``samples.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Call = tuple[str, dict[str, Any]]

#: Where the templates of the families stand, in public.
SOURCES = {
    "llama3": "vllm-project/vllm, examples/tool_chat_template_llama3.1_json.jinja",
    "hermes": "EricLBuehler/mistral.rs, chat_templates/nousresearch_hermes3_tool_use.jinja",
    "qwen3": "Qwen/Qwen3-0.6B, tokenizer_config.json",
    "qwen3_coder": "vllm-project/vllm, examples/tool_chat_template_qwen3coder.jinja",
    "qwen3_5": "Qwen/Qwen3.5-4B, chat_template.jinja",
    "mimo": "XiaomiMiMo/MiMo-V2.6-Pro-RL, chat_template.jinja",
    "exaone4": "ollama/ollama, model/renderers/exaone4.go; LGAI-EXAONE/EXAONE-4.0-1.2B",
    "mistral_v3": "vllm-project/vllm, examples/tool_chat_template_mistral3.jinja",
    "mistral": "mistralai/Ministral-3-8B-Instruct-2512, chat_template.jinja",
    "deepseek_v3": "vllm-project/vllm, examples/tool_chat_template_deepseekv3.jinja",
    "deepseek_r1": "vllm-project/vllm, examples/tool_chat_template_deepseekr1.jinja",
    "deepseek_v3_1": "ggml-org/llama.cpp, models/templates/deepseek-ai-DeepSeek-V3.1.jinja",
    "deepseek_v3_2": "ggml-org/llama.cpp, models/templates/DeepSeek-V3.2.jinja",
    "deepseek_v4": "deepseek-ai/DeepSeek-V4-Pro, encoding",
    "deepseek_v4_1": "vllm-project/vllm, tests of parser/deepseek_v41.py",
    "kimi_k2": "moonshotai/Kimi-K2-Instruct, docs/tool_call_guidance.md",
    "kimi_k3": "ggml-org/llama.cpp, models/templates/Kimi-K3.jinja",
    "glm_4_5": "ggml-org/llama.cpp, models/templates/glm_4_5.jinja and GLM-4.6.jinja",
    "glm_4_7": "zai-org/GLM-4.7-Flash and zai-org/GLM-5.1, chat_template.jinja",
    "minimax_m2": "ggml-org/llama.cpp, models/templates/unsloth-MiniMax-M2.jinja",
    "command_a": "ggml-org/llama.cpp, models/templates/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja",
    "cohere": "cohere-ai/melody, tests of the cmd5 format",
    "gemma_4": "ggml-org/llama.cpp, models/templates/gemma4.jinja",
    "harmony": "openai/openai-cookbook, articles/openai-harmony.md; openai/gpt-oss-20b, chat_template.jinja",
}


def tojson(value: Any) -> str:
    """As the filter of chat templates writes it."""
    return json.dumps(value, ensure_ascii=False)


def _hermes(content: str, calls: Sequence[Call]) -> str:
    lines = [content] if content else []
    for name, arguments in calls:
        lines.append(
            f'<tool_call>\n{{"name": "{name}", "arguments": {tojson(arguments)}}}\n</tool_call>'
        )
    return "\n".join(lines)


def _llama(content: str, calls: Sequence[Call]) -> str:
    ((name, arguments),) = calls
    return content + f'{{"name": "{name}", "parameters": {tojson(arguments)}}}'


def _qwen_value(value: Any) -> str:
    return value if isinstance(value, str) else tojson(value)


def _qwen_coder(content: str, calls: Sequence[Call]) -> str:
    text = f"{content.strip()}\n\n" if content.strip() else ""
    written = []
    for name, arguments in calls:
        parameters = "".join(
            f"<parameter={key}>\n{_qwen_value(value)}\n</parameter>\n"
            for key, value in arguments.items()
        )
        written.append(f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>")
    return text + "\n".join(written)


def _mimo(content: str, calls: Sequence[Call]) -> str:
    for name, arguments in calls:
        parameters = "".join(
            f"<parameter={key}>{_qwen_value(value)}</parameter>" for key, value in arguments.items()
        )
        content += f"<tool_call><function={name}>{parameters}</function></tool_call>"
    return content


def _exaone(content: str, calls: Sequence[Call]) -> str:
    written = [
        f'<tool_call>{{"name": "{name}", "arguments": {tojson(arguments)}}}</tool_call>'
        for name, arguments in calls
    ]
    return "\n".join([content, *written] if content else written)


def _mistral_v3(content: str, calls: Sequence[Call]) -> str:
    written = [
        f'{{"name": "{name}", "arguments": {tojson(arguments)}, "id": "{"abc" * 3}"}}'
        for name, arguments in calls
    ]
    return f"[TOOL_CALLS] [{', '.join(written)}]"


def _mistral(content: str, calls: Sequence[Call]) -> str:
    return content + "".join(
        f"[TOOL_CALLS]{name}[ARGS]{tojson(arguments)}" for name, arguments in calls
    )


def _deepseek_v3(content: str, calls: Sequence[Call]) -> str:
    written = [
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{tojson(arguments)}\n```<｜tool▁call▁end｜>"
        for name, arguments in calls
    ]
    return content + "<｜tool▁calls▁begin｜>" + "\n".join(written) + "<｜tool▁calls▁end｜>"


def _deepseek_v3_1(content: str, calls: Sequence[Call]) -> str:
    written = [
        f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{tojson(arguments)}<｜tool▁call▁end｜>"
        for name, arguments in calls
    ]
    return content + "<｜tool▁calls▁begin｜>" + "".join(written) + "<｜tool▁calls▁end｜>"


def _dsml(calls_tag: str, gap: str = "") -> Callable[[str, Sequence[Call]], str]:
    def write(content: str, calls: Sequence[Call]) -> str:
        text = f"{content}\n\n<｜DSML｜{calls_tag}>"
        for name, arguments in calls:
            parameters = "\n".join(
                f'<｜DSML｜{gap}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
                f"{_qwen_value(value)}</｜DSML｜{gap}parameter>"
                for key, value in arguments.items()
            )
            text += f'\n<｜DSML｜{gap}invoke name="{name}">\n{parameters}\n</｜DSML｜{gap}invoke>'
        return f"{text}\n</｜DSML｜{calls_tag}>"

    return write


def _kimi_k2(content: str, calls: Sequence[Call]) -> str:
    written = [
        f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{tojson(arguments)}<|tool_call_end|>"
        for number, (name, arguments) in enumerate(calls)
    ]
    return (
        content + "<|tool_calls_section_begin|>" + "".join(written) + "<|tool_calls_section_end|>"
    )


_K3_TYPES = {bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}


def _kimi_k3(content: str, calls: Sequence[Call]) -> str:
    """What follows the prompt, which has opened the response."""
    text = f"{content}<|close|>response<|sep|><|open|>tools<|sep|>"
    for number, (name, arguments) in enumerate(calls, 1):
        text += f'<|open|>call tool="{name}" index="{number}"<|sep|>'
        for key, value in arguments.items():
            kind = "null" if value is None else _K3_TYPES.get(type(value), "array")
            text += f'<|open|>argument key="{key}" type="{kind}"<|sep|>{_qwen_value(value)}<|close|>argument<|sep|>'
        text += "<|close|>call<|sep|>"
    return f"{text}<|close|>tools<|sep|><|close|>message<|sep|>"


def _glm_4_5(content: str, calls: Sequence[Call]) -> str:
    text = f"\n{content.strip()}" if content.strip() else ""
    for name, arguments in calls:
        pairs = "".join(
            f"\n<arg_key>{key}</arg_key>\n<arg_value>{_qwen_value(value)}</arg_value>"
            for key, value in arguments.items()
        )
        text += f"\n<tool_call>{name}{pairs}\n</tool_call>"
    return text


def _glm_4_7(content: str, calls: Sequence[Call]) -> str:
    for name, arguments in calls:
        pairs = "".join(
            f"<arg_key>{key}</arg_key><arg_value>{_qwen_value(value)}</arg_value>"
            for key, value in arguments.items()
        )
        content += f"<tool_call>{name}{pairs}</tool_call>"
    return content


def _minimax_m2(content: str, calls: Sequence[Call]) -> str:
    text = f"{content}\n<minimax:tool_call>\n"
    for name, arguments in calls:
        parameters = "".join(
            f'<parameter name="{key}">{_qwen_value(value)}</parameter>\n'
            for key, value in arguments.items()
        )
        text += f'<invoke name="{name}">\n{parameters}</invoke>\n'
    return f"{text}</minimax:tool_call>"


def _command_a(content: str, calls: Sequence[Call]) -> str:
    written = ",\n    ".join(
        f'{{"tool_call_id": "{number}", "tool_name": "{name}", "parameters": {tojson(arguments)}}}'
        for number, (name, arguments) in enumerate(calls)
    )
    return f"<|START_ACTION|>[\n    {written}\n]<|END_ACTION|>"


def _cohere_value(value: Any, name: str | None) -> str:
    kinds = {str: "raw", dict: "dict", list: "list"}
    kind = kinds.get(type(value), "json")
    if kind == "dict":
        inner = "".join(_cohere_value(one, key) for key, one in value.items())
    elif kind == "list":
        inner = "".join(_cohere_value(one, None) for one in value)
    else:
        inner = _qwen_value(value)
    named = "" if name is None else f' name="{name}"'
    return f'<cofl:value{named} type="{kind}">{inner}</cofl:value>'


def _cohere(content: str, calls: Sequence[Call]) -> str:
    text = content + "<cofl:tool_calls>"
    for number, (name, arguments) in enumerate(calls):
        inner = "".join(_cohere_value(value, key) for key, value in arguments.items())
        text += f'<cofl:tool_call id="{number}" name="{name}">{inner}</cofl:tool_call>'
    return f"{text}</cofl:tool_calls>"


def _gemma_value(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{key}:{_gemma_value(one)}" for key, one in sorted(value.items())) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma_value, value)) + "]"
    return tojson(value)


def _gemma_4(content: str, calls: Sequence[Call]) -> str:
    return content + "".join(
        f"<|tool_call>call:{name}{_gemma_value(arguments)}<tool_call|>" for name, arguments in calls
    )


def _harmony(content: str, calls: Sequence[Call]) -> str:
    """What follows ``<|start|>assistant``; ``content`` is what the model says before it calls."""
    messages = [f"<|channel|>commentary<|message|>{content}<|end|>"] if content else []
    messages += [
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{tojson(arguments)}<|call|>"
        for name, arguments in calls
    ]
    return "<|start|>assistant".join(messages)


#: What a family writes for a text and calls behind it.
TURNS: dict[str, Callable[[str, Sequence[Call]], str]] = {
    "llama3": _llama,
    "hermes": _hermes,
    "qwen3": _hermes,
    "qwen3_coder": _qwen_coder,
    "qwen3_5": _qwen_coder,
    "mimo": _mimo,
    "exaone4": _exaone,
    "mistral_v3": _mistral_v3,
    "mistral": _mistral,
    "deepseek_v3": _deepseek_v3,
    "deepseek_r1": _deepseek_v3,
    "deepseek_v3_1": _deepseek_v3_1,
    "deepseek_v3_2": _dsml("function_calls"),
    "deepseek_v4": _dsml("tool_calls"),
    "deepseek_v4_1": _dsml(" calls", " "),
    "kimi_k2": _kimi_k2,
    "kimi_k3": _kimi_k3,
    "glm_4_5": _glm_4_5,
    "glm_4_7": _glm_4_7,
    "minimax_m2": _minimax_m2,
    "command_a": _command_a,
    "cohere": _cohere,
    "gemma_4": _gemma_4,
    "harmony": _harmony,
}

#: Families whose templates write one call a turn, or no text beside calls.
ONE_CALL = {"llama3"}
NO_TEXT = {"mistral_v3", "command_a"}

#: Thoughts as the templates write them before the answer, where the prompt has not begun them.
THOUGHTS: dict[str, Callable[[str], str]] = {
    "qwen3": lambda text: f"<think>\n{text}\n</think>\n\n",
    "qwen3_5": lambda text: f"<think>\n{text}\n</think>\n\n",
    "mimo": lambda text: f"<think>{text}</think>",
    "exaone4": lambda text: f"<think>\n{text}\n</think>\n\n",
    "mistral": lambda text: f"[THINK]{text}[/THINK]",
    "deepseek_r1": lambda text: f"<think>\n{text}\n</think>",
    "deepseek_v3_1": lambda text: f"<think>{text}</think>",
    "deepseek_v3_2": lambda text: f"<think>{text}</think>",
    "kimi_k2": lambda text: f"<think>{text}</think>",
    "glm_4_5": lambda text: f"\n<think>{text}</think>",
    "glm_4_7": lambda text: f"<think>{text}</think>",
    "minimax_m2": lambda text: f"<think>\n{text}\n</think>\n\n",
    "command_a": lambda text: f"<|START_THINKING|>{text}<|END_THINKING|>",
    "cohere": lambda text: f"<|START_THINKING|>{text}<|END_THINKING|>",
    "gemma_4": lambda text: f"<|channel>thought\n{text}<channel|>",
    "harmony": lambda text: f"<|channel|>analysis<|message|>{text}<|end|><|start|>assistant",
}
