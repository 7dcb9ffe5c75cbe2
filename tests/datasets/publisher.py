"""A publisher on this machine: serves files well, badly, slowly or not at all."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Publisher:
    """Files by path, and how each is served.

    Attributes:
        files: content by path, such as "/a.csv".
        manner: by path: "good", "truncated" (the connection ends half way, each time), "broken"
            (only the first time), "no ranges", "slow" (a pause in the middle), or a status.
        asked: the Range header of each request, or None.
        etag: what the server says of its version; None for nothing.
    """

    def __init__(self, url):
        self.url, self.files, self.manner, self.asked, self.etag = url, {}, {}, [], '"one"'


@contextmanager
def publisher():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state, content = self.server.state, self.server.state.files.get(self.path)
            manner = state.manner.get(self.path, "good")
            wanted = self.headers.get("Range")
            state.asked.append(wanted)
            if content is None or isinstance(manner, int):
                return self.send_error(manner if isinstance(manner, int) else 404)
            start = 0
            if wanted and manner != "no ranges" and self.headers.get("If-Range") == state.etag:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(content) > 0:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206 if start else 200)
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Content-Length", str(len(content) - start))
            if state.etag:
                self.send_header("ETag", state.etag)
            self.end_headers()
            half = start + (len(content) - start + 1) // 2
            self.wfile.write(content[start:half])
            if manner == "slow":
                self.wfile.flush()
                time.sleep(0.3)
            first = sum(1 for _ in state.asked) == 1
            if manner == "truncated" or (manner == "broken" and first):
                self.wfile.flush()
                return self.connection.close()
            return self.wfile.write(content[half:])

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.state = Publisher(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
