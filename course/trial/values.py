"""The values that travel between a student's function and whoever looks at its answer.

A value is a bounded tree: None, bool, int, float, str, list, tuple, dict with str keys, numpy array, torch
tensor. What else numpy reads as an array of numbers becomes `ArrayLike`: these numbers, and the type's name. Anything
else becomes `Opaque`, which carries the type's name and nothing of the object.

Two encodings of the same tree: `pack`/`unpack` for the wire (a JSON header and raw array bytes; nothing that
arrives can be code), and `to_json`/`from_json` for answers kept in a file.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

Value: TypeAlias = Any

MAX_FRAME = 2 << 20
MAX_HEADER = 1 << 18
MAX_DEPTH = 16
MAX_NODES = 5_000
MAX_TEXT = 20_000
MAX_AXES = 8
DTYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "|b1", "|u1")
LAYOUTS = ("C", "F", "strided")
DIGITS = 12
TOO_LARGE = "a structure too large to look at"

_LENGTH = struct.Struct("!II")


class Malformed(ValueError):
    """Bytes that are not a packed value. Nothing was built from them."""


@dataclass(frozen=True)
class Tensor:
    """A torch tensor, as the side that need not import torch sees it."""

    array: np.ndarray


@dataclass(frozen=True)
class ArrayLike:
    """Numbers that a student has in something else than an array of numpy's usual dtypes: a matrix, a data frame, complex numbers.

    Attributes:
        what: it was: "a matrix".
        array: the numbers.
    """

    what: str
    array: np.ndarray


@dataclass(frozen=True)
class Opaque:
    """Something that is not a value: all that is kept of it is what it was."""

    what: str


class Kept(dict[str, Value]):
    """A dictionary that is sent more than once: it is packed once, and nobody may change it."""

    @cached_property
    def frame(self) -> bytes:
        return _frame(self)


@dataclass(frozen=True)
class Callback:
    """A function that lives on the other side: calling it means asking for it by name."""

    name: str


def plain(thing: object) -> Value:
    """`thing` as a value: numpy scalars become Python's, tensors become `Tensor`, strangers `ArrayLike` or `Opaque`.

    What a stranger does when numpy reads it is done here, in the process that it is in. No stranger leaves that process.
    """
    return _Flattener().flatten(thing, 0)


class _Flattener:
    def __init__(self) -> None:
        self.nodes = 0

    def flatten(self, thing: object, depth: int) -> Value:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            return Opaque(TOO_LARGE)
        if thing is None or type(thing) is bool:
            return thing
        if isinstance(thing, str):
            return str.__str__(thing)[:MAX_TEXT]
        if isinstance(thing, (Tensor, ArrayLike, Opaque, Callback)):
            return _ours(thing)
        if type(thing) is int:
            return thing if abs(thing) < 2**63 else Opaque("an integer of more than 64 bits")
        if type(thing) is float:
            return thing
        if isinstance(thing, np.generic) and not isinstance(item := thing.item(), (np.generic, complex)):
            return self.flatten(item, depth + 1)
        if type(thing) is np.ndarray:
            return _array(thing)
        for kind, length in _CONTAINERS.items():
            if isinstance(thing, kind) and self.nodes + length(thing) > MAX_NODES:
                return Opaque(TOO_LARGE)
        if isinstance(thing, tuple):  # a named one too, as any container that is of a kind is of that kind
            return tuple(self.flatten(item, depth + 1) for item in tuple.__iter__(thing))
        if isinstance(thing, list):
            return [self.flatten(item, depth + 1) for item in list.__iter__(thing)]
        if isinstance(thing, dict):
            return {str(key)[:MAX_TEXT]: self.flatten(item, depth + 1) for key, item in dict.items(thing)}
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(thing, torch.Tensor):
            return _tensor(thing)
        return _array_like(thing, f"a {type(thing).__name__}"[:200])


_CONTAINERS: dict[type, Callable[[Any], int]] = {tuple: tuple.__len__, list: list.__len__, dict: dict.__len__}


def _ours(thing: Tensor | ArrayLike | Opaque | Callback) -> Value:
    """A value that is one already, if what it holds is what it should hold: anybody can make one."""
    if isinstance(thing, (Tensor, ArrayLike)):
        array = _array(thing.array) if type(thing.array) is np.ndarray else Opaque("a tensor of nothing")
        if not isinstance(array, np.ndarray) or isinstance(thing, Tensor):
            return Tensor(array) if isinstance(array, np.ndarray) else bare(array)
        return ArrayLike(thing.what[:MAX_TEXT], array) if type(thing.what) is str else Opaque("an ArrayLike")
    text = thing.what if isinstance(thing, Opaque) else thing.name
    return type(thing)(text[:MAX_TEXT]) if type(text) is str else Opaque(f"a {type(thing).__name__}")


def _array(array: np.ndarray) -> np.ndarray | ArrayLike | Opaque:
    """An array as it travels, little-endian; where its dtype or its number of axes cannot, its numbers, and what it was."""
    dtype = array.dtype.newbyteorder("<")
    if array.ndim > MAX_AXES:
        return Opaque(f"an array of {array.ndim} axes")
    if dtype.str not in DTYPES:
        return _array_like(array, f"an array of {array.dtype}")
    if array.dtype == np.bool_:
        return np.asarray(array.view(np.uint8) != 0)  # memory that nobody wrote may hold other bytes than 0 and 1
    return array.astype(dtype, copy=False)


def _tensor(tensor: Any) -> Tensor | ArrayLike | Opaque:
    try:
        array = _array(tensor.detach().cpu().resolve_conj().resolve_neg().numpy())
    except (TypeError, RuntimeError):  # bfloat16, sparse, meta
        return Opaque(f"a tensor of {tensor.dtype} that numpy cannot hold")
    if isinstance(array, np.ndarray):
        return Tensor(array)
    return replace(array, what=array.what.replace("an array", "a tensor"))


def _array_like(thing: object, what: str) -> ArrayLike | Opaque:
    """What numpy reads as numbers; of anything else, what it was."""
    try:
        array = _numbers(thing) if _may_be_numbers(thing) else None
    except Exception:  # of an object of the student's own, or numpy's: it is no array of numbers
        array = None
    return Opaque(what) if array is None else ArrayLike(what, array)


def _may_be_numbers(thing: object) -> bool:
    """Whether numpy would do more than wrap it, and in no more time than there is for a list."""
    if isinstance(thing, Sequence):
        return len(thing) <= MAX_NODES and not isinstance(thing, (bytes, bytearray))
    return isinstance(thing, Number) or hasattr(type(thing), "__array__")


def _numbers(thing: Any) -> np.ndarray | None:
    """The numbers that numpy reads in something, in a dtype that travels; None where it reads none."""
    array = np.asarray(thing)
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(thing, masked.MaskedArray) and masked.getmaskarray(thing).any():
        array = np.where(masked.getmaskarray(thing), np.nan, array)  # what is masked is not given
    if array.dtype.kind == "O" and array.size <= MAX_NODES:
        array = np.array(array.tolist())
        array = array.astype(np.float64) if array.dtype.kind == "O" else array  # fractions, decimals
    if array.dtype.kind == "c" and not array.imag.any():
        array = array.real
    if array.dtype.kind not in "biuf" or array.ndim > MAX_AXES:
        return None
    if array.dtype.newbyteorder("<").str not in DTYPES:
        whole = array.dtype.kind in "iu" and int(array.max(initial=0)) < 2**63
        array = array.astype(np.int64 if whole else np.float64)
    travelling = _array(array)
    return travelling if isinstance(travelling, np.ndarray) else None


def map_leaves(change: Callable[[Any], Any], tree: Value) -> Any:
    """`tree` with every leaf of its lists, tuples and dictionaries changed."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(map_leaves(change, part) for part in tree)
    if isinstance(tree, dict):
        return {key: map_leaves(change, part) for key, part in tree.items()}
    return change(tree)


def native(leaf: Value) -> Any:
    """A leaf as a student's function knows it: a `Tensor` becomes a torch tensor that shares its memory."""
    if isinstance(leaf, Tensor):
        import torch

        return torch.from_numpy(leaf.array)
    return leaf


def bare(value: Value) -> Any:
    """The numpy array in a `Tensor` or an `ArrayLike`; anything else as it is."""
    return value.array if isinstance(value, (Tensor, ArrayLike)) else value


def layout(array: np.ndarray) -> str:
    """How an array lies in memory: "C", "F" or "strided"."""
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "strided"


def with_layout(array: np.ndarray, order: str) -> np.ndarray:
    """A writable copy of `array` that lies in memory as `order` says ("strided": every second element of a longer row)."""
    if order == "strided" and array.ndim:
        room = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        room[..., ::2] = array
        return room[..., ::2]
    return np.array(array, order="F" if order == "F" else "C")


# ---------------------------------------------------------------------------------------------- the wire


def pack(value: Value) -> bytes:
    """One frame: two lengths, a JSON header, the bytes of every array in C order.

    Raises:
        ValueError: the frame would be longer than `MAX_FRAME`.
    """
    return value.frame if isinstance(value, Kept) else _frame(value)


def _frame(value: Value) -> bytes:
    arrays: list[np.ndarray] = []
    tree = _tree(value, arrays)
    described = [{"dtype": a.dtype.str, "shape": a.shape, "order": layout(a)} for a in arrays]
    header = _to_text({"tree": tree, "arrays": described}).encode()
    size = sum(a.nbytes for a in arrays)
    if len(header) > MAX_HEADER or size > MAX_FRAME:
        raise ValueError(f"a value of {len(header) + size} bytes is too large to send")
    return b"".join([_LENGTH.pack(len(header), size), header, *[a.tobytes() for a in arrays]])


_to_text = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


def _tree(value: Value, arrays: list[np.ndarray]) -> Any:
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind is dict:
        return {"dict": [[key, _tree(item, arrays)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        arrays.append(value if value.dtype.isnative and sys.byteorder == "little" else _little_endian(value))
        return {"array": len(arrays) - 1}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [_tree(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_tree(item, arrays) for item in value]
    if isinstance(value, Tensor):
        return {"tensor": _tree(value.array, arrays)["array"]}
    if isinstance(value, ArrayLike):
        return {"like": [value.what, _tree(value.array, arrays)["array"]]}
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {"dict": [[key, _tree(item, arrays)] for key, item in value.items()]}
    if isinstance(value, Opaque):
        return {"opaque": value.what}
    if isinstance(value, Callback):
        return {"callback": value.name}
    raise TypeError(f"{type(value).__name__} is not a value; call plain() first")


def _little_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def frame_lengths(prefix: bytes) -> tuple[int, int]:
    """Header and body length from the first `PREFIX` bytes of a frame.

    Raises:
        Malformed: either is out of bounds.
    """
    header, body = _LENGTH.unpack(prefix)
    if not 0 < header <= MAX_HEADER or body > MAX_FRAME:
        raise Malformed("frame too large")
    return header, body


PREFIX = _LENGTH.size


def unpack(frame: bytes) -> Value:
    """The value in a frame, checked before anything is allocated.

    Raises:
        Malformed: for anything that `pack` would not have written.
    """
    if len(frame) < PREFIX:
        raise Malformed("frame too short")
    header_length, body_length = frame_lengths(frame[:PREFIX])
    if len(frame) != PREFIX + header_length + body_length:
        raise Malformed("frame length")
    try:
        header = json.loads(frame[PREFIX : PREFIX + header_length].decode("ascii"))
    except (ValueError, RecursionError):
        raise Malformed("header is not JSON") from None
    if not isinstance(header, dict) or set(header) != {"tree", "arrays"} or not isinstance(header["arrays"], list):
        raise Malformed("header form")
    arrays = _read_arrays(header["arrays"], memoryview(frame)[PREFIX + header_length :])
    return _Builder(arrays).whole(header["tree"])


def _read_arrays(described: list[Any], body: memoryview) -> list[np.ndarray]:
    if len(described) > MAX_NODES:
        raise Malformed("too many arrays")
    arrays, offset = [], 0
    for entry in described:
        if not isinstance(entry, dict) or entry.keys() != ENTRY:
            raise Malformed("array form")
        dtype, shape, order = entry["dtype"], entry["shape"], entry["order"]
        if dtype not in DTYPES or order not in LAYOUTS:
            raise Malformed("array dtype or order")
        if not isinstance(shape, list) or len(shape) > MAX_AXES:
            raise Malformed("array shape")
        for size in shape:
            if type(size) is not int or not 0 <= size <= MAX_FRAME:
                raise Malformed("array shape")
        length = _DTYPES[dtype].itemsize * math.prod(shape)
        # An axis of length zero would let the others be of any size, in memory that strides then reach for.
        if math.prod([size or 1 for size in shape]) > MAX_FRAME or offset + length > len(body):
            raise Malformed("array size")
        raw = body[offset : offset + length]
        if dtype == "|b1" and bytes(raw).strip(b"\0\1"):
            raise Malformed("boolean byte")
        arrays.append(with_layout(np.frombuffer(raw, _DTYPES[dtype]).reshape(shape), order))
        offset += length
    if offset != len(body):
        raise Malformed("bytes left over")
    return arrays


ENTRY = {"dtype", "shape", "order"}
_DTYPES = {name: np.dtype(name) for name in DTYPES}


class _Builder:
    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays
        self.placed = 0
        self.nodes = 0

    def whole(self, tree: Any) -> Value:
        value = self.build(tree, 0)
        if self.placed != len(self.arrays):
            raise Malformed("an array left over")
        return value

    def build(self, tree: Any, depth: int) -> Value:
        """The value that a tree stands for, which JSON has made, so that nothing in it has a type of its own."""
        self.nodes += 1
        if depth > 2 * MAX_DEPTH or self.nodes > 2 * MAX_NODES:
            raise Malformed("too deep or too many parts")
        form = type(tree)
        if form is str:
            return self.text(tree)
        if form is dict:
            return self.node(tree, depth)
        if form is list:
            return [self.build(item, depth + 1) for item in tree]
        if form is int and abs(tree) >= 2**63:
            raise Malformed("integer too large")
        if form is float and not math.isfinite(tree):
            raise Malformed("bare nan or inf")
        return tree

    def node(self, tree: dict[str, Any], depth: int) -> Value:
        if len(tree) != 1:
            raise Malformed("node form")
        ((kind, content),) = tree.items()
        if kind == "array":
            return self.array(content)
        if kind == "dict" and type(content) is list:
            return dict([self.pair(item, depth + 1) for item in content])
        if kind == "tuple" and type(content) is list:
            return tuple([self.build(item, depth + 1) for item in content])
        if kind == "tensor":
            return Tensor(self.array(content))
        if kind == "like" and type(content) is list and list(map(type, content)) == [str, int]:
            return ArrayLike(self.text(content[0]), self.array(content[1]))
        if kind == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if kind in ("opaque", "callback") and type(content) is str:
            return (Opaque if kind == "opaque" else Callback)(self.text(content))
        raise Malformed(f"unknown node {kind!r:.40}")

    def array(self, number: Any) -> np.ndarray:
        """The next array: each is placed once, in order, so that a small frame cannot stand for a large value."""
        if type(number) is not int or number != self.placed or number >= len(self.arrays):
            raise Malformed("array number")
        self.placed += 1
        return self.arrays[number]

    def text(self, text: str) -> str:
        if len(text) > MAX_TEXT:
            raise Malformed("text too long")
        if text.isascii():
            return text
        return text.encode(errors="replace").decode()  # half a surrogate pair could not be written to any file

    def pair(self, item: Any, depth: int) -> tuple[str, Value]:
        if type(item) is not list or len(item) != 2 or type(item[0]) is not str:
            raise Malformed("dict form")
        return self.text(item[0]), self.build(item[1], depth)


# ---------------------------------------------------------------------------------------------- files


def to_json(value: Value, layouts: bool = False) -> Any:
    """`value` as JSON, floats to 12 significant digits, of which processors may differ in the last (`autograder.authoring.answers.alike`).

    Args:
        value: the tree.
        layouts: whether to note of arrays how they lie in memory, where that is not row after row.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _short(value) if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Tensor):
        return {"tensor": to_json(value.array, layouts)}
    if isinstance(value, ArrayLike):
        return {"like": [value.what, to_json(value.array, layouts)]}
    if isinstance(value, np.ndarray):
        flat = value.ravel().tolist()
        numbers = [_short(x) for x in flat] if value.dtype.kind == "f" else [int(x) for x in flat]
        order = {"order": layout(value)} if layouts and layout(value) != "C" else {}
        return {"array": {"dtype": value.dtype.str, "shape": list(value.shape), **order, "numbers": numbers}}
    if isinstance(value, list):
        return [to_json(item, layouts) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [to_json(item, layouts) for item in value]}
    if isinstance(value, dict):
        return {"dict": {key: to_json(item, layouts) for key, item in value.items()}}
    if isinstance(value, Opaque):
        return {"opaque": value.what}
    raise TypeError(f"{type(value).__name__} is not a value; call plain() first")


def _short(number: float) -> float | str:
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else repr(number)


def from_json(tree: Any) -> Value:
    """The value that `to_json` wrote."""
    if isinstance(tree, list):
        return [from_json(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    (kind, content), *_ = tree.items()
    if kind == "float":
        return float(content)
    if kind == "array":
        dtype = np.dtype(content["dtype"])
        numbers = [float(x) for x in content["numbers"]] if dtype.kind == "f" else content["numbers"]
        array = np.array(numbers, dtype).reshape(content["shape"])
        return with_layout(array, content["order"]) if "order" in content else array
    if kind == "tensor":
        return Tensor(from_json(content))
    if kind == "like":
        return ArrayLike(content[0], from_json(content[1]))
    if kind == "tuple":
        return tuple(from_json(item) for item in content)
    if kind == "dict":
        return {key: from_json(item) for key, item in content.items()}
    if kind == "opaque":
        return Opaque(content)
    raise ValueError(f"unknown node {kind!r}")
