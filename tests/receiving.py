"""A receiver of webhooks on this machine."""

from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def receiver(answers=(), take=None):
    """Yield the address of a receiver, and what it got; it gives the answers, then 204.

    An answer None closes the connection. ``take`` is called with each body, too.
    """
    left, got = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, body, dict(self.headers)))
            if take is not None:
                take(body)
            status = left.pop(0) if left else 204
            if status is None:
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/other")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=partial(server.serve_forever, 0.01))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/events", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
