"""Ways of damaging a file: as disks and careless hands do, and as an enemy would.

A damage by accident changes bytes and knows nothing of them. A hostile one keeps the file well-formed, checksums
included, and changes what it says.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from metrack.files import CHECK, with_checksum

Rng = np.random.Generator
Array = np.ndarray[Any, Any]
NUMBER = re.compile(rb"[-+.\de]*\d[-+.\de]*")
HOSTILE_NUMBERS = tuple(
    text.encode()
    for text in (
        "nan",
        "inf",
        "-1",
        "0",
        "-0",
        "1e308",
        "1e999",
        "",
        "²",
        "\0",
        "9" * 30,
        "9" * 5000,
        "0x1",
        "1_0",
        "1e-320",
    )
)
BOMB = 5 << 28  # bytes that an archive unpacks to
DEEP = "[" * 100_000
HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**30, -(10**30), 1e308, -0.5, 0.1, "", "x", "\ud800", "../../x", "x" * 5000, [], {}, [[]],
    [None], {"a": 1}, float("nan"), float("inf"), [1e300] * 4, [-1, -1, 0, 0], 2**63, 2**1024, "1", "\x00", "²",
)  # fmt: skip


def by_accident(rng: Rng, path: Path, others: list[Path]) -> str:
    """Damage a file without knowing what is in it, and say how; ``others`` are files it may be mistaken for."""
    kinds: list[Callable[[Rng, bytes], bytes]] = [
        cut, cut, flip, flip, flip, blank, scramble, repeat, leave_out, lines_doubled, lines_lost, longer, nothing,
    ]  # fmt: skip
    number = int(rng.integers(len(kinds) + 3))
    if number >= len(kinds) and (number > len(kinds) or not others):
        return _no_file(rng, path)
    if number == len(kinds):
        other = others[int(rng.integers(len(others)))]
        path.write_bytes(other.read_bytes())
        return f"swapped with {other.name}"
    path.write_bytes(kinds[number](rng, path.read_bytes()))
    return kinds[number].__name__


def _no_file(rng: Rng, path: Path) -> str:
    path.unlink()
    kind = ("missing", "a folder", "a link to itself", "a link to nothing")[int(rng.integers(4))]
    if kind == "a folder":
        path.mkdir()
    elif kind.startswith("a link"):
        path.symlink_to(path.name if kind.endswith("itself") else "nothing")
    return kind


def cut(rng: Rng, data: bytes) -> bytes:
    """Keep the beginning."""
    return data[: int(rng.integers(len(data) + 1))]


def flip(rng: Rng, data: bytes) -> bytes:
    """Flip one to eight bits."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if data else 0):
        changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def blank(rng: Rng, data: bytes) -> bytes:
    """Overwrite a block by zeros, as a file system does."""
    start, end = _block(rng, data)
    return data[:start] + bytes(end - start) + data[end:]


def scramble(rng: Rng, data: bytes) -> bytes:
    """Overwrite a block by anything."""
    start, end = _block(rng, data)
    return data[:start] + rng.bytes(end - start) + data[end:]


def repeat(rng: Rng, data: bytes) -> bytes:
    """Have a block twice."""
    start, end = _block(rng, data)
    return data[:end] + data[start:]


def leave_out(rng: Rng, data: bytes) -> bytes:
    """Lose a block."""
    start, end = _block(rng, data)
    return data[:start] + data[end:]


def lines_doubled(rng: Rng, data: bytes) -> bytes:
    """Have a line twice."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    number = int(rng.integers(len(lines)))
    return b"".join([*lines[: number + 1], *lines[number:]])


def lines_lost(rng: Rng, data: bytes) -> bytes:
    """Lose a line."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    number = int(rng.integers(len(lines)))
    return b"".join([*lines[:number], *lines[number + 1 :]])


def longer(rng: Rng, data: bytes) -> bytes:
    """Have something more at the end."""
    return data + rng.bytes(int(rng.integers(1, 200)))


def nothing(rng: Rng, data: bytes) -> bytes:
    """Be empty."""
    return b""


def _block(rng: Rng, data: bytes) -> tuple[int, int]:
    start = int(rng.integers(len(data) + 1))
    return start, min(start + int(rng.integers(1, 4096)), len(data))


def hostile_text(rng: Rng, data: bytes) -> tuple[bytes, str]:
    """Put something else in the place of a number in a text, and say what."""
    found = list(NUMBER.finditer(data))
    if not found:
        return b"1\n", "a number"
    place = found[int(rng.integers(len(found)))]
    odd = HOSTILE_NUMBERS[int(rng.integers(len(HOSTILE_NUMBERS)))]
    return data[: place.start()] + odd + data[place.end() :], f"a number {odd[:20]!r}"


# Hostile JSON


def hostile_json(rng: Rng, text: str) -> tuple[str, str]:
    """Change what an object in JSON says, and say how; its checksum, if it has one, is made to fit again."""
    if rng.random() < 0.1:
        return DEEP, "nested deep"
    values = json.loads(text)
    how = change_somewhere(rng, values)
    if CHECK in values:
        try:
            values = with_checksum(values)
        except ValueError:
            pass
    return json.dumps(values), how


def change_somewhere(rng: Rng, values: Any) -> str:
    """Change, remove or add one value in nested lists and dictionaries, in place, and say which."""
    places = list(_places(values))
    where, key = places[int(rng.integers(len(places)))]
    way = rng.random()
    if way < 0.15:
        del where[key]
        return f"without {key}"
    value = HOSTILE_VALUES[int(rng.integers(len(HOSTILE_VALUES)))]
    if way < 0.25 and isinstance(where, dict):
        where["odd"] = value
        return f"with an odd {value!r:.40}"
    where[key] = value
    return f"{key} = {value!r:.40}"


def _places(values: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(values) if isinstance(values, dict) else range(len(values)):
        yield values, key
        if isinstance(values[key], (dict, list)) and values[key]:
            yield from _places(values[key])


# Hostile archives of arrays


def hostile_npz(rng: Rng, path: Path) -> str:
    """Change what a state file says, and say how; it stays a whole archive of arrays."""
    with np.load(path, allow_pickle=False) as stored:
        arrays: dict[str, Array] = {name: stored[name] for name in stored.files}
    ways = [_values, _values, _values, _headers, _members, _meta, _meta, _meta, _meta, _archive]
    return ways[int(rng.integers(len(ways)))](rng, path, arrays)


def _some(rng: Rng, arrays: dict[str, Array]) -> str:
    names = sorted(name for name in arrays if name != "meta")
    return names[int(rng.integers(len(names)))]


def _values(rng: Rng, path: Path, arrays: dict[str, Array]) -> str:
    """Change numbers."""
    name = _some(rng, arrays)
    array = arrays[name].copy()
    odd = (np.nan, np.inf, -np.inf, -1, 1e30, 1e-30, 0, 1e6, 2**62, -(2**62), 0.5)[int(rng.integers(11))]
    few = rng.random(array.shape) < (1.0 if rng.random() < 0.3 else 0.05)
    with np.errstate(all="ignore"):
        try:
            array[few] = array[few] * 1e3 if rng.random() < 0.2 else np.array(odd).astype(array.dtype)
        except (OverflowError, ValueError):
            array[few] = 0
    _write(path, {**arrays, name: array})
    return f"{name} with {odd}"


def _headers(rng: Rng, path: Path, arrays: dict[str, Array]) -> str:
    """Give an array another type or shape, or a header that lies about it."""
    name, way = _some(rng, arrays), int(rng.integers(8))
    array = arrays[name]
    if way == 0:
        changed: Array = array.astype(("float64", "float16", "int8", "U4", "complex64", ">f4")[int(rng.integers(6))])
    elif way == 1:
        changed = array[: len(array) // 2] if array.ndim else array[None]
    elif way == 2:
        changed = np.concatenate([array, array]) if array.ndim else np.array([array, array])
    elif way == 3:
        changed = array[..., None]
    elif way == 4:
        changed = np.array([{"a": 1}, None], object)
    elif way == 5:
        changed = np.asfortranarray(array)
    else:
        return _lie(rng, path, arrays, name)
    with np.errstate(all="ignore"):
        _write(path, {**arrays, name: changed})
    return f"{name} as {changed.dtype} of {changed.shape}"


def _lie(rng: Rng, path: Path, arrays: dict[str, Array], name: str) -> str:
    shapes = ("(4611686018427387904,)", "(100000, 100000)", "(-1,)", "(0, 5)", "(" * 200, "(1e9,)", "(True,)")
    shape = shapes[int(rng.integers(len(shapes)))]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        for each, array in arrays.items():
            data = _npy(array)
            if each == name:
                data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data[128:]
            archive.writestr(f"{each}.npy", data)
    return f"{name} claims shape {shape:.30}"


def _members(rng: Rng, path: Path, arrays: dict[str, Array]) -> str:
    """Leave an array out, add one, rename one, swap two."""
    name, other, way = _some(rng, arrays), _some(rng, arrays), int(rng.integers(4))
    if way == 0:
        _write(path, {each: array for each, array in arrays.items() if each != name})
        return f"without {name}"
    if way == 1:
        _write(path, {**arrays, "odd": np.zeros(3)})
        return "with an odd array"
    if way == 2:
        _write(path, {("../" + each if each == name else each): array for each, array in arrays.items()})
        return f"{name} renamed"
    _write(path, {**arrays, name: arrays[other], other: arrays[name]})
    return f"{name} and {other} swapped"


def _meta(rng: Rng, path: Path, arrays: dict[str, Array]) -> str:
    """Change the values beside the arrays."""
    text, how = hostile_json(rng, arrays["meta"].tobytes().decode())
    _write(path, {**arrays, "meta": np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)})
    return f"meta {how}"


def _archive(rng: Rng, path: Path, arrays: dict[str, Array]) -> str:
    """Compress it, have a member twice, or claim that it is encrypted."""
    way = int(rng.integers(3))
    if way == 0:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                archive.writestr(f"{name}.npy", _npy(array))
        return "compressed"
    if way == 1:
        name = _some(rng, arrays)
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
            warnings.simplefilter("ignore")
            for each, array in [*arrays.items(), (name, arrays[name])]:
                archive.writestr(f"{each}.npy", _npy(array))
        return "a member twice"
    changed = bytearray(path.read_bytes())
    start = changed.rfind(b"PK\x01\x02")
    changed[start + 8] |= 1
    path.write_bytes(changed)
    return "encrypted"


def bomb(path: Path, master: Path) -> str:
    """Put a small archive in the place of a state file, one array of which becomes huge when it is unpacked."""
    if not master.is_file():
        _make_bomb(master)
    with np.load(path, allow_pickle=False) as stored:
        meta = stored["meta"]
    shutil.copyfile(master, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("meta.npy", _npy(meta))
    return "a bomb"


def _make_bomb(path: Path) -> None:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({BOMB},), }}".ljust(117) + "\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("templates.npy", "w", force_zip64=True) as member:
            member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            for _ in range(BOMB >> 24):
                member.write(bytes(1 << 24))


def digest(path: Path) -> int | str:
    """Return what tells whether a file has changed."""
    if path.is_symlink():
        return os.readlink(path)
    return zlib.crc32(path.read_bytes()) if path.is_file() else "folder"


def _npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=True)
    return file.getvalue()


def _write(path: Path, arrays: dict[str, Array]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", _npy(array))
