"""The CPythons of this machine that tests may start.

Debian's, pyenv's, and those that PROBETUI_PYTHONS names (a list like PATH;
"chroot:FOLDER:PROGRAM" is run by chroot, which needs root).
"""
import functools
import glob
import os
import re
import subprocess
import sys
import unittest


HERE = os.path.dirname(os.path.abspath(__file__))
MINORS = range(8, 15)


class Python:
    """argv starts it; version is (3, 11, 7)."""

    def __init__(self, argv, version):
        self.argv = argv
        self.version = version
        self.name = "%d.%d.%d" % version

    def __repr__(self):
        return self.name


def _version(argv):
    """(3, 11, 7), or None when it is no CPython of 3.8 or later."""
    code = ("import sys; print(sys.implementation.name,"
            " *sys.version_info[:3])")
    try:
        run = subprocess.run(argv + ["-c", code], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = run.stdout.decode().split()
    if run.returncode or len(words) != 4 or words[0] != "cpython":
        return None
    version = tuple(int(word) for word in words[1:])
    return version if version >= (3, 8) else None


def _named():
    """The commands that PROBETUI_PYTHONS names."""
    text = os.environ.get("PROBETUI_PYTHONS", "")
    parts = text.split(":") if text else []
    while parts:
        if parts[0] == "chroot" and len(parts) >= 3:
            yield ["chroot", parts[1], parts[2]]
            del parts[:3]
        else:
            yield [parts.pop(0)]


def _find_all():
    """One Python of each version, sorted."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    commands = list(_named())
    for pattern in ("/usr/bin/python3.[0-9]*",
                    root + "/versions/*/bin/python3.[0-9]*"):
        for path in sorted(glob.glob(pattern)):
            if not path.endswith(("m", "-config")):
                commands.append([path])
    found = {}
    for argv in commands:
        version = _version(argv)
        if version and version not in found:
            found[version] = Python(argv, version)
    return [found[version] for version in sorted(found)]


def find():
    """One Python of each version, sorted. With PROBETUI_FEW_PYTHONS the oldest,
    the first of each minor version that it names ("11 12"; with no number in it the
    first 3.11), and the newest."""
    found = _find_all()
    named = os.environ.get("PROBETUI_FEW_PYTHONS")
    if not named:
        return found
    few = found[:1] + found[-1:]
    for minor in re.findall("[0-9]+", named) or ["11"]:
        few += [python for python in found
                if python.version[1] == int(minor)][:1]
    return [python for python in found if python in few]


def find_old():
    """Commands of CPythons below 3.8, which probetui refuses."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths = glob.glob(root + "/versions/[23].[0-7].*/bin/python")
    return [[path] for path in sorted(paths)]


def _imports(argv, environment, library):
    return subprocess.run(argv + ["-c", "import " + library],
                          env=dict(os.environ, **environment),
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@functools.lru_cache(maxsize=None)
def find_library(library):
    """(a Python that imports it, what its environment has besides), or None:
    what PROBETUI_ARRAYS_PYTHON names, this one with what scripts/check has
    fetched, this one, or what PROBETUI_TORCH_PYTHON names."""
    fetched = os.path.join(os.environ.get("PROBETUI_ARRAYS") or os.devnull,
                           "%d.%d" % sys.version_info[:2])
    for python, environment in (
            (os.environ.get("PROBETUI_ARRAYS_PYTHON"), {}),
            (sys.executable, {"PYTHONPATH": fetched}),
            (sys.executable, {}),
            (os.environ.get("PROBETUI_TORCH_PYTHON"), {})):
        if python and _imports([python], environment, library):
            return python, environment
    return None


def why_no_library(library):
    """A reason to skip what needs it; None: it is there."""
    return None if find_library(library) else (
        "no Python here has %s: PROBETUI_ARRAYS_PYTHON may name one, or "
        "PROBETUI_ARRAYS a folder with it for Python %d.%d"
        % (library, *sys.version_info[:2]))


@functools.lru_cache(maxsize=None)
def find_framework(library):
    """A Python that has both torch and the library (importing some would take seconds); None."""
    code = ("import importlib.util, sys;"
            "sys.exit(not all(map(importlib.util.find_spec, %r)))"
            % (("torch", library),))
    for python in (os.environ.get("PROBETUI_FRAMEWORKS_PYTHON"),
                   os.environ.get("PROBETUI_TORCH_PYTHON")):
        if python and subprocess.run([python, "-c", code]).returncode == 0:
            return python
    return None


NO_TORCHRUN = "torchrun of this torch starts no ranks on this Python"


@functools.lru_cache(maxsize=None)
def has_torchrun(python):
    """Whether the torchrun of python's torch starts ranks. That of torch before
    2.0 does not on Python 3.11, whose enum.Flag iterates over other members."""
    code = ("import torch.distributed.elastic.multiprocessing as m, sys;"
            "sys.exit(m.Std.from_str('0') is None)")
    return subprocess.run([python, "-c", code],
                          stderr=subprocess.DEVNULL).returncode == 0


@functools.lru_cache(maxsize=None)
def why_no_torch_2(python):
    """A reason to skip what torch has from 2.0 on (time-outs of groups that can
    be extended, numpy that may be missing); None: it is there."""
    if not python:
        return "PROBETUI_TORCH_PYTHON names no Python with torch"
    # Importing torch would take seconds.
    code = ("import importlib.util, runpy;"
            "found = importlib.util.find_spec('torch');"
            "print(runpy.run_path(found.submodule_search_locations[0]"
            " + '/version.py')['__version__'])")
    run = subprocess.run([python, "-c", code], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    version = run.stdout.decode().strip()
    if version and int(version.split(".")[0]) >= 2:
        return None
    return "torch %s is older than 2.0" % version


def torchrun(python, count, *options):
    """A command to put a script and its arguments behind, which starts so many
    ranks: torchrun where it can, else tests/jobs/launch.py. torchrun has its
    ranks look each other up by the machine's name, which may have no
    address."""
    if has_torchrun(python):
        return [python, "-m", "torch.distributed.run",
                "--local-addr=127.0.0.1", "--nproc_per_node=%d" % count,
                *options]
    port = options[options.index("--master_port") + 1:][:1] \
        if "--master_port" in options else []
    return [python, os.path.join(os.path.dirname(HERE), "jobs", "launch.py"),
            "-n", str(count), "--together",
            *("--port=" + each for each in port)]


class MissingCase(unittest.TestCase):
    """A test that skips for a version that is not on this machine."""

    minor = None
    is_here = False

    def test_python(self):
        if self.is_here:
            self.skipTest("PROBETUI_FEW_PYTHONS leaves out CPython 3.%d"
                          % self.minor)
        self.skipTest("there is no CPython 3.%d here; PROBETUI_PYTHONS may "
                      "name one" % self.minor)


def is_for(base, python, found):
    """Whether load_cases() runs the tests of base with python, out of found."""
    minor = python.version[1]
    if minor not in getattr(base, "minors", [minor]):
        return False
    enough = getattr(base, "enough", [minor])
    return minor in enough or not any(other.version[1] in enough
                                      for other in found)


def load_cases(loader, module, *bases):
    """The tests of each of bases for each Python, which they find as
    self.python, and a skip for each version that is missing. A base with
    `minors` tests what only those versions have; one with `enough` is content
    with those versions, and takes every Python where none of them is here."""
    found = find()
    suite = unittest.TestSuite()

    def add(base, version, **values):
        name = "%s_%s" % (base.__name__.replace("Case", ""), version)
        case = type(name, (base,), dict(values, __module__=module))
        suite.addTests(loader.loadTestsFromTestCase(case))

    for python in found:
        for base in bases:
            if is_for(base, python, found):
                add(base, python.name.replace(".", "_"), python=python)
    here = {python.version[1] for python in _find_all()}
    for minor in sorted(set(MINORS) - {p.version[1] for p in found}):
        add(MissingCase, "3_%d" % minor, minor=minor, is_here=minor in here)
    return suite
