"""Reads elements of an array in pieces: from memory, from a built-in object
that copies its own parts, or from a device."""
from __future__ import annotations

import contextlib
import functools
import queue
import sys
import threading
from typing import Any, Callable, Iterator, Optional

from .. import inspection
from . import layout as layouts
from .known import Known
from .layout import Layout
from .memory import Memory, Unreadable

# Seconds to wait for a device: a busy one answers late, one that hangs never.
DEVICE_SECONDS = 10.0


class InMemory:
    def __init__(self, known: Known, memory: Memory) -> None:
        self._layout: Any = known.layout
        self._memory = memory

    def read(self, start: int, count: int,
             layout: Optional[Layout] = None) -> Any:
        return layouts.read(self._memory, layout or self._layout, start,
                            count)


class Plain:
    """bytes, bytearray, array.array: read by slices, because while a buffer of
    them is exported, the program could not resize them."""

    def __init__(self, value: Any, known: Known) -> None:
        self._value = value
        self._base: Any = known.plain
        self._address = known.layout.address if known.layout else 0

    def read(self, start: int, count: int,
             layout: Optional[Layout] = None) -> bytes:
        if layout is not None:
            start += (layout.address - self._address) // layout.item_size
        part = self._base.__getitem__(self._value,
                                      slice(start, start + count))
        return bytes(part) if self._base is not bytes else part


class _Worker:
    """A thread that waits for a device; its caller can give up after
    DEVICE_SECONDS."""

    def __init__(self) -> None:
        self._jobs: Any = queue.SimpleQueue()
        thread = threading.Thread(target=inspection.untraced(self._run),
                                  name="probetui-device", daemon=True)
        inspection.hide(thread)
        thread.start()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()

    def call(self, function: Callable[[], Any]) -> Any:
        answers: Any = queue.SimpleQueue()

        def job() -> None:
            try:
                answers.put((function(), None))
            except BaseException as error:
                answers.put((None, error))

        self._jobs.put(job)
        try:
            value, error = answers.get(timeout=DEVICE_SECONDS)
        except queue.Empty:
            raise Unreadable(
                "the device did not answer within %g s: it may be busy, or "
                "hang" % DEVICE_SECONDS) from None
        if error is not None:
            raise Unreadable("the device cannot be read: %s: %s" % (
                type(error).__name__, str(error)[:500])) from None
        return value

    def close(self) -> None:
        self._jobs.put(None)


class OnDevice:
    """Copies elements of a tensor on a device; for CUDA on a separate stream,
    which waits neither for other streams nor for the device."""

    def __init__(self, known: Known, memory: Memory) -> None:
        self._known = known
        self._memory = memory
        self._worker = _Worker()
        self._stream: Any = None

    def close(self) -> None:
        self._worker.close()

    def _copy(self, layout: Layout, index: Any, sizes: Any) -> Any:
        torch = sys.modules["torch"]
        tensor, whole = self._known.device, self._known.layout
        item = layout.item_size
        strides = [stride // item for stride in layout.strides]
        offset = (self._known.told.get("offset") or 0) + sum(
            i * stride for i, stride in zip(index, strides))
        if whole is not None:
            offset += (layout.address - whole.address) // item
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass() \
                if hasattr(torch._C, "DisableTorchFunctionSubclass") \
                else contextlib.nullcontext(), self._beside(torch, tensor):
            part = torch.as_strided(tensor.detach(), sizes, strides, offset)
            return part.contiguous().to("cpu").resolve_conj().resolve_neg()

    @contextlib.contextmanager
    def _beside(self, torch: Any, tensor: Any) -> Iterator[None]:
        if tensor.device.type != "cuda":
            yield
            return
        if self._stream is None:
            self._stream = torch.cuda.Stream(tensor.device)
        with torch.cuda.device(tensor.device), \
                torch.cuda.stream(self._stream):
            yield

    def read(self, start: int, count: int,
             layout: Optional[Layout] = None) -> Any:
        where: Any = layout or self._known.layout
        parts = []
        for index, sizes in layouts.rectangles(where.shape, start, count):
            made = self._worker.call(functools.partial(
                self._copy, where, index, sizes))
            parts.append(bytes(self._memory.read(
                made.data_ptr(), layouts.count(sizes) * where.item_size)))
        return b"".join(parts)


@contextlib.contextmanager
def opened(value: Any, known: Known) -> Iterator[Any]:
    """Yields an object whose read(start, count) returns elements as bytes."""
    if known.plain is not None:
        yield Plain(value, known)
        return
    with Memory() as memory:
        if known.device is None:
            yield InMemory(known, memory)
            return
        source = OnDevice(known, memory)
        try:
            yield source
        finally:
            source.close()
