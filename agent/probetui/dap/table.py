"""The table of DAP requests; each module contributes its rows."""
from __future__ import annotations

from typing import Any, Dict, Optional

from . import (
    breakpoints,
    changing,
    completions,
    evaluating,
    exceptions,
    holding,
    jumping,
    lifecycle,
    setting,
    sources,
    stacks,
    state,
    stopped,
    tensors,
    variables,
)
from .call import Row

_ROWS: Dict[str, Row] = {
    row.command: row for module in (
        lifecycle, stacks, variables, sources, evaluating, completions,
        setting, breakpoints, exceptions, stopped, jumping, state, holding,
        changing, tensors)
    for row in module.ROWS}


def find(command: str) -> Optional[Row]:
    return _ROWS.get(command)


def capabilities(is_read_only: bool) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for row in _ROWS.values():
        if row.looks or not is_read_only:
            found.update(row.capabilities)
    return found
