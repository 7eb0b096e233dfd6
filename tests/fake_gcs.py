"""Cloud Storage in this process: the part of its JSON API that its client uses here.

    with FakeGcs() as server:          STORAGE_EMULATOR_HOST = server.address
        server.put("bucket", "name", b"data")
        server.lose_answers("POST", 1)     the next POST is carried out, and answered with 503

It has uploads (in one part, or resumable), reads (whole or a range), metadata, listings by page,
changes of metadata and deletes. Preconditions hold: one lock makes a check and its action one step.
tests/runners/gcs compares with another implementation.

The client also asks for the bucket from a thread of its own, for its traces. Such a request is
answered and not counted: it is not in ``requests``, loses no answer that a test wants lost, and is
not the next of its method.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

import google_crc32c

_OBJECT = re.compile(r"(?:/download)?/storage/v1/b/([^/]+)/o/([^/]+)")
_LIST = re.compile(r"/storage/v1/b/([^/]+)/o")
_UPLOAD = re.compile(r"(?:/resumable)?/upload/storage/v1/b/([^/]+)/o")
_BUCKET = re.compile(r"/storage/v1/b/([^/]+)")
PAGE = 7


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


@dataclass
class Held:
    """One object."""

    name: str
    data: bytes
    generation: int
    metadata: dict = field(default_factory=dict)
    metageneration: int = 1
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))

    def resource(self, bucket):
        return {
            "kind": "storage#object",
            "bucket": bucket,
            "name": self.name,
            "generation": str(self.generation),
            "metageneration": str(self.metageneration),
            "updated": self.updated.isoformat().replace("+00:00", "Z"),
            "size": str(len(self.data)),
            "crc32c": base64.b64encode(google_crc32c.value(self.data).to_bytes(4, "big")).decode(),
            "metadata": self.metadata,
        }


class FakeGcs:
    """The server; its buckets are plain dictionaries."""

    def __init__(self, *buckets):
        self.buckets = {name: {} for name in buckets or ("bucket",)}
        self.requests = []
        self._lock = threading.Lock()
        self._generation = 1000
        self._uploads = {}
        self._lost, self._before = {}, []
        handler = type("Handler", (_Handler,), {"fake": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self._http.shutdown()
        self._http.server_close()

    def put(self, bucket, name, data, metadata=None):
        """Write, whatever is there."""
        self._generation += 1
        self.buckets[bucket][name] = Held(name, data, self._generation, metadata or {})
        return self.buckets[bucket][name]

    def lose_answers(self, method, times):
        """The next requests of a method are carried out, and answered with 503."""
        self._lost[method] = times

    def before_next(self, method, act):
        """Call ``act()`` just before the next request of a method, as a faster client would."""
        self._before.append((method, act))

    def answer(self, method, target, headers, body):
        """(status, headers, body) of a request."""
        with self._lock:
            if _BUCKET.fullmatch(urlsplit(target).path):
                return self._answer(method, target, headers, body)
            self.requests.append((method, target))
            for item in [item for item in self._before if item[0] == method][:1]:
                self._before.remove(item)
                item[1]()
            found = self._answer(method, target, headers, body)
            if found[0] < 400 and self._lost.get(method, 0) > 0:
                self._lost[method] -= 1
                return 503, {}, b"{}"
            return found

    def _answer(self, method, target, headers, body):
        try:
            return self._found(method, target, headers, body)
        except Refused as error:
            return (
                error.code,
                {},
                json.dumps({"error": {"code": error.code, "message": str(error)}}).encode(),
            )

    def _found(self, method, target, headers, body):
        parts = urlsplit(target)
        path, query = parts.path, dict(parse_qsl(parts.query))
        if match := _UPLOAD.fullmatch(path):
            return self._upload(match[1], method, query, headers, body)
        if match := _OBJECT.fullmatch(path):
            return self._object(match[1], unquote(match[2]), method, query, headers, body)
        if match := _LIST.fullmatch(path):
            return self._list(match[1], query)
        if match := _BUCKET.fullmatch(path):
            return (
                200,
                {},
                json.dumps(
                    {"kind": "storage#bucket", "name": self._of(match[1]) and match[1]}
                ).encode(),
            )
        raise Refused(501, f"{method} {path} is not part of this fake")

    def _of(self, bucket):
        if bucket not in self.buckets:
            raise Refused(404, "The specified bucket does not exist.")
        return self.buckets[bucket] or {"": None}

    def _check(self, bucket, name, query):
        """The object, None where there is none, once the preconditions hold."""
        held = self._of(bucket).get(name)
        generation = held.generation if held else 0
        for option, holds in (("ifGenerationMatch", True), ("ifGenerationNotMatch", False)):
            if option in query and (int(query[option]) == generation) != holds:
                raise Refused(412, f"{option}={query[option]}, the generation is {generation}")
        wanted = query.get("ifMetagenerationMatch")
        if held is not None and wanted not in (None, str(held.metageneration)):
            raise Refused(412, f"ifMetagenerationMatch={wanted}, it is {held.metageneration}")
        return held

    def _object(self, bucket, name, method, query, headers, body):
        held = self._check(bucket, name, query)
        if held is None or query.get("generation", str(held.generation)) != str(held.generation):
            raise Refused(404, f"No such object: {bucket}/{name}")
        if method == "DELETE":
            del self.buckets[bucket][name]
            return 204, {}, b""
        if method == "PATCH":
            held.metadata = {**held.metadata, **json.loads(body).get("metadata", {})}
            held.metageneration, held.updated = held.metageneration + 1, datetime.now(UTC)
        if query.get("alt") != "media":
            return 200, {}, json.dumps(held.resource(bucket)).encode()
        resource = held.resource(bucket)
        found = {
            "X-Goog-Generation": resource["generation"],
            "X-Goog-Hash": f"crc32c={resource['crc32c']}",
        }
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range", "")):
            first, last = int(match[1]), min(int(match[2] or len(held.data)), len(held.data) - 1)
            if first > last:
                raise Refused(416, "no such range")
            return (
                206,
                {**found, "Content-Range": f"bytes {first}-{last}/{len(held.data)}"},
                held.data[first : last + 1],
            )
        return 200, found, held.data

    def _list(self, bucket, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        names = [name for name in sorted(self._of(bucket)) if name and name.startswith(prefix)]
        rest = (
            {name: name[len(prefix) :].partition(delimiter) for name in names} if delimiter else {}
        )
        folders = {prefix + head + cut for head, cut, _ in rest.values() if cut}
        entries = sorted({name for name in names if not (rest and rest[name][1])} | folders)
        start = int(query.get("pageToken", 0))
        page = entries[start : start + PAGE]
        found = {
            "items": [
                self.buckets[bucket][name].resource(bucket) for name in page if name not in folders
            ],
            "prefixes": [name for name in page if name in folders],
        }
        if start + PAGE < len(entries):
            found["nextPageToken"] = str(start + PAGE)
        return 200, {}, json.dumps(found).encode()

    def _upload(self, bucket, method, query, headers, body):
        if method == "POST" and query["uploadType"] == "multipart":
            resource, data = _parts(headers["Content-Type"], body)
            return self._finish(bucket, resource, data, query)
        if method == "POST":
            name = json.loads(body or b"{}") | ({"name": query["name"]} if "name" in query else {})
            self._check(bucket, name["name"], query)
            self._uploads[len(self._uploads)] = (name, query, bytearray())
            return (
                200,
                {
                    "Location": (
                        f"{self.address}/upload/storage/v1/b/{bucket}/o"
                        f"?upload_id={len(self._uploads) - 1}"
                    )
                },
                b"",
            )
        resource, first, data = self._uploads[int(query["upload_id"])]
        begin, total = re.fullmatch(
            r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", headers["Content-Range"]
        ).groups()
        if begin is not None:
            data[int(begin) :] = body
        if total != "*" and len(data) == int(total):
            return self._finish(bucket, resource, bytes(data), first)
        return 308, {"Range": f"bytes=0-{len(data) - 1}"} if data else {}, b""

    def _finish(self, bucket, resource, data, query):
        self._check(bucket, resource["name"], query)
        held = self.put(bucket, resource["name"], data, resource.get("metadata"))
        return 200, {}, json.dumps(held.resource(bucket)).encode()


def _parts(content_type, body):
    """The metadata and the data of an upload in one part."""
    message = BytesParser().parsebytes(
        b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body
    )
    boundary = b"--" + message.get_boundary().encode()
    first, second = body.split(boundary)[1:3]
    return json.loads(first.partition(b"\r\n\r\n")[2]), second.partition(b"\r\n\r\n")[
        2
    ].removesuffix(b"\r\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeGcs

    def _body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(pieces)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return zlib.decompress(body, 31) if self.headers.get("Content-Encoding") == "gzip" else body

    def _answer(self):
        code, headers, body = self.fake.answer(self.command, self.path, self.headers, self._body())
        self.send_response(code)
        for name, value in {
            "Content-Length": str(len(body)),
            "Content-Type": "application/json",
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, *args):
        pass
