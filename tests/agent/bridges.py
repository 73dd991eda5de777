"""scripts/dap-bridge, and what a client says to it byte by byte."""
import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading

from sessions import LIMIT, SOURCE

BRIDGE = os.path.join(SOURCE, "scripts", "dap-bridge")


def frame(message):
    data = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def run(*arguments, data=b"", **more):
    """(status, standard output, standard error)"""
    done = subprocess.run(
        [sys.executable, BRIDGE] + list(arguments), input=data,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
        env=dict(os.environ, **more))
    return done.returncode, done.stdout, done.stderr.decode()


def start(run, *arguments):
    threading.Thread(target=run, args=arguments, daemon=True).start()


def shut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def pour(connection, pieces):
    """All of them, and the last again and again, if there are several."""
    try:
        for piece in pieces:
            connection.sendall(piece)
        while len(pieces) > 1:
            connection.sendall(pieces[-1])
    except OSError:
        pass


class Ended(Exception):
    """No more comes."""


class Client:
    """Messages over two pipes or over a socket's file."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.said = []  # all that came
        self.numbers = 0
        self._found = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while True:
                header = re.fullmatch(rb"Content-Length: (\d+)\r\n",
                                      self.reader.readline())
                if not header:
                    break
                assert self.reader.readline() == b"\r\n"
                self._found.put(json.loads(
                    self.reader.read(int(header.group(1)))))
        except ConnectionError:
            pass
        finally:
            self._found.put(None)

    def send(self, command, **arguments):
        """Its number."""
        self.numbers += 1
        self.writer.write(frame({
            "seq": self.numbers, "type": "request", "command": command,
            "arguments": arguments}))
        self.writer.flush()
        return self.numbers

    def wait(self, condition):
        """The next message that it is true of."""
        while True:
            message = self._found.get(timeout=LIMIT)
            if message is None:
                raise Ended(self.said[-3:])
            self.said.append(message)
            if condition(message):
                return message

    def answer(self, number):
        for message in self.said:
            if message.get("request_seq") == number:
                return message
        return self.wait(lambda message: message.get("request_seq") == number)

    def ask(self, command, **arguments):
        """The body."""
        answer = self.answer(self.send(command, **arguments))
        assert answer["success"], answer
        return answer.get("body")

    def event(self, name):
        return self.wait(lambda message: message.get("event") == name)["body"]


class Bridge(Client):
    def __init__(self, *arguments, **more):
        self.process = subprocess.Popen(
            [sys.executable, BRIDGE] + list(arguments),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, **more))
        super().__init__(self.process.stdout, self.process.stdin)

    def close(self):
        """(status, standard error)"""
        if self.process.stderr.closed:
            return None
        try:
            self.process.stdin.close()
            errors = self.process.stderr.read().decode()
            return self.process.wait(LIMIT), errors
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.process.stderr.close()
