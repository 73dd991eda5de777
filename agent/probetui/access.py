"""Access control of the agent: which clients may connect, and with which
token."""
from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from . import endpoints
from .http1 import Refusal
from .settings import TOKEN_MINIMUM, SettingError, is_token

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


class Door(NamedTuple):
    """A listening endpoint and the conditions for clients of that endpoint."""

    endpoint: endpoints.Endpoint
    host: str = ""
    token: bytes = b""
    context: Any = None  # ssl.SSLContext; None: no TLS
    networks: Optional[List[Network]] = None  # None: any address may connect

    @property
    def is_unix(self) -> bool:
        return self.endpoint.is_unix

    def is_loopback(self) -> bool:
        if self.is_unix:
            return True
        name = self.endpoint.listener.getsockname()[0]
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback

    def name(self) -> str:
        """Returns the path of the Unix socket, or the URL
        http(s)://address:port."""
        if self.is_unix:
            return self.endpoint.name()
        address, port = self.endpoint.listener.getsockname()[:2]
        if ":" in address:
            address = "[%s]" % address
        return "%s://%s:%d" % ("https" if self.context else "http", address,
                               port)


def host_and_port(address: Any) -> Tuple[str, int]:
    """Parses "host:port", ":port", "[::1]:port", a port number or the pair
    (host, port). Raises SettingError for anything else."""
    try:
        if isinstance(address, (tuple, list)):
            host, port = address
            return str(host), _port(str(port))
        host, _, text = str(address).strip().rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        return host or "127.0.0.1", _port(text)
    except ValueError:
        raise SettingError("%s is not an address: write host:port"
                           % ascii(address)[:80]) from None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:6]) > 65535:
        raise ValueError(text)
    return int(text)


def tls_context(tls: Any) -> Any:
    """Returns an ssl.SSLContext for a pair (certificate, key), for one file
    that has both, or `tls` itself if it is a context; None for None. Raises
    SettingError if the files cannot be loaded."""
    if tls is None:
        return None
    try:
        import ssl

        if isinstance(tls, ssl.SSLContext):
            return tls
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if isinstance(tls, (tuple, list)):
            context.load_cert_chain(*tls)
        else:
            context.load_cert_chain(tls)
        return context
    except (ImportError, OSError, TypeError, ValueError) as error:
        raise SettingError("tls: the certificate and key cannot be loaded: %s"
                           % error) from None


def networks(allow: Any) -> Optional[List[Network]]:
    """Parses "10.1.0.0/16", "::1", a comma-separated text or a list of these;
    None for None. Raises SettingError for an address that cannot be parsed."""
    if allow is None:
        return None
    try:
        texts = allow.split(",") if isinstance(allow, str) else list(allow)
        return [ipaddress.ip_network(str(text).strip(), strict=False)
                for text in texts]
    except (TypeError, ValueError) as error:
        raise SettingError("allow must be a list of addresses or networks "
                           "(10.1.0.0/16): %s" % error) from None


def token_bytes(token: Any) -> bytes:
    data = token.encode("utf-8", "replace") if isinstance(token, str) \
        else bytes(token or b"")
    if 0 < len(data) < TOKEN_MINIMUM:
        raise SettingError("the token has %d characters: at least %d are "
                           "required" % (len(data), TOKEN_MINIMUM))
    if not data:
        raise SettingError("listening on TCP requires a token of at least %d "
                           "characters: without a token, any program that "
                           "reaches the port could run code" %
                           TOKEN_MINIMUM)
    return data


def _address_of(text: str) -> Any:
    """Returns the IP address in text, or None if text is a host name."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def check_peer(door: Door, connection: socket.socket) -> None:
    """Checks the user (Unix socket) or the address (TCP) of a new connection,
    before a byte is read. Raises Refusal with status 403."""
    if door.is_unix:
        user = endpoints.peer_user(connection)[1]
        if user not in (os.geteuid(), 0):
            raise Refusal(403, "the agent belongs to user %d; you are user %d"
                          % (os.geteuid(), user))
    elif door.networks is not None:
        address = _address_of(connection.getpeername()[0])
        if not any(address in network for network in door.networks):
            raise Refusal(403, "address %s is not allowed to connect"
                          % address)


def peer_name(door: Door, connection: socket.socket) -> str:
    """Describes the client of a connection, for the log of the code that
    clients ran."""
    if door.is_unix:
        return "pid %d of user %d" % endpoints.peer_user(connection)
    return "%s port %d" % connection.getpeername()[:2]


def _host_of(text: str) -> str:
    """Returns the host of a Host header in lower case, without the port."""
    if text.startswith("["):
        return text[1:].partition("]")[0].lower()
    return text.partition(":")[0].lower()


def _is_ours(host: str, door: Door, connection: socket.socket) -> bool:
    if host == "localhost":
        return True
    address = _address_of(host)
    if address is not None and address.is_loopback:
        return True
    if door.is_unix:
        return False
    if address is not None:
        return bool(address == _address_of(connection.getsockname()[0]))
    name = socket.gethostname().lower()
    return host in (door.host.lower(), name, name.partition(".")[0])


def check_request(door: Door, connection: socket.socket,
                  headers: Dict[str, str]) -> None:
    """Checks the token and the Host header, and refuses browsers. Called when
    the request head was read, before the body is read. Raises Refusal."""
    if door.token:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not is_token(
                given.strip().encode("latin-1"), door.token):
            raise Refusal(401, "the token is missing or wrong: send the "
                          "header Authorization: Bearer TOKEN",
                          ("WWW-Authenticate: Bearer",))
    if "origin" in headers or any(name.startswith("sec-fetch-")
                                  for name in headers):
        raise Refusal(403, "requests from browsers are refused")
    if "host" not in headers:
        raise Refusal(400, "the header Host is missing")
    if not _is_ours(_host_of(headers["host"]), door, connection):
        raise Refusal(403, "the header Host does not name this machine")
