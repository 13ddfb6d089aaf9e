"""Send messages to a server of syslog: over TCP (RFC 6587, each message with its length), TLS (RFC 5425) or UDP (RFC 5426).

``SyslogServer.send`` is the main function. A server of syslog answers nothing. Over TCP and TLS each request is a connection of its
own: we end our side of it, and the server ends its side when its program has read everything. A server that dies with unread
messages resets the connection instead, and one that is gone ends nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import ssl
import struct
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.live.feeds.sending import TIMEOUT_S, Answer, Outcome
from shakedown.model.errors import UsageError

TCP, TLS, UDP = "tcp", "tls", "udp"
PORTS = {TCP: 601, TLS: 6514, UDP: 514}
BURST, BURST_PAUSE_S = 50, 0.02  # datagrams without a pause: more than that a receiver may not keep up with
LAST_WORD_S = 0.05  # for a host to say that nobody listens there
_ADDRESS = re.compile(r"\[(?P<six>[0-9A-Fa-f:.%\w]+)\](?::(?P<port6>\d+))?|(?P<host>[^\s:/\[\]@]+)(?::(?P<port>\d+))?")
_NOT_READ = "the server did not read to the end and close the connection within {:.0f} s; where it never closes one, --unconfirmed"
_TLS_ALERT = b"\x15\x03"  # how an answer in TLS begins


@dataclass(frozen=True, slots=True)
class SyslogServer:
    """A server of syslog. ``ca_file``: whose signature on its certificate counts, None for the authorities of this machine.

    ``confirmed``: wait until the server has ended its side of the connection; without it, what this machine's own network took is
    taken. ``wait`` waits a number of seconds.
    """

    host: str
    port: int
    transport: str = TCP
    ca_file: Path | None = None
    confirmed: bool = True
    wait: Callable[[float], None] = time.sleep

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.transport}://{host}:{self.port}"

    def send(self, messages: Sequence[bytes]) -> Answer:
        """Purpose: send messages in one connection, or each in a datagram. Errors: UsageError where the server does not speak as it
        is spoken to, or its certificate is not accepted, because waiting would not help.
        """
        try:
            if self.transport == UDP:
                self._throw(messages)
            else:
                self._hand_over(b"".join(b"%d %b" % (len(message), message) for message in messages))
        except (OSError, UnicodeError) as error:
            return Answer(Outcome.LATER, f"{self.address}: {getattr(error, 'strerror', None) or error}")
        return Answer(Outcome.TAKEN)

    # ---- connections

    def _hand_over(self, framed: bytes) -> None:
        """Send everything and see it read. Errors: OSError where it may not have been."""
        with self._connected() as line:
            line.settimeout(TIMEOUT_S)
            line.sendall(framed)
            if self.confirmed:
                self._see_it_read(line)

    def _connected(self) -> socket.socket:
        plain = socket.create_connection((self.host, self.port), TIMEOUT_S)
        if self.transport == TCP:
            return plain
        try:
            return _context(self.ca_file).wrap_socket(plain, server_hostname=self.host)
        except ssl.SSLCertVerificationError as error:
            hint = "name a file with the certificate of who signed it with --ca-file, and the server as the certificate names it"
            raise UsageError(
                f"{self.address}: its certificate is not accepted: {error.verify_message}", hint=hint
            ) from error
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            raise
        except ssl.SSLError as error:
            hint = "is it the port for TLS? Leave --tls out for one without"
            raise UsageError(f"{self.address}: no TLS with this server: {error.reason or error}", hint=hint) from error
        finally:
            plain.close()  # of no effect where TLS has taken it over

    def _see_it_read(self, line: socket.socket) -> None:
        """End our side, wait until the server ends its own, and make sure that all bytes had arrived by then."""
        deadline = time.monotonic() + TIMEOUT_S
        try:
            if isinstance(line, ssl.SSLSocket):
                _end_tls(line)
            else:
                self._end_plain(line, deadline)
            while _not_arrived(line):
                _refuse_late(deadline)
                self.wait(0.01)
        except TimeoutError as error:
            raise TimeoutError(_NOT_READ.format(TIMEOUT_S)) from error

    def _end_plain(self, line: socket.socket, deadline: float) -> None:
        with contextlib.suppress(OSError):  # where the server has closed it already, what follows says so
            line.shutdown(socket.SHUT_WR)
        while said := line.recv(4096):  # a server of syslog says nothing; what it says is no proof
            if said.startswith(_TLS_ALERT):
                raise UsageError(f"{self.address}: the server speaks TLS", hint="send with --tls")
            _refuse_late(deadline)

    # ---- datagrams

    def _throw(self, messages: Sequence[bytes]) -> None:
        """Send each message in a datagram. Errors: OSError where no address of the host takes them, as far as that is ever told."""
        places = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_DGRAM)
        for family, kind, protocol, _, place in places[:-1]:
            try:
                return self._throw_at(socket.socket(family, kind, protocol), place, messages)
            except OSError:
                continue
        family, kind, protocol, _, place = places[-1]
        return self._throw_at(socket.socket(family, kind, protocol), place, messages)

    def _throw_at(self, line: socket.socket, place: tuple[object, ...], messages: Sequence[bytes]) -> None:
        with line:
            line.connect(place)
            for number, message in enumerate(messages, 1):
                line.send(message)
                if number % BURST == 0:
                    self.wait(BURST_PAUSE_S)
            self.wait(LAST_WORD_S)
            _refuse_broken(line)


def _refuse_late(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError


def _end_tls(line: ssl.SSLSocket) -> None:
    """Say in TLS that nothing more comes, and wait until the server says so too, or ends the connection."""
    try:
        line.unwrap()
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        return
    except ssl.SSLError as error:
        raise OSError(f"the server ended TLS: {error.reason or error}") from error
    except OSError as error:
        if error.errno != 0:  # 0: it ended the connection without a word
            raise


def _not_arrived(line: socket.socket) -> int:
    """How many bytes the other machine has not confirmed. Errors: OSError where the connection is broken."""
    _refuse_broken(line)
    left: int = struct.unpack("i", fcntl.ioctl(line.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
    return left


def _refuse_broken(line: socket.socket) -> None:
    broken = line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if broken:
        raise OSError(broken, os.strerror(broken))


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (ssl.SSLError, OSError) as error:
        hint = "it is a text in PEM that begins with -----BEGIN CERTIFICATE-----"
        raise UsageError(f"{ca_file} holds no certificate that can be read", hint=hint) from error


def read_server(address: str, transport: str, ca_file: Path | None = None, confirmed: bool = True) -> SyslogServer:
    """Purpose: the server at HOST or HOST:PORT. Errors: UsageError where it is no such address."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        hint = "such as loghost.example.org, loghost:514 or [2001:db8::7]:601"
        raise UsageError(f"'{address}' is no HOST or HOST:PORT", hint=hint)
    port = int(found["port6"] or found["port"] or PORTS[transport])
    if not 0 < port < 65536:
        raise UsageError(f"'{address}': there is no port {port}", hint="ports go from 1 to 65535")
    if ca_file is not None:
        _context(ca_file)  # a wrong file is told before anything is sent
    return SyslogServer(found["six"] or found["host"], port, transport, ca_file, confirmed)
