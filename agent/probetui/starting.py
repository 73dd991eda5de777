"""Decides which of the processes with PROBETUI=1 in their environment start an
agent.

Ranks and single programs do. Launchers do not, nor do helper processes of
multiprocessing (DataLoader workers), nor programs that a rank starts: a rank
removes the variable from its environment.
"""
from __future__ import annotations

import os
import re
import sys
from typing import Any, List, NamedTuple, Optional, Union

from . import agent, identity, settings

ENABLE = "PROBETUI"
ADDRESS = "PROBETUI_ADDRESS"
TOKEN = "PROBETUI_TOKEN"
TOKEN_FILE = "PROBETUI_TOKEN_FILE"
CERTIFICATE = "PROBETUI_TLS_CERTIFICATE"
KEY = "PROBETUI_TLS_KEY"
ALLOW = "PROBETUI_ALLOW"
READ_ONLY = "PROBETUI_READ_ONLY"
LOG = "PROBETUI_LOG"
CATCH = "PROBETUI_CATCH"
# The variable by which the tool Probing sets its port.
PORT_ALIAS = "PROBING_PORT"

_LAUNCHERS = ("accelerate", "deepspeed", "horovodrun", "torchrun", "torchx")
_LAUNCHER_MODULES = (
    "accelerate.commands.launch", "deepspeed.launcher.launch",
    "deepspeed.launcher.runner", "torch.distributed.launch",
    "torch.distributed.run", "torchx.cli.main")
_HELPER_CODE = re.compile(r"\bfrom multiprocessing\.\w+ import \w*main\b")
_HELPER_OPTION = "--multiprocessing-fork"


class Program(NamedTuple):
    """The program on a Python command line. `kind` is "script", "-m" or "-c".
    """

    kind: str
    text: str


def _command_line() -> List[str]:
    """Returns the command line from /proc/self/cmdline; sys.argv is not set
    yet."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            words = file.read().split(b"\0")[:-1]
        return [os.fsdecode(word) for word in words]
    except OSError:
        return list(getattr(sys, "orig_argv", []))


def find_program(words: List[str]) -> Optional[Program]:
    """Returns the program on the command line; None: interactive, or from
    standard input."""
    words = words[1:]
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            return Program("script", word)
        if word.startswith("--"):
            if word == "--check-hash-based-pycs":
                del words[:1]
            continue
        for index, letter in enumerate(word[1:], 2):
            rest = word[index:]
            if letter in "cm":
                text = rest or (words[0] if words else "")
                return Program("-" + letter, text)
            if letter in "WX":
                if not rest:
                    del words[:1]
                break
    return None


def is_rank_or_program(words: List[str]) -> bool:
    """False for a launcher, or a helper process of multiprocessing."""
    if _HELPER_OPTION in words:
        return False
    program = find_program(words)
    if program is None:
        return True
    if program.kind == "script":
        return os.path.basename(program.text) not in _LAUNCHERS
    if program.kind == "-m":
        return program.text not in _LAUNCHER_MODULES
    return not _HELPER_CODE.search(program.text)


def _address() -> Optional[str]:
    address = os.environ.get(ADDRESS, "").strip()
    alias = os.environ.get(PORT_ALIAS, "").strip()
    if not address and alias:
        address = "127.0.0.1:" + ("0" if alias == "RANDOM" else alias)
    return address or None


def _token() -> Optional[bytes]:
    path = os.environ.get(TOKEN_FILE, "")
    if path:
        return settings.token_of_file(path)
    return os.environ.get(TOKEN, "").encode("utf-8", "surrogateescape")


def _tls() -> Any:
    """Returns None, (certificate, key), or one file that has both."""
    certificate = os.environ.get(CERTIFICATE, "")
    key = os.environ.get(KEY, "")
    if key and not certificate:
        raise settings.SettingError(
            "%s is set, but %s is not: TLS needs both" % (KEY, CERTIFICATE))
    return (certificate, key) if key else certificate or None


def _is_read_only() -> bool:
    """A value that means neither yes nor no counts as yes, which is safer."""
    text = os.environ.get(READ_ONLY, "").strip().lower()
    if text in ("", "0", "false", "no", "off"):
        return False
    if text not in ("1", "true", "yes", "on"):
        settings.tell("%s=%s is neither 1 nor 0: the agent is read-only"
                      % (READ_ONLY, text[:40]))
    return True


def _catch() -> Union[None, bool, str]:
    """Returns None, True (the default duration) or a duration such as "2h"."""
    value = os.environ.get(CATCH, "").strip().lower()
    if value in ("", "0", "no", "off", "false"):
        return None
    return True if value in ("1", "yes", "on", "true") else value


def begin() -> None:
    """Called by sitecustomize.py at the start of a Python with PROBETUI=1."""
    if not is_rank_or_program(_command_line()):
        return
    address = _address()
    token = tls = None
    if address is not None:
        try:
            token, tls = _token(), _tls()
        except settings.SettingError as error:
            settings.tell("%s; the agent listens only on its Unix socket"
                          % error)
            address = None
    allow = os.environ.get(ALLOW, "").strip() or None
    read_only = _is_read_only()
    log = os.environ.get(LOG) or None
    catch = _catch()
    os.environ.pop(TOKEN, None)
    if identity.is_rank():
        for name in (ENABLE, ADDRESS, TOKEN_FILE, CERTIFICATE, KEY, ALLOW,
                     READ_ONLY, LOG, CATCH):
            os.environ.pop(name, None)
    agent.listen(address, token, tls, allow, read_only, log, catch)
