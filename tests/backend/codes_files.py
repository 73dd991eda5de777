"""Files of a program whose functions are to be found from outside, and a
Python that runs it. The files are written by the Python itself, which may
live in another root.
"""
import atexit
import json
import os
import subprocess
import sys

# Writes the files, and becomes the program.
BOOTSTRAP = """
import json, os, sys, tempfile
files, argv = json.loads(sys.argv[1])
root = tempfile.mkdtemp(prefix="probetui-codes-")
os.environ["CODES_ROOT"] = root
for path, text in files.items():
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
os.chdir(root)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.execv(sys.executable, [sys.executable] + argv)
"""

# What the main program does: what it is told, line by line, of which the
# last thing is to take its files away.
OBEY = '''
def obey():
    import atexit, os, shutil, sys
    atexit.register(shutil.rmtree, os.environ["CODES_ROOT"], True)
    print("ready", flush=True)
    for line in sys.stdin:
        exec(line, globals())
        print("done", flush=True)
'''

LIB = '''
import dataclasses
import functools
from functools import partial, wraps

REGISTRY = {}


def register(function):
    """Keeps it, and gives nothing of it back."""
    REGISTRY[function.__name__] = [function]
    return None


def plain(function):
    def call(*args):
        return function(*args)
    return call


def wrapped(function):
    @wraps(function)
    def call(*args):
        return function(*args)
    return call


def simple(a, default=lambda: 1, *, keyword=lambda: 2):
    def inner():
        def innermost():
            return [x for x in range(a)]
        return innermost
    return inner


@plain
def decorated():
    return 1


@wrapped
def decorated_well():
    return 2


@wrapped
@plain
@wrapped
def decorated_thrice():
    return 3


@register
def registered():
    return 4


@functools.lru_cache(maxsize=None)
def cached(a):
    return a


@functools.singledispatch
def dispatched(a):
    return a


@dispatched.register(int)
def dispatched_int(a):
    return a


def generator():
    yield (lambda: 5)


async def coroutine():
    async with None:
        pass


bound = partial(lambda a: a, 1)
TABLE = {"a": lambda: 6, "b": [lambda: 7, (lambda: 8,)]}
SET = {lambda: 9}


class Base:
    registry = []

    def __init__(self):
        self.a = 1

    def method(self):
        return lambda: 10

    @property
    def value(self):
        return self.a

    @value.setter
    def value(self, new):
        self.a = new

    @value.deleter
    def value(self):
        del self.a

    @staticmethod
    def static():
        return 11

    @classmethod
    def of_class(cls):
        return 12

    @plain
    def decorated_method(self):
        return 13

    partial_method = functools.partialmethod(lambda self, a: a, 1)

    class Inner:
        def deep(self):
            return 14

        class Innermost:
            def deepest(self):
                return 15


class Derived(Base):
    __slots__ = ("b",)

    def method(self):
        return super().method()


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class WithMeta(metaclass=Meta):
    def method(self):
        return 16


class Holder:
    __slots__ = ("held",)


class Owner:
    pass


holder = Holder()
holder.held = lambda: 17
owner = Owner()
owner.held = {"x": lambda: 18}
method = owner.method = Base().method


@dataclasses.dataclass
class Data:
    a: int = 0
    b: list = dataclasses.field(default_factory=lambda: [19])

    def total(self):
        return self.a


def closure():
    secret = lambda: 20

    def show():
        return secret
    return show


shown = closure()
'''

LATE = '''
def late():
    return 1


class Late:
    def method(self):
        return 2
'''

PACKAGE = '''
import sys
sys.path.insert(0, ".")
import lib
''' + OBEY + '''

class Net:
    def forward(self):
        return 1

    class Head:
        def forward(self):
            return 2


def step():
    def nested():
        return 3
    return nested


if __name__ == "__main__":
    obey()
'''

TRAIN = '''import os
import sys
import zipfile

import lib
from lib import Base as Imported
import pkg.other
net = Imported()
space = {}
exec(compile("def made():\\n    return 1\\nmade_too = lambda: 2\\n",
             "made/up.py", "exec"), space)
with zipfile.ZipFile("z.zip", "w") as archive:
    archive.writestr("zipped/__init__.py", "")
    archive.writestr("zipped/mod.py", "def zipped():\\n    return 1\\n")
sys.path.insert(0, os.path.abspath("z.zip"))
import zipped.mod
''' + PACKAGE

FILES = {
    "lib.py": LIB,
    "late.py": LATE,
    "train.py": TRAIN,
    "pkg/__init__.py": "",
    "pkg/__main__.py": PACKAGE,
    "pkg/mod.py": PACKAGE,
    "pkg/other.py": "def simple():\n    return 1\n",
    "other/lib.py": "def elsewhere():\n    return 1\n",
    "other/__init__.py": "",
}


class Program:
    """It runs, and does what it is told."""

    def __init__(self, python, argv, files=None):
        argument = json.dumps([files or FILES, argv])
        self.process = subprocess.Popen(
            python.argv + ["-c", BOOTSTRAP, argument],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.process.kill)
        self.wait("ready")

    def heard(self):
        return self.process.stdout.readline().decode().strip()

    def wait(self, word):
        line = self.heard()
        if line != word:
            self.close()
            raise AssertionError("it said %r, not %r" % (line, word))

    def tell(self, line, word="done"):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        if word:
            self.wait(word)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        atexit.unregister(self.process.kill)


def line_of(text, part):
    """The number of the line that begins so."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip().startswith(part):
            return number
    raise AssertionError("there is no line " + part)


if __name__ == "__main__":
    sys.exit("it is for tests")
