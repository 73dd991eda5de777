"""The name by which programs import py_debug. An installed py3_tools has
precedence; what that one lacks (py_debug) is taken from this folder."""
import os
import sys


def _give_way():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(here)
    this = sys.modules.pop(__name__)
    kept = list(sys.path)
    sys.path[:] = [entry for entry in kept
                   if os.path.realpath(entry or os.curdir) != root]
    try:
        __import__(__name__)
        sys.modules[__name__].__path__.append(here)
    except ImportError as error:
        if error.name != __name__:
            raise
        sys.modules[__name__] = this
    finally:
        sys.path[:] = kept


_give_way()
