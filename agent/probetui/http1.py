"""HTTP/1.1 server side, as far as an agent needs it: parses requests, writes
answers.

Clients may send anything: the length of a request and the time until it is
complete are limited, and an ambiguous request is refused.
"""
from __future__ import annotations

import re
import socket
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import wire

HEAD_MAXIMUM = 16 << 10
BODY_MAXIMUM = 1 << 20
ANSWER_MAXIMUM = 8 << 20
HEADERS_MAXIMUM = 100
FIELDS_MAXIMUM = 16
# Limit in seconds from the first byte of a request to its last.
REQUEST_SECONDS = 10.0
# Limit in seconds between two requests of a connection.
IDLE_SECONDS = 60.0

# First byte of a TLS handshake record (RFC 8446, 5.1).
TLS_RECORD = b"\x16"

REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    409: "Conflict", 411: "Length Required", 413: "Content Too Large",
    417: "Expectation Failed", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented",
    503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
}
# Headers that are refused if they occur twice: client and server could use
# different ones.
_SINGLE = ("authorization", "content-length", "expect", "host",
           "transfer-encoding")
_LINE = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/(\d)\.(\d)\Z")
# Linear in the length of the text: a match holds the GIL.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_VALUE = re.compile(r"[\t -~\x80-\xff]*\Z")
# Bytes that no request head contains: refused at once, because the end of the
# head may never come.
_STRAY = re.compile(rb"(?<!\r)\n|\r[^\n]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Refusal(Exception):
    """An HTTP status and a sentence for the client."""

    def __init__(self, status: int, sentence: str,
                 headers: Tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers


class Closed(Exception):
    """The client closed the connection: no answer can be sent."""


class Head(NamedTuple):
    method: str
    path: str
    query: Dict[str, str]
    headers: Dict[str, str]  # keys in lower case
    keeps: bool  # the connection stays open for another request

    @property
    def length(self) -> int:
        """Length of the body in bytes. Raises Refusal if it is missing,
        invalid or too large."""
        if "transfer-encoding" in self.headers:
            raise Refusal(501, "Transfer-Encoding is not supported: send a "
                          "Content-Length")
        text = self.headers.get("content-length")
        if text is None:
            if self.method == "POST":
                raise Refusal(411, "the header Content-Length is missing")
            return 0
        if not re.match(r"[0-9]{1,18}\Z", text):
            raise Refusal(400, "the header Content-Length is not a number")
        if int(text) > BODY_MAXIMUM:
            raise Refusal(413, "the body is too large: at most %d bytes are "
                          "accepted" % BODY_MAXIMUM)
        return int(text)


def _parse_query(text: str) -> Dict[str, str]:
    if not text:
        return {}
    from urllib.parse import parse_qsl

    try:
        fields = parse_qsl(text, keep_blank_values=True,
                           strict_parsing=True, errors="strict",
                           max_num_fields=FIELDS_MAXIMUM)
    except ValueError as error:
        raise Refusal(400, "the query string cannot be parsed: %s"
                      % error) from None
    if len({name for name, _ in fields}) < len(fields):
        raise Refusal(400, "the query string has a name twice")
    return dict(fields)


def _parse_headers(lines: List[str]) -> Dict[str, str]:
    if len(lines) > HEADERS_MAXIMUM:
        raise Refusal(431, "too many headers: at most %d are accepted"
                      % HEADERS_MAXIMUM)
    headers: Dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not (colon and _NAME.match(name) and _VALUE.match(value)):
            raise Refusal(400, "a header is invalid")
        name, value = name.lower(), value.strip(" \t")
        if name not in headers:
            headers[name] = value
        elif name in _SINGLE:
            raise Refusal(400, "the header %s was sent twice" % name)
        else:
            headers[name] += ", " + value
    return headers


def parse_head(data: bytes) -> Head:
    """Parses the request line and the headers, without the empty line. Raises
    Refusal."""
    lines = data.decode("latin-1").split("\r\n")
    match = _LINE.match(lines[0])
    if not match:
        raise Refusal(400, "the request line is invalid")
    if match.group(3) != "1":
        raise Refusal(505, "only HTTP/1.1 is supported")
    path, _, query = match.group(2).partition("?")
    headers = _parse_headers(lines[1:])
    options = headers.get("connection", "").lower().replace(" ", "").split(",")
    return Head(match.group(1), path, _parse_query(query), headers,
                match.group(4) != "0" and "close" not in options)


def _head_of(status: int, more: Tuple[str, ...], length: int,
             keeps: bool) -> bytes:
    lines = ["HTTP/1.1 %d %s" % (status, REASONS[status]),
             "Content-Type: application/json", "Content-Length: %d" % length,
             "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
             "Connection: %s" % ("keep-alive" if keeps else "close"), *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def write_answer(value: Any, keeps: bool) -> bytes:
    body = wire.encode(value)
    if len(body) > ANSWER_MAXIMUM:
        return write_refusal(Refusal(
            500, "the answer has more than %d bytes: request less"
            % ANSWER_MAXIMUM), keeps)
    return _head_of(200, (), len(body), keeps) + body


def write_refusal(refusal: Refusal, keeps: bool = False) -> bytes:
    body = wire.encode({"error": {"status": refusal.status,
                                  "message": str(refusal)}})
    return _head_of(refusal.status, refusal.headers, len(body), keeps) + body


class Reader:
    """Reads requests from a connection. Raises Closed if the client closes it
    between two requests."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._data = bytearray()
        self._searched = 0
        self.begin()

    @property
    def has_data(self) -> bool:
        return bool(self._data)

    def begin(self) -> None:
        """Starts the time limit of a request."""
        self._until = time.monotonic() + REQUEST_SECONDS

    def _receive(self) -> None:
        left = self._until - time.monotonic()
        try:
            if left <= 0:
                raise socket.timeout()
            self._connection.settimeout(left)
            data = self._connection.recv(65536)
        except socket.timeout:
            if not self._data:
                raise Closed() from None
            raise Refusal(408, "the request was not complete within %g s"
                          % REQUEST_SECONDS) from None
        if not data:
            raise Closed()
        self._data += data

    def _take(self, length: int) -> bytes:
        taken = bytes(self._data[:length])
        del self._data[:length]
        return taken

    def expect(self, seconds: float) -> None:
        """Waits up to `seconds` for the first byte of a request."""
        self._until = time.monotonic() + seconds
        while not self._data:
            self._receive()
        self.begin()

    def _find_head(self) -> Optional[Head]:
        """Parses the head from the bytes received so far; None if it is
        incomplete."""
        if self._data[:1] == TLS_RECORD:
            raise Refusal(400, "TLS is not enabled: use http")
        end = self._data.find(b"\r\n\r\n", max(0, self._searched - 3))
        length = len(self._data) if end < 0 else end
        if length > HEAD_MAXIMUM:
            raise Refusal(431, "the request line and headers are too long: at "
                          "most %d bytes are accepted" % HEAD_MAXIMUM)
        # With the CR that follows: the head's last byte may be a stray CR.
        if _STRAY.search(self._data, max(0, self._searched - 1), length + 1):
            raise Refusal(400, "a line does not end with CR and LF, or has "
                          "other control characters")
        self._searched = len(self._data)
        if end < 0:
            return None
        self._searched = 0
        data = self._take(end)
        self._take(4)
        return parse_head(data)

    def poll_head(self) -> Head:
        """Reads the head from a non-blocking connection. Raises
        BlockingIOError or ssl.SSLWantReadError if more bytes are needed."""
        while True:
            head = self._find_head()
            if head is not None:
                return head
            data = self._connection.recv(65536)
            if not data:
                raise Closed()
            self._data += data

    def read_head(self) -> Head:
        while True:
            head = self._find_head()
            if head is not None:
                return head
            self._receive()

    def read_body(self, head: Head) -> bytes:
        length = head.length
        expected = head.headers.get("expect", "").lower()
        if expected not in ("", "100-continue"):
            raise Refusal(417, "the header Expect supports only 100-continue")
        if expected and len(self._data) < length:
            send(self._connection, b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(self._data) < length:
            self._receive()
        return self._take(length)


def send(connection: Any, data: bytes) -> None:
    """Sends all of data. Raises OSError if that fails."""
    connection.settimeout(REQUEST_SECONDS)
    connection.sendall(data)
