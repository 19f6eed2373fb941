"""Atomic writes, and versioned state files (``.npz`` without pickle).

Every write here goes to a temporary file beside the target, is synced to disk, and then replaces the target in one
step: a reader, also after a crash or a power cut, finds the old file or the new one, never half of one.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrack.arrays import shown

Meta = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
Migration = Callable[[Meta, Arrays], tuple[Meta, Arrays]]

PART = ".part"  # ends the name of a temporary file
CHECK = "check"  # the key of a checksum
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # answers of file systems that cannot sync folders
MOST_JSON = 1 << 23  # bytes of a JSON file, or of the JSON in a state file
MOST_WORDS = 300  # characters of what is said against a file
LARGEST = 1e12  # number in a saved array, unless it says otherwise: squares and sums of such are finite
HEADER = re.compile(
    rb"\{'descr': '([<>|][biufc]\d+)', 'fortran_order': (False|True), 'shape': \(((?:\d+, ?)*\d*)\), \} *\n"
)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` at the end of the block, or is removed if the block fails.

    >>> with replacing(folder / "picture.png") as part:  # doctest: +SKIP
    ...     image.save(part, "PNG")
    """
    part = path.with_name(path.name + PART)
    try:
        yield part
        sync(part)
        os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until what was written to a file is on disk."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk; nothing can be done where it may not be read or be synced."""
    if os.name != "posix":
        return
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise
    finally:
        os.close(number)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in one step: UTF-8, line feeds as they are."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file in one step; NaN and infinity, which are not JSON, raise ValueError."""
    replace_text(path, json.dumps(values, indent=2, allow_nan=False) + "\n")


def with_checksum(values: Mapping[str, Any]) -> Meta:
    """Return values for a JSON file with one more, by which :func:`is_intact` knows that none has changed.

    >>> is_intact(with_checksum({"frames": 20})), is_intact(with_checksum({"frames": 20}) | {"frames": 28})
    (True, False)
    """
    rest = {name: value for name, value in values.items() if name != CHECK}
    return {**rest, CHECK: _checksum(rest)}


def is_intact(values: Mapping[str, Any]) -> bool:
    """Whether values are as they were written; those without a checksum, from earlier versions, are believed."""
    rest = {name: value for name, value in values.items() if name != CHECK}
    return CHECK not in values or values[CHECK] == _checksum(rest)


def file_checksum(path: Path) -> str:
    """Return the checksum of the bytes of a file."""
    found = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return f"{found:08x}"


def _checksum(values: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"


def write_state(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, version: int = 1) -> None:
    """Write named arrays and a piece of JSON as one file of the given format version."""
    text = json.dumps({"format": version, "metrack": installed("metrack"), **meta}).encode()
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, meta=np.frombuffer(text, np.uint8), allow_pickle=False, **arrays)


def parse_json(text: str | bytes, *, any_names: bool = False) -> Any:
    """Return what JSON says; ValueError where it is none, is nested too deep or has no finite number or whole text.

    With ``any_names`` texts may have halves of surrogate pairs: names of files that are not UTF-8 are written so.

    >>> parse_json('{"frames": 20}')
    {'frames': 20}
    """
    try:
        found = json.loads(text, parse_constant=_finite, parse_float=_finite)
        if not any_names:
            json.dumps(found, ensure_ascii=False).encode()  # raises where there is half of a surrogate pair
    except RecursionError:
        raise ValueError("JSON must not be nested so deep") from None
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"JSON must have finite numbers, got {text}")
    return number


def load_json(path: Path, *, most: int = MOST_JSON, any_names: bool = False) -> Meta:
    """Return the object in a JSON file of at most so many bytes; ValueError, naming the file, where none is whole."""
    try:
        if not os.path.isfile(path) or path.stat().st_size > most:
            raise ValueError
        found = parse_json(path.read_bytes(), any_names=any_names)
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} must be a whole JSON file, but {str(path)!r} is missing or damaged")
    return found


@dataclass(frozen=True, slots=True)
class Expected:
    """What an array of a state file must be: its type of numbers, its lengths, and the range of its numbers.

    A length is a number, or a word that stands for the same number wherever it is used in a file.
    """

    dtype: str
    shape: tuple[int | str, ...] = ()
    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


Expectations = Mapping[str, Expected]


def under(prefix: str, expected: Expectations) -> dict[str, Expected]:
    """Put a prefix before the names of arrays, and before the words for their lengths.

    >>> under("space_", {"stale": Expected("bool", ("rows",))})["space_stale"].shape
    ('space_rows',)
    """
    changed = {}
    for name, each in expected.items():
        shape = tuple(prefix + length if isinstance(length, str) else length for length in each.shape)
        changed[prefix + name] = replace(each, shape=shape)
    return changed


class Header(NamedTuple):
    """What the header of an array says, before any memory is taken for it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int  # of the numbers, in bytes


def read_state(
    path: Path,
    *,
    version: int = 1,
    migrations: Mapping[int, Migration] | None = None,
    expected: Callable[[Meta], Expectations] | None = None,
) -> tuple[Meta, Arrays]:
    """Read what :func:`write_state` wrote, brought up to the given format version.

    ``migrations[k]`` turns the contents of format ``k`` into those of format ``k + 1``. ``expected`` says, by the piece
    of JSON, which arrays there must be; there must be no others. Arrays are read once their headers fit.
    """
    if not os.path.exists(path):
        raise ValueError(f"path must name a saved tracker, but there is no file {shown(str(path))}")
    try:
        if not os.path.isfile(path):
            raise ValueError
        with zipfile.ZipFile(path) as archive:
            headers = _read_headers(archive, path.stat().st_size)
            if math.prod(headers["meta"].shape) > MOST_JSON:
                raise ValueError
            meta = parse_json(_read_array(archive, "meta", headers.pop("meta")).tobytes())
            if type(meta["format"]) is not int:
                raise ValueError
            if expected is not None and meta["format"] == version:
                with naming(path):
                    _check_headers(expected(meta), headers)
            arrays = {name: _read_array(archive, name, header) for name, header in headers.items()}
    except DamagedError:
        raise
    except (OSError, ValueError, TypeError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, struct.error):
        raise ValueError(f"path must name a saved tracker, but {shown(str(path))} is not one") from None
    if meta["format"] != version:
        meta, arrays = _migrated(path, meta, arrays, range(meta["format"], version), migrations or {})
    if expected is not None:
        with naming(path):
            wanted = expected(meta)
            _check_headers(wanted, arrays)
            _check_numbers(wanted, arrays)
    return meta, arrays


class DamagedError(ValueError):
    """The contents of a state file are not what was saved."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the state file in what is said against its contents."""
    try:
        yield
    except DamagedError:
        raise
    except KeyError as error:
        lacking = str(error)[:MOST_WORDS]
        raise DamagedError(f"path must name a saved tracker, but {shown(str(path))} lacks {lacking}") from None
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        text = " ".join(str(error).split())[:MOST_WORDS]
        raise DamagedError(f"path must name a saved tracker, but {shown(str(path))} cannot be read: {text}") from None


def _read_headers(archive: zipfile.ZipFile, size: int) -> dict[str, Header]:
    """Read the headers of all arrays of an archive of that many bytes, in which nothing is compressed or shared."""
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    stored = all(m.compress_type == zipfile.ZIP_STORED and m.compress_size == m.file_size for m in members)
    if not stored or len(set(names)) < len(names) or sum(member.file_size for member in members) > size:
        raise ValueError
    headers = {name: _read_header(archive, f"{name}.npy") for name in names}
    for member, header in zip(members, headers.values(), strict=True):
        if header.start + math.prod(header.shape) * header.dtype.itemsize != member.file_size:
            raise ValueError
    return headers


def _read_header(archive: zipfile.ZipFile, member: str) -> Header:
    with archive.open(member) as file:
        magic, length = file.read(8), int.from_bytes(file.read(2), "little")
        found = HEADER.fullmatch(file.read(length))
    if magic != b"\x93NUMPY\x01\x00" or found is None:
        raise ValueError
    shape = tuple(int(number) for number in found[3].split(b",") if number.strip())
    return Header(np.dtype(found[1].decode()), shape, found[2] == b"True", 10 + length)


def _read_array(archive: zipfile.ZipFile, name: str, header: Header) -> NDArray[Any]:
    """Read an array whose header is known; its checksum in the archive is compared on the way."""
    numbers = np.frombuffer(archive.read(f"{name}.npy"), np.uint8, offset=header.start).copy()
    array: NDArray[Any] = numbers.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")
    return array


def _check_headers(expected: Expectations, arrays: Mapping[str, Header] | Arrays) -> None:
    """Compare names, types and shapes with what they must be."""
    lengths: dict[str, int] = {}
    for name in arrays.keys() - expected.keys():
        raise ValueError(f"{name!r} is no part of it")
    for name, wanted in expected.items():
        if name not in arrays:
            if wanted.optional:
                continue
            raise KeyError(name)
        found = arrays[name]
        if len(found.shape) == len(wanted.shape):
            shape = tuple(
                lengths.setdefault(length, have) if isinstance(length, str) else length
                for length, have in zip(wanted.shape, found.shape, strict=True)
            )
        if found.dtype != wanted.dtype or len(found.shape) != len(wanted.shape) or found.shape != shape:
            asked = ", ".join(str(lengths.get(str(length), length)) for length in wanted.shape)
            raise ValueError(f"{name} must be {wanted.dtype} of shape ({asked}), got {found.dtype} of {found.shape}")


def _check_numbers(expected: Expectations, arrays: Arrays) -> None:
    """See that all numbers are finite and in their range."""
    for name, array in arrays.items():
        low, high = expected[name].low, expected[name].high
        real = array.view(array.real.dtype) if array.dtype.kind == "c" else array
        if array.dtype.kind == "b":
            real, low, high = array.view(np.uint8), 0, 1
        if real.size and not (low <= real.min() and real.max() <= high):  # also refuses NaN
            raise ValueError(f"{name} must have numbers between {low:g} and {high:g}, got others")


def _migrated(
    path: Path, meta: Meta, arrays: Arrays, steps: range, migrations: Mapping[int, Migration]
) -> tuple[Meta, Arrays]:
    """Apply one migration per format version in ``steps``; an empty range means the file is newer than we are."""
    if not steps or any(step not in migrations for step in steps):
        writer = f"metrack {meta['metrack']}" if "metrack" in meta else "an early metrack"
        raise ValueError(
            f"path must name a saved tracker that metrack {installed('metrack')} can read (format {steps.stop}), "
            f"but {shown(str(path))} was saved by {writer} (format {steps.start})"
        )
    try:
        for step in steps:
            meta, arrays = migrations[step](meta, arrays)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"path must name a saved tracker, but {shown(str(path))} is not one") from None
    return meta | {"format": steps.stop}, arrays
