"""The models of fast tokenizers: FlatBuffers with a trie, as TensorFlow Text makes them.

A trie is a double array (`darts-clone`): node `i` has the child for byte `b` at `i ^ offset ^ b`, if the low byte there
is `b`. A node's value is at `i ^ offset`. All indices are compared with the size, as a file may say anything.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.loops import Bytes, Int32s, Int64s, loop
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid

_BLOCK = 256
_FAR = 1 << 21  # from here on, an offset is a multiple of 256
_RECENT = 16 * _BLOCK  # the last places, to look for free ones


class FlatTable:
    """The root table of a FlatBuffer.

    Args:
        data: the bytes.

    Raises:
        InvalidArgumentError: they are none, here or when a field is read.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = self._number("I", 0)
        self._fields = self._at - self._number("i", self._at)

    def _number(self, kind: str, at: int) -> int:
        try:
            return struct.unpack_from("<" + kind, self._data, at)[0] if at >= 0 else int("")
        except (struct.error, ValueError):
            raise invalid(f"The model of a tokenizer is damaged: it ends before byte {at}.") from None

    def _place(self, field: int) -> int:
        """Returns where a field is, or 0 if it is not there."""
        if 4 + 2 * field >= self._number("H", self._fields):
            return 0
        offset = self._number("H", self._fields + 4 + 2 * field)
        return self._at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        """Returns the number in a field, by the letter of its type in `struct`; 0 by default."""
        place = self._place(field)
        return self._number(kind, place) if place else 0

    def _vector(self, place: int, dtype: Any) -> np.ndarray:
        start = place + self._number("I", place)
        count = self._number("I", start)
        if start + 4 + count * np.dtype(dtype).itemsize > len(self._data):
            raise invalid(f"The model of a tokenizer is damaged: it ends within {count} elements at byte {start}.")
        return np.frombuffer(self._data, dtype, count, start + 4)

    def array(self, field: int, dtype: Any) -> np.ndarray:
        """Returns the vector of numbers in a field; empty by default."""
        place = self._place(field)
        return self._vector(place, dtype) if place else np.empty(0, dtype)

    def text(self, field: int) -> bytes:
        """Returns the string in a field."""
        return self.array(field, np.uint8).tobytes()

    def texts(self, field: int) -> list[bytes]:
        """Returns the vector of strings in a field."""
        count, place = len(self.array(field, "<u4")), self._place(field)
        first = place + self._number("I", place) + 4 if place else 0
        return [self._vector(first + 4 * i, np.uint8).tobytes() for i in range(count)]


def write_table(fields: Sequence[Any]) -> bytes:
    """Returns the FlatBuffer of a table.

    Args:
        fields: numbers of four bytes, arrays (the rows of a matrix are structs), `bytes` and lists of these.
    """
    at = 4 + (4 + 2 * len(fields) + 3) // 4 * 4  # behind the place of the table, and where the fields are
    places = [at + 4 + 4 * i for i in range(len(fields))]
    out = bytearray(at + 4 + 4 * len(fields))
    struct.pack_into(f"<IHH{len(fields)}H", out, 0, at, 4 + 2 * len(fields), len(out) - at, *(p - at for p in places))
    struct.pack_into("<i", out, at, at - 4)

    def append(place: int, value: Any) -> None:
        struct.pack_into("<I", out, place, len(out) - place)
        out.extend(struct.pack("<I", len(value)))
        if isinstance(value, list):
            first = len(out)
            out.extend(bytes(4 * len(value)))
            for i, text in enumerate(value):
                append(first + 4 * i, text)
        else:
            out.extend(value + b"\0" if isinstance(value, bytes) else value.tobytes())
            out.extend(bytes(-len(out) % 4))

    for place, value in zip(places, fields, strict=True):
        if isinstance(value, int):
            struct.pack_into("<I", out, place, value & 0xFFFFFFFF)
        else:
            append(place, value)
    return bytes(out)


def build_trie(words: Sequence[bytes], values: Sequence[int]) -> np.ndarray:
    """Returns the double array of words, uint32.

    Args:
        words: distinct words, neither empty nor with zeros.
        values: their values, of at most 31 bits.
    """
    order = sorted(range(len(words)), key=words.__getitem__)
    keys = StringArray.of([words[i] for i in order])
    numbers = np.array(values, np.int64)[order]
    size = 4 * _BLOCK + 4 * len(keys.data)
    while True:
        units, used, bases = np.full(size, 1 << 31, np.int64), np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        stack, labels = np.empty(4 * (256 * int(keys.lengths.max(initial=0)) + 512), np.int64), np.empty(257, np.int64)
        last = _place_nodes(keys.data, keys.offsets, numbers, keys.size, units, used, bases, size, stack, labels)
        if last >= 0:
            return units[: (last // _BLOCK + 1) * _BLOCK].astype(np.uint32)
        size *= 2


@loop
def _place_nodes(
    data: Bytes, offsets: Int64s, values: Int64s, count: int, units: Int64s, used: Bytes, bases: Bytes, size: int,
    stack: Int64s, labels: Int64s,
) -> int:  # fmt: skip
    """Places the nodes of the trie of sorted keys. Returns the last place, or -1 if there is not enough space."""
    units[0], used[0], free, last, top = 0, 1, 1, 0, 1
    stack[0], stack[1], stack[2], stack[3] = 0, 0, count, 0  # a node, the range of its keys, and its depth
    while top > 0:
        top -= 1
        node, low, high, depth = stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3]
        kinds, before = 0, -1
        for i in range(low, high):
            label = data[offsets[i] + depth] if offsets[i] + depth < offsets[i + 1] else 0
            if label != before:
                labels[kinds] = label
                kinds += 1
                before = label
        while used[free]:
            free += 1
        place, base = max(free, last - _RECENT), -1
        while base < 0:
            if place >= size - _BLOCK:
                return -1
            base = place ^ labels[0]
            offset = node ^ base
            if used[place] or bases[base] or (offset >= _FAR and offset & 255):
                base = -1
            else:
                for j in range(1, kinds):
                    if used[base ^ labels[j]]:
                        base = -1
                        break
            place += 1
        bases[base] = 1
        offset = node ^ base
        units[node] |= (offset << 10) if offset < _FAR else ((offset >> 8) << 10 | 1 << 9)
        at = low
        for j in range(kinds):
            child = base ^ labels[j]
            used[child] = 1
            last = max(last, child)
            if labels[j] == 0:
                units[node] |= 1 << 8
                units[child] = values[at] | 1 << 31
                at += 1
            else:
                first = at
                while at < high and data[offsets[at] + depth] == labels[j]:
                    at += 1
                units[child] = labels[j]
                stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3] = child, first, at, depth + 1
                top += 1
    return last


@loop
def find_longest(
    data: Bytes, begin: int, end: int, node: int, units: Int32s, size: int, most: int, value: Int64s
) -> int:
    """Finds the longest word of a trie that begins at a place, below a node.

    Returns its end, and its value in `value[0]`; -1 if there is none. It has at most `most` characters.
    """
    if node < 0 or node >= size:
        return -1
    unit, at, hits, characters = units[node], begin, -1, 0
    while at < end:
        byte = data[at]
        characters += byte & 0xC0 != 0x80
        node = node ^ (((unit & 0x7FFFFFFF) >> 10) << ((unit & 0x200) >> 6)) ^ byte
        if byte == 0 or node >= size or units[node] & 0x800000FF != byte or characters > most:
            return hits
        unit = units[node]
        at += 1
        leaf = node ^ (((unit & 0x7FFFFFFF) >> 10) << ((unit & 0x200) >> 6))
        if unit & 0x100 and leaf < size:
            value[0] = units[leaf] & 0x7FFFFFFF
            hits = at
    return hits


def nodes_of(units: np.ndarray, paths: Sequence[bytes]) -> np.ndarray:
    """Returns the nodes of a trie at the ends of paths, or -1."""
    array, nodes = StringArray.of(paths), np.empty(len(paths), np.int64)
    _find_nodes(array.data, array.offsets, array.size, units.view(np.int32), len(units), nodes)
    return nodes


@loop
def _child_of(units: Int32s, size: int, node: int, byte: int) -> int:
    """Returns the child of a node for a byte, or -1."""
    child = node ^ (((units[node] & 0x7FFFFFFF) >> 10) << ((units[node] & 0x200) >> 6)) ^ byte
    return child if child < size and units[child] & 0x800000FF == byte else -1


@loop
def _find_nodes(data: Bytes, offsets: Int64s, count: int, units: Int32s, size: int, nodes: Int64s) -> None:
    for i in range(count):
        node = 0
        for at in range(offsets[i], offsets[i + 1]):
            if node >= 0:
                node = _child_of(units, size, node, data[at])
        nodes[i] = node


def failure_links(
    units: np.ndarray, suffix_root: int, marks: np.ndarray, after_marks: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the failure links of a trie (Song et al., "Fast WordPiece Tokenization", 2021), for TensorFlow Text: for
    each node the next node and a range of pieces, and the pieces.

    Args:
        units: the trie.
        suffix_root: the node of pieces that continue a word.
        marks: the nodes of marks.
        after_marks: the next node of these.
    """
    links = np.full((len(units), 2), _NONE, np.int64)
    ends = np.full(len(units), suffix_root, np.int64)
    ends[marks] = after_marks
    queue, room = np.empty(len(units) + 2, np.int64), 4 * len(units)
    while True:
        pool = np.empty(room, np.int64)
        count = _link_nodes(units.view(np.int32), len(units), suffix_root, ends, links.reshape(-1), pool, room, queue)
        if count >= 0:
            return links.astype(np.uint32), pool[:count].astype(np.int32)
        room *= 2


_NONE = 0xFFFFFFFF


@loop
def _link_nodes(
    units: Int32s, size: int, suffix_root: int, ends: Int64s, links: Int64s, pool: Int64s, room: int, queue: Int64s
) -> int:
    """Links the nodes, the nearest to the root first. Returns the number of pieces, or -1 if there is no room."""
    queue[0], queue[1] = 0, suffix_root
    first, last, count = 0, 2 if suffix_root else 1, 0
    while first < last:
        parent = queue[first]
        first += 1
        for byte in range(1, 256):
            node = _child_of(units, size, parent, byte)
            if node < 0 or node == suffix_root:
                continue
            if count + 1024 > room:
                return -1
            queue[last] = node
            last += 1
            if units[node] & 0x100:
                leaf = node ^ (((units[node] & 0x7FFFFFFF) >> 10) << ((units[node] & 0x200) >> 6))
                links[2 * node], links[2 * node + 1] = ends[node], count << 8
                pool[count] = units[leaf] & 0x7FFFFFFF
                count += 1
                continue
            at, added, hits = links[2 * parent], count, -1
            if links[2 * parent + 1] != 0xFFFFFFFF:  # the pieces of the parent come first
                start = links[2 * parent + 1] >> 8
                for i in range(start, start + (links[2 * parent + 1] & 255) + 1):
                    pool[added] = pool[i]
                    added += 1
            own = added
            while at != 0xFFFFFFFF:
                hits = _child_of(units, size, at, byte)
                if hits >= 0:
                    break
                if links[2 * at] != 0xFFFFFFFF and links[2 * at + 1] != 0xFFFFFFFF:
                    start = links[2 * at + 1] >> 8
                    for i in range(start, start + (links[2 * at + 1] & 255) + 1):
                        pool[added] = pool[i]
                        added += 1
                at = links[2 * at]
            if hits >= 0:
                links[2 * node] = hits
                links[2 * node + 1] = links[2 * parent + 1] if added == own else count << 8 | (added - count - 1)
                count = count if added == own else added
    return count
