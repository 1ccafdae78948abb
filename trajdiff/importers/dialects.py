"""Adds one message in whichever chat dialect it is written: chat completions or Anthropic blocks."""

from __future__ import annotations

from typing import Any

from trajdiff.importers.anthropic_blocks import add_block_message, has_blocks
from trajdiff.importers.chat_messages import add_chat_message
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder


def add_message(builder: StepBuilder, message: Any, index: int, at: str, notices: Notices) -> None:
    """Add the steps of one message; nothing is left out."""
    if has_blocks(message):
        add_block_message(builder, message, index, at)
    else:
        add_chat_message(builder, message, index, at, notices)
