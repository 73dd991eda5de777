"""Ranks that really wait for each other, with the standard library alone.

The names are torch.distributed's. A thread of rank 0 listens on MASTER_ADDR
and MASTER_PORT; every rank holds one connection to it for each group, sends
what it has and waits for the answer, which comes when all ranks have sent
theirs. So all ranks, rank 0 too, wait at the same place.
"""
import collections
import json
import os
import selectors
import socket
import threading
import time


class Group:
    """One rank's connection to the hub for one group of all ranks."""

    def __init__(self, number):
        self.number = number
        self.rank = int(os.environ["RANK"])
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        self.socket = connect(address)
        self.reader = self.socket.makefile("r")

    def exchange(self, operation, values):
        message = {"group": self.number, "operation": operation,
                   "rank": self.rank, "values": values}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        line = self.reader.readline()
        if not line:
            raise ConnectionError("rank 0 closed the connection")
        return json.loads(line)


class Hub(threading.Thread):
    """Collects what the ranks send and answers when it is complete."""

    def __init__(self, listener, world_size):
        super().__init__(name="hub", daemon=True)
        self.listener = listener
        self.world_size = world_size
        self.selector = selectors.DefaultSelector()
        self.partial = {}
        self.waiting = collections.defaultdict(dict)

    def run(self):
        self.selector.register(self.listener, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.listener:
                    self.accept()
                else:
                    self.read(key.fileobj)

    def accept(self):
        connection, _ = self.listener.accept()
        self.partial[connection] = b""
        self.selector.register(connection, selectors.EVENT_READ)

    def read(self, connection):
        data = connection.recv(65536)
        if not data:
            self.selector.unregister(connection)
            connection.close()
            return
        *lines, rest = (self.partial[connection] + data).split(b"\n")
        self.partial[connection] = rest
        for line in lines:
            self.collect(connection, json.loads(line))

    def collect(self, connection, message):
        key = (message["group"], message["operation"])
        sent = self.waiting[key]
        sent[message["rank"]] = (connection, message["values"])
        if len(sent) < self.world_size:
            return
        del self.waiting[key]
        total = [sum(column) for column in
                 zip(*(values for _, values in sent.values()))]
        for peer, _ in sent.values():
            peer.sendall(json.dumps(total).encode() + b"\n")


def connect(address):
    """Rank 0 may not listen yet: try for a minute."""
    limit = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(address)
        except ConnectionRefusedError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)


groups = []


def init_process_group(backend=None):
    if get_rank() == 0:
        listener = socket.create_server(
            (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])),
            backlog=1024)
        Hub(listener, get_world_size()).start()
    new_group()


def new_group():
    groups.append(Group(len(groups)))
    return groups[-1]


def get_rank():
    return int(os.environ["RANK"])


def get_world_size():
    return int(os.environ["WORLD_SIZE"])


def all_reduce(values, group=None):
    """Replaces values by their sums over all ranks."""
    values[:] = (group or groups[0]).exchange("all_reduce", list(values))


def barrier(group=None):
    (group or groups[0]).exchange("barrier", [])
