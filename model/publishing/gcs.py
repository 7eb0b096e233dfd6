"""The model store's bytes in Google Cloud Storage: :class:`model.publishing.blobs.Blobs` over a
bucket, chosen by ``gs://bucket/folder``.

An object changes as a whole, and each change gives it another *generation*. A write can be made on
condition that the generation is still the one that was looked at, or (generation 0) that there is
no object. All safety against other writers comes from that:

- ``create`` writes on condition that there is nothing. Who comes second compares what is there with
  what he wanted to write.
- ``replace_pointer`` reads the pointer and its generation, and writes on condition that this is
  still its generation.

Any answer can be lost on its way. The client sends the request again, and a write that did happen
then seems to have lost the race to itself. So each write carries a mark of its own in the object's
metadata, and who loses looks whether the winner has that mark.

``STORAGE_EMULATOR_HOST`` names another server, for tests. A service takes about one write a second
to one object; the client waits where it is told to, so a publication that is due more often than
that slows down.
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
    Unauthorized,
)
from google.auth.exceptions import GoogleAuthError
from google.cloud import storage
from google.cloud.storage.exceptions import InvalidResponse
from google.cloud.storage.retry import DEFAULT_RETRY

from model.errors import OptionError

SCHEME = "gs://"
_ABSENT = 0
_MARK = "written-by"


class GcsBlobs:
    """A folder of a bucket, which need not hold anything yet; the bucket must be there.

    Raises:
        OptionError: the root names no bucket; or, at first use, there is no such bucket, or no
            right to use it.
    """

    def __init__(self, root: str) -> None:
        name, _, folder = root.removeprefix(SCHEME).partition("/")
        if not root.startswith(SCHEME) or not name:
            raise OptionError("--model_store", root, "gs://bucket/folder", "Name the bucket.")
        self._root = root.rstrip("/")
        self._bucket_name = name
        self._folder = "".join(f"{part}/" for part in folder.split("/") if part)

    def where(self, path: str) -> str:
        return f"{SCHEME}{self._bucket_name}/{self._folder}{path}"

    def read(self, path: str) -> bytes:
        with self._explained():
            try:
                # One request, so one generation; the client pins it when it has to go on with a
                # download that broke off.
                data: bytes = self._blob(path).download_as_bytes(retry=DEFAULT_RETRY)
            except NotFound as error:
                raise FileNotFoundError(self.where(path)) from error
            return data

    def exists(self, path: str) -> bool:
        with self._explained():
            return bool(self._blob(path).exists(retry=DEFAULT_RETRY))

    def create(self, path: str, data: bytes) -> bool:
        # Looked at first: a replay finds most files there, and need not send them again.
        if self.exists(path):
            return self.read(path) == data
        return self._write(path, data, _ABSENT) or self.read(path) == data

    def list(self, prefix: str) -> list[str]:
        folder = f"{self._folder}{prefix}/" if prefix else self._folder
        with self._explained():
            found = self._bucket().client.list_blobs(
                self._bucket(), prefix=folder, delimiter="/", retry=DEFAULT_RETRY
            )
            # The folders are known only when the last page of names was read.
            names = [*(blob.name for blob in found), *found.prefixes]
        return sorted(
            name.removeprefix(folder)
            for name in names
            if name != folder and not name.removeprefix(folder).startswith(".")
        )

    def replace_pointer(self, path: str, expected: bytes | None, data: bytes) -> bool:
        with self._explained():
            held = self._bucket().get_blob(self._folder + path, retry=DEFAULT_RETRY)
            if held is None or expected is None:
                return held is None and expected is None and self._write(path, data, _ABSENT)
            try:
                # If it has changed meanwhile, other bytes are compared; but then the condition of
                # the write does not hold.
                return self.read(path) == expected and self._write(path, data, held.generation)
            except FileNotFoundError:
                return False

    def _write(self, path: str, data: bytes, generation: int) -> bool:
        """Write if the object has this generation; whether that happened, be it at an attempt
        whose answer was lost.
        """
        blob, mark = self._blob(path), os.urandom(16).hex()
        blob.metadata = {_MARK: mark}
        # Else a bucket that anybody may read would answer with a pointer as it was up to an hour
        # ago.
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

    def _bucket(self) -> storage.Bucket:
        return _client(os.getpid()).bucket(self._bucket_name)

    def _blob(self, path: str) -> storage.Blob:
        return self._bucket().blob(self._folder + path)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What a user can mend, as an error that says how."""
        try:
            yield
        except (NotFound, Forbidden, Unauthorized, GoogleAuthError) as error:
            remedy = (
                "Create the bucket, log in (gcloud auth application-default login), or give the"
                " account of this job the role roles/storage.objectUser. The service says:"
                f" {_message(error)}"
            )
            raise OptionError(
                "--model_store",
                self._root,
                "a bucket that is there and that you may read and write",
                remedy,
            ) from error


def _status(error: Any) -> int:
    """The HTTP status of an error of either of the client's two families: uploads raise one or
    the other, by how they were begun.
    """
    return int(error.code if isinstance(error, GoogleAPICallError) else error.response.status_code)


def _message(error: Exception) -> str:
    return str(error.message if isinstance(error, ClientError) else error)


@functools.cache
def _client(process: int) -> storage.Client:
    """One client a process: it logs in once and keeps its connections, and those may not be
    shared with a fork.
    """
    return storage.Client(project=None)
