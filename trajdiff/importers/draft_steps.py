"""The part of a drafted mapping about steps: a built-in reader where the entries are messages, else rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajdiff.importers.draft_guesses import entry_guess, kind_key
from trajdiff.importers.draft_shape import Layout
from trajdiff.importers.toml_text import can_be_key, literal, path_text, toml

# fmt: off
_KINDS = ("kind", "type", "event", "event_type", "action_type", "role")
_TOOLS = ("tool", "tool_name", "fn", "function", "function_name", "name", "action")
_ARGUMENTS = ("arguments", "args", "input", "action_input", "tool_input", "params", "parameters", "kwargs")
_RESULTS = ("result", "output", "observation", "response", "returned", "tool_output", "return")
_ERRORS = ("error", "failed", "is_error", "err")
_TEXTS = ("text", "content", "message", "body", "thought", "final_answer")
_ACTORS = ("actor", "role", "who", "speaker", "author", "from", "source")
_IDS = ("call_id", "tool_call_id", "id", "cid")
_AGENT = frozenset(("agent", "assistant", "ai", "bot", "model"))
_SYSTEM = frozenset(("system", "developer"))
# fmt: on
_MOST = 8

Entries = Sequence[dict[str, Any]]


def steps_draft(name: str, layout: Layout) -> list[str]:
    """The lines about steps."""
    head = f"[map.{name}.steps]"
    if not layout.has_steps:
        return [
            f"# {head}",
            '# path = "log[*]"   # no list looks like the steps of a trial: write where it is',
        ]
    level = layout.levels[-1]
    if not level.path:
        return ["# every record looks like one message: a file is one trial; see --outcomes for a manifest"]
    path = path_text(level.path)
    lines = [head, f"path = {toml(path + '[*]')}"]
    reader = _reader(level.entries)
    if reader is not None:
        return [*lines, f'decode = "{reader}"']
    for value, entries in _by_kind(level.entries):
        lines += ["", *_rule(name, value, entries)]
    return lines


def _reader(entries: Entries) -> str | None:
    """The built-in reader that fits the messages, if they are messages of a known dialect."""
    if all("parts" in one for one in entries):
        return "gemini_parts"
    if all(one.get("type") in ("human", "ai", "system", "tool") for one in entries):
        return "langchain_messages"
    known = ("system", "developer", "user", "assistant", "tool", "function")
    if not all(one.get("role") in known for one in entries):
        return None
    blocks = [block for one in entries if isinstance(one.get("content"), list) for block in one["content"]]
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    return "anthropic_blocks" if "tool_use" in kinds or "tool_result" in kinds else "openai_messages"


def _by_kind(entries: Entries) -> list[tuple[tuple[str, str] | None, Entries]]:
    """The entries by the word that tells their kinds apart, in order of appearance; None if there is none."""
    for key in _KINDS:
        words = [one.get(key) for one in entries]
        distinct = list(dict.fromkeys(word for word in words if isinstance(word, str)))
        if all(isinstance(word, str) for word in words) and 0 < len(distinct) <= _MOST:
            return [((key, word), [one for one in entries if one[key] == word]) for word in distinct]
    guess = kind_key(entries)
    if guess is not None:
        distinct = list(dict.fromkeys(one[guess] for one in entries))
        return [((guess, word), [one for one in entries if one[guess] == word]) for word in distinct]
    return [(None, entries)]


def _rule(name: str, kind: tuple[str, str] | None, entries: Entries) -> list[str]:
    head = f"[[map.{name}.steps.when]]"
    lines = [head]
    if kind is not None:
        lines.append(f"if    = {toml(f'{_field(kind[0])} == {literal(kind[1])}')}")
    known = None if kind is None else kind[0]
    tool = _key(entries, _TOOLS, str, but=known)
    arguments, result = _key(entries, _ARGUMENTS), _key(entries, _RESULTS)
    text = _key(entries, _TEXTS)
    if tool is not None and (arguments is not None or result is not None):
        if kind is None:
            lines.append(f"if    = {toml(_field(tool))}")
        lines += ['emit  = "tool_call"', f"name  = {toml(_field(tool))}"]
        if arguments is not None:
            encoded = any(isinstance(one.get(arguments), str) for one in entries)
            path = toml(_field(arguments))
            lines.append(
                f'arguments = {{path = {path}, decode = "json"}}' if encoded else f"arguments = {path}"
            )
        lines += _optional(entries, (("result", _RESULTS), ("error", _ERRORS), ("id", _IDS)))
        if kind is None and text is not None:
            lines += ["", head, f"if    = {toml(_field(text))}", 'emit  = "message"', *_message(entries, text)]
        return lines
    if result is not None and text is None:
        lines += ['emit  = "tool_result"', f"text  = {toml(_field(result))}"]
        return lines + _optional(entries, (("error", _ERRORS), ("id", _IDS)))
    if text is not None:
        return [*lines, 'emit  = "message"', *_message(entries, text)]
    guess = entry_guess(entries, known)
    if guess is not None:
        return [*lines, *guess]
    return [*lines, 'emit  = "skip"   # nothing here looks like a call or a message: check it']


def _message(entries: Entries, text: str) -> list[str]:
    actor = _key(entries, _ACTORS, str)
    lines = []
    if actor is not None:
        words = list(dict.fromkeys(one[actor] for one in entries if isinstance(one.get(actor), str)))[:_MOST]
        pairs = ", ".join(f"{toml(word)} = {toml(_meaning(word))}" for word in words if can_be_key(word))
        lines.append(f"actor = {{path = {toml(_field(actor))}, values = {{{pairs}}}}}")
    return [*lines, f"text  = {toml(_field(text))}"]


def _meaning(word: str) -> str:
    lower = word.lower()
    return "agent" if lower in _AGENT else "system" if lower in _SYSTEM else "user"


def _optional(entries: Entries, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    found = [(field, _key(entries, names)) for field, names in wanted]
    return [f"{field:<5} = {toml(_field(key))}" for field, key in found if key is not None]


def _key(
    entries: Entries, names: Sequence[str], kind: type | None = None, but: str | None = None
) -> str | None:
    for name in names:
        values = [one[name] for one in entries if name in one]
        if name != but and values and (kind is None or all(isinstance(one, kind) for one in values)):
            return name
    return None


def _field(key: str) -> str:
    return path_text((key,))
