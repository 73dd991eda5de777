"""Machines on one machine, with real daemons: sshd, and Slurm if it is wanted.

Each machine is a process 1 of its own pid, mount, network, UTS and IPC
namespaces: own processes, /run, /dev/shm, host name and address, in a
network that has no way out. All are inside one outer pid namespace, and end
with it. Files are this machine's, as on a shared disk. Needs root; why_not()
says what else is missing.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import time

LIMIT = 120.0
# Of an unpacked package the libraries lie beside it.
SSHD = os.environ.get("PROBETUI_SSHD") or "/usr/sbin/sshd"
LIBRARIES = ":".join(os.path.join(os.path.dirname(SSHD), *path) for path in (
    ("..", "lib", "x86_64-linux-gnu"), ("..", "..", "lib", "x86_64-linux-gnu")))
SLURM = ("slurmctld", "slurmd", "srun", "sbatch", "squeue", "munged")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UNSHARE = ["unshare", "--pid", "--mount", "--net", "--uts", "--ipc", "--fork",
           "--kill-child", "--mount-proc"]

# Process 1: it buries what the kernel hands to it, and ends with its input.
WORLD = """
mount --make-rprivate /
ip link set lo up
ip link add switch type bridge
ip link set switch up
echo ready
while read -r line; do :; done
"""
MACHINE = """
hostname "$1"
mount --make-rprivate /
for folder in /run /dev/shm; do mount -t tmpfs -o mode=1777 none $folder; done
chmod 755 /run
mkdir -p /run/sshd /run/munge
mount --bind "$2/passwd" /etc/passwd
ip link set lo up
echo ready
while read -r line; do :; done
"""

SSHD_CONFIG = """
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 1024
UseDNS no
PidFile none
"""
SSH_CONFIG = """
Host *
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  HostKeyAlias machine
  LogLevel ERROR
"""
SLURM_CONFIG = """
ClusterName=probetui
SlurmctldHost=head({head})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=300
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
StateSaveLocation={folder}/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SchedulerParameters=batch_sched_delay=0,sched_interval=1
{nodes}
PartitionName=main Nodes=n[1-{count}] Default=YES MaxTime=INFINITE State=UP
"""


def why_not(slurm=False):
    """What is missing for a cluster here; None: nothing."""
    if not os.access(SSHD, os.X_OK):
        return "no sshd (PROBETUI_SSHD or openssh-server)"
    for program in ("ssh", "ssh-keygen", "ip", "unshare", "nsenter") + (
            SLURM if slurm else ()):
        if not shutil.which(program, path=PATH):
            return "no " + program
    tried = subprocess.run(UNSHARE + ["true"], stderr=subprocess.PIPE,
                           universal_newlines=True)
    return "namespaces: " + tried.stderr.strip() if tried.returncode else None


def address(number):
    return "10.77.0.%d" % (number + 1)


class Machine:
    """Process 1 of some namespaces, which ends with this object."""

    def __init__(self, argv):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True)
        line = self.process.stdout.readline()
        assert line == "ready\n", line
        self.pid = self.find_pid()

    def find_pid(self):
        """Pid, as counted here, of the newest child of its parents."""
        pid = self.process.pid
        while True:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
                children = file.read().split()
            if not children:
                return pid
            pid = int(children[0])

    def enter(self, *argv):
        """The words that run argv there, in a clean environment."""
        return ["nsenter", "-t", str(self.pid), "-p", "-m", "-n", "-u", "-i",
                "env", "-i", "HOME=/root", "PATH=" + PATH, "LC_ALL=C.UTF-8"
                ] + list(argv)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Cluster:
    """head, n1 ... ncount. It ends with the test."""

    def __init__(self, test, count, slurm=False):
        self.folder = tempfile.mkdtemp(prefix="probetui-cluster-")
        test.addCleanup(shutil.rmtree, self.folder)
        self.names = ["head"] + ["n%d" % (i + 1) for i in range(count)]
        self.slurm = slurm
        self.world = Machine(UNSHARE + ["sh", "-c", WORLD])
        test.addCleanup(self.world.close)
        self.machines = {}
        self.write_files(count)
        for number, name in enumerate(self.names):
            self.boot(test, number, name)
        if slurm:
            self.start_slurm()

    def write(self, name, text, **values):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text.format(folder=self.folder, **values))
        return path

    def write_files(self, count):
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", os.path.join(self.folder, key)], check=True)
        with open(os.path.join(self.folder, "host.pub")) as file:
            self.write("known_hosts", "machine " + file.read())
        self.write("sshd_config", SSHD_CONFIG)
        # sshd wants a user of its own.
        with open("/etc/passwd") as file:
            users = [line for line in file if not line.startswith("sshd:")]
        with open(os.path.join(self.folder, "passwd"), "w") as file:
            file.write("".join(users) + "sshd:x:65533:65534::/run/sshd:"
                       "/usr/sbin/nologin\n")
        self.ssh_config = self.write("ssh_config", SSH_CONFIG + "".join(
            "Host %s\n  HostName %s\n" % (name, address(number))
            for number, name in enumerate(self.names)))
        if not self.slurm:
            return
        self.write("slurm.conf", SLURM_CONFIG, head=address(0), count=count,
                   nodes="\n".join(
                       "NodeName=%s NodeAddr=%s CPUs=8 State=UNKNOWN" % (
                           name, address(number))
                       for number, name in enumerate(self.names) if number))
        with open(os.path.join(self.folder, "munge.key"), "wb") as file:
            os.fchmod(file.fileno(), 0o400)
            file.write(os.urandom(128))

    def do(self, machine, *argv, **options):
        """Runs argv on a Machine, or the host of a name."""
        if isinstance(machine, str):
            machine = self.machines[machine]
        return subprocess.run(machine.enter(*argv), check=True, **options)

    def boot(self, test, number, name):
        machine = Machine(self.world.enter(*UNSHARE) +
                          ["sh", "-c", MACHINE, "init", name, self.folder])
        test.addCleanup(machine.close)
        self.machines[name] = machine
        self.cable("ip link add v%d type veth peer name eth0 netns %d && "
                   "ip link set v%d master switch up"
                   % (number, machine.pid, number))
        self.do(name, "sh", "-c", (
            "ip address add {0}/16 dev eth0 && ip link set eth0 up && "
            "LD_LIBRARY_PATH={4} exec {1} -f {2}/sshd_config -E {2}/sshd.{3}"
        ).format(address(number), SSHD, self.folder, name, LIBRARIES))

    def cable(self, command):
        """Runs a shell command in the network between the machines; pids in it
        are counted as here."""
        subprocess.run(["nsenter", "-t", str(self.world.pid), "-n", "sh", "-c",
                        command], check=True)

    def start_slurm(self):
        for name in self.names:
            self.do(name, "munged", "--force",
                    "--key-file=%s/munge.key" % self.folder,
                    "--log-file=/run/munge/log", "--pid-file=/run/munge/pid",
                    "--seed-file=/run/munge/seed", stderr=subprocess.DEVNULL)
            self.do(name, "slurmctld" if name == "head" else "slurmd", "-f",
                    self.folder + "/slurm.conf")
        deadline = time.monotonic() + LIMIT
        while self.read("head", "sinfo", "-h", "-t", "idle", "-o",
                        "%D").strip() != str(len(self.names) - 1):
            assert time.monotonic() < deadline, "Slurm's nodes are not idle"
            time.sleep(0.1)

    def environment(self):
        """What Slurm's commands need, for env(1)."""
        return ["SLURM_CONF=%s/slurm.conf" % self.folder] if self.slurm else []

    def command(self, name, *argv):
        """The words that run argv on a machine."""
        return self.machines[name].enter(*(self.environment() + list(argv)))

    def read(self, name, *argv):
        """Standard output of argv on a machine."""
        return subprocess.run(self.command(name, *argv), check=True,
                              stdout=subprocess.PIPE,
                              universal_newlines=True).stdout

    def cut(self, name):
        """Its packets get lost from now on, both ways, without an error."""
        self.cable("ip link set v%d nomaster" % self.names.index(name))

    def mend(self, name):
        self.cable("ip link set v%d master switch" % self.names.index(name))

    def freeze(self, name, number=signal.SIGSTOP):
        """All its processes stop, as on a machine that hangs."""
        for pid in self.pids(name):
            os.kill(pid, number)

    def thaw(self, name):
        self.freeze(name, signal.SIGCONT)

    def pids(self, name):
        """Pids, as counted here, of the machine's processes."""
        own = os.readlink("/proc/%d/ns/pid" % self.machines[name].pid)
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/ns/pid" % pid) == own:
                    found.append(int(pid))
            except OSError:
                continue
        return found
