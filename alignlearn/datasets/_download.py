"""The cache folder, and downloads of registered sets into it that never leave a broken file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from ._data import DatasetError, Entry, fingerprint, unpack
from ._files import read_npz

_CHUNK = 1 << 16


def cache_dir(data_home=None) -> Path:
    """Folder of the cached sets; it need not exist.

    Parameters
    ----------
    data_home : str or path-like, optional
        Default: the environment variable ALIGNLEARN_DATA, or else the user's cache folder, see
        the notes.

    Returns
    -------
    pathlib.Path

    Notes
    -----
    The user's cache folder is ``$XDG_CACHE_HOME/alignlearn`` or ``~/.cache/alignlearn``;
    ``~/Library/Caches/alignlearn`` on macOS; ``%LOCALAPPDATA%\\alignlearn\\Cache`` on Windows.

    Examples
    --------
    >>> from alignlearn import datasets
    >>> datasets.cache_dir("my-data").name  # what data_home says
    'my-data'
    """
    chosen = data_home if data_home is not None else os.environ.get("ALIGNLEARN_DATA") or None
    if chosen is not None:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "alignlearn" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "alignlearn"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # By the XDG rules, a relative path is ignored.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "alignlearn"


def obtain(entry: Entry, data_home=None, *, download=True, timeout=30.0):
    """(arrays, where) of a registered set: cached, from original files put there, or downloaded.

    The fingerprint is checked in every case; only a download writes.
    """
    cache = cache_dir(data_home)
    path = cache / f"{entry.name}.npz"
    if path.is_file():
        return _from_cache(entry, path), str(path)
    for source in entry.sources:
        if all((cache / name).is_file() for name in source):
            what = " and ".join(str(cache / name) for name in source)
            size = max((cache / name).stat().st_size for name in source)
            if size > entry.max_bytes:
                raise DatasetError(f"{what}: {size} bytes; accepted: at most {entry.max_bytes}")
            files = {name: (cache / name).read_bytes() for name in source}
            return _parse(entry, files, what), what
    if not download:
        raise DatasetError(
            f"{entry.name} is not in the cache {cache}, and download=False. {_advice(entry, cache)}"
        )
    return _download(entry, cache, timeout)


def _from_cache(entry, path):
    again = "Delete the file and load the set again, or put an intact copy there."
    try:
        arrays = read_npz(path)
        problem = _problem(entry, arrays, path)
    except (ValueError, OSError) as exc:
        raise DatasetError(
            f"The cached file of {entry.name} cannot be used: {exc} {again}"
        ) from exc
    if problem:
        raise DatasetError(
            f"The cached file {path} is not the set {entry.name}: {problem}. {again}"
        )
    return arrays


def _problem(entry, arrays, where) -> str:
    X, y, _, _, extra = unpack(arrays, str(where))
    if "feature_names" in arrays and not entry.feature_names:
        extra = {**extra, "feature_names": arrays["feature_names"]}
    return entry.fingerprint.difference(fingerprint(X, y, extra))


def _parse(entry, files, what):
    """Arrays of original files, or a DatasetError when they are not the set."""
    try:
        arrays = entry.parse(files)
        problem = _problem(entry, arrays, what)
    except Exception as exc:  # a parser may receive any bytes, and may fail in any way
        start = next(iter(files.values()))[:40]
        raise DatasetError(
            f"{what}: not in the original format of {entry.name} ({type(exc).__name__}: {exc}); "
            f"it begins with {start!r}"
        ) from exc
    if problem:
        raise DatasetError(f"{what}: wrong content for {entry.name}: {problem}")
    return arrays


def _advice(entry, cache) -> str:
    by_hand = " or ".join(" and ".join(source) for source in entry.sources)
    return (
        f"To provide it by hand, put {by_hand} (see {entry.page}) or {entry.name}.npz into "
        f"{cache}; the environment variable ALIGNLEARN_DATA or data_home choose another folder."
    )


def _download(entry, cache, timeout):
    import tempfile

    sources = [source for source in entry.sources if all(source.values())]
    if not sources:
        raise DatasetError(
            f"{entry.name} has no address that a program can download from. {_advice(entry, cache)}"
        )
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".download-", dir=cache)
    except OSError as exc:
        raise DatasetError(
            f"{entry.name} is not cached, and the cache folder {cache} cannot be written ({exc}). "
            "Choose another one by the environment variable ALIGNLEARN_DATA or by data_home."
        ) from exc
    tried = []
    # Incomplete files are in the temporary folder, which is always removed.
    with folder as temporary:
        for source in sources:
            addresses = " and ".join(source.values())
            try:
                files = _fetch_all(source, Path(temporary), timeout, entry.max_bytes)
                arrays = _parse(entry, files, addresses)
            except DatasetError as exc:
                tried.append(str(exc))
                continue
            _store(arrays, Path(temporary) / "checked.npz", cache / f"{entry.name}.npz")
            return arrays, addresses
    raise DatasetError(
        f"{entry.name} could not be downloaded. Tried: {'; '.join(tried)}. {_advice(entry, cache)}"
    )


def _store(arrays, temporary, path):
    try:
        np.savez_compressed(temporary, **arrays)
        os.replace(temporary, path)
    except OSError as exc:
        raise DatasetError(f"{path} could not be written: {exc}.") from exc


def _fetch_all(source, folder, timeout, max_bytes) -> dict:
    files = {}
    for number, (name, address) in enumerate(source.items()):
        part = folder / f"{number}.part"
        fetch(address, part, timeout=timeout, max_bytes=max_bytes)
        files[name] = part.read_bytes()
    return files


def fetch(address, path, *, timeout, max_bytes):
    """Stream one address into a file; every failure raises a DatasetError with its cause.

    ``timeout`` is in seconds; more than ``max_bytes`` bytes raise an error.
    """
    import http.client
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address, headers={"User-Agent": "alignlearn"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response, open(path, "wb") as file:
            _copy(response, file, max_bytes)
    except urllib.error.HTTPError as exc:
        exc.close()
        raise DatasetError(f"{address}: the server answered {exc.code} {exc.reason}") from exc
    except http.client.IncompleteRead as exc:
        raise DatasetError(f"{address}: the connection ended before the file did") from exc
    except (OSError, http.client.HTTPException, ValueError) as exc:
        if isinstance(exc, DatasetError):
            raise DatasetError(f"{address}: {exc}") from exc
        cause = getattr(exc, "reason", exc)
        if isinstance(cause, TimeoutError):
            raise DatasetError(f"{address}: no data for {timeout:g} s (timeout)") from exc
        name = type(cause).__name__
        raise DatasetError(f"{address}: no usable connection ({name}: {cause})") from exc


def _copy(response, file, max_bytes):
    announced = response.headers.get("Content-Length", "")
    expected = int(announced) if announced.isdigit() else None
    if expected is not None and expected > max_bytes:
        raise DatasetError(f"the server announced {expected} bytes; accepted: at most {max_bytes}")
    received = 0
    while chunk := response.read(_CHUNK):
        received += len(chunk)
        if received > max_bytes:
            raise DatasetError(
                f"the server sent more than {max_bytes} bytes, the largest size accepted"
            )
        file.write(chunk)
    if expected is not None and received < expected:
        raise DatasetError(f"the connection ended after {received} of {expected} bytes")
