"""The bytes of the model store in Google Cloud Storage, chosen by ``gs://bucket/folder``.

:class:`GcsBlobs` implements :class:`beam_topics.model.publishing.blobs.Blobs` over a bucket. An
object changes as a whole, and each change gives it another *generation*. A write can be conditional
on the generation that was read, or on generation 0, which means that there is no object. This makes
writes safe against other writers:

- ``create`` writes on condition that there is no object. A second writer compares what is there
  with what it wanted to write.
- ``replace_pointer`` reads the pointer and its generation, and writes on condition that the
  generation is still the same.

Any response can be lost. The client then repeats the request, and a write that did happen seems to
have lost the race to itself. So each write stores a unique mark in the metadata of the object. A
writer that loses checks whether the winner has its own mark.

``STORAGE_EMULATOR_HOST`` names another server, for tests. The service accepts about one write a
second to one object. The client waits when the service asks it to, so more frequent publications
are slowed down.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from google.api_core.exceptions import (
    ClientError,
    Forbidden,
    GoogleAPICallError,
    NotFound,
    RequestRangeNotSatisfiable,
    Unauthorized,
)
from google.auth.exceptions import GoogleAuthError
from google.cloud import storage
from google.cloud.storage.exceptions import InvalidResponse
from google.cloud.storage.retry import DEFAULT_RETRY

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.blobs import Blobs, Stamp

SCHEME = "gs://"
_ABSENT = 0
_MARK, _USED = "written-by", "used-by"


class GcsBlobs(Blobs):
    """The blobs of a folder of a bucket. The bucket must exist; the folder may be empty.

    Args:
        root: ``gs://bucket/folder``.
        option: The option that names it, for messages.

    Raises:
        OptionError: The root names no bucket. At first use: the bucket does not exist, or the
            account may not use it.
    """

    def __init__(self, root: str, option: str = "--model_store") -> None:
        name, _, folder = root.removeprefix(SCHEME).partition("/")
        if not root.startswith(SCHEME) or not name:
            raise OptionError(option, root, "gs://bucket/folder", "Name the bucket.")
        self._root, self._option = root.rstrip("/"), option
        self._bucket_name = name
        self._folder = "".join(f"{part}/" for part in folder.split("/") if part)

    def where(self, path: str) -> str:
        return f"{SCHEME}{self._bucket_name}/{self._folder}{path}"

    def check_writable(self) -> None:
        # An emulator has no accounts.
        if "STORAGE_EMULATOR_HOST" in os.environ:
            return
        wanted = {"storage.objects.create", "storage.objects.delete"}
        with self._explained():
            if wanted - set(self._bucket().test_iam_permissions(sorted(wanted))):
                raise Forbidden(f"this account may not write into {self._bucket_name}")

    def read(self, path: str, most: int | None = None) -> bytes:
        part = {} if most is None else {"start": 0, "end": most - 1}
        with self._explained():
            try:
                # One request reads one generation. The client pins the generation when it resumes
                # an interrupted download.
                data: bytes = self._blob(path).download_as_bytes(**part, retry=DEFAULT_RETRY)
            except NotFound as error:
                raise FileNotFoundError(self.where(path)) from error
            except RequestRangeNotSatisfiable:
                # An empty object has no first byte.
                return b""
            return data

    def exists(self, path: str) -> bool:
        with self._explained():
            return bool(self._blob(path).exists(retry=DEFAULT_RETRY))

    def list(self, prefix: str) -> list[str]:
        folder = f"{self._folder}{prefix}/" if prefix else self._folder
        with self._explained():
            found = self._listed(folder)
            # The folders are known only after the last page of names.
            names = [*(blob.name for blob in found), *found.prefixes]
        return sorted(
            name.removeprefix(folder)
            for name in names
            if name != folder and not name.removeprefix(folder).startswith(".")
        )

    def replace_pointer(self, path: str, expected: bytes | None, data: bytes) -> bool:
        if expected is None:
            return self._write(path, data, _ABSENT)
        with self._explained():
            held = self._bucket().get_blob(self._folder + path, retry=DEFAULT_RETRY)
            if held is None:
                return False
            try:
                # If the object changed in the meantime, other bytes are compared here. The
                # condition of the write then fails.
                return self.read(path) == expected and self._write(path, data, held.generation)
            except FileNotFoundError:
                return False

    def stamps(self, prefix: str) -> dict[str, Stamp]:
        folder = f"{self._folder}{prefix}/"
        with self._explained():
            found = self._listed(folder)
            named = {blob.name.removeprefix(folder): _stamp(blob) for blob in found}
        return {name: stamp for name, stamp in named.items() if name and name[0] != "."}

    def touch(self, path: str) -> bool:
        blob = self._blob(path)
        blob.metadata = {_USED: os.urandom(16).hex()}
        with self._explained():
            try:
                # A change of the metadata changes the metageneration.
                blob.patch(retry=DEFAULT_RETRY)
            except NotFound:
                return False
            return True

    def remove(self, path: str, stamp: Stamp) -> bool:
        generation, _, changes = stamp.token.partition(".")
        with self._explained():
            try:
                self._blob(path).delete(
                    if_generation_match=int(generation),
                    if_metageneration_match=int(changes),
                    retry=DEFAULT_RETRY,
                )
            except NotFound:
                return True
            except GoogleAPICallError as error:
                if _status(error) != HTTPStatus.PRECONDITION_FAILED:
                    raise
                # An object that is gone has no generation, either.
                return not self.exists(path)
            return True

    def _write(self, path: str, data: bytes, generation: int) -> bool:
        """Write if the object has this generation, and return whether the write happened.

        It counts as done too if only the response was lost.
        """
        blob, mark = self._blob(path), os.urandom(16).hex()
        blob.metadata = {_MARK: mark}
        # Without this a public bucket may serve a pointer that is up to an hour old.
        blob.cache_control = "no-store"
        with self._explained():
            try:
                blob.upload_from_string(
                    data,
                    "application/octet-stream",
                    if_generation_match=generation,
                    retry=DEFAULT_RETRY,
                )
            except (GoogleAPICallError, InvalidResponse) as error:
                if _status(error) != HTTPStatus.PRECONDITION_FAILED:
                    raise
                winner = self._bucket().get_blob(blob.name, retry=DEFAULT_RETRY)
                return winner is not None and (winner.metadata or {}).get(_MARK) == mark
            return True

    def _listed(self, folder: str) -> Any:
        given = {"prefix": folder, "delimiter": "/", "retry": DEFAULT_RETRY}
        return self._bucket().client.list_blobs(self._bucket(), **given)

    def _bucket(self) -> storage.Bucket:
        return _client(os.getpid()).bucket(self._bucket_name)

    def _blob(self, path: str) -> storage.Blob:
        return self._bucket().blob(self._folder + path)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors that a user can mend into errors that say how."""
        try:
            yield
        except (NotFound, Forbidden, Unauthorized, GoogleAuthError) as error:
            remedy = (
                "Create the bucket, log in (gcloud auth application-default login), or give the"
                " account of this job the role roles/storage.objectUser. The service says:"
                f" {error.message if isinstance(error, ClientError) else error}"
            )
            allowed = "a bucket that is there and that you may read and write"
            raise OptionError(self._option, self._root, allowed, remedy) from error


def _stamp(blob: storage.Blob) -> Stamp:
    """Return the stamp of an object that was listed."""
    micros = round(blob.updated.timestamp() * 1_000_000) if blob.updated else 0
    return Stamp(micros, f"{blob.generation}.{blob.metageneration}", blob.size or 0)


def _status(error: Any) -> int:
    """Return the HTTP status of an error of either family that the client raises for uploads."""
    return int(error.code if isinstance(error, GoogleAPICallError) else error.response.status_code)


@functools.cache
def _client(process: int) -> storage.Client:
    """Return the client of a process.

    It logs in once and keeps its connections, which must not be shared with a fork.
    """
    return storage.Client(project=None)
