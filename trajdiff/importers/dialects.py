"""Adds one message in whichever dialect it is written: chat completions, Anthropic blocks or LangChain."""

from __future__ import annotations

from typing import Any

from trajdiff.importers.anthropic_blocks import add_block_message, has_blocks
from trajdiff.importers.chat_messages import add_chat_message
from trajdiff.importers.langchain_messages import as_chat
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder


def add_message(builder: StepBuilder, message: Any, index: int, at: str, notices: Notices) -> None:
    """Add the steps of one message; nothing is left out."""
    plain = as_chat(message)
    if plain is not None:
        before = len(builder.calls())
        add_chat_message(builder, plain, index, at, notices)
        for draft in builder.calls()[before:]:
            # Its calls may lie in any of several places: the message is the one that is sure.
            draft["source"] = builder.source(at, index)
    elif has_blocks(message):
        add_block_message(builder, message, index, at)
    else:
        add_chat_message(builder, message, index, at, notices)
