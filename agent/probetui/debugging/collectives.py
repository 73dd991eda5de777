"""Operations of torch.distributed in progress, and the time until they time
out.

glibc implements waits with a timeout by futex(2) with an absolute deadline,
and /proc/self/task/TID/syscall shows the address of the deadline. gloo's C++
code waits that way, in a thread of its own or, for send and recv, in the
calling thread. No function of torch is called.
"""
from __future__ import annotations

import os
import platform
import struct
import sys
import time
from typing import Any, Dict, List, Optional

from .. import inspection

_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine(), -1)
_WAIT_BITSET = 9
_CLOCK_REALTIME = 256
_COMMAND = 127
# Names (/proc/self/task/TID/comm) of torch's threads that run collectives.
_WORKERS = ("pt_gloo_runloop",)
_MODULE = "torch.distributed.distributed_c10d"
_FRAMES_MAXIMUM = 64
# A later deadline is not one that a program has set.
_YEARS = 10 * 365 * 86400.0


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def _deadline(address: int, memory: int) -> Optional[float]:
    """Reads a struct timespec. `memory` is /proc/self/mem: pread() fails
    instead of crashing if the thread has ended and its stack was unmapped."""
    try:
        data = os.pread(memory, 16, address)
    except (OSError, OverflowError):
        return None
    if len(data) != 16:
        return None
    seconds, nanoseconds = struct.unpack("qq", data)
    return float(seconds + nanoseconds / 1e9)


def _left(tid: int, memory: int) -> Optional[float]:
    """Returns the seconds until the futex wait of thread tid times out; None:
    tid is in no futex wait, or waits without a timeout."""
    words = _read("/proc/self/task/%d/syscall" % tid).split()
    if len(words) < 5 or words[0] != str(_FUTEX):
        return None
    operation, address = int(words[2], 16), int(words[4], 16)
    if operation & _COMMAND != _WAIT_BITSET or address == 0:
        return None
    deadline = _deadline(address, memory)
    if deadline is None:
        return None
    now = time.time() if operation & _CLOCK_REALTIME else time.monotonic()
    return deadline - now if -1 < deadline - now < _YEARS else None


def _operation(frame: Any) -> Optional[str]:
    """Returns the name of the outermost torch.distributed function that other
    code called; None: the stack has none."""
    found = None
    for _ in range(_FRAMES_MAXIMUM):
        if frame is None:
            break
        if frame.f_globals.get("__name__") == _MODULE:
            found = frame.f_code.co_name
        elif found is not None and "torch" not in frame.f_globals.get(
                "__name__", ""):
            break
        frame = frame.f_back
    return found


def _python_threads() -> Dict[int, str]:
    """Returns the threads that are in a torch.distributed function; keys are
    system thread ids."""
    numbers = {thread.ident: getattr(thread, "native_id", None)
               for thread in inspection.known_threads()}
    found = {}
    for ident, frame in sys._current_frames().items():
        name = _operation(frame)
        tid = numbers.get(ident)
        if name is not None and tid is not None:
            found[tid] = name
    return found


def under_way() -> List[Dict[str, Any]]:
    """Returns the waiting operations: {"tid", "operation", "left"}.
    `operation` is None for a thread of torch's own; `left` is in seconds, None
    if unknown."""
    if _MODULE not in sys.modules:
        return []
    callers = _python_threads()
    told = []
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        memory = -1
    try:
        for word in os.listdir("/proc/self/task"):
            tid = int(word)
            is_worker = _read("/proc/self/task/%d/comm" % tid) in _WORKERS
            if tid not in callers and not is_worker:
                continue
            left = _left(tid, memory)
            if left is not None and left < 2 * sys.getswitchinterval():
                # The thread is waiting for the GIL.
                left = None
            if tid in callers or left is not None:
                told.append({"tid": tid, "operation": callers.get(tid),
                             "left": left})
    except OSError:
        pass
    finally:
        if memory >= 0:
            os.close(memory)
    return told
