"""``save`` and ``load``: the file around a description, written whole or not at all."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
import zlib
from contextlib import contextmanager
from typing import Any

import numpy as np

import alignlearn
from alignlearn import _limits
from alignlearn._versions import is_version, warn_of_version

from ._reading import Reader
from ._writing import MAX_DIGITS, Writer

FORMAT, VERSION = "alignlearn model", 1
MAX_DESCRIPTION = 2**26
"""Bytes of the description: what it makes of them in memory is some thirty times as many."""
_DESCRIPTION = "model.json"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes
_MAX_RATIO = 1100  # deflate reduces bytes to 1/1032 of their number at most
_LARGE, _LOOKED_AT = 2**20, 2**13  # bytes, and entries that decide whether to deflate
_HEADER = 1000  # maximum bytes before the entries of an array
_MAGIC, _CHUNK = b"PK\3\4", 2**20  # the first bytes of a zip file; bytes per read of a stream
_START = re.compile(
    rb'\s*\{\s*"format"\s*:\s*"([^"\\]*)"\s*,\s*"version"\s*:\s*(\d{1,9})\s*,'
    rb'\s*"library"\s*:\s*"([ -!#-\[\]-~]*)"'
)
_START_BYTES = 1000


class ModelFileError(ValueError):
    """A file is not a model file, is damaged, or has content that no model of the library has.

    Examples
    --------
    >>> import io
    >>> from alignlearn import ModelFileError, load
    >>> try:
    ...     load(io.BytesIO(b"no model"))
    ... except ModelFileError:
    ...     print("not a file of `save`, or a damaged one")
    ...
    not a file of `save`, or a damaged one
    """


def save(model, path) -> None:
    """Write a model into one file that holds data and no code.

    Parameters
    ----------
    model : estimator, kernel, machine, rule for weights or result of the library
        Fitted or not; also a list, tuple or dict of these.
    path : str, path-like or binary file object
        An existing file is replaced once the new one is complete. The new file has its permissions.

    Raises
    ------
    TypeError
        The model holds a function, an object of a class that is not the library's, or an array of
        objects other than numbers and strings; the message names the attribute.
    ValueError
        The model exceeds the size limits (see `load`), or contains itself.
    OSError
        The file cannot be written.

    See Also
    --------
    load : Read a file, with checks and errors.

    Examples
    --------
    >>> import io
    >>> import alignlearn as al
    >>> file = io.BytesIO()
    >>> al.save(al.Gaussian(0.5), file)
    >>> al.load(file)
    Gaussian(gamma=0.5, multiple=1.0)
    """
    writer = Writer()
    try:
        writer.item(model)
    except RecursionError:
        raise ValueError("the model is nested too deeply to be written.") from None
    if not writer.values:
        raise TypeError(f"model={model!r:.40} is not a model; accepted: estimators and kernels.")
    head = {"format": FORMAT, "version": VERSION, "library": alignlearn.__version__}
    text = json.dumps({**head, "values": writer.values}, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_DESCRIPTION:
        raise ValueError(
            f"the description of the model has {len(text)} bytes; accepted: at most "
            f"{MAX_DESCRIPTION}."
        )
    _limits.check_bytes(sum(map(_claim, writer.arrays)), "the arrays of the model")
    if len(writer.arrays) >= _limits.MAX_MEMBERS:
        raise ValueError(
            f"the model has {len(writer.arrays)} large arrays; accepted: less than "
            f"{_limits.MAX_MEMBERS}."
        )
    with _opened(path) as file:
        _write(file, text, writer.arrays)


def _claim(array):
    return array.size * max(array.itemsize, 8)


def _write(file, text, arrays):
    def member(archive, name, size, method=zipfile.ZIP_DEFLATED):
        info = zipfile.ZipInfo(name, _FIRST_DAY)
        info.compress_type, info.external_attr = method, 0o644 << 16
        info.file_size = size  # above 2 GiB it has another header
        return archive.open(info, "w")

    with zipfile.ZipFile(file, "w") as archive:
        with member(archive, _DESCRIPTION, len(text)) as part:
            part.write(text.encode("ascii"))
        for k, array in enumerate(arrays):
            with member(archive, _name(k), array.nbytes + _HEADER, _method(array)) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def _method(array):
    """The compression method; large arrays of random digits are stored uncompressed."""
    if array.nbytes < _LARGE:
        return zipfile.ZIP_DEFLATED
    some = np.ascontiguousarray(array.ravel(order="K")[:: max(1, array.size // _LOOKED_AT)])
    small = len(zlib.compress(some.tobytes())) < 0.9 * some.nbytes
    return zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED


def _name(k):
    return f"{k}.npy"


@contextmanager
def _opened(path):
    """A file to write: a temporary one in the same folder, which replaces the path at the end."""
    if hasattr(path, "write"):
        if isinstance(path, io.TextIOBase):
            raise TypeError(f"path={path!r:.60} is a text file; accepted: one opened with 'wb'.")
        yield path
        return
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):  # a folder is an error, a pipe is not
        whole = io.BytesIO()
        with open(path, "wb") as file:
            yield whole
            file.write(whole.getvalue())
        return
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".{os.urandom(8).hex()}.part")
    try:
        with open(temporary, "xb", opener=_opener(path)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"the folder {folder} does not exist.") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _opener(path):
    """The opener of a new file with the permissions of the file at ``path``, if there is one.

    The new file is never readable by more users than the old one, not even while it is written.
    """
    try:
        mode = os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return None

    def opened(name, flags):
        descriptor = os.open(name, flags, 0o600)
        os.chmod(name, mode)  # the umask does not change these permissions
        return descriptor

    return opened


def load(path) -> Any:
    """Read a file that `save` wrote, without executing anything in it.

    Parameters
    ----------
    path : str, path-like or binary file object

    Returns
    -------
    object
        An object of the saved class, with the same parameters, attributes and predictions.

    Raises
    ------
    ModelFileError
        A ValueError: the path is a device or pipe, or the file is no model file, is damaged or of a
        later format, names a class that is not among the library's savable ones, has attributes of
        wrong kinds, or would take more than 4 GiB for its arrays, 64 MiB for its description, or
        ten million values.
    OSError
        There is no such file, it is a folder, or it cannot be read.

    Warns
    -----
    VersionWarning
        Another version of the library wrote the file; the message lists the changes since.

    Notes
    -----
    Loading checks the structure of a file, not its meaning: a model from an untrusted source
    executes no code, but may predict anything. The format is described in
    docs/guide/model-files.md.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> import numpy as np
    >>> from alignlearn import Gaussian, MKLRegressor, load, save
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLRegressor([Gaussian(0.5), Gaussian(2.0)]).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.alignlearn"))
    ...     same = load(os.path.join(folder, "model.alignlearn"))
    ...
    >>> bool(np.array_equal(same.predict(X), model.predict(X)))
    True
    """
    if hasattr(path, "read"):
        model, version = _load(_seekable(path), "the file")
    else:
        path = os.fsdecode(path)
        kind = os.stat(path).st_mode  # before it is opened, which waits for a writer of a pipe
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise ModelFileError(f"{path} is a device or pipe; accepted: a regular file.")
        with open(path, "rb") as file:
            model, version = _load(file, path)
    warn_of_version(version)
    return model


def _seekable(file):
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"path={file!r:.60} is a text file; accepted: one opened with 'rb'.")
    if getattr(file, "seekable", bool)():
        return file
    found = io.BytesIO()
    while chunk := file.read(_CHUNK):
        if found.tell() == 0 and not _MAGIC.startswith(chunk[: len(_MAGIC)]):
            raise ModelFileError("the file is not a readable model file: it is not a zip archive.")
        found.write(chunk)
        if found.tell() > _limits.MAX_BYTES:
            raise ModelFileError(f"the file has more than {_limits.MAX_BYTES} bytes.")
    return found


def _load(file, where):
    try:
        with np.errstate(all="ignore"):
            return _read(file)
    # Checks of the library may raise any error for values that its own files never have.
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelFileError(f"{where} is not a readable model file: {why:.500}.") from error


def _read(file):
    _limits.check_directory(file)
    with zipfile.ZipFile(file) as archive:
        head = _head(archive)
        arrays = _array_members(archive)
        claimed = sum(_limits.claimed_bytes(archive, info) for info in arrays)
        _limits.check_bytes(claimed, "its arrays")
        used = set()

        def array(k):
            if type(k) is not int or not 0 <= k < len(arrays) or k in used:
                raise ValueError(f"{k!r:.40} is not an array of the file, or it is used twice")
            used.add(k)
            return _limits.read_array(archive, arrays[k])

        model = Reader(array).model(head["values"])
        if len(used) < len(arrays):
            raise ValueError("it has arrays that no value refers to")
    return model, head["library"]


def _head(archive):
    """The description, after a check that this version of the library reads it."""
    names = archive.namelist()
    if names.count(_DESCRIPTION) != 1:
        raise ValueError(f"it has no member {_DESCRIPTION}, or several")
    info = archive.getinfo(_DESCRIPTION)
    _check_packing(info)
    if info.file_size > MAX_DESCRIPTION:  # `zipfile` reads at most this
        raise ValueError(f"its description has more than {MAX_DESCRIPTION} bytes")
    with archive.open(_DESCRIPTION) as stream:
        start = stream.read(_START_BYTES)
        _check_start(start)
        return _parsed(start + stream.read())


def _check_start(text):
    """Raise a ValueError for a description of another format, before the rest of it is parsed."""
    found = _START.match(text)
    if found is None or found[1] != FORMAT.encode():
        raise ValueError(
            f"its description does not start with the format {FORMAT!r} and the version that "
            "wrote it"
        )
    version, library = int(found[2]), found[3].decode("ascii")
    if version > VERSION and is_version(library):
        raise ValueError(
            f"it has the format {version} of alignlearn {library}, and alignlearn "
            f"{alignlearn.__version__} reads up to {VERSION}; update alignlearn"
        )


def _array_members(archive):
    """The members that are arrays, by number; raises ValueError if there are others."""
    names = archive.namelist()
    wanted = [_name(k) for k in range(len(names) - 1)]
    if sorted(names) != sorted([_DESCRIPTION, *wanted]):
        raise ValueError(f"it has members other than {_DESCRIPTION} and numbered arrays")
    found = [archive.getinfo(name) for name in wanted]
    for info in found:
        _check_packing(info)
    return found


def _check_packing(info):
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename} is not compressed by deflate")
    if info.file_size > _MAX_RATIO * (info.compress_size + 1):
        raise ValueError(
            f"{info.filename} claims a higher compression ratio than deflate can reach"
        )


def _parsed(text):
    head = json.loads(
        text.decode("ascii"),
        object_pairs_hook=_unique,
        parse_int=_integer,
        parse_constant=_no_constant,
    )
    if head["version"] != VERSION or not is_version(head["library"]):
        raise ValueError("it does not say which version wrote it")
    if set(head) != {"format", "version", "library", "values"}:
        raise ValueError("its description has parts that are not in format 1")
    return head


def _unique(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _integer(digits):
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"an integer has more than {MAX_DIGITS} digits")
    return int(digits)


def _no_constant(word):
    raise ValueError(f"{word} is not a number in JSON")
