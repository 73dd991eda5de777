"""Native frames as the node tells them, and as gdb and py-spy do."""
import json
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
UNNAMED = "+0x"    # of an interpreter whose symbols were stripped
# Names of one function; debugging data and the symbol table may differ.
ALIASES = {"libc_start_main_impl": "libc_start_main", "libc_recv": "recv"}


class Frame:
    def __init__(self, code, lineno):
        _, self.func, self.qualname, self.file, _, kind = code
        self.is_native = kind == 1
        self.lineno = lineno

    def __repr__(self):
        return ("*" if self.is_native else "") + self.func


class Stacks:
    """What a node has told of stacks so far."""

    def __init__(self):
        self.codes = {}
        self.stacks = {}

    def take(self, body):
        """{tid: (native frames merged with Python's or None, Python's)}."""
        for stack in body.get("stacks", ()):
            for code in stack["codes"]:
                self.codes[code[0]] = code
            self.stacks[stack["id"]] = [Frame(self.codes[code], line)
                                        for code, line in stack["frames"]]
        return {thread["tid"]: (self.stacks.get(thread.get("native")),
                                self.stacks.get(thread.get("stack")))
                for thread in body["threads"]}


def sample(node, pid, stacks, **arguments):
    """The event of one sample with native frames, and its stacks by tid."""
    node.ask("sample", pids=[pid], native=True, **arguments)
    body = node.event("sampled", pid)
    return body, stacks.take(body)


def plain(name):
    """A function's name without what only one of several names of it has,
    what it takes, and what a compiler made of it; "?" without a symbol."""
    if not name or UNNAMED in name:
        return "?"
    name = re.sub(r"^_*(GI_)?_*", "", name.split("@")[0])
    name = re.sub(r"\.(cold|part|constprop|isra|localalias)[.\d]*", "", name)
    name = re.sub(r"\(.*", "", name)
    return ALIASES.get(name, name)


def bare(name):
    """A C++ function's name without what it takes and gives back and without
    what its templates take, which demanglers spell differently."""
    text, depth = "", 0
    name = re.sub(r"\(anonymous namespace\)", "anonymous", name or "?")
    name = re.sub(r"operator(\(\)|<<=?|>>=?|<=>?|>=?|->\*?|<)", "operator",
                  name)
    for letter in name:
        if letter in "<(":
            depth += 1
        elif letter in ">)":
            depth -= 1
        elif depth == 0:
            text += letter
    # "bool name const", "name [clone .cold]"
    text = re.sub(r" (const|\[.*)$", "", text).split(" ")[-1]
    # A lambda's number, and its type, which only one of them tells.
    text = re.sub(r"\{lambda#?(\d*)\}", "lambda", text)
    return plain(re.sub(r"cpp_function::\w+::", "cpp_function::", text))


def find_py_spy(python):
    """py-spy, also beside the Python that runs the job; or None."""
    beside = os.path.join(os.path.dirname(python or ""), "py-spy")
    named = os.environ.get("PY_SPY") or shutil.which("py-spy")
    return named or (beside if os.access(beside, os.X_OK) else None)


def py_spy_names(py_spy, pid):
    """The native functions of the main thread that py-spy has names for."""
    run = subprocess.run([py_spy, "dump", "--native", "--json", "--pid",
                          str(pid)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=120)
    if run.returncode:
        raise AssertionError("py-spy says: " + run.stderr.decode())
    frames = [thread["frames"] for thread in json.loads(run.stdout.decode())
              if thread["thread_id"] == pid or thread["os_thread_id"] == pid]
    return [frame["name"] for frame in frames[0]
            if not frame["filename"].endswith(".py")
            and not frame["name"].startswith("0x")]


def gdb_names(pid):
    """{tid: names}, innermost first; None: gdb is not here."""
    gdb = shutil.which("gdb")
    if not gdb:
        return None
    run = subprocess.run(
        [gdb, "-nx", "-batch", "-ex", "set debuginfod enabled off",
         "-ex", "attach %d" % pid, "-x", os.path.join(HERE, "gdb_names.py")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=120)
    for line in run.stdout.decode(errors="replace").splitlines():
        if line.startswith("NAMES "):
            return {int(tid): names for tid, names in
                    json.loads(line[len("NAMES "):]).items()}
    raise AssertionError("gdb says: " + run.stderr.decode()[-2000:])
