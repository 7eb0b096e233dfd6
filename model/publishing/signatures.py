"""Signatures of a model store: who wrote a version, a checkpoint, or the known documents of one.

    <root>/<key>/signatures/<name of the file>.<signer>
    <root>/<key>/signatures/<path of the pointer>/<digest of its contents>.<signer>

``--sign`` names a private key and ``--trust`` public ones, Ed25519 in PEM. A signature covers the
path of a file below the root, and its bytes: all those of a manifest or of known documents, and the
entry of a checkpoint. So none holds for another version or model key. Manifests and entries name
snapshots and states by their digests. A signer is named by the beginning of the SHA-256 of the
public key, so several may sign one file. A signature is written before its file and in a file of
its own: bytes and names are those of a store without signatures.

A pointer (``LATEST``, that of the catalogue, and those of classifiers) names what it leads to by
its digest. When it moves, the signatures of its former contents are removed: without a copy of
them nobody can set it back.

Options, and so the graph of a job, have the paths of key files. Each process reads the files when
it signs or checks.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from beam_topics.model.errors import OptionError, UntrustedError
from beam_topics.model.files import check_regular
from beam_topics.model.publishing.blobs import Blobs, Stamp, create_named, path_in
from beam_topics.model.stored import wire

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

MAGIC = b"BTe1"
# A public key takes 113 bytes.
_MOST_BYTES = 1 << 16
_SIGN, _TRUST, _FOLDER = "--sign", "--trust", "signatures"
_POINTERS = ("LATEST", ".latest")
_PRIVATE = "a private Ed25519 key in PEM without a passphrase, which others cannot read"
_PUBLIC = "public Ed25519 keys in PEM"
_PUBLIC_KEY = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)


class Signatures:
    """The signatures below one root.

    Args:
        blobs: The files of the store.
        trust: The file of public keys, or "": everything is trusted.
        sign: The file of the private key, or "": nothing is signed.
    """

    def __init__(self, blobs: Blobs, trust: str, sign: str) -> None:
        self._blobs, self._trust, self._sign = blobs, trust, sign

    def check_keys(self) -> None:
        """Check the keys of who writes, before anything is written.

        Raises:
            OptionError: A file holds no such key, or what is written would not be trusted.
        """
        trusted = self._trusted if self._trust else None
        signer = self._signer[0] if self._sign else None
        if trusted is not None and signer not in trusted:
            allowed = f"the private key of one in {_TRUST}={self._trust}"
            remedy = "What is written has to be trusted. Give its key, or add it there."
            raise OptionError(_SIGN, self._sign or None, allowed, remedy)

    def check_signs(self, key: str) -> None:
        """Check that what changes of a key is signed again, if it was signed.

        Raises:
            OptionError: It would not be, or not by a trusted key.
        """
        self.check_keys()
        if not self._sign and self._blobs.list(path_in(key, _FOLDER)):
            remedy = "Give it: what changes is signed again."
            raise OptionError(_SIGN, None, "the key that signed this model store", remedy)

    def remove(self, path: str) -> None:
        """Remove the signatures of a file."""
        folder, _, name = _place(path, b"", "").rstrip(".").rpartition("/")
        for signature, stamp in self._blobs.stamps(folder).items():
            if signature.rpartition(".")[0] == name:
                self._blobs.remove(f"{folder}/{signature}", stamp)

    def write(self, path: str, data: bytes) -> None:
        """Sign bytes that are, or will be, at a path."""
        if self._sign:
            name, key = self._signer
            signature = key.sign(_statement(path, data))
            create_named(self._blobs, _place(path, data, name), MAGIC + signature)

    def move(self, path: str, before: bytes | None, after: bytes) -> bool:
        """Sign and replace the contents of a pointer, as :meth:`Blobs.replace_pointer` does."""
        # With their stamps: what another one signs again meanwhile stays.
        old = self.of_pointer(path) if self._sign else {}
        self.write(path, after)
        if not self._blobs.replace_pointer(path, before, after):
            return False
        new = _place(path, after, "")
        for signature, stamp in old.items():
            if not signature.startswith(new):
                self._blobs.remove(signature, stamp)
        return True

    def of_pointer(self, path: str) -> dict[str, Stamp]:
        """Return the paths of the signatures of a pointer, with their stamps."""
        folder = _place(path, b"", "").rpartition("/")[0]
        return {f"{folder}/{name}": stamp for name, stamp in self._blobs.stamps(folder).items()}

    def pointer(self, path: str) -> bytes | None:
        """Return the contents of a pointer, None if there is none.

        Raises:
            UntrustedError: No trusted key has signed them.
        """
        before = None
        while True:
            try:
                data = self._blobs.read(path)
                self.check(path, data)
                return data
            except FileNotFoundError:
                return None
            except UntrustedError:
                # It may have moved, and the signature is gone.
                if data == before:
                    raise
                before = data

    def check(self, path: str, data: bytes) -> None:
        """Check the bytes of a path, where only signed ones are trusted.

        Raises:
            UntrustedError: No trusted key has signed them.
        """
        if self._trust and not any(
            self._is_signed(path, data, *one) for one in self._trusted.items()
        ):
            raise UntrustedError(
                f"{self._blobs.where(path)} is not what a key of {_TRUST}={self._trust} has signed:"
                " another one or none has, or it was changed or moved. Give the public key of who"
                f" wrote it, or a store that was written with {_SIGN} and one of these keys."
            )

    def _is_signed(self, path: str, data: bytes, name: str, key: Ed25519PublicKey) -> bool:
        """Return whether a key has signed the bytes of a path."""
        from cryptography.exceptions import InvalidSignature

        try:
            signature = self._blobs.read(_place(path, data, name), _MOST_BYTES)
            key.verify(signature.removeprefix(MAGIC), _statement(path, data))
        except (FileNotFoundError, InvalidSignature):
            return False
        return True

    @cached_property
    def _signer(self) -> tuple[str, Ed25519PrivateKey]:
        key = _private_key(self._sign)
        return _name_of(key.public_key()), key

    @cached_property
    def _trusted(self) -> dict[str, Ed25519PublicKey]:
        return {_name_of(key): key for key in _public_keys(self._trust)}


def _statement(path: str, data: bytes) -> bytes:
    """Return what is signed; parts with their lengths, so that no two statements are equal."""
    return wire.digest(MAGIC, path.encode(), data)


def _place(path: str, data: bytes, signer: str) -> str:
    """Return the path of a signature."""
    key, *folders, name = path.split("/")
    if name.endswith(_POINTERS):
        digest = hashlib.sha256(data).hexdigest()
        return "/".join((key, _FOLDER, *folders, name, f"{digest}.{signer}"))
    return f"{key}/{_FOLDER}/{name}.{signer}"


def _name_of(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def _private_key(path: str) -> Ed25519PrivateKey:
    data, (ed25519, serialization) = _contents(_SIGN, path, _PRIVATE), _library(_SIGN, path)
    # What the library's error says of a private key is not shown.
    with suppress(Exception):
        key = serialization.load_pem_private_key(data, None)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            return key
    remedy = "Make one: (umask 077; openssl genpkey -algorithm ed25519 -out FILE)"
    raise OptionError(_SIGN, path, _PRIVATE, remedy)


def _public_keys(path: str) -> list[Ed25519PublicKey]:
    data, (ed25519, serialization) = _contents(_TRUST, path, _PUBLIC), _library(_TRUST, path)
    with suppress(Exception):
        keys = [serialization.load_pem_public_key(block) for block in _PUBLIC_KEY.findall(data)]
        are_all = all(isinstance(key, ed25519.Ed25519PublicKey) for key in keys)
        if keys and are_all and len(keys) == data.count(b"-----BEGIN"):
            return keys
    remedy = "Take it from the private key: openssl pkey -in PRIVATE -pubout -out FILE"
    raise OptionError(_TRUST, path, _PUBLIC, remedy)


def _contents(option: str, path: str, allowed: str) -> bytes:
    """Return the bytes of a file of keys.

    The group may read a private key of another user, as it is where Kubernetes mounts secrets.
    """
    check_regular(option, path)
    try:
        with Path(path).open("rb") as file:
            facts, data = os.fstat(file.fileno()), file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise OptionError(option, path, allowed, f"It cannot be read: {error}.") from error
    others = 0o077 if facts.st_uid == os.geteuid() else 0o007
    if option == _SIGN and facts.st_mode & others:
        remedy = f"Its mode is {stat.S_IMODE(facts.st_mode):04o}. Run: chmod 600 {quote(path)}"
        raise OptionError(option, path, allowed, remedy)
    return data


def _library(option: str, path: str) -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        allowed, remedy = "nothing without cryptography", "Run: pip install 'beam-topics[sign]'"
        raise OptionError(option, path, allowed, remedy) from error
    return ed25519, serialization
