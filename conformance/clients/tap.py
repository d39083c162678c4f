"""A tap in the line before the gateway: bytes pass both ways as they are, and what the gateway answers is kept."""

import re
import socket
import threading
import urllib.parse

import httpx

HEAD = re.compile(rb"HTTP/1\.1 ([2-5]\d\d) [^\r\n]*\r\n((?:[^\r\n]+\r\n)+)\r\n")
TRAILER = re.compile(rb"\r\n0\r\n((?:[^\r\n]+\r\n)+)\r\n")  # behind the last chunk


class Tap:
    """An address that leads to the gateway."""

    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self.gateway = (at.hostname, at.port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.answers = []  # what came back, by connection
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # it is closed
            gateway = socket.create_connection(self.gateway)
            answer = bytearray()
            self.answers.append(answer)
            for line in ((client, gateway, None), (gateway, client, answer)):
                threading.Thread(target=carry, args=line, daemon=True).start()

    def clear(self):
        """Forgets what has come. The connections stay: clients keep them."""
        for answer in self.answers:
            answer.clear()

    def heard(self):
        """The status, the headers and the trailers of every answer since the last clear."""
        return [found for answer in self.answers for found in read(bytes(answer))]

    def close(self):
        self.listener.close()


def carry(source, sink, kept):
    """Carries one direction to its end. What is kept is kept first, so that no client knows more than the test."""
    for end in (source, sink):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while piece := source.recv(1 << 16):
            if kept is not None:
                kept += piece
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # one of them has gone: so does the other
        for end in (source, sink):
            end.close()


def read(answer):
    """What came back over one connection, answer by answer."""
    heads = list(HEAD.finditer(answer))
    ends = [head.start() for head in heads[1:]] + [len(answer)]
    for head, end in zip(heads, ends):
        trailer = TRAILER.search(answer, head.end() - 2, end)
        yield int(head[1]), fields(head[2]), fields(trailer[1] if trailer else b"")


def fields(lines):
    return httpx.Headers([line.split(b": ", 1) for line in lines.splitlines()])
