"""Files of Ed25519 keys, for tests of signatures."""

from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


def private_pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(key):
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def secret(number=1):
    """The bytes of a private key."""
    return sha256(b"%d" % number).digest()


def key_files(folder, number=1):
    """The files of a private key, which its owner alone can read, and of its public key."""
    key = Ed25519PrivateKey.from_private_bytes(secret(number))
    private, public = Path(folder, f"private{number}.pem"), Path(folder, f"public{number}.pem")
    private.touch(0o600)
    private.write_bytes(private_pem(key))
    public.write_bytes(public_pem(key))
    return str(private), str(public)
