"""Which processes probetui-node takes for ranks, and what becomes of them."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from nodes import NODE, WAIT, Node, Target, wait_for_read

# Starts one process a line of input ("NAME=VALUE …", "-" for none), prints
# its pid, and waits for it at "wait N".
LAUNCHER = """
import os, subprocess, sys
print('ready', flush=True)
ranks = []
for line in sys.stdin:
    words = line.split()
    if words[0] == 'wait':
        rank = ranks[int(words[1])]
        rank.stdin.close()
        print(rank.wait(), flush=True)
        continue
    new = dict(os.environ)
    new.update(word.split('=', 1) for word in words if '=' in word)
    rank = subprocess.Popen([sys.executable, '-c', sys.argv[1]], env=new,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rank.stdout.readline()
    ranks.append(rank)
    print(rank.pid, flush=True)
for rank in ranks:
    rank.stdin.close()
    rank.wait()
"""

# A launcher whose main thread has ended: to others it is as dead as a zombie,
# but its children stay its own.
HALF_DEAD = """
import ctypes, sys, threading
code = sys.argv.pop(1)
threading.Thread(target=lambda: exec(code, {})).start()
ctypes.CDLL(None).pthread_exit(None)
"""

# A rank that starts a child and stays.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', %r] + %r,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print('ready', child.pid, flush=True)
sys.stdin.read()
child.stdin.close()
child.wait()
"""

# Prints "RANK PID" of two ranks, and "child PID" of a process below the second.
SPAWN = """
import multiprocessing, os, sys
def tell(name):
    os.write(1, ('%s %d\\n' % (name, os.getpid())).encode())
def work(rank, end):
    os.environ['RANK'] = str(rank)
    os.environ['LOCAL_RANK'] = str(rank)
    os.environ['WORLD_SIZE'] = '2'
    os.environ['MASTER_ADDR'] = '127.0.0.1'
    os.environ['MASTER_PORT'] = '29777'
    tell(rank)
    if rank == 1:
        child = multiprocessing.get_context('fork').Process(
            target=inner, args=(end,))
        child.start()
        child.join()
    end.wait()
def inner(end):
    tell('child')
    end.wait()
if __name__ == '__main__':
    context = multiprocessing.get_context(sys.argv[1])
    end = context.Event()
    ranks = [context.Process(target=work, args=(rank, end))
             for rank in range(2)]
    for rank in ranks:
        rank.start()
    sys.stdin.read()
    end.set()
    for rank in ranks:
        rank.join()
"""


class DiscoverTest(unittest.TestCase):
    def node(self, *args, **options):
        node = Node(*args, **options)
        self.addCleanup(node.close)
        return node

    def target(self, *args, **variables):
        target = Target(*args, **variables)
        self.addCleanup(target.close)
        return target

    def launch(self, *lines, **variables):
        """A launcher and the pids of its ranks, one a line of variables."""
        launcher = self.target(argv=[sys.executable, "-c", LAUNCHER, WAIT],
                               **variables)
        pids = []
        for line in lines:
            launcher.say(line)
            pids.append(int(launcher.line()[0]))
        return launcher, pids

    def one(self, *args, **variables):
        target = self.target(*args, **variables)
        found, _ = self.node().discover([target.pid])
        return found.get(target.pid)


class TestEnvironments(DiscoverTest):
    def check(self, process, **expected):
        self.assertIsNotNone(process)
        self.assertEqual({key: process.get(key) for key in expected}, expected)

    def test_torchrun(self):
        self.check(self.one(RANK="11", LOCAL_RANK="3", WORLD_SIZE="16",
                            GROUP_RANK="1", MASTER_ADDR="10.0.0.1",
                            MASTER_PORT="29500"),
                   rank=11, local_rank=3, world_size=16, group_rank=1,
                   job="10.0.0.1:29500", state="live")

    def test_open_mpi(self):
        self.check(self.one(OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="4",
                            OMPI_COMM_WORLD_LOCAL_RANK="1"),
                   rank=2, local_rank=1, world_size=4, job=None)

    def test_pmi(self):
        self.check(self.one(PMI_RANK="1", PMI_SIZE="2"), rank=1, world_size=2)

    def test_pmix_under_slurm(self):
        self.check(self.one(PMIX_RANK="5", SLURM_PROCID="5", SLURM_NTASKS="8",
                            SLURM_LOCALID="1"),
                   rank=5, world_size=8, local_rank=1)

    def test_horovod(self):
        self.check(self.one(HOROVOD_RANK="3", HOROVOD_SIZE="4",
                            HOROVOD_LOCAL_RANK="1", OMPI_COMM_WORLD_RANK="0"),
                   rank=3, world_size=4, local_rank=1)

    def test_lightning_on_the_first_machine(self):
        self.check(self.one(NODE_RANK="0", LOCAL_RANK="1", WORLD_SIZE="4",
                            MASTER_ADDR="h", MASTER_PORT="1"),
                   rank=1, world_size=4, local_rank=1, group_rank=0, job="h:1")

    def test_lightning_on_another_machine(self):
        """How many ranks the machines before have is not known."""
        self.assertIsNone(self.one(NODE_RANK="1", LOCAL_RANK="1",
                                   WORLD_SIZE="4"))

    def test_slurm(self):
        self.check(self.one(SLURM_PROCID="6", SLURM_NTASKS="8",
                            SLURM_LOCALID="2"),
                   rank=6, world_size=8, local_rank=2)

    def test_torchrun_wins_over_slurm(self):
        self.check(self.one(RANK="3", WORLD_SIZE="4", SLURM_PROCID="0"),
                   rank=3, world_size=4)

    def test_a_process_group_that_is_none(self):
        """Modules of torch's names, without what torch has in them."""
        for group in ("None", "1", "b'x' * 64", "(1, 2)", "object()"):
            with self.subTest(group=group):
                code = ("import sys, types\n"
                        "m = types.ModuleType('torch.distributed.distributed_c10d')\n"
                        "m._world = types.SimpleNamespace(_default_pg=%s)\n"
                        "m._pg_group_ranks = {m._world._default_pg: {0: 0, 1: 1}}\n"
                        "j = types.ModuleType('jax._src.distributed')\n"
                        "j.global_state = types.SimpleNamespace(process_id=9,\n"
                        "    num_processes=2 ** 70, coordinator_address=7)\n"
                        "sys.modules[m.__name__] = m\n"
                        "sys.modules[j.__name__] = j\n" % group) + WAIT
                self.check(self.one(code, RANK="1", WORLD_SIZE="4",
                                    MASTER_ADDR="h", MASTER_PORT=group),
                           rank=1, world_size=4, job="h:" + group)

    def test_a_program_in_the_place_of_another(self):
        """Two claims make the node look into the programs, before execve(2)
        and behind it."""
        replaced = self.target(
            "import os, sys; print('ready', flush=True); sys.stdin.readline()\n"
            "os.execve(sys.executable, [sys.executable, '-c', %r],\n"
            "          dict(os.environ, RANK='5'))" % WAIT, RANK="4")
        others = [self.target(RANK="4"), self.target(RANK="5")]
        pids = [target.pid for target in [replaced] + others]
        node = self.node()
        found, _ = node.discover(pids)
        self.assertEqual(found[replaced.pid]["rank"], 4)
        replaced.say("go")
        self.assertEqual(replaced.line(), ["ready"])
        found, _ = node.discover(pids)
        self.assertEqual(found[replaced.pid]["rank"], 5)
        self.assertEqual(found[others[0].pid]["rank"], 4)

    def test_no_rank_at_all(self):
        for value in ("", "x", "-1", "1x", "99999999999999999999"):
            with self.subTest(value=value):
                target = self.target(RANK=value)
                rank = self.target(RANK="0")
                found, _ = self.node().discover([target.pid, rank.pid])
                self.assertEqual(list(found), [rank.pid])

    def test_a_data_worker_that_outlives_its_rank(self):
        """It has the rank's variables, and the name that torch gives it."""
        worker = self.target("import ctypes, sys\n"
                             "ctypes.CDLL(None).prctl(15, b'pt_data_worker')\n"
                             "print('ready', flush=True); sys.stdin.read()",
                             RANK="0")
        rank = self.target(RANK="1")
        found, _ = self.node().discover([worker.pid, rank.pid])
        self.assertEqual(list(found), [rank.pid])

    def test_what_else_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w") as file:
                file.write(WAIT)
            target = self.target(argv=[sys.executable, "-u", "-W", "ignore",
                                       "-Xdev", path, "--steps", "3"],
                                 RANK="0")
            found, _ = self.node().discover([target.pid])
        process = found[target.pid]
        self.check(process, script="train.py", script_path=path,
                   cwd=os.getcwd(), uid=os.geteuid(),
                   launcher_pid=os.getpid(), launcher="python",
                   python="%d.%d.%d" % sys.version_info[:3])
        self.assertGreaterEqual(process["age"], 0)
        self.assertLess(process["age"], 60)

    def test_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w") as file:
                file.write(WAIT)
            target = self.target(argv=[sys.executable, "-um", "train"],
                                 RANK="0", PYTHONPATH=folder)
            found, _ = self.node().discover([target.pid])
        self.check(found[target.pid], script="-m train", script_path=None)

    def test_not_python(self):
        target = self.target(argv=["sh", "-c", "echo ready; read line"],
                             RANK="0")
        found, _ = self.node().discover([target.pid])
        self.assertFalse(found)

    def test_bystanders(self):
        target = self.target()
        _, body = self.node().discover()
        self.assertLessEqual(len(body["bystanders"]), 20)
        self.assertGreater(body["looked_at"], 1)
        self.assertEqual(body["uid"], os.geteuid())
        mine = [b for b in body["bystanders"] if b["pid"] == target.pid]
        if len(body["bystanders"]) < 20:
            self.assertEqual(mine[0]["script"], "-c")
            self.assertEqual(mine[0]["name"],
                             os.path.basename(sys.executable))
            self.assertEqual(mine[0]["why"], "is Python, but has no rank")


# Starts so many processes that only wait, in one process group.
BESIDE = """
i=0
while [ $i -lt %d ]; do sleep 1000000 & i=$((i+1)); done
echo ready
wait
"""


class TestOthers(DiscoverTest):
    OTHERS = 1000

    def start_others(self):
        others = subprocess.Popen(["sh", "-c", BESIDE % self.OTHERS],
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  start_new_session=True)
        self.addCleanup(others.stdout.close)
        self.addCleanup(others.wait)
        self.addCleanup(os.killpg, others.pid, signal.SIGKILL)
        self.assertEqual(others.stdout.readline(), b"ready\n")
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if self.session(pid) == others.pid]

    @staticmethod
    def session(pid):
        try:
            return os.getsid(pid)
        except ProcessLookupError:
            return None

    def count_calls(self, ranks, others, looks):
        """The system calls with a path of one of the others, of a node that
        looks so often."""
        paths = {b'"%d' % pid for pid in others} | \
            {b'"/proc/%d' % pid for pid in others}
        of_others = re.compile(rb'"(?:/proc/)?[0-9]+(?=[/"])')
        with tempfile.NamedTemporaryFile() as trace:
            node = Node(["strace", "-f", "-qq", "-o", trace.name, NODE])
            try:
                for _ in range(looks):
                    found, _ = node.discover(ranks)
                    self.assertEqual(sorted(found), sorted(ranks))
            finally:
                node.close()
            # A call that another thread interrupted has two lines, of which
            # the first has the path.
            found = map(of_others.search, trace)
            return sum(1 for path in found if path and path.group() in paths)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_each_costs_one_call_a_look(self):
        ranks = [self.target(RANK=str(rank)).pid for rank in range(8)]
        others = self.start_others()
        # The shell, and the first process of each program, cost some more.
        self.assertGreaterEqual(len(others), self.OTHERS)
        for looks in (1, 3):
            self.assertLessEqual(self.count_calls(ranks, others, looks),
                                 looks * len(others) + 20)

    def test_a_known_process_becomes_a_rank(self):
        shells = [self.target(argv=[
            "sh", "-c", 'echo ready; read line; exec "$0" -c "$1"',
            sys.executable, WAIT], RANK=str(rank)) for rank in range(4)]
        node = self.node()
        found, _ = node.discover([shell.pid for shell in shells], follow=True,
                                 period=0.1)
        self.assertEqual(found, {})
        for shell in shells:
            shell.say("now")
            self.assertEqual(shell.line(), ["ready"])
            node.event("rankAdded", shell.pid)


class TestAllocation(DiscoverTest):
    def test_the_machines_of_a_slurm_job(self):
        found = self.one(RANK="0", WORLD_SIZE="2", SLURM_JOB_ID="81234",
                         SLURM_JOB_NODELIST="n[1-4]")
        self.assertEqual((found["slurm_job"], found["slurm_nodes"]),
                         ("81234", "n[1-4]"))
        self.assertNotIn("slurm_job", self.one(RANK="0"))


class TestFamilies(DiscoverTest):
    def test_a_launcher_is_no_rank(self):
        launcher, pids = self.launch("RANK=0", "RANK=1")
        found, _ = self.node().discover([launcher.pid] + pids)
        self.assertEqual([found[pid]["rank"] for pid in pids], [0, 1])
        self.assertNotIn(launcher.pid, found)
        self.assertEqual(found[pids[0]]["launcher_pid"], launcher.pid)

    def test_a_launcher_that_has_just_ended_is_none(self):
        """What is still read of it, its comm(5), is not its program."""
        launcher = self.target(argv=[sys.executable, "-c", HALF_DEAD, LAUNCHER, WAIT])
        launcher.say("RANK=0")
        pid = int(launcher.line()[0])
        found, _ = self.node().discover([pid])
        self.assertEqual((found[pid]["rank"], found[pid].get("launcher"),
                          found[pid].get("launcher_pid")), (0, None, None))

    def test_a_launcher_that_has_ended_is_remembered(self):
        launcher = self.target(argv=[sys.executable, "-c", LAUNCHER,
                                     "import time; print(1, flush=True); time.sleep(600)"])
        launcher.say("RANK=0")
        pid = int(launcher.line()[0])
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        node = self.node()
        node.discover([pid])
        os.kill(launcher.pid, signal.SIGKILL)
        launcher.process.wait()
        found, _ = node.discover([pid])
        self.assertEqual((found[pid]["launcher"], found[pid]["launcher_pid"]),
                         ("python", launcher.pid))

    def test_torchrun_under_srun_is_no_rank(self):
        launcher, pids = self.launch("RANK=0", "RANK=1", SLURM_PROCID="0")
        found, _ = self.node().discover([launcher.pid] + pids)
        self.assertEqual(sorted(found), sorted(pids))

    def test_torchrun_with_the_rank_of_its_node_is_no_rank(self):
        launcher, pids = self.launch("RANK=0 LOCAL_RANK=0", RANK="0")
        found, _ = self.node().discover([launcher.pid] + pids)
        self.assertEqual(list(found), pids)
        self.assertNotIn("parent_pid", found[pids[0]])

    def test_a_rank_that_starts_a_job_is_a_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "torchrun")
            with open(path, "w") as file:
                file.write(PARENT.replace(
                    "[sys.executable, '-c', %r] + %r,",
                    "[sys.executable, '-c', %r], env=dict(__import__('os')"
                    ".environ, RANK='0', LOCAL_RANK='0', MASTER_PORT='2'),")
                    % WAIT)
            rank = self.target(PARENT.replace("'-c', %r] + %r", "%r]") % path,
                               RANK="1", LOCAL_RANK="1", MASTER_ADDR="h",
                               MASTER_PORT="1")
            found, _ = self.node().discover()
        self.assertEqual(found[rank.pid]["rank"], 1)
        launcher = int(rank.words[1])
        self.assertNotIn(launcher, found)
        inner, = [process for process in found.values()
                  if process.get("launcher_pid") == launcher]
        self.assertEqual((inner["job"], inner["rank"], inner["launcher"]),
                         ("h:2", 0, "torchrun"))
        self.assertNotIn("parent_pid", inner)

    def test_a_child_is_under_its_rank(self):
        rank = self.target(PARENT % (WAIT, []), RANK="3", WORLD_SIZE="4")
        child = int(rank.words[1])
        found, _ = self.node().discover([rank.pid, child])
        self.assertNotIn("parent_pid", found[rank.pid])
        self.assertNotIn("role", found[rank.pid])
        self.assertEqual(found[child]["parent_pid"], rank.pid)
        self.assertEqual(found[child]["rank"], 3)
        self.assertEqual(found[child]["role"], "child")

    def test_roles_by_command_line(self):
        rank = self.target(PARENT % (WAIT, ["compile_worker"]), RANK="0")
        child = int(rank.words[1])
        found, _ = self.node().discover()
        self.assertEqual(found[child]["role"], "compile")

    def test_a_helper_of_pythons_own_is_not_shown(self):
        rank = self.target(PARENT % (
            WAIT, ["from multiprocessing.resource_tracker"]), RANK="0")
        found, body = self.node().discover([rank.pid, int(rank.words[1])])
        self.assertEqual(list(found), [rank.pid])
        self.assertNotIn(int(rank.words[1]),
                         [b["pid"] for b in body["bystanders"]])

    def test_role_by_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "torch/utils/data/_utils/worker.py")
            os.makedirs(os.path.dirname(path))
            with open(path, "w") as file:
                file.write(WAIT)
            rank = self.target(PARENT % ("import runpy, sys; "
                                         "runpy.run_path(sys.argv[1])",
                                         [path]), RANK="0")
            child = int(rank.words[1])
            node = self.node()
            found, _ = node.discover([child])
            self.assertEqual(found[child]["role"], "child")
            node.ask("sample", pids=[child])
            self.assertEqual(node.event("rankChanged", child)["role"],
                             "dataloader")
            # What was learnt stays.
            found, _ = node.discover([child])
            self.assertEqual(found[child]["role"], "dataloader")

    def test_a_grandchild_is_under_the_rank_too(self):
        inner = PARENT % (WAIT, [])
        rank = self.target(PARENT % (inner, []), RANK="0")
        found, _ = self.node().discover()
        children = [p for p in found.values()
                    if p.get("parent_pid") == rank.pid]
        self.assertEqual(len(children), 2)

    def spawned(self, method):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w") as file:
                file.write(SPAWN)
            launcher = self.target(argv=[sys.executable, path, method])
            pids = dict([launcher.words, launcher.line(), launcher.line()])
        first, second, child = (int(pids[name]) for name in
                                ("0", "1", "child"))
        found, _ = self.node().discover([launcher.pid, first, second, child])
        self.assertNotIn(launcher.pid, found)
        for rank, pid in ((0, first), (1, second)):
            self.assertEqual(found[pid]["rank"], rank)
            self.assertEqual(found[pid]["world_size"], 2)
            self.assertEqual(found[pid]["job"], "127.0.0.1:29777")
            self.assertEqual(found[pid]["launcher_pid"], launcher.pid)
            self.assertEqual(found[pid]["script"], "train.py")
            self.assertNotIn("parent_pid", found[pid])
        self.assertEqual(found[child]["parent_pid"], second)
        # Nothing but these: the tracker of multiprocessing is not shown.
        others, _ = self.node().discover()
        self.assertEqual([p["pid"] for p in others.values()
                          if p.get("launcher_pid") == launcher.pid
                          and p["pid"] not in (first, second, child)], [])

    def test_spawned_ranks(self):
        self.spawned("spawn")

    def test_forked_ranks(self):
        self.spawned("fork")

    def test_two_jobs(self):
        a, a_pids = self.launch("RANK=0", "RANK=1", MASTER_ADDR="h",
                                MASTER_PORT="1")
        b, b_pids = self.launch("RANK=0", "RANK=1", MASTER_ADDR="h",
                                MASTER_PORT="2")
        found, _ = self.node().discover(a_pids + b_pids)
        self.assertEqual([(found[p]["job"], found[p]["launcher_pid"],
                           found[p]["rank"]) for p in a_pids + b_pids],
                         [("h:1", a.pid, 0), ("h:1", a.pid, 1),
                          ("h:2", b.pid, 0), ("h:2", b.pid, 1)])


class TestNamed(DiscoverTest):
    def test_numbers_in_order(self):
        targets = [self.target() for _ in range(3)]
        pids = [target.pid for target in targets]
        found, body = self.node().discover(pids=pids)
        self.assertEqual([found[pid]["rank"] for pid in pids], [0, 1, 2])
        self.assertEqual(body["bystanders"], [])

    def test_own_numbers_stay(self):
        first = self.target(RANK="1").pid
        second = self.target().pid
        third = self.target(RANK="1").pid
        found, _ = self.node().discover(pids=[first, second, third])
        self.assertEqual([found[pid]["rank"] for pid in
                          (first, second, third)], [1, 0, 2])

    def unreadable(self, pid, node=None):
        found, _ = (node or self.node()).discover(pids=[pid])
        self.assertEqual(found[pid]["state"], "unreadable")
        return found[pid]["error"]

    def test_gone(self):
        target = self.target()
        target.end()
        self.assertIn("process %d does not exist" % target.pid,
                      self.unreadable(target.pid))

    def test_zombie(self):
        target = self.target()
        target.process.stdin.close()
        os.waitid(os.P_PID, target.pid, os.WEXITED | os.WNOWAIT)
        self.assertIn("has exited", self.unreadable(target.pid))

    def test_not_python(self):
        target = self.target(argv=["sh", "-c", "echo ready; read line"])
        self.assertIn("not", self.unreadable(target.pid))

    def test_another_users(self):
        if os.geteuid() != 0:
            self.skipTest("running the node as another user needs root")
        node = self.node(argv=["setpriv", "--reuid=65534", "--regid=65534",
                               "--clear-groups", NODE])
        target = self.target()
        self.assertIn("user 0", self.unreadable(target.pid, node))
        self.assertGreaterEqual(node.ask("discover")["others"], 1)
        self.assertEqual(self.node().ask("discover")["others"], 0)


class TestFollow(DiscoverTest):
    def followed(self, *lines):
        launcher, pids = self.launch(*lines)
        node = self.node()
        node.discover(follow=True)
        return node, launcher, pids

    def test_exit_code(self):
        node = self.node()
        target = self.target(WAIT + "; sys.exit(7)", RANK="0")
        node.discover(follow=True)
        target.process.stdin.close()
        body = node.event("rankRemoved", target.pid)
        self.assertEqual((body["state"], body["exit_code"], body["rank"]),
                         ("exited", 7, 0))
        self.assertIn("exited with code 7", body["error"])

    def test_exit_code_0(self):
        node = self.node()
        target = self.target(RANK="0")
        node.discover(follow=True)
        target.process.stdin.close()
        self.assertEqual(node.event("rankRemoved", target.pid)["exit_code"], 0)

    def test_signal(self):
        node = self.node()
        target = self.target(RANK="2")
        node.discover(follow=True)
        target.process.kill()
        body = node.event("rankRemoved", target.pid)
        self.assertEqual(body["exit_signal"], signal.SIGKILL)
        self.assertNotIn("exit_code", body)

    def test_of_one_whose_parent_has_waited(self):
        node, launcher, pids = self.followed("RANK=0")
        node.process.send_signal(signal.SIGSTOP)
        os.waitpid(node.process.pid, os.WUNTRACED)
        launcher.say("wait 0")
        self.assertEqual(launcher.line(), ["0"])
        node.process.send_signal(signal.SIGCONT)
        body = node.event("rankRemoved", pids[0])
        if "exit_code" not in body:
            major, minor = map(int, os.uname().release.split(".")[:2])
            self.assertLess((major, minor), (6, 15))
            self.skipTest("this needs Linux 6.15")
        self.assertEqual(body["exit_code"], 0)

    def test_one_that_comes_later(self):
        node, launcher, _ = self.followed("RANK=0")
        launcher.say("RANK=1")
        pid = int(launcher.line()[0])
        self.assertEqual(node.event("rankAdded", pid)["rank"], 1)

    def test_restart(self):
        node, launcher, pids = self.followed("RANK=0", "RANK=1")
        launcher.say("wait 1")
        self.assertEqual(node.event("rankRemoved", pids[1])["rank"], 1)
        self.assertEqual(launcher.line(), ["0"])
        launcher.say("RANK=1")
        pid = int(launcher.line()[0])
        self.assertEqual(node.event("rankAdded", pid)["rank"], 1)

    def test_stopped_and_continued(self):
        node = self.node()
        target = self.target(RANK="0")
        node.discover(follow=True)
        os.kill(target.pid, signal.SIGSTOP)
        self.assertEqual(node.event("rankChanged", target.pid)["state"],
                         "stopped")
        os.kill(target.pid, signal.SIGCONT)
        self.assertEqual(node.event("rankChanged", target.pid)["state"],
                         "live")

    def test_named_ones(self):
        node = self.node()
        target = self.target()
        node.discover(pids=[target.pid], follow=True)
        target.process.kill()
        body = node.event("rankRemoved", target.pid)
        self.assertEqual(body["exit_signal"], signal.SIGKILL)

    def test_a_zombie_is_told_of_once(self):
        node = self.node()
        target = self.target()
        other = self.target()
        node.discover(pids=[target.pid, other.pid], follow=True)
        target.process.stdin.close()
        self.assertEqual(node.event("rankRemoved", target.pid)["exit_code"], 0)
        # Each of these needs a look.
        for number, state in ((signal.SIGSTOP, "stopped"),
                              (signal.SIGCONT, "live"),
                              (signal.SIGSTOP, "stopped")):
            os.kill(other.pid, number)
            self.assertEqual(node.event("rankChanged", other.pid)["state"],
                             state)
        # Somebody's file /tmp/pdb.sock.0 may be told of as its debugger.
        self.assertEqual([m for m in node.messages if m["type"] == "event"
                          and m["event"] != "debugger"
                          and m["body"].get("pid") == target.pid], [])

    def test_a_rank_that_turns_out_to_be_a_launcher(self):
        launcher, _ = self.launch(SLURM_PROCID="0")
        node = self.node()
        found, _ = node.discover([launcher.pid], follow=True)
        self.assertEqual(found[launcher.pid]["rank"], 0)
        launcher.say("RANK=0 LOCAL_RANK=0")
        rank = int(launcher.line()[0])
        # As a child of what it took for a rank, if it looks before the end.
        body = node.wait_for(
            lambda m: m.get("event") in ("rankRemoved", "rankAdded")
            and m["body"]["pid"] in (launcher.pid, rank)
            and "parent_pid" not in m["body"])
        self.assertEqual((body["event"], body["body"]["pid"]),
                         ("rankRemoved", launcher.pid))
        self.assertEqual(body["body"]["state"], "live")
        self.assertEqual(node.event("rankAdded", rank)["rank"], 0)
        found, _ = node.discover()
        self.assertIn(rank, found)
        self.assertNotIn(launcher.pid, found)
        node.ask("sample")
        self.assertEqual(node.event("sampled", rank)["rank"], 0)
        self.assertEqual([m for m in node.messages
                          if m.get("event") == "sampled"
                          and m["body"]["pid"] == launcher.pid], [])

    def test_a_program_in_the_place_of_another(self):
        """exec: the same process, another Python in it."""
        code = ("import os, sys\n"
                "print('ready', flush=True); sys.stdin.readline()\n"
                "os.execv(sys.executable, [sys.executable, '-c', %r])\n"
                % WAIT)
        node = self.node()
        target = self.target(code, RANK="0")
        node.discover(follow=True)
        node.ask("sample", pids=[target.pid])
        node.event("sampled", target.pid)
        target.say("go on")
        self.assertEqual(target.line(), ["ready"])
        wait_for_read(target.pid)
        # What was known of its memory is wrong once; then it is read anew.
        for _ in range(2):
            node.ask("sample", pids=[target.pid])
            body = node.event("sampled", target.pid)
        self.assertTrue(body["threads"][0]["stack"])


if __name__ == "__main__":
    unittest.main()
