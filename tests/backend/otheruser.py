"""Programs as another user finds them. A checkout may lie below a folder that
other users cannot enter, as a home of mode 0700 is: there they run copies."""
import os
import shutil
import tempfile

NOBODY = 65534


def become_nobody():
    """For preexec_fn; only root can."""
    os.setuid(NOBODY)


def copies(case, *programs):
    """The paths of copies of programs, all in one folder that everybody can
    enter; it is removed at the end of the test case."""
    folder = tempfile.mkdtemp(prefix="probetui-other-user-")
    case.addCleanup(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return [copy(program, os.path.join(folder, os.path.basename(program)))
            for program in programs]


def copy(program, path):
    """A program, or a folder."""
    if os.path.isdir(program):
        return shutil.copytree(program, path)
    return shutil.copy(program, path)
