"""What an agent runs as a module of its own, and what it tells of objects, on
every CPython found; with torch where PROBETUI_TORCH_PYTHON has it."""
import os
import subprocess
import sys
import unittest

from agents import Place, Target

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "backend"))
import pythons  # noqa: E402

BEGINS = "import probetui\nsay(probetui.listen())\n"
# As much of torch as is looked at, and modules that run code when touched.
TORCH = """
import types
class Tensor:
    def __init__(self, count, dtype="torch.float32", device="cpu"):
        self.count, self.dtype, self.device = count, dtype, device
    def numel(self):
        if self.count is None:
            raise RuntimeError("it has no shape yet")
        return self.count
class Module:
    def __init__(self, parameters=(), **modules):
        self.__dict__["_parameters"] = dict(parameters)
        self.__dict__["_modules"] = modules
    def __getattr__(self, name):
        touched.append(name)
class Linear(Module):
    __class__ = property(lambda self: touched.append("class"))
touched = []
torch = types.ModuleType("torch")
torch.Tensor, torch.__version__ = Tensor, "2.0"
module = types.ModuleType("torch.nn.modules.module")
module.Module = Module
sys.modules["torch"] = torch
sys.modules["torch.nn.modules.module"] = module
shared = Tensor(10)
first = Linear({"weight": shared, "bias": None})
second = Linear({"weight": shared, "scale": Tensor(3, "torch.float16",
                                                   "cuda:0")})
late = Module({"weight": Tensor(None)})
model = Module((), first=first, second=second, nothing=None)
ring = Module()
ring._modules["ring"] = ring
outer = Module((), late=late, ring=ring)
del first, second, late, ring
"""


class ObjectsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place(cls.python.argv)
        cls.target = Target(cls.place, BEGINS)

    @classmethod
    def tearDownClass(cls):
        status, errors = cls.target.close()
        cls.place.close()
        assert (status, errors) == (0, ""), errors

    def setUp(self):
        self.client = self.target.client()
        self.addCleanup(self.client.close)

    def test_execute(self):
        told = self.client.post(
            "/execute", code="import threading as t\nprint(__name__)\nseven "
            "= 7\ndef twice(x): return 2 * x\ntwice(seven)")
        self.assertEqual(told, {"value": "14", "type": "int",
                                "output": "__probetui__\n", "error": None})
        self.assertEqual(self.client.value("'seven' in globals()"), "False")

    def test_execute_file(self):
        path = self.place.write("run.py", "# coding: latin-1\n"
                                "import __main__\n__main__.seen = __file__\n"
                                "int('x')\n")
        told = self.client.ask("POST", "/execute", {"path": path}).value
        self.assertEqual(told["error"]["type"], "ValueError")
        self.assertIn('"%s", line 4' % path, told["error"]["traceback"])
        self.assertIn("int('x')", told["error"]["traceback"])
        self.assertEqual(self.client.value("seen"), repr(path))

    def test_execute_refused(self):
        inside = self.place.inside
        os.mkfifo(os.path.join(self.place.path, "pipe"))
        self.place.write("large", " " * (1 << 20) + "\n")
        for body in ({}, {"code": "1", "path": "/dev/null"}, {"path": 1},
                     {"path": inside + "/none"}, {"path": inside},
                     {"path": inside + "/pipe"}, {"path": "\0"},
                     {"path": inside + "/large"}):
            self.assertEqual(self.client.ask("POST", "/execute", body).status,
                             400, body)

    def test_execute_what_waits(self):
        """Regular files by their mode, which have no size, and may wait for
        what is to be in them: at once, and when CPython looks for the line of
        a SyntaxError there, with the GIL. Nothing is read from them."""
        self.place.write("empty", "")
        for path in ("/proc/self/status", "/proc/kmsg",
                     self.place.inside + "/empty"):
            answer = self.client.ask("POST", "/execute", {"path": path})
            self.assertEqual(answer.status, 400, path)
        self.assertEqual(self.client.value("1"), "1")

    def test_objects(self):
        self.client.value("class Some: pass\n"
                          "class Few(Some): __repr__ = None\n"
                          "kept = [Some() for _ in range(150)], Few()\n1")
        told = self.client.get("/objects?type=__main__.Some")
        self.assertEqual((told["count"], len(told["objects"])), (150, 100))
        self.assertRegex(told["objects"][0]["value"], "^<__main__.Some at ")
        told = self.client.get("/objects?type=Some&limit=2")
        self.assertEqual((told["count"], len(told["objects"])), (150, 2))
        told = self.client.get("/objects?type=Few")
        self.assertEqual(told["objects"], [
            {"id": int(self.client.value("id(kept[1])")),
             "type": "__main__.Few",
             "value": told["objects"][0]["value"]}])
        self.assertEqual(self.client.get("/objects?type=None")["count"], 0)
        for path in ("/objects", "/objects?type=", "/objects?type=a&limit=x"):
            self.assertEqual(self.client.ask("GET", path).status, 400)

    def test_unfinished_tuples(self):
        """The collector knows those, too. A program fails that makes one of
        which another thread has hold."""
        self.client.value(
            "class Thing: pass\n"
            "things, failed, stop = [Thing() for _ in range(9999)], [], []\n"
            "def make():\n"
            "    while not stop:\n"
            "        try:\n"
            "            tuple(time.sleep(0) or n for n in range(99))\n"
            "        except SystemError as error:\n"
            "            failed.append(str(error))\n"
            "t = threading.Thread(target=make, daemon=True); t.start(); 1")
        for _ in range(30):
            self.assertEqual(
                self.client.get("/objects?type=Thing&limit=1")["count"], 9999)
            self.client.get("/modules")
        self.assertEqual(self.client.value(
            "stop.append(1); t.join(); del things[:]; failed, "
            "round(sys.getswitchinterval(), 6)"), "([], 0.005)")
        for name in ("tuple", "frozenset"):
            self.assertEqual(self.client.ask(
                "GET", "/objects?type=" + name).status, 400)

    def test_modules(self):
        self.assertEqual(self.client.get("/modules"),
                         {"torch": None, "modules": []})
        self.client.post("/eval", code=TORCH)
        self.assertEqual(self.client.value("touched"), "[]")
        told = self.client.get("/modules")
        self.assertEqual((told["torch"], told["left_out"]), ("2.0", 0))
        trees = {tree["name"]: tree for tree in told["modules"]}
        self.assertEqual(sorted(trees), ["model", "outer"])
        model = trees["model"]
        # A parameter that two modules share counts once.
        self.assertEqual(
            (model["type"], model["parameters"], model["dtypes"],
             model["devices"]),
            ("__main__.Module", 13, ["torch.float16", "torch.float32"],
             ["cpu", "cuda:0"]))
        self.assertEqual(
            [(child["name"], child["type"], child["parameters"])
             for child in model["children"]],
            [("first", "__main__.Linear", 10),
             ("second", "__main__.Linear", 13)])
        late, ring = trees["outer"]["children"]
        self.assertEqual((late["parameters"], late["dtypes"]), (0, []))
        self.assertEqual((ring["children"], ring["left_out"]), ([], 1))
        self.assertEqual(self.client.value("touched"), "[]")
        self.client.post("/eval", code="import sys\n"
                         "del sys.modules['torch.nn.modules.module']\n"
                         "del sys.modules['torch']")


@unittest.skipUnless(os.environ.get("PROBETUI_TORCH_PYTHON"),
                     "PROBETUI_TORCH_PYTHON names no Python with torch")
class TestTorch(unittest.TestCase):
    def setUp(self):
        self.python = os.environ["PROBETUI_TORCH_PYTHON"]
        self.place = Place([self.python])
        self.addCleanup(self.place.close)

    def test_modules(self):
        target = Target(
            self.place, "import torch\n"
            "model = torch.nn.Sequential(torch.nn.Linear(32, 8), "
            "torch.nn.LazyLinear(4), torch.nn.Linear(8, 2).half())\n"
            + BEGINS, options=())
        self.addCleanup(target.kill)
        with target.client() as client:
            self.assertEqual(client.get("/modules")["modules"], [{
                "name": "model",
                "type": "torch.nn.modules.container.Sequential",
                "parameters": 32 * 8 + 8 + 8 * 2 + 2,
                "dtypes": ["torch.float16", "torch.float32"],
                "devices": ["cpu"], "children": [
                    {"name": "0", "type": "torch.nn.modules.linear.Linear",
                     "parameters": 264, "dtypes": ["torch.float32"],
                     "devices": ["cpu"], "children": []},
                    {"name": "1",
                     "type": "torch.nn.modules.linear.LazyLinear",
                     "parameters": 0, "dtypes": [], "devices": [],
                     "children": []},
                    {"name": "2", "type": "torch.nn.modules.linear.Linear",
                     "parameters": 18, "dtypes": ["torch.float16"],
                     "devices": ["cpu"], "children": []}]}])
            told = client.get("/objects?limit=1&type="
                              "torch.nn.parameter.Parameter")
            self.assertEqual(told["count"], 4)
            self.assertRegex(told["objects"][0]["value"],
                             r"^Parameter\(shape=\(.*\), dtype=torch")

    def test_torchrun(self):
        """Ranks listen; the launcher and DataLoader's workers do not."""
        if not pythons.has_torchrun(self.python):
            self.skipTest(pythons.NO_TORCHRUN)
        self.place.write("train.py", """
import os, torch, torch.utils.data as data
def listens(pid):
    return os.path.exists("/tmp/pdb-%d/%d.agent" % (os.geteuid(), pid))
class Data(data.Dataset):
    def __len__(self): return 2
    def __getitem__(self, index): return int(listens(os.getpid()))
if __name__ == "__main__":
    workers = [sum(int(batch) for batch in data.DataLoader(
        Data(), num_workers=1, multiprocessing_context=method))
        for method in ("fork", "spawn")]
    told = "%s %s %s %s" % (os.environ["RANK"], listens(os.getpid()),
                            listens(os.getppid()), workers)
    with open(__file__ + os.environ["RANK"], "w") as file:
        file.write(told)
""")
        path = self.place.path + "/train.py"
        subprocess.run(
            pythons.torchrun(self.python, 2) + [path], check=True, timeout=120,
            env=self.place.environment(
                PROBETUI="1", IPDB_DEBUG=None, RANK=None, WORLD_SIZE=None,
                MASTER_ADDR=None, MASTER_PORT=None),
            stderr=subprocess.DEVNULL)
        for rank in "01":
            with open(path + rank) as file:
                self.assertEqual(file.read(),
                                 rank + " True False [0, 0]")


def load_tests(loader, tests, _):
    suite = loader.loadTestsFromTestCase(TestTorch)
    suite.addTests(pythons.load_cases(loader, __name__, ObjectsCase))
    return suite
