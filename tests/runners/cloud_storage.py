"""A strict Cloud Storage server as a process of its own, a published program.

``gcs/`` beside this file has what was added.

    with serving(binary(), folder) as address:
        os.environ.update(environment(address, folder))

A service account that logs in at the server itself saves Beam's file system the search for a real
one, which takes 20 s.
"""

from __future__ import annotations

import hashlib
import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from runners import tools
from runners.processes import Server, free_port, run_until
from runners.tools import Recipe

SOURCE = Path(__file__).parent / "gcs"
_START_SECONDS = 30


def binary() -> Path:
    """The server's program, built on first use and when its source changes.

    Raises:
        Unavailable: Go is missing, or the sources cannot be fetched.
    """
    files = [SOURCE / name for name in ("main.go", "go.mod", "go.sum")]
    version = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    tools.RECIPES["strictgcs"] = Recipe(version, "strictgcs", _build)
    return tools.tool("strictgcs")


def _build(place: Path) -> None:
    tools.fetch(
        tools.program("go"),
        "build",
        "-buildvcs=false",
        "-o",
        str(place / "strictgcs"),
        ".",
        where=SOURCE,
    )


@contextmanager
def serving(program: Path, folder: Path, *buckets: str) -> Iterator[str]:
    """The address of a server with these (empty) buckets."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with Server("strictgcs", [str(program), "-port", str(port)], folder) as server:
        run_until(lambda: "ready" in server.output(), _START_SECONDS, "the server's start", server)
        for bucket in buckets:
            body = json.dumps({"name": bucket}).encode()
            request = urllib.request.Request(
                f"{address}/storage/v1/b?project=none", body, {"Content-Type": "application/json"}
            )
            urllib.request.urlopen(request).close()
        yield address


def environment(address: str, folder: Path) -> dict[str, str]:
    """Variables that point Google's client and Beam to the server, with a made-up account."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "client_email": "nobody@none.iam.gserviceaccount.com",
        "private_key": pem.decode(),
        "token_uri": f"{address}/token",
        "project_id": "none",
    }
    path = folder / "account.json"
    path.write_text(json.dumps(account), encoding="utf-8")
    return {
        "STORAGE_EMULATOR_HOST": address,
        "GOOGLE_APPLICATION_CREDENTIALS": str(path),
        "GOOGLE_CLOUD_PROJECT": "none",
    }
