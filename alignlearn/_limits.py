"""What a file or an archive may expand to: estimated before the work, or measured while it expands.

The constants are far above any data that the library can learn from in memory, and low enough that
a file that is made to fill the memory raises an error first.
"""

from __future__ import annotations

import io
import math

MAX_TEXT = 2**30
"""Bytes of text, and of a member of an archive, after decompression."""
MAX_BYTES = 2**32
"""Bytes of memory for the fields of a text, or for the arrays of a file as 8-byte numbers."""
MAX_FEATURES = 2**27
"""Columns of a sparse matrix; the widest public sets have 5e7."""
MAX_RATIO = 1000
"""Expanded to compressed size, for what expands to more than ``RATIO_FROM`` bytes."""
RATIO_FROM = 2**26
MAX_MEMBERS = 100_000
"""Members of a zip: each takes memory before any is looked at."""

# Measured: a field of a csv file in its row and its column, or a pair of an svmlight file.
_FIELD_BYTES = 110
_CHUNK = 1 << 20
_LONGEST_END = 2**16 + 22 + 20 + 56  # bytes of the end of a zip, with its remark
_MEMBER_BYTES = 64  # in the list at the end, with a short name


def check_bytes(size: int, what: str):
    """ValueError when ``what`` would take more than ``MAX_BYTES``."""
    if size > MAX_BYTES:
        raise ValueError(f"{what} take {size} bytes of memory; accepted: at most {MAX_BYTES}.")


def check_fields(count: int, where: str):
    """ValueError when a text has more fields than fit into ``MAX_BYTES``."""
    if count * _FIELD_BYTES > MAX_BYTES:
        raise ValueError(
            f"{where} has about {count} fields; accepted: text files of at most "
            f"{MAX_BYTES // _FIELD_BYTES} fields. Store larger data in an npz file."
        )


def read_limited(stream, packed: int) -> bytes:
    """All bytes of a stream that expands ``packed`` bytes; ValueError beyond the limits.

    Read twice: nothing is kept until it is known to end within the limits.
    """
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > MAX_TEXT:
            raise ValueError(
                f"it decompresses to more than {MAX_TEXT} bytes, the largest size accepted"
            )
        if size > max(RATIO_FROM, MAX_RATIO * packed):
            raise ValueError(
                f"it decompresses to more than {MAX_RATIO} times its size of {packed} "
                f"bytes, the largest ratio accepted above {RATIO_FROM} bytes"
            )
    stream.seek(0)
    return stream.read()


def decompress(raw: bytes) -> bytes:
    """The content of gzip, bzip2 or xz bytes; other bytes unchanged.

    ValueError when the content is damaged or expands beyond the limits.
    """
    import bz2
    import gzip
    import lzma
    import zlib

    openers = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
    opener = next((openers[start] for start in openers if raw.startswith(start)), None)
    if opener is None:
        return raw
    try:
        with opener(io.BytesIO(raw)) as stream:
            return read_limited(stream, len(raw))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as exc:
        raise ValueError(f"the compressed content is damaged ({exc})") from exc


def damages():
    """The errors that reading a damaged or hostile zip of arrays may raise."""
    import struct
    import zipfile
    import zlib

    found = (ValueError, EOFError, LookupError, OSError, RuntimeError, struct.error, MemoryError)
    return *found, AttributeError, OverflowError, zipfile.BadZipFile, zlib.error


def check_directory(file):
    """ValueError where a zip lists more than ``MAX_MEMBERS``, before `zipfile` reads the list.

    The end of the archive states the length of the list; for a very long list, in 20 + 56 bytes
    before it.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _LONGEST_END))
    end = file.read(_LONGEST_END)  # of a device the size is 0, and reading would not end
    file.seek(0)
    at = end.rfind(b"PK\5\6")
    if at < 0 or len(end) < at + 22:
        raise ValueError("it is not a zip archive")
    listed = int.from_bytes(end[at + 12 : at + 16], "little")
    if end[max(at - 20, 0) : at].startswith(b"PK\6\7"):
        listed = max(listed % 0xFFFFFFFF, int.from_bytes(end[at - 36 : at - 28], "little"))
    if listed > MAX_MEMBERS * _MEMBER_BYTES:
        raise ValueError(f"it has more than {MAX_MEMBERS} members, the largest number accepted")


def claimed_bytes(archive, info) -> int:
    """Bytes of memory for an array in a zip, at least 8 for an entry (as float64).

    ValueError where the sizes of header and member differ, or where it holds Python objects.
    """
    from numpy.lib import format as npy

    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    with archive.open(info) as member:
        version = npy.read_magic(member)
        if version not in readers:
            raise ValueError(f"{info.filename} has format {version}; accepted: {list(readers)}")
        shape, _, dtype = readers[version](member)
        start = member.tell()
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds Python objects; accepted: numbers and strings")
    count = math.prod(shape)
    if count * dtype.itemsize != info.file_size - start:
        raise ValueError(
            f"{info.filename} has {info.file_size - start} bytes, but its header says {shape} of "
            f"{dtype}"
        )
    return count * max(dtype.itemsize, 8)


def read_array(archive, info):
    """The array of a member of a zip, after `claimed_bytes`."""
    from numpy.lib import format as npy

    with archive.open(info) as member:
        array = npy.read_array(member, allow_pickle=False)
        member.read(1)  # the checksum is compared at the end
    return array
