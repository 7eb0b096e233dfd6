import bz2
import lzma
import zlib

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limited import limited

from model.errors import DamagedDataError
from model.reading.codecs import CODECS, LimitError


def deflate(data):
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def snappy(data):
    return bytes(cramjam.snappy.compress_raw(data)) + zlib.crc32(data).to_bytes(4, "big")


PACK = {
    "null": bytes,
    "deflate": deflate,
    "snappy": snappy,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda data: bytes(cramjam.zstd.compress(data)),
}


def test_every_codec_is_tested():
    assert PACK.keys() == CODECS.keys()


@pytest.mark.parametrize("codec", CODECS)
@given(st.binary(max_size=300), st.integers(1, 500))
def test_what_is_packed_is_unpacked(codec, data, repeated):
    assert CODECS[codec](PACK[codec](data * repeated), len(data) * repeated) == data * repeated


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1, 100_000, 5_000_000])
def test_one_byte_more_than_the_limit_is_refused(codec, size):
    packed = PACK[codec](bytes(size))
    assert len(CODECS[codec](packed, size)) == size
    with pytest.raises(LimitError, match=f"it unpacks to more than {size - 1} bytes"):
        CODECS[codec](packed, size - 1)


@pytest.mark.parametrize("codec", ["bzip2", "xz"])
def test_the_limit_is_of_all_streams_of_a_block(codec):
    packed = 3 * PACK[codec](bytes(1000))
    assert CODECS[codec](packed, 3000) == bytes(3000)
    with pytest.raises(LimitError):
        CODECS[codec](packed, 2999)


@pytest.mark.parametrize("codec", sorted(CODECS.keys() - {"null", "snappy"}))
def test_a_payload_that_is_cut_off_is_noticed(codec):
    packed = PACK[codec](bytes(range(256)) * 20)
    for kept in (len(packed) // 2, len(packed) - 1):
        with pytest.raises((DamagedDataError, cramjam.DecompressionError)):
            CODECS[codec](packed[:kept], 10_000)


@pytest.mark.parametrize("codec", sorted(CODECS.keys() - {"null"}))
@given(st.binary(max_size=60))
def test_no_rubbish_unpacks_to_more_than_the_limit(codec, data):
    try:
        assert len(CODECS[codec](data, 1000)) <= 1000
    except Exception as error:
        assert not isinstance(error, (MemoryError, AssertionError))


def bomb(codec):
    """Four gigabytes of zeros in some hundred kilobytes: sixteen packed megabytes, repeated."""
    zeros, times = bytes(2**24), 256
    if codec == "deflate":
        engine = zlib.compressobj(wbits=-15)
        return (engine.compress(zeros) + engine.flush(zlib.Z_FULL_FLUSH)) * times + engine.flush()
    if codec == "snappy":
        # Snappy packs to a twentieth at best; but its head may say what it likes.
        return b"\xff\xff\xff\xff\x0f" + bytes(100)
    return PACK[codec](zeros) * times


UNPACK = """
import sys
from model.reading.codecs import CODECS, LimitError
try:
    CODECS[sys.argv[-1]](sys.stdin.buffer.read(), 2**26)
except LimitError as error:
    print(error)
"""


@pytest.mark.parametrize("codec", sorted(CODECS.keys() - {"null"}))
def test_a_bomb_is_not_unpacked(codec):
    said = limited(UNPACK, bomb(codec), arguments=[codec], seconds=15)
    assert said == f"it unpacks to more than {2**26} bytes\n"
