"""The codecs of Avro's blocks, each with an upper limit on the size of what it gives.

A few bytes of a compressed block can stand for gigabytes. So every codec here stops as soon as its
result exceeds ``limit`` bytes.

>>> import zlib
>>> engine = zlib.compressobj(wbits=-15)
>>> packed = engine.compress(bytes(1000)) + engine.flush()
>>> len(CODECS["deflate"](packed, 1000))
1000
>>> CODECS["deflate"](packed, 999)
Traceback (most recent call last):
    ...
model.reading.codecs.LimitError: it unpacks to more than 999 bytes
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import cramjam

from model.errors import DamagedDataError

# Of an xz decoder, which needs 65 MB for what the highest level of xz has packed.
_XZ_MEMORY = 2**27
# The least room for an unpacked zstandard block, and how much more there is at each attempt.
_ZSTANDARD_ROOM = 2**16
_GROWTH = 4


class LimitError(DamagedDataError):
    """Sound or not, the data exceed a limit that protects the process that reads them."""


def _null(payload: bytes, limit: int) -> bytes:
    return _within(payload, limit)


def _deflate(payload: bytes, limit: int) -> bytes:
    engine = zlib.decompressobj(wbits=-15)
    data = _within(engine.decompress(payload, limit + 1), limit)
    if not engine.eof:
        raise DamagedDataError("the compressed data end too early")
    return data


def _snappy(payload: bytes, limit: int) -> bytes:
    """Snappy, then four bytes of CRC-32 of what it unpacks to."""
    _check_size(cramjam.snappy.decompress_raw_len(payload[:-4]), limit)
    data = bytes(cramjam.snappy.decompress_raw(payload[:-4]))
    if zlib.crc32(data) != int.from_bytes(payload[-4:], "big"):
        raise DamagedDataError("its checksum is wrong")
    return data


def _bzip2(payload: bytes, limit: int) -> bytes:
    return _streams(bz2.BZ2Decompressor, payload, limit)


def _xz(payload: bytes, limit: int) -> bytes:
    return _streams(lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), payload, limit)


def _streams(engine_of: Callable[[], Any], payload: bytes, limit: int) -> bytes:
    """One compressed stream after the other."""
    data = bytearray()
    while payload:
        engine = engine_of()
        data += engine.decompress(payload, limit + 1 - len(data))
        _check_size(len(data), limit)
        if not engine.eof:
            raise DamagedDataError("the compressed data end too early")
        payload = engine.unused_data
    return bytes(data)


def _zstandard(payload: bytes, limit: int) -> bytes:
    """Unpack into a buffer of a given size, and into a larger one where that does not suffice: a
    frame need not say its size.
    """
    room = min(limit, max(_ZSTANDARD_ROOM, _GROWTH * len(payload)))
    while True:
        buffer = bytearray(room)
        try:
            return bytes(memoryview(buffer)[: cramjam.zstd.decompress_into(payload, buffer)])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise
            _check_size(room + 1, limit)
        room = min(limit, _GROWTH * room)


def _within(data: bytes, limit: int) -> bytes:
    _check_size(len(data), limit)
    return data


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise LimitError(f"it unpacks to more than {limit} bytes")


# Each takes the payload of a block and a limit in bytes. Raises LimitError, or whatever the damage
# of a payload leads to.
CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": _null,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstandard": _zstandard,
}
