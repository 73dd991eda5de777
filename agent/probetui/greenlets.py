"""The greenlets of the program. In each thread one greenlet runs; the frames
of the suspended ones are on no thread's stack. This module runs no code of the
program and does not import greenlet."""
from __future__ import annotations

import gc
import threading
from functools import partial
from types import FrameType, GetSetDescriptorType, WrapperDescriptorType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set

from . import inspection, objects
from .values import class_name

GREENLETS_MAXIMUM = 1000
_GETTERS = ("gr_frame", "parent")
_BOOTSTRAP = threading.Thread._bootstrap.__code__  # type: ignore[attr-defined]


class Greenlet(NamedTuple):
    """A greenlet that has begun and has not ended. Has no reference to the
    greenlet itself: the program could otherwise not see it end."""

    id: int
    kind: type
    frame: Optional[FrameType]  # innermost frame; None: it is running
    parent: int  # id() of the parent
    referents: List[int]  # id() of each object that it refers to


def _slots() -> Dict[str, Any]:
    """Returns the C-level attributes of greenlet.greenlet, which subclasses
    cannot override; empty if the program has not loaded greenlet."""
    kind = objects.loaded("greenlet", "greenlet")
    if type(kind) is not type:
        return {}
    slots = type.__dict__["__dict__"].__get__(kind)
    if any(type(slots.get(name)) is not GetSetDescriptorType
           for name in _GETTERS) or \
            type(slots.get("__bool__")) is not WrapperDescriptorType:
        return {}
    return dict(slots, kind=kind)


def _find(slots: Dict[str, Any]) -> Dict[int, Greenlet]:
    """Returns all greenlets that have begun and not ended; keys are id()."""
    def facts(found: List[Any]) -> Iterator[Any]:
        return zip(
            map(slots["__bool__"], found), map(id, found), map(type, found),
            map(slots["gr_frame"].__get__, found),
            map(id, map(slots["parent"].__get__, found)),
            map(list, map(partial(map, id), map(gc.get_referents, found))))

    rows = objects.instances(objects.classes(slots["kind"]), facts)
    return {row[1]: Greenlet(*row[1:]) for row in rows if row[0]}


def _outermost(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


class Greenlets:
    """Assigns greenlets to threads. A thread's main greenlet is the one
    without a parent. greenlet does not say which thread that is: if the main
    greenlet is suspended, its outermost frame identifies the thread; else it
    is the only thread that remains."""

    def __init__(self, found: Dict[int, Greenlet]) -> None:
        self._all = found
        # A greenlet refers to its own frame only after its thread has ended.
        over = {self._main(each) for each in found.values()
                if id(each.frame) in each.referents}
        mains = {key: self._main(each) for key, each in found.items()}
        used = {main for key, main in mains.items() if key != main} - over
        self._frames = inspection.thread_frames()
        self._known = {thread.ident: thread
                       for thread in inspection.known_threads()}
        # Thread idents by id of the main greenlet; None: unknown.
        self._idents = self._find_idents(used)
        self.of_ident: Dict[Optional[int], List[Greenlet]] = {}
        own = inspection.own_idents()
        for key, main in mains.items():
            ident = self._idents.get(main)
            if main in used and ident not in own:
                self.of_ident.setdefault(ident, []).append(found[key])

    def _main(self, each: Greenlet) -> int:
        seen: Set[int] = set()
        while each.parent in self._all and each.id not in seen:
            seen.add(each.id)
            each = self._all[each.parent]
        return each.id

    def _find_idents(self, mains: Set[int]) -> Dict[int, Optional[int]]:
        told: Dict[int, Optional[int]] = {}
        running = []
        for main in mains:
            frame = self._all[main].frame
            if frame is None:
                running.append(main)
            else:
                told[main] = self._begun_by(_outermost(frame))
        free = set(self._frames) - set(told.values())  # type: ignore[arg-type]
        if len(running) == len(free) == 1:
            told[running[0]] = free.pop()
        return told

    def _begun_by(self, frame: FrameType) -> Optional[int]:
        """Returns the ident of the thread whose outermost frame is `frame`;
        None: unknown."""
        if frame.f_code is _BOOTSTRAP:
            wanted = inspection.names_of(frame).get("self")
            return next((ident for ident, thread in self._known.items()
                         if thread is wanted), None)
        # The outermost frame is that of the main thread or of a thread that
        # was not made by threading.
        main = threading.main_thread().ident
        others = [ident for ident in self._frames if ident != main
                  and type(self._known.get(ident)) in (
                      type(None), threading._DummyThread)]
        return None if others else main

    def frame_of(self, key: int) -> Optional[FrameType]:
        """Returns the innermost frame of the greenlet with id `key`; None: no
        such greenlet."""
        for ident, each in ((ident, each) for ident, all_of in
                            self.of_ident.items() for each in all_of):
            if each.id == key:
                return each.frame or self._frames.get(ident or 0)
        return None


def _tell(each: Greenlet) -> Dict[str, Any]:
    told = {"id": each.id, "type": class_name(each.kind),
            "parent": each.parent, "is_running": each.frame is None,
            "func": None, "file": None, "lineno": None}
    if each.frame is not None:
        told.update(inspection.place(each.frame))
    return told


def _tell_all(found: List[Greenlet], ids: Set[int]) -> Dict[str, Any]:
    told = [_tell(each) for each in found[:GREENLETS_MAXIMUM]]
    for each in told:
        if each["parent"] not in ids:
            each["parent"] = None
    return {"greenlets": told, "greenlets_left_out": len(found) - len(told)}


def add_to(threads: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Adds to each thread's dict its greenlets, and appends an entry for
    greenlets whose thread is unknown. Returns threads unchanged if greenlet is
    not loaded."""
    slots = _slots()
    if not slots:
        return threads
    found = _find(slots)
    of_ident = Greenlets(found).of_ident
    for thread in threads:
        thread.update(_tell_all(of_ident.pop(thread["ident"], []), set(found)))
    rest = [each for all_of in of_ident.values() for each in all_of]
    if rest:
        threads.append(dict(
            dict.fromkeys(("tid", "ident", "name", "daemon", "func", "file",
                           "lineno")), is_main=False,
            **_tell_all(rest, set(found))))
    return threads


def frame_of(key: int) -> Optional[FrameType]:
    slots = _slots()
    return Greenlets(_find(slots)).frame_of(key) if slots else None
