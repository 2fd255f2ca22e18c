"""Values on the wire and in files: what goes in comes out, and what nobody packed is refused."""

from __future__ import annotations

import json
import math
import struct
from array import array as array_of_the_standard_library
from collections import UserList, deque
from collections.abc import Iterator
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from course.trial.values import (
    DTYPES,
    LAYOUTS,
    MAX_AXES,
    MAX_DEPTH,
    MAX_FRAME,
    MAX_HEADER,
    MAX_NODES,
    MAX_TEXT,
    PREFIX,
    ArrayLike,
    Callback,
    Malformed,
    Opaque,
    Tensor,
    Value,
    bare,
    frame_lengths,
    from_json,
    layout,
    pack,
    plain,
    to_json,
    unpack,
    with_layout,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats()
ARRAYS = st.builds(
    with_layout,
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    ),
    st.sampled_from(LAYOUTS),
)
LEAVES = (
    st.none()
    | st.booleans()
    | NUMBERS
    | TEXT
    | ARRAYS
    | ARRAYS.map(Tensor)
    | st.builds(ArrayLike, TEXT, ARRAYS)
    | TEXT.map(Opaque)
)


def trees(leaves: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(TEXT, inner, max_size=4)
        ),
        max_leaves=12,
    )


def same(one: Value, other: Value, bits: bool = True) -> bool:
    """Equal in type, order and, unless `bits` is off, in every bit; else in the first twelve digits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        exact = bits or one.dtype.kind != "f"
        return alike and (one.tobytes() == other.tobytes() if exact else np.allclose(one, other, 1e-11, 0, True))
    if isinstance(one, Tensor):
        return same(one.array, other.array, bits)
    if isinstance(one, ArrayLike):
        return one.what == other.what and same(one.array, other.array, bits)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(same(a, b, bits) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key], bits) for key in one)
    if isinstance(one, float):
        close = math.isclose(one, other, rel_tol=0 if bits else 1e-11)
        return (math.isnan(one) and math.isnan(other)) or (close and math.copysign(1, one) == math.copysign(1, other))
    return bool(one == other)


def arrays_in(value: Value) -> list[np.ndarray]:
    if isinstance(value, (Tensor, ArrayLike)):
        return [value.array]
    if isinstance(value, np.ndarray):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [array for part in inner for array in arrays_in(part)]


# ---------------------------------------------------------------------------------------------- round trips


@given(trees(LEAVES | TEXT.map(Callback)))
def test_what_is_packed_is_unpacked_bit_for_bit_in_the_same_layout_and_writable(value: Value) -> None:
    arrived = unpack(pack(value))
    assert same(arrived, value)
    assert [layout(array) for array in arrays_in(arrived)] == [layout(array) for array in arrays_in(value)]
    assert all(array.flags.writeable for array in arrays_in(arrived))


@given(trees(LEAVES))
def test_what_is_written_to_a_file_is_read_back_to_twelve_digits(value: Value) -> None:
    assert same(from_json(json.loads(json.dumps(to_json(value)))), value, bits=False)


@given(trees(LEAVES))
def test_a_value_is_plain_already(value: Value) -> None:
    assert same(plain(value), value)


@pytest.mark.parametrize("order", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_travels_in_every_layout(dtype: str, order: str) -> None:
    array = with_layout(np.arange(6).reshape(2, 3).astype(dtype), order)
    assert layout(array) == order
    arrived = unpack(pack(array))
    assert same(arrived, array)
    assert layout(arrived) == order
    arrived[0, 0] = 1
    assert same(from_json(to_json(array)), np.ascontiguousarray(array))


def test_a_header_is_json_and_a_body_is_raw_bytes_in_c_order() -> None:
    frame = pack({"A": np.asfortranarray([[1, 2], [3, 4]], dtype="<i4")})
    header, body = frame_lengths(frame[:PREFIX])
    assert json.loads(frame[PREFIX : PREFIX + header]) == {
        "tree": {"dict": [["A", {"array": 0}]]},
        "arrays": [{"dtype": "<i4", "shape": [2, 2], "order": "F"}],
    }
    assert frame[-body:] == struct.pack("<4i", 1, 2, 3, 4)


def test_integers_are_kept_whole_in_files() -> None:
    large = np.array([2**53 + 1, -(2**63)])
    assert same(from_json(to_json(large)), large)


def test_numbers_in_files_have_twelve_digits() -> None:
    assert to_json(1 / 3) == 0.333333333333
    assert to_json(np.array([1 / 3, math.nan, -math.inf])) == {
        "array": {"dtype": "<f8", "shape": [3], "numbers": [0.333333333333, "nan", "-inf"]}
    }


def test_a_function_of_the_other_side_has_no_place_in_a_file() -> None:
    with pytest.raises(TypeError, match=r"^Callback is not a value; call plain\(\) first$"):
        to_json([Callback("project")])


# ---------------------------------------------------------------------------------------------- plain


class Stranger:
    pass


class Breaks:
    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise LookupError


class Endless(UserList[float]):
    def __len__(self) -> int:
        return 10**9


class Frame:
    """What a data frame has for numpy."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([[1.0, 2.0]])


class Own(np.ndarray):
    pass


HALF = np.array([[0.5, -2.0]])
LIKE = {
    "matrix": (HALF.view(np.matrix), HALF),
    "masked array": (np.ma.array(HALF), HALF),
    "masked array with a gap": (np.ma.array(HALF, mask=[[True, False]]), np.array([[np.nan, -2.0]])),
    "subclass": (HALF.view(Own), HALF),
    "longdouble": (HALF.astype(np.longdouble), HALF),
    "complex": (HALF + 0j, HALF),
    "complex64": (HALF.astype("c8"), HALF.astype("f4")),
    "object": (HALF.astype(object), HALF),
    "rows in an object array": (np.array([HALF[0], None], object)[:1], HALF),
    "fractions": (np.array([[Fraction(1, 2), Decimal(-2)]]), HALF),
    "int16": (np.array([1, -2], "i2"), np.array([1, -2])),
    "uint64": (np.array([1, 2], "u8"), np.array([1, 2])),
    "large uint64": (np.array([2**63], "u8"), np.array([2.0**63])),
    "memoryview": (memoryview(HALF), HALF),
    "array of the standard library": (array_of_the_standard_library("d", [0.5, -2.0]), HALF[0]),
    "range": (range(3), np.arange(3)),
    "deque": (deque([0.5, -2.0]), HALF[0]),
    "list of its own kind of sequence": (UserList([[0.5, -2.0]]), HALF),
    "data frame": (Frame(), np.array([[1.0, 2.0]])),
    "scalar longdouble": (np.longdouble(0.5), np.array(0.5)),
    "complex scalar": (2 + 0j, np.array(2.0)),
    "fraction": (Fraction(1, 2), np.array(0.5)),
    "member of an enumeration": (IntEnum("Number", {"TWO": 2}).TWO, np.array(2)),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("kind", LIKE)
def test_what_numpy_reads_as_numbers_travels_as_them_and_says_what_it_was(kind: str) -> None:
    thing, array = LIKE[kind]
    seen = plain(thing)
    assert isinstance(seen, ArrayLike)
    assert seen.what in (f"a {type(thing).__name__}", f"an array of {getattr(thing, 'dtype', '')}")
    assert same(seen.array, array)
    assert same(unpack(pack(seen)), seen)


def test_complex_numbers_in_a_tensor_are_numbers_where_they_have_no_imaginary_part() -> None:
    assert same(plain(torch.tensor([1 + 0j])), ArrayLike("a tensor of complex64", np.array([1], "f4")))


class Named(list[float]):
    def __iter__(self) -> Iterator[float]:
        raise LookupError


def test_a_container_that_is_of_a_kind_is_of_that_kind() -> None:
    assert plain(Named([1.0])) == [1.0]
    assert plain(torch.zeros(2, 3).shape) == (2, 3)
    assert plain(type("Own", (dict,), {})(one=1)) == {"one": 1}
    assert plain(StrEnum("Word", ["leak"]).leak) == "leak"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("thing", "value"),
    [
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3),
        (np.bool_(True), True),
        (np.str_("word"), "word"),
        (2**63, Opaque("an integer of more than 64 bits")),
        (1j, Opaque("a complex")),
        (Stranger(), Opaque("a Stranger")),
        ({1, 2}, Opaque("a set")),
        ((n for n in (1, 2)), Opaque("a generator")),
        (np.array([b"1"]), Opaque("an array of |S1")),
        (np.array(["1.0"], object), Opaque("an array of object")),
        (np.array([[1], [2, 3]], object), Opaque("an array of object")),
        (range(10**12), Opaque("a range")),
        (b"\1\2", Opaque("a bytes")),
        (Breaks(), Opaque("a Breaks")),
        (Endless(), Opaque("a Endless")),
        (np.zeros((1,) * (MAX_AXES + 1)).view(np.recarray), Opaque("a recarray")),
        (np.array([Stranger()]), Opaque("an array of object")),
        (np.array([1j]), Opaque("an array of complex128")),
        (np.zeros((1,) * (MAX_AXES + 1)), Opaque(f"an array of {MAX_AXES + 1} axes")),
        (1j * torch.ones(2), Opaque("a tensor of complex64")),
        (torch.zeros(2, dtype=torch.bfloat16), Opaque("a tensor of torch.bfloat16 that numpy cannot hold")),
        (torch.zeros(2, 2).to_sparse(), Opaque("a tensor of torch.float32 that numpy cannot hold")),
        (torch.zeros(2, device="meta"), Opaque("a tensor of torch.float32 that numpy cannot hold")),
        ("x" * (MAX_TEXT + 1), "x" * MAX_TEXT),
        ({1: "one"}, {"1": "one"}),
        (1j * np.ones(2), Opaque("an array of complex128")),
    ],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_whatever_a_student_returns_becomes_a_value(thing: object, value: Value) -> None:
    assert same(plain(thing), value)
    assert same(unpack(pack(plain(thing))), value)


def test_a_tensor_of_the_student_is_seen_without_its_gradient() -> None:
    seen = plain(torch.ones(2, requires_grad=True))
    assert same(seen, Tensor(np.ones(2, np.float32)))


def test_byte_order_is_no_property_of_an_answer() -> None:
    assert same(plain(np.array([1.5, 2], ">f8")), np.array([1.5, 2]))


def test_a_boolean_is_true_or_false_whatever_its_byte() -> None:
    garbage = np.frombuffer(b"\0\2\xff", bool)
    assert same(unpack(pack(plain(garbage))), np.array([False, True, True]))
    assert same(plain(np.array(True)), np.array(True))


def test_a_structure_that_holds_itself_is_cut_off() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert repr(plain(endless)).count("[") == MAX_DEPTH + 1
    unpack(pack(plain(endless)))


@pytest.mark.parametrize("many", [[0.1] * 3 * MAX_NODES, [[0.1] * 200] * 200, dict.fromkeys(range(3 * MAX_NODES), 0.1)])
def test_a_structure_with_too_many_parts_is_cut_off_and_can_be_sent(many: object) -> None:
    assert "too large to look at" in repr(plain(many))
    unpack(pack(plain(many)))


def test_text_that_is_no_unicode_arrives_as_text_that_can_be_written_down() -> None:
    assert unpack(pack(["\ud800", {"\udfff": Opaque("\ud800")}])) == ["?", {"?": Opaque("?")}]


def test_what_is_larger_than_a_frame_is_not_sent() -> None:
    with pytest.raises(ValueError, match=r"^a value of \d+ bytes is too large to send$"):
        pack(np.zeros(MAX_FRAME // 8 + 1))
    with pytest.raises(ValueError, match="too large to send"):
        pack(["x" * MAX_TEXT] * (MAX_HEADER // MAX_TEXT + 1))


# ---------------------------------------------------------------------------------------------- what nobody packed


def frame(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("!II", len(text), len(body)) + text + body


def tree(tree: object, *arrays: object, body: bytes = b"") -> bytes:
    return frame({"tree": tree, "arrays": list(arrays)}, body)


def array(**changed: object) -> dict[str, object]:
    return {"dtype": "<f8", "shape": [2], "order": "C", **changed}


def nested(depth: int) -> object:
    inner: object = None
    for _ in range(depth):
        inner = [inner]
    return inner


TWO = b"\0" * 16

CRAFTED = {
    "nothing": b"",
    "half a prefix": b"\0\0\0",
    "an empty header": frame(b""),
    "a header too long": struct.pack("!II", MAX_HEADER + 1, 0),
    "a body too long": struct.pack("!II", 2, MAX_FRAME + 1) + b"{}",
    "bytes missing": tree(1)[:-1],
    "bytes more than announced": tree(1) + b"\0",
    "not JSON": frame(b"{"),
    "not text": frame(b"\xff\xfe\xfd"),
    "a pickle": frame(b"\x80\x04\x8c\x02os\x94\x8c\x06system\x93."),
    "JSON nested beyond any stack": frame(b"[" * 100_000),
    "a number of five thousand digits": frame(b'{"tree": ' + b"9" * 5000 + b', "arrays": []}'),
    "a list for a header": frame([]),
    "no arrays": frame({"tree": 1}),
    "arrays that are no list": frame({"tree": 1, "arrays": {}}),
    "a third key": frame({"tree": 1, "arrays": [], "code": ""}),
    "bare NaN": frame(b'{"tree": NaN, "arrays": []}'),
    "bare Infinity": frame(b'{"tree": -Infinity, "arrays": []}'),
    "a number beyond float64": frame(b'{"tree": 1e999, "arrays": []}'),
    "an integer beyond 64 bits": tree(2**63),
    "a node of two kinds": tree({"tuple": [], "dict": []}),
    "a node of no kind": tree({}),
    "a node of unknown kind": tree({"pickle": "gASVAAAA"}),
    "a float by another name": tree({"float": "NaN"}),
    "a float that is a list": tree({"float": ["nan"]}),
    "a tuple that is none": tree({"tuple": {}}),
    "a dict that is none": tree({"dict": {}}),
    "a dict with a key alone": tree({"dict": [["key"]]}),
    "a dict with a number as key": tree({"dict": [[1, 1]]}),
    "a dict with a list as key": tree({"dict": [[[], 1]]}),
    "an opaque number": tree({"opaque": 1}),
    "a callback without a name": tree({"callback": None}),
    "text too long": tree("x" * (MAX_TEXT + 1)),
    "opaque text too long": tree({"opaque": "x" * (MAX_TEXT + 1)}),
    "a key too long": tree({"dict": [["x" * (MAX_TEXT + 1), 1]]}),
    "too deep": tree(nested(2 * MAX_DEPTH + 1)),
    "too many parts": tree([0] * (2 * MAX_NODES)),
    "an array placed twice": tree([{"array": 0}, {"array": 0}], array(), body=TWO),
    "an array placed before another": tree([{"array": 1}, {"array": 0}], array(), array(), body=2 * TWO),
    "an array that is nowhere": tree(None, array(), body=TWO),
    "an array that is not there": tree({"array": 0}),
    "an array before the first": tree({"array": -1}, array(), body=TWO),
    "array number true": tree({"array": True}, array(), array(), body=TWO + TWO),
    "array number one half": tree({"array": 0.5}, array(), body=TWO),
    "a tensor that is not there": tree({"tensor": 1}, array(), body=TWO),
    "numbers of nothing": tree({"like": [None, 0]}, array(), body=TWO),
    "numbers that are not there": tree({"like": ["a matrix", 0]}),
    "numbers true": tree({"like": ["a matrix", False]}, array(), body=TWO),
    "numbers of a long name": tree({"like": ["x" * (MAX_TEXT + 1), 0]}, array(), body=TWO),
    "numbers of three parts": tree({"like": ["a matrix", 0, 0]}, array(), body=TWO),
    "an array that is no dict": tree(1, "array"),
    "an array without order": tree(1, {"dtype": "<f8", "shape": [2]}, body=TWO),
    "an array with strides": tree(1, array(strides=[8]), body=TWO),
    "objects": tree({"array": 0}, array(dtype="|O"), body=TWO),
    "complex numbers": tree({"array": 0}, array(dtype="<c8"), body=TWO),
    "a record dtype": tree({"array": 0}, array(dtype=[["f", "<f8"]]), body=TWO),
    "a dtype with a shape": tree({"array": 0}, array(dtype="(2,)<f8"), body=TWO + TWO),
    "the other byte order": tree({"array": 0}, array(dtype=">f8"), body=TWO),
    "a dtype by another name": tree({"array": 0}, array(dtype="float64"), body=TWO),
    "a layout by another name": tree({"array": 0}, array(order="K"), body=TWO),
    "a layout that is a list": tree({"array": 0}, array(order=["C"]), body=TWO),
    "a shape that is a number": tree({"array": 0}, array(shape=2), body=TWO),
    "a shape of text": tree({"array": 0}, array(shape=["2"]), body=TWO),
    "a shape of floats": tree({"array": 0}, array(shape=[2.0]), body=TWO),
    "a shape of booleans": tree({"array": 0}, array(shape=[True]), body=TWO[:8]),
    "a negative size": tree({"array": 0}, array(shape=[-2]), body=TWO),
    "two negative sizes": tree({"array": 0}, array(shape=[-1, -2]), body=TWO),
    "too many axes": tree({"array": 0}, array(shape=[1] * MAX_AXES + [2]), body=TWO),
    "a product beyond 64 bits": tree({"array": 0}, array(shape=[1 << 22] * 3), body=TWO),
    "a huge axis beside an empty one": tree({"array": 0}, array(shape=[0, MAX_FRAME, MAX_FRAME], order="strided")),
    "bytes for one entry too few": tree({"array": 0}, array(shape=[3]), body=TWO),
    "bytes left over": tree({"array": 0}, array(shape=[1]), body=TWO),
    "a body without arrays": tree(1, body=TWO),
    "a boolean that is 2": tree({"array": 0}, array(dtype="|b1"), body=b"\1\2"),
}  # fmt: skip


@pytest.mark.parametrize("name", CRAFTED)
def test_a_frame_that_nobody_packs_is_malformed(name: str) -> None:
    with pytest.raises(Malformed):
        unpack(CRAFTED[name])


def outcome(frame: bytes) -> str:
    """Refused, or read as a value that could have been packed; anything else is an error of ours."""
    try:
        value = unpack(frame)
    except Malformed:
        return "refused"
    assert same(unpack(pack(value)), value)
    assert sum(array.nbytes for array in arrays_in(value)) <= len(frame) * len(arrays_in(value))
    return "read"


SPECIMEN = pack(
    {
        "say": "observed",
        "result": (np.eye(2), Tensor(np.ones(3, "<f4")), [np.array([True, False]), 1, -2.5, math.nan]),
        "raised": ["ValueError", "text", 3, "raise"],
        "what": [Opaque("a set"), Callback("project"), None, True],
    }
)


def test_no_frame_with_bytes_changed_dropped_or_doubled_does_anything_but_be_read_or_refused() -> None:
    rng = np.random.default_rng(0)
    header = frame_lengths(SPECIMEN[:PREFIX])[0]
    interesting = list(b'0123456789-.eE"{}[],:tfnN\\ \x00\xff')
    outcomes = {"read": 0, "refused": 0}
    for _ in range(20_000):
        mutant = bytearray(SPECIMEN)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(0, PREFIX + header if rng.random() < 0.8 else len(mutant)))
            match rng.integers(3):
                case 0:
                    mutant[place] = int(rng.choice(interesting)) if rng.random() < 0.7 else int(rng.integers(256))
                case 1:
                    del mutant[place : place + int(rng.integers(1, 5))]
                case _:
                    mutant[place:place] = mutant[place : place + int(rng.integers(1, 30))]
            place = min(place, len(mutant) - 1)
        outcomes[outcome(bytes(mutant))] += 1
        if len(mutant) > PREFIX:  # the same with lengths that fit, so that what is behind them is looked at
            body = len(SPECIMEN) - PREFIX - header
            fitting = struct.pack("!II", max(len(mutant) - PREFIX - body, 0), min(body, len(mutant) - PREFIX))
            outcomes[outcome(fitting + bytes(mutant[PREFIX:]))] += 1
    assert min(outcomes.values()) > 200  # both kinds were met


@given(st.binary(max_size=200))
@settings(max_examples=500)
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        unpack(data)


KINDS = st.sampled_from(["array", "tensor", "tuple", "dict", "opaque", "callback", "float", "pickle"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.integers() | st.floats() | st.sampled_from(["nan", "inf", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KINDS, inner, max_size=2) | st.tuples(st.text(max_size=2), inner).map(list),
    max_leaves=10,
)  # fmt: skip
DESCRIBED = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*DTYPES, ">f8", "|O", None, 8]),
        "shape": st.lists(st.integers(-1, 3) | st.sampled_from([True, 2.0, 1 << 40]), max_size=3) | JSON,
        "order": st.sampled_from([*LAYOUTS, "A", None]),
    }
)


@given(JSON, st.lists(DESCRIBED, max_size=2), st.binary(max_size=64) | st.integers(0, 64).map(bytes))
@settings(max_examples=600)
def test_a_header_of_the_right_form_with_anything_in_it_is_read_or_refused(
    tree: object, described: list[object], body: bytes
) -> None:
    outcome(frame({"tree": tree, "arrays": described}, body))


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_how_an_array_lies_in_memory_is_kept_where_it_is_asked_for(order: str) -> None:
    array = with_layout(np.arange(6.0).reshape(2, 3), order)
    for value in (array, Tensor(array)):
        kept, plain = (bare(from_json(to_json(value, layouts=layouts))) for layouts in (True, False))
        assert (layout(kept), layout(plain)) == (order, "C")
        assert np.array_equal(kept, array)
