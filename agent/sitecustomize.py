"""Starts the agent in every rank, without a change to the script, if
PYTHONPATH contains the folder of this file and PROBETUI=1. Python imports this
module instead of a sitecustomize of the system or the environment; so this
module imports that one."""
import os
import sys


def _is_here(entry):
    here = os.path.dirname(os.path.realpath(__file__))
    try:
        return os.path.realpath(entry) == here
    except (OSError, TypeError, ValueError):
        return False


def _import_shadowed():
    """Imports the next sitecustomize on sys.path, which replaces this module
    in sys.modules."""
    here = [(index, entry) for index, entry in enumerate(sys.path)
            if _is_here(entry)]
    this = sys.modules.pop(__name__, None)
    for _, entry in here:
        sys.path.remove(entry)
    try:
        __import__(__name__)
    except ImportError as error:
        if error.name != __name__:
            raise
    finally:
        if this is not None:
            sys.modules.setdefault(__name__, this)
        for index, entry in here:
            if entry not in sys.path:
                sys.path.insert(index, entry)


def _begin():
    value = os.environ.get("PROBETUI", "")
    if value.strip().lower() not in ("1", "true", "yes", "on"):
        return
    try:
        from probetui import starting

        starting.begin()
    except Exception as error:
        try:
            sys.stderr.write("probetui: the agent cannot listen: %r\n"
                             % (error,))
        except Exception:
            pass


def _hint():
    """Prints a hint, once per job, if the program was started as Probing's
    manual says."""
    if os.environ.get("PROBING_PORT") and not os.environ.get("PROBETUI") \
            and os.environ.get("RANK", "0") == "0" and sys.stderr is not None:
        sys.stderr.write(
            "probetui: PROBING_PORT alone opens no port: set PROBETUI=1 to "
            "start the agent, and PROBETUI_ADDRESS=HOST:PORT with a token to "
            "listen on TCP\n")


if __name__ == "sitecustomize":
    try:
        _import_shadowed()
    finally:
        _begin()
        _hint()
