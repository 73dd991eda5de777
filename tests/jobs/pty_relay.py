"""A debugger behind a pseudo-terminal whose bytes go over a Unix socket.

As some launchers do it: one client is taken, standard input, output and error
of the program become the terminal (no echo, whole lines), and ipdb, or where
there is none the pdb of the standard library, talks to that.

    pty_relay.serve(PATH); pty_relay.stop(); pty_relay.post_mortem()
"""
import os
import pty
import socket
import sys
import termios
import threading

# Before the terminal is there: ipdb is another one on a terminal.
try:
    import ipdb as debugger
except ImportError:
    import pdb as debugger


def _relay(read, write):
    while True:
        data = read(4096)
        if not data:
            return
        write(data)


def serve(path):
    """Waits for a client; from then on it is the keyboard and the screen."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path.replace("@", "\0", 1))
    server.listen(1)
    os.write(1, b"waits\n")
    client = server.accept()[0]
    server.close()
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    for read, write in (
            (client.recv, lambda data: os.write(master, data)),
            (lambda size: os.read(master, size), client.sendall)):
        threading.Thread(target=_relay, args=(read, write),
                         daemon=True).start()
    sys.stdin = os.fdopen(os.dup(slave), "r")
    sys.stdout = sys.stderr = os.fdopen(os.dup(slave), "w", 1)


def stop(depth=1):
    """Stops in the caller."""
    frame = sys._getframe(depth)
    if debugger.__name__ == "pdb":
        debugger.Pdb().set_trace(frame)
    else:
        debugger.set_trace(frame)


def post_mortem(traceback):
    """Looks at what was raised."""
    debugger.post_mortem(traceback)
