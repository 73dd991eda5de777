"""The DAP request source, and Source objects for file names."""
from __future__ import annotations

import io
import linecache
import os
import sys
import tokenize
from typing import Any, Dict, Iterator, List, Optional

from .. import files
from .call import Call, Row
from .messages import Failure
from .sessions import Kept, Session

SOURCES_MAXIMUM = 1000
TEXT_MAXIMUM = 2 << 20


class _Sources(Kept):
    """Numbers (sourceReference) of sources that are in no file."""

    def __init__(self) -> None:
        self._names: List[str] = []

    def number(self, name: str) -> int:
        if name not in self._names:
            if len(self._names) >= SOURCES_MAXIMUM:
                return 0
            self._names.append(name)
        return self._names.index(name) + 1

    def name(self, number: int) -> str:
        if not 0 < number <= len(self._names):
            raise Failure("unknown sourceReference %d" % number)
        return self._names[number - 1]


def _sources(session: Session) -> _Sources:
    return session.keep("sources", _Sources)


def _cached(name: str) -> Optional[str]:
    """Returns the text of code that was typed or generated, if linecache has
    it; else None."""
    entry = linecache.cache.get(name)
    if type(entry) is tuple and len(entry) == 4:
        return "".join(entry[2])
    return None


def tell(session: Session, name: str) -> Dict[str, Any]:
    """Returns a DAP Source for a co_filename."""
    if not name.startswith("<"):
        return {"name": os.path.basename(name), "path": os.path.abspath(name)}
    told: Dict[str, Any] = {"name": name}
    if _cached(name) is not None:
        told["sourceReference"] = _sources(session).number(name)
    return told


def _known() -> Iterator[str]:
    for frame in sys._current_frames().values():
        while frame is not None:
            yield frame.f_code.co_filename
            frame = frame.f_back  # type: ignore[assignment]
    for module in list(sys.modules.values()):
        try:
            name = object.__getattribute__(module, "__dict__").get("__file__")
        except AttributeError:
            continue
        if type(name) is str:
            yield name
    yield from list(linecache.cache)


def _read(path: str) -> str:
    try:
        data = files.read_whole(path, TEXT_MAXIMUM, True)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding, "replace")
    except files.FileError as error:
        raise Failure(str(error)) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise Failure("%s cannot be read: %s" % (path, error)) from None


def _source(call: Call) -> Dict[str, Any]:
    source = call.arguments.object("source", None)
    number = call.arguments.integer("sourceReference", 0)
    if source is not None:
        number = source.integer("sourceReference", 0) or number
    if number:
        text = _cached(_sources(call.session).name(number))
        if text is None:
            raise Failure("the source text is no longer available")
        return {"content": text, "mimeType": "text/x-python"}
    if source is None:
        raise Failure("source and sourceReference are both missing")
    path = source.text("path")
    if not any(path == name or path == os.path.abspath(name)
               for name in _known()):
        raise Failure("%s is not a source file of the program" % path)
    return {"content": _read(path), "mimeType": "text/x-python"}


ROWS = (
    Row("source", _source, True),
)
