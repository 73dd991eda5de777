"""py_debug's names: from py3_tools.py_debug import Debugger."""
from probetui import Debugger

__all__ = ["Debugger"]
