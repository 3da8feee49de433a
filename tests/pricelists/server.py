"""A web server that misbehaves as told: one path, answers in turn, the last one for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


def body(data: bytes, status: int = 200, said: int | None = None, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """Answer with some bytes; ``said``: what Content-Length claims."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data) if said is None else said))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def chunked(parts: Iterator[bytes] | list[bytes], ends: bool = True, pause: float = 0.0) -> Answer:
    """Answer in chunks of unsaid length; not ``ends``: the last one never comes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in parts:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.flush()
            time.sleep(pause)
        if ends:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


def unsaid(data: bytes) -> Answer:
    """Answer with some bytes and hang up: nobody knows whether these are all."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def tagged(data: bytes, tag: str) -> Answer:
    """Answer with a version; 304 to who has it already."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("If-None-Match") == tag:
            handler.send_response(304)
            handler.send_header("ETag", tag)
            handler.end_headers()
        else:
            body(data, headers=(("ETag", tag), ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")))(handler)

    return answer


def silent(seconds: float) -> Answer:
    """Say nothing for a while."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        body(b"late")(handler)

    return answer


@dataclass
class Site:
    """Where it is, what it answers, and the status lines that were asked for."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def will(self, *answers: Answer) -> Site:
        """Answer so from now on."""
        self.answers[:] = answers
        self.asked.clear()
        return self


@contextmanager
def site() -> Iterator[Site]:
    """Run a server on this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found.asked.append(self.path)
            self.close_connection = True
            answer = found.answers[min(len(found.asked), len(found.answers)) - 1]
            with suppress(OSError):  # who asked has hung up
                answer(self)

        def end_headers(self) -> None:
            self.send_header("Connection", "close")
            super().end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Site(f"http://127.0.0.1:{server.server_port}/vms.csv")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
