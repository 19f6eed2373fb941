"""Ways to damage the bytes of a file, each drawn from one generator of random numbers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np

ODD = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**62, 2**63)
TOKENS = (
    *(b"moov", b"mdat", b"free", b"tkhd", b"mvhd", b"mdhd", b"elst", b"stts", b"ctts", b"stsz", b"stsc", b"stco"),
    *(b"co64", b"stss", b"moof", b"trun", b"avc1", b"avcC", b"mp4v", b"dref", b"url ", b"alis", b"ftyp"),
    *(b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67", b"\x16\x54\xae\x6b", b"\x1f\x43\xb6\x75", b"\xb0", b"\xba"),
    *(b"RIFF", b"AVI ", b"movi", b"idx1", b"00dc", b"WEBP", b"VP8 ", b"VP8L", b"VP8X", b"ANIM", b"ANMF", b"EXIF"),
    *(b"\x89PNG\r\n\x1a\n", b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"eXIf", b"iCCP", b"zTXt", b"acTL", b"fcTL"),
    *(b"\xff\xd8", b"\xff\xd9", b"\xff\xc0", b"\xff\xc2", b"\xff\xda", b"\xff\xdd", b"\xff\xe1", b"Exif\0\0"),
    *(b"II*\0", b"MM\0*", b"II+\0", b"\x12\x01", b"GIF89a", b"BM", b"P5\n", b"P6\n", b"P7\n", b"\x00\x00\x01\xb3"),
    *(b"\x00\x00\x01\x67", b"\x00\x00\x01\x65", b"\x47\x40\x00", b"YUV4MPEG2", b"FRAME\n", b"NaN", b"-1", b"1e999"),
    *(
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"http://127.0.0.1:1/",
    ),
)
Mutation = Callable[[np.random.Generator, bytearray, Sequence[bytes]], None]


def mutate(rng: np.random.Generator, data: bytes, others: Sequence[bytes]) -> bytes:
    """Damage a file in one to four ways; ``others`` are files that pieces are taken from."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if len(changed) < 8:
            break
        MUTATIONS[int(rng.integers(len(MUTATIONS)))](rng, changed, others)
    return bytes(_with_checksums(changed)) if rng.random() < 0.7 else bytes(changed)


def _place(rng: np.random.Generator, data: bytearray) -> int:
    """Return a place, half of the time in the beginning, where headers are."""
    return int(rng.integers(min(len(data), 200 if rng.random() < 0.5 else len(data))))


def _flip(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    for _ in range(int(rng.integers(1, 9))):
        data[_place(rng, data)] ^= 1 << int(rng.integers(8))


def _truncate(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    del data[int(rng.integers(4, len(data))) :]


def _piece(rng: np.random.Generator, data: bytearray | bytes) -> slice:
    start = int(rng.integers(len(data)))
    return slice(start, start + int(rng.integers(1, 1 + min(len(data), 512))))


def _swap(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    one, other = _piece(rng, data), _piece(rng, data)
    data[one], data[other] = data[other], data[one]


def _delete(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_piece(rng, data)]


def _double(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    at = _place(rng, data)
    data[at:at] = data[_piece(rng, data)] * int(rng.integers(1, 20))


def _number(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    """Write an odd number over a size, a count or a duration."""
    width = int(rng.choice([1, 2, 4, 8]))
    value = ODD[int(rng.integers(len(ODD)))] if rng.random() < 0.7 else int(rng.integers(2**32))
    at = _place(rng, data)
    data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "big" if rng.random() < 0.6 else "little")


def _field(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    """Write an odd number into a box or chunk whose name is there, or over its size."""
    names = [found.start() for found in re.finditer(rb"[a-zA-Z]{4}", bytes(data[:4000]))]
    if not names:
        return
    at = names[int(rng.integers(len(names)))] + 4 * int(rng.integers(-1, 12))
    if 0 <= at < len(data) - 4:
        data[at : at + 4] = (ODD[int(rng.integers(len(ODD)))] % 2**32).to_bytes(4, "big")


def _token(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    token, at = TOKENS[int(rng.integers(len(TOKENS)))], _place(rng, data)
    data[at : at + (len(token) if rng.random() < 0.7 else 0)] = token


def _splice(rng: np.random.Generator, data: bytearray, others: Sequence[bytes]) -> None:
    other = others[int(rng.integers(len(others)))]
    data[int(rng.integers(len(data))) :] = other[int(rng.integers(len(other))) :]


def _with_checksums(data: bytearray) -> bytearray:
    """Make the checksums of PNG chunks right, or nothing behind them would be read."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return data
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        end = at + 8 + size
        if end + 4 > len(data):
            break
        data[end : end + 4] = zlib.crc32(data[at + 4 : end]).to_bytes(4, "big")
        at = end + 4
    return data


MUTATIONS: tuple[Mutation, ...] = (
    *(_flip, _truncate, _swap, _delete, _double, _number, _number, _field, _field, _token, _splice),
)
