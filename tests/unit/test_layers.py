"""The layers as their #includes show them: which file may know a library, and
which layer may know another. Every header compiles alone."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILDDIR", SOURCE)
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)

# A library's header, and the files that may include it.
DOORS = {
    "curses.h": ["ui/screen.c", "ui/input.c"],
    "ncurses.h": [],
    "uv.h": ["src/base/loop.c"],
    "utf8proc.h": ["src/base/text.c"],
    "zlib.h": ["src/base/pack.c"],
    "uthash.h": ["src/base/map.c"],
    "utarray.h": [],
    "sys/ptrace.h": ["backends/tracer/freezer.c", "backends/tracer/remote-syscall.c",
                     "backends/tracer/ptrace-ops.c",
                     "backends/tracer/tracee-private.h",
                     "tests/backend/stepper-probe.c"],
    "elfutils/libdw.h": ["backends/native/unwind-module.c",
                         "backends/native/dwarf-expression.h"],
    "elfutils/libdwfl.h": [],
    "curl/curl.h": ["backends/http/http-client-module.c"],
    "dwarf.h": ["backends/native/dwarf-expression.c",
                "backends/native/frame-table.c"],
    "libelf.h": [],
    "gelf.h": [],
    "vterm.h": ["ui/terminal.c", "tests/screen/terminal.c", "tests/screen/terminal.h"],
}

# A layer, and the layers it may include; its own is understood.
LAYERS = {
    "src/base/": [],
    "src/protocol/": ["src/base/"],
    "src/model/": ["src/base/", "src/protocol/"],
    "src/engine/": ["src/base/", "src/protocol/", "src/model/"],
    "src/commands/": ["src/base/", "src/protocol/", "src/model/", "src/engine/"],
    "ui/": ["src/base/", "src/protocol/", "src/model/", "src/engine/", "src/commands/"],
    "backends/": ["src/base/", "src/protocol/"],
}

# The folders of backends/ in their order: each includes only those before it.
# "" stands for the headers of backends/ itself; its .c files are the node, which
# puts all folders together.
BACKEND_FOLDERS = ["linux", "native", "tracer", "discover", "cpython", "c10d", "expression", "",
                   "pdb", "http", "ptrace", "tensor", "inject", "launch"]


def sources(*suffixes):
    """Our .c and .h files, relative to the source folder."""
    found = []
    for folder in ("src", "ui", "backends", "tests"):
        for suffix in suffixes:
            found += glob.glob(os.path.join(SOURCE, folder, "**", "*" + suffix),
                               recursive=True)
    return sorted(os.path.relpath(path, SOURCE) for path in found)


def includes(path):
    with open(os.path.join(SOURCE, path)) as file:
        return INCLUDE.findall(file.read())


def resolve(path, name):
    """The file of ours that an #include in path means, or None."""
    for folder in (os.path.dirname(path), "src", ""):
        found = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(SOURCE, found)):
            return found
    return None


class TestLayers(unittest.TestCase):
    def test_there_are_sources(self):
        self.assertGreater(len(sources(".c")), 20)

    def test_each_library_has_its_door(self):
        for path in sources(".c", ".h"):
            for name in includes(path):
                if name in DOORS:
                    self.assertIn(path, DOORS[name],
                                  "%s includes <%s>" % (path, name))

    def test_layers_include_lower_layers_only(self):
        for path in sources(".c", ".h"):
            for layer, allowed in LAYERS.items():
                if not path.startswith(layer):
                    continue
                for name in includes(path):
                    found = resolve(path, name)
                    if found is None or found == "src/banned.h":
                        continue
                    self.assertTrue(
                        found.startswith(tuple(allowed + [layer])),
                        "%s includes %s" % (path, found))

    def test_folders_of_backends_include_those_before_them(self):
        def place(path):
            return BACKEND_FOLDERS.index(path.split("/")[1] if path.count("/") > 1 else "")

        checked = 0
        for path in sources(".c", ".h"):
            if not path.startswith("backends/") or os.path.dirname(path) == "backends" and \
                    path.endswith(".c"):
                continue
            for name in includes(path):
                found = resolve(path, name)
                if found and found.startswith("backends/"):
                    checked += 1
                    self.assertLessEqual(place(found), place(path),
                                         "%s includes %s" % (path, found))
        self.assertGreater(checked, 500)

    def test_no_name_is_defined_on_both_sides(self):
        """probetui has the node in it, too: of two functions of one name the
        linker would take either."""
        nm = shutil.which("nm")
        sides = [[os.path.join(BUILD, name) for name in side] for side in (
            ["libui.a", "libcommands.a", "libengine.a", "libmodel.a"], ["libnode.a"])]
        if nm is None or not all(os.path.exists(path)
                                 for side in sides for path in side):
            self.skipTest("no nm, or nothing is built")
        names = []
        for side in sides:
            output = subprocess.run([nm, "-g", "--defined-only"] + side,
                                    stdout=subprocess.PIPE,
                                    universal_newlines=True, check=True).stdout
            names.append({line.split()[2] for line in output.splitlines()
                          if len(line.split()) == 3})
            self.assertGreater(len(names[-1]), 100)
        # What AddressSanitizer marks each file's variables with.
        self.assertEqual([name for name in sorted(names[0] & names[1])
                          if not name.startswith("__odr_asan")], [])

    def test_every_source_bans_what_is_banned(self):
        for path in sources(".c"):
            if path.startswith("tests/") or path.endswith("-gen.c"):
                continue
            self.assertIn("banned.h", includes(path), path)

    def test_frames_of_the_agent_are_known_as_such(self):
        with open(os.path.join(SOURCE, "src/model/place.c")) as file:
            table = re.search(r"agent_modules\[\] = \{(.*?)\};", file.read(),
                              re.S)
        package = os.path.join(SOURCE, "agent", "probetui")
        self.assertEqual(
            re.findall(r'"(\w+)"', table.group(1)),
            sorted(name[:-len(".py")] for name in os.listdir(package)
                   if name.endswith(".py")))

    def test_what_is_needed_is_distributed(self):
        """Each source of C, Python and JavaScript stands in a list of
        make's, or is that of a program there."""
        lists = ""
        for path in [os.path.join(SOURCE, "Makefile.am")] + glob.glob(
                os.path.join(SOURCE, "**", "files.am"), recursive=True):
            with open(path) as file:
                lists += file.read()
        names = [os.path.relpath(path, SOURCE)
                 for folder in ("agent", "backends", "src", "tests", "ui")
                 for path in glob.glob(os.path.join(
                     SOURCE, folder, "**", "*.*"), recursive=True)]
        words = set(re.split(r"[\s,;]+", lists))
        self.assertEqual([
            name for name in names if re.search(r"\.([ch]|py|js)$", name)
            and words.isdisjoint({name, re.sub(r"\.c$", "", name)})], [])

    def test_every_header_compiles_alone(self):
        compiler = shutil.which(os.environ.get("CC", "cc"))
        if compiler is None:
            self.skipTest("no C compiler cc on the PATH")
        with tempfile.TemporaryDirectory() as folder:
            every = os.path.join(folder, "header.c")
            for path in sources(".h"):
                with open(every, "w") as file:
                    file.write('#include "%s"\nint unused;\n' % path)
                run = subprocess.run(
                    [compiler, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only",
                     "-Wall", "-I", BUILD, "-I", SOURCE,
                     "-I", os.path.join(SOURCE, "src"), every],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    universal_newlines=True)
                self.assertEqual(run.returncode, 0, path + "\n" + run.stdout)


if __name__ == "__main__":
    unittest.main()
