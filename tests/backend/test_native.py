"""Native frames: merged with Python's at the right places, in each version;
the same names as gdb's; nothing is lost where they cannot be had."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import natives
import nodes
import pythons

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = os.environ.get("CC", "cc").split()
LOOP = "_PyEval_EvalFrameDefault"
FUTEX = 202  # x86-64
# Unoptimised, its rules go by a register that a system call does not show.
SLEEPER = """
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
void sleep_here(void) { syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0); }
"""
SLEEP = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
def rest():
    library.sleep_here()
print("ready", flush=True)
rest()
"""
LIBRARY = "int call_through(int (*f)(void)) { return f() + 1; }\n"
# In a function that a stripped library exports, too.
SPIN = """
import threading, zlib
def spin():
    while True:
        zlib.crc32(data)
data = bytes(1 << 22)
thread = threading.Thread(target=spin, daemon=True)
thread.start()
print("ready", flush=True)
thread.join()
"""
# Beside a node it is the module that unwinds, and never comes to an end.
ENDLESS = """
#include "backends/native/unwinder.h"
#include <unistd.h>
static struct unwind_file *open_one(int fd)
{
	(void)fd;
	for (;;)
		pause();
}
static void close_one(struct unwind_file *file) { (void)file; }
const struct unwind_module probetui_unwind_module = {
	.open = open_one, .close = close_one,
};
"""
MANY = """
import sys, threading
def wait(depth):
    if depth:
        return wait(depth - 1)
    event.wait()
event = threading.Event()
for _ in range(500):
    threading.Thread(target=wait, args=(10,), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def target_code():
    with open(os.path.join(HERE, "native_target.py")) as file:
        return file.read()


def system_call(pid):
    """Its number, or "running"; "-1": it waits for memory."""
    with open("/proc/%d/syscall" % pid) as file:
        return file.read().split()[0]


def kept(folder):
    """The files of names that are kept below a cache folder."""
    place = os.path.join(folder, "probetui", "symbols")
    if not os.path.isdir(place):
        return []
    return [os.path.join(place, name) for name in os.listdir(place)
            if not name.startswith(".")]


class Case(unittest.TestCase):
    def setUp(self):
        self.node = None
        self.stacks = natives.Stacks()

    def start(self, *argv, code=None):
        target = nodes.Target(argv=list(argv) + ["-c", code or target_code(),
                                                 self.library])
        self.addCleanup(target.close)
        self.addCleanup(target.process.kill)
        # It says that it is ready a moment before it sleeps, and so may its
        # threads. One of SPIN's never does.
        nodes.wait_for_rest(target.pid,
                            *[target.pid] if code == SPIN else [])
        return target

    library = "-"

    def sample(self, pid, **arguments):
        if not self.node:
            self.node = nodes.Node()
            self.addCleanup(self.node.close)
            self.node.ask("initialize", protocol=1, readOnly=self.read_only)
            self.node.discover(pids=[pid])
        return natives.sample(self.node, pid, self.stacks, **arguments)

    read_only = False


class MergeCase(Case):
    def check(self, native, python):
        """Python's frames are all there, in order, and the evaluation loop's
        native frames stand just outside of those that they run."""
        self.assertIsNotNone(native)
        self.assertEqual([f.func for f in native if not f.is_native],
                         [f.func for f in python])
        for frame, outer in zip(native, native[1:]):
            if frame.is_native:
                self.assertFalse(frame.func.startswith(LOOP) and
                                 outer.func.startswith(LOOP), native)
            elif outer.is_native and natives.UNNAMED not in outer.func:
                self.assertTrue(outer.func.startswith(LOOP), native)
        for inner, frame in zip(native, native[1:]):
            if frame.func.startswith(LOOP):
                self.assertFalse(inner.is_native, native)

    def test_merge_and_names(self):
        target = self.start(*self.python.argv)
        body, found = self.sample(target.pid, internals=True)
        self.assertEqual(len(found), 2)
        for native, python in found.values():
            self.check(native, python)
        # Nobody is held once all of them sleep.
        deadline = time.monotonic() + nodes.LIMIT
        while body.get("held_ns", 0) > 0 and time.monotonic() < deadline:
            body, _ = self.sample(target.pid, internals=True)
        self.assertEqual(body.get("held_ns", 0), 0)
        _, found = self.sample(target.pid)
        main = [repr(frame) for frame in found[target.pid][0]]
        self.assertEqual(len([f for f in main if f.startswith("*")
                              and LOOP in f]), 0)
        at = main.index("deep")
        self.assertTrue(main[0].startswith("*"), main)
        self.assertEqual(main[at:at + 4], ["deep"] * 4, main)
        self.assertEqual(main[-1], "<module>")


class GdbCase(Case):
    enough = (8, 10, 12)    # of each kind one: gdb takes its time

    def test_gdb(self):
        if self.python.argv[0] == "chroot":
            self.skipTest("gdb does not look into a chroot")
        target = self.start(*self.python.argv)
        _, found = self.sample(target.pid, internals=True)
        names = natives.gdb_names(target.pid)
        if names is None:
            self.skipTest("gdb is not here to compare with")
        for tid, (native, _) in found.items():
            self.assertEqual(
                [natives.plain(f.func) for f in native if f.is_native],
                [natives.plain(name) for name in names[tid]])


class TestNative(Case):
    def test_a_thread_that_runs_is_held_shortly(self):
        target = self.start(sys.executable, code=SPIN)
        deadline = time.monotonic() + nodes.LIMIT
        while time.monotonic() < deadline:
            body, found = self.sample(target.pid)
            spinning = [native for native, python in found.values()
                        if native and python[-1].func == "_bootstrap"]
            if spinning:
                break
        self.assertTrue(spinning, found)
        functions = [frame.func for frame in spinning[0]]
        self.assertIn("spin", functions)
        self.assertTrue([name for name in functions if "crc32" in name],
                        functions)
        self.assertGreater(body["held_ns"], 0)

    def test_read_only_holds_nobody(self):
        self.read_only = True
        target = self.start(sys.executable, code=SPIN)
        spinning = [()]
        # It may wait for the GIL just now, and then nobody need hold it.
        while any(native is not None for native in spinning):
            body, found = self.sample(target.pid)
            self.assertEqual(body.get("held_ns", 0), 0)
            spinning = [native for native, python in found.values()
                        if python[-1].func == "_bootstrap"]
        self.assertTrue(spinning, found)

    def test_what_stands_still_is_sent_once(self):
        target = self.start(sys.executable)
        first, _ = self.sample(target.pid)
        second, found = self.sample(target.pid)
        self.assertNotIn("stacks", second)
        self.assertEqual([t["native"] for t in first["threads"]],
                         [t["native"] for t in second["threads"]])
        self.assertEqual(len(found), 2)
        self.node.ask("sample", pids=[target.pid])
        body = self.node.event("sampled", target.pid)
        self.assertNotIn("native", body["threads"][0])

    def test_nothing_is_downloaded(self):
        target = self.start(sys.executable)
        self.node = nodes.Node(env=dict(
            os.environ, DEBUGINFOD_URLS="http://127.0.0.1:9/"))
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=[target.pid])
        with open("/proc/%d/maps" % self.node.process.pid) as file:
            self.assertNotIn("libdw", file.read())
        self.sample(target.pid)
        with open("/proc/%d/maps" % self.node.process.pid) as file:
            maps = file.read()
        self.assertIn("libdw", maps)
        self.assertNotIn("debuginfod", maps)

    def test_a_period_keeps_them_coming(self):
        target = self.start(sys.executable)
        self.sample(target.pid)
        self.node.ask("sample", pids=[target.pid], native=True, period=0.02)
        for _ in range(5):
            body = self.node.event("sampled", target.pid)
        self.assertIn("native", body["threads"][0])
        self.node.ask("sample", pids=[target.pid], period=0)

    def test_five_hundred_threads(self):
        target = self.start(sys.executable, code=MANY)
        began = time.monotonic()
        body, found = self.sample(target.pid)
        took = time.monotonic() - began
        self.assertEqual(len(found), 501)
        self.assertTrue(all(native for native, _ in found.values()))
        print("# 501 threads: %.0f ms" % (took * 1e3))

    def test_a_process_that_ends_meanwhile(self):
        target = self.start(sys.executable, code=MANY)
        self.sample(target.pid)
        seq = self.node.request("sample", pids=[target.pid], native=True)
        target.process.kill()
        self.assertTrue(self.node.answer(seq)["success"])


    def read_bytes(self, pid, folder):
        """What a node reads of files for one sample, and its names."""
        with tempfile.NamedTemporaryFile() as trace:
            self.node = nodes.Node(
                ["strace", "-f", "-qq", "-e", "trace=pread64", "-o",
                 trace.name, nodes.NODE],
                env=dict(os.environ, XDG_CACHE_HOME=folder))
            try:
                self.node.ask("initialize", protocol=1)
                self.node.discover(pids=[pid])
                _, found = natives.sample(self.node, pid, natives.Stacks())
                deadline = time.monotonic() + nodes.LIMIT
                while not kept(folder) and time.monotonic() < deadline:
                    self.node.read_for(0.1)
            finally:
                self.node.close()
                self.node = None
            count = sum(int(line.split()[-1]) for line in trace
                        if b" = " in line and b"= -1" not in line)
        return count, [repr(native) for native, _ in found.values()]

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_names_are_kept_for_the_next_run(self):
        target = self.start(sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            first, names = self.read_bytes(target.pid, folder)
            files = kept(folder)
            self.assertTrue(files)
            for path in files:
                self.assertEqual(os.stat(path).st_mode & 0o7777, 0o600)
            second, again = self.read_bytes(target.pid, folder)
            self.assertEqual(again, names)
            # A table of symbols has a hundred times as much.
            self.assertLess(second, 65536)
            self.assertGreater(first, second * 4)
            # What is not whole is as if it were not there.
            for path in files:
                os.truncate(path, os.stat(path).st_size - 1)
            third, again = self.read_bytes(target.pid, folder)
            self.assertEqual(again, names)
            self.assertGreater(third, second * 4)

    def test_eight_ranks_that_run(self):
        targets = [self.start(sys.executable, code=SPIN) for _ in range(8)]
        pids = [target.pid for target in targets]
        self.node = nodes.Node()
        self.addCleanup(self.node.close)
        self.node.ask("initialize", protocol=1)
        self.node.discover(pids=pids)
        for _ in range(6):
            self.node.ask("sample", pids=pids, native=True)
            bodies = [self.node.event("sampled", pid) for pid in pids]
            self.assertTrue(all("error" not in body for body in bodies))

    def test_a_job_without_end_keeps_no_node(self):
        if not shutil.which(COMPILER[0]):
            self.skipTest("no C compiler is here")
        target = self.start(sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            node = os.path.join(folder, "probetui-node")
            shutil.copy(nodes.NODE, node)
            subprocess.run(
                COMPILER + ["-x", "c", "-", "-shared", "-fPIC", "-I",
                            os.environ["SRCDIR"], "-o",
                            os.path.join(folder, "probetui-native.so")],
                input=ENDLESS.encode(), check=True)
            self.node = nodes.Node(argv=[node])
            self.addCleanup(self.node.close)
            self.node.ask("initialize", protocol=1)
            self.node.discover(pids=[target.pid])
            self.node.request("sample", pids=[target.pid], native=True,
                              period=0.02)
            self.node.event("sampled", target.pid)
            self.node.event("sampled", target.pid)
            self.node.process.stdin.close()
            self.assertEqual(self.node.wait(), 0)


class TestLibrary(Case):
    """A library of ours in the middle of a stack."""

    def setUp(self):
        super().setUp()
        if not shutil.which(COMPILER[0]):
            self.skipTest("no C compiler is here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = os.path.join(folder.name, "libthrough.so")

    def build(self, *options, code=LIBRARY):
        subprocess.run(COMPILER + ["-x", "c", "-", "-shared", "-fPIC", "-O0",
                                   "-o", self.library] + list(options),
                       input=code.encode(), check=True)

    def stack(self, target):
        """The merged stack of the thread that calls the library."""
        _, found = self.sample(target.pid)
        for native, python in found.values():
            if "call_library" in [frame.func for frame in python]:
                if native:
                    self.assertEqual(
                        [f.func for f in native if not f.is_native],
                        [f.func for f in python])
                return [frame.func for frame in native or python]
        raise AssertionError(found)

    def sleeping(self):
        """A target that sleeps in the library."""
        self.build("-fno-omit-frame-pointer", code=SLEEPER)
        target = self.start(sys.executable, code=SLEEP)
        deadline = time.monotonic() + nodes.LIMIT
        while time.monotonic() < deadline and \
                system_call(target.pid) != str(FUTEX):
            pass
        return target

    def sleeping_frames(self, target):
        body, found = self.sample(target.pid)
        native, python = found[target.pid]
        return body, [frame.func for frame in native or python]

    def test_registers_that_are_not_shown(self):
        target = self.sleeping()
        deadline = time.monotonic() + nodes.LIMIT
        frames = ["sleep_here", "rest"]
        # From the library's caller on, a register is needed; a thread that
        # does not stop in time is seen without, and asked again.
        while frames.index("rest") == frames.index("sleep_here") + 1:
            self.assertLess(time.monotonic(), deadline)
            body, frames = self.sleeping_frames(target)
        self.assertEqual(frames[-1], "<module>")
        self.assertGreater(body["held_ns"], 0)
        body, found = self.sample(target.pid)
        # Once it is back in its system call it does not move: there is no need
        # to hold it again.
        while body.get("held_ns", 0):
            self.assertLess(time.monotonic(), deadline)
            body, found = self.sample(target.pid)
        self.assertEqual([f.func for f in found[target.pid][0]], frames)

    def test_registers_that_may_not_be_asked_for(self):
        self.read_only = True
        body, frames = self.sleeping_frames(self.sleeping())
        self.assertEqual(frames[-3:], ["sleep_here", "rest", "<module>"])
        self.assertEqual(body.get("held_ns", 0), 0)

    def test_between_python_frames(self):
        self.build()
        stack = self.stack(self.start(sys.executable))
        self.assertLess(stack.index("call_back"),
                        stack.index("call_through"))
        self.assertLess(stack.index("call_through"),
                        stack.index("call_library"))

    def line(self):
        target = self.start(sys.executable)
        _, found = self.sample(target.pid)
        frames = [frame for native, _ in found.values() for frame in native
                  if frame.func == "call_through"]
        return frames[0].lineno

    def test_line(self):
        self.build("-g")
        self.assertEqual(self.line(), 1)

    def test_lines_that_are_packed(self):
        self.build("-g", "-gz=zlib")
        self.assertEqual(self.line(), 1)

    def test_lines_that_would_fill_the_memory(self):
        self.build("-g", "-gz=zlib")
        with open(self.library, "rb") as file:
            data = bytearray(file.read())
        at, = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3a)
        for header in range(at, at + size * count, size):
            flags, _, offset = struct.unpack_from("<QQQ", data, header + 8)
            if flags & 0x800:       # SHF_COMPRESSED: ch_size
                struct.pack_into("<Q", data, offset + 8, 1 << 29)
        with open(self.library, "wb") as file:
            file.write(data)
        self.assertEqual(self.line(), 0)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_the_heap_grows_by_more_than_pages(self):
        """A heap of the thread that unwinds would, by a call for each."""
        self.build("-g")
        target = self.start(sys.executable)
        with tempfile.NamedTemporaryFile("r") as trace:
            self.node = nodes.Node(["strace", "-f", "-qq", "-e", "mprotect",
                                    "-o", trace.name, nodes.NODE])
            try:
                self.node.ask("initialize", protocol=1, readOnly=False)
                self.node.discover(pids=[target.pid])
                self.assertIn("call_through", self.stack(target))
            finally:
                self.node.close()
            self.assertLess(sum("mprotect" in line for line in trace), 100)

    def test_stripped(self):
        self.build("-s")
        stack = self.stack(self.start(sys.executable))
        self.assertIn("call_through", stack)

    def test_deleted_and_replaced(self):
        self.build()
        target = self.start(sys.executable)
        os.unlink(self.library)
        with open(self.library, "w") as file:
            file.write("no library at all")
        stack = self.stack(target)
        self.assertLess(stack.index("call_back"),
                        stack.index("call_library"))

    def test_without_rules(self):
        self.build("-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                   "-fomit-frame-pointer")
        stack = self.stack(self.start(sys.executable))
        self.assertIn("call_through", stack[:stack.index("call_library")])
        self.assertEqual(stack[-1], "_bootstrap")

    def test_cut_short(self):
        self.build()
        target = self.start(sys.executable)
        self.sample(target.pid)
        os.truncate(self.library, 600)
        self.node.close()
        self.node = None
        self.stacks = natives.Stacks()
        stack = self.stack(target)
        self.assertLess(stack.index("call_back"),
                        stack.index("call_library"))


def load_tests(loader, _tests, _pattern):
    suite = pythons.load_cases(loader, __name__, MergeCase, GdbCase)
    suite.addTests(loader.loadTestsFromTestCase(TestNative))
    suite.addTests(loader.loadTestsFromTestCase(TestLibrary))
    return suite


if __name__ == "__main__":
    sys.exit("run by tests/tap.py")
