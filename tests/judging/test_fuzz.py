"""The judge against garbage: honest conversations with something wrong in them, and what never was a conversation.

A conversation follows from an exercise, a kind and a seed, which a failure names; `converse` has it again. Whatever is
said, a verdict comes back, in bounded time and memory, and it gives points for right answers alone.
"""

from __future__ import annotations

import importlib
import json
import math
import resource
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from autograder.authoring.mutants import as_student
from autograder.exercises import every_exercise
from autograder.exercises.model import Case, Exercise, Probe
from autograder.judging import Paper, Verdict, judge_here
from autograder.judging.showing import html
from course.client import answer
from course.trial.claims import outcomes
from course.trial.link import Link, SocketLink, unhurried
from course.trial.observing import Account
from course.trial.tellings import TELLINGS
from course.trial.values import (
    DTYPES,
    LAYOUTS,
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
    pack,
    to_json,
    unpack,
    with_layout,
)

interview = importlib.import_module("autograder.judging.interview")

SEED = 11  # of the hidden cases
MISTAKES = 4  # of each exercise that the judge compares with
ROUNDS = 12  # of conversations of every kind about each exercise, at the least
REPLIES = 720  # to the judge of each, at the least
SECONDS = 12.0
MEBIBYTES = 200

EXERCISES = (
    "pairwise_dots",  # an array
    "attend_loop",  # a function that is counted, and one that is lent
    "loop_flops",  # whole numbers
    "normalized_entropy",  # parts, two functions lent
    "repair_claims",  # a view
    "causal_keep",  # booleans
    "influence",  # a function
    "mha",  # lines are counted
    "block",  # dictionaries, both ways; functions handed on
    "attention_backward",  # tensors, one function lent
    "combine_keep",  # a harness
    "load_numpy",  # a harness that reports
    "loss_by_position",  # another
    "verdict",  # words and refusals
)


# ---------------------------------------------------------------------------------------------- honest conversations


@dataclass(frozen=True)
class Subject:
    """A paper, what honest students of its exercise said to the judge, and what is right, call by call."""

    paper: Paper
    conversations: tuple[tuple[bytes, ...], ...]
    answers: tuple[Value, ...]


class Tape:
    """A link that keeps the frames that were sent."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.frames: list[bytes] = []

    def send(self, value: Value) -> None:
        self.frames.append(pack(value))
        self.link.send(value)

    def receive(self) -> Value:
        return self.link.receive()


def recorded(paper: Paper, function: Callable[..., Any]) -> tuple[bytes, ...]:
    tapes: list[Tape] = []

    def client(function: Callable[..., Any], link: Link) -> object:
        tapes.append(Tape(link))
        return answer(function, tapes[0])

    judge_here(as_student(paper.exercise, function), paper, client, unhurried)
    return tuple(tapes[0].frames)


@cache
def subject(name: str) -> Subject:
    exercise = next(exercise for exercise in every_exercise() if exercise.name == name)
    paper = Paper(replace(exercise, mistakes=exercise.mistakes[:MISTAKES]), SEED)
    conversations = tuple(recorded(paper, f) for f in (exercise.variants[0], *exercise.mistakes[:2]))
    said = [unpack(frame) for frame in conversations[0]]
    return Subject(paper, conversations, tuple(value for value in said if value["say"] == "observed"))


# ---------------------------------------------------------------------------------------------- what is said instead


def nested(depth: int) -> Any:
    return [] if depth == 0 else [nested(depth - 1)]


ODD_NODES: tuple[Any, ...] = (
    None, True, 0, -1, 2**62, 2**63, -(2**64), 10**30, 0.5, -0.0, 1e308, 5e-324, math.nan, math.inf, "", "\0", "\ud800",
    "observed", "ask", "__class__", "self", "x" * (MAX_TEXT + 1), [], {}, [[]], nested(20), nested(400), [0] * (2 * MAX_NODES + 1),
    [0.5] * MAX_NODES, {"float": "nan"}, {"float": "-inf"}, {"float": "NaN"}, {"float": 1}, {"array": 0}, {"array": 1},
    {"array": -1}, {"array": True}, {"array": 0.0}, {"array": []}, {"tensor": 0}, {"tensor": None}, {"tuple": []}, {"tuple": [0, {}]},
    {"tuple": {"array": 0}}, {"dict": []}, {"dict": [["a", 1], ["a", 2]]}, {"dict": [["__class__", None]]}, {"dict": [[1, 1]]},
    {"dict": [["a"]]}, {"dict": {}}, {"opaque": "an array"}, {"opaque": 1}, {"callback": "project"}, {"callback": []},
    {"array": 0, "tensor": 0}, {"pickle": "gASVAAAA"}, {"__class__": "Verdict"}, {"score": 1.0},
)  # fmt: skip
ODD_ENTRIES: dict[str, tuple[Any, ...]] = {
    "dtype": (*DTYPES, ">f8", "<f16", "<c16", "|O", "|S8", "<U4", "<M8[s]", "f8,i4", "", None, 8, ["<f8"], {}),
    "shape": (
        [], [0], [1], [2], [-1], [3, 0], [0, MAX_FRAME], [MAX_FRAME, MAX_FRAME, 0], [2**31, 2**33], [2**63], [10**30], [1] * 8,
        [1] * 9, [0] * 8, [True], [2.0], ["2"], [None], [[2]], "2", 2, None, {}, [1, 1, 2],
    ),
    "order": (*LAYOUTS, "K", "A", "c", "", None, 0, ["C"]),
}  # fmt: skip
ODD_VALUES: tuple[Value, ...] = (
    None, True, False, 0, 1, -1, 2**63 - 1, -(2**63) + 1, 0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, "", "\0",
    "\ud800", "ValueError", "ValueError, raised", "honest", "settled", "observed", "</td><script>alert(1)</script>", "%s{0}{x!r}",
    "x" * MAX_TEXT, [], (), {}, [[]], {"__class__": 1}, {"result": 1.0, "score": 9.0}, dict.fromkeys(map(str, range(900)), 0),
    Opaque("a numpy array of float64"), Opaque(""), Callback("project"), Callback("model"), Callback("__init__"),
    Tensor(np.ones(2)), Tensor(np.array(1.5)), np.array(1.5), np.array(math.nan), np.array(True), np.zeros(0), np.zeros((0, 5)),
    np.zeros((3, 0), "f4"), np.zeros((1,) * 8), np.full((2, 2), math.nan), np.ones((3, 3), "f2"), np.arange(4, dtype="u1"),
    np.array([2**63 - 1, -(2**63)]), np.ones((70, 70)), np.ones((40, 40)), np.ones((1500, 1)), np.ones((1, 900)), 1500, np.zeros(MAX_FRAME // 8), np.zeros(MAX_FRAME, "u1"),
    [np.ones(2)] * 1500, {str(i): np.ones(()) for i in range(900)}, [0.5] * 4000, ((None,) * 7,) * 300,
)  # fmt: skip
ODD_FIELDS: dict[str, tuple[Value, ...]] = {
    "raised": (None, ["ValueError", "", 0, "", ""], ["TypeError", "5 is not '6'", 2**62, "x", "\ud800"], [], ["ValueError"]),
    "arguments": ({}, {"0": None}, {"1": np.ones(2)}, {"99": 0, "٣": 1}, {"0": Opaque("")}, {"100": 0}, {"-1": 0}, {"": 0}, []),
    "counts": ({}, {"lines": 0}, {"lines": -(2**62)}, {"lines": 10**9}, {"lines": True}, {"lines": 1, "project": -9}, {"": 0}, None),
    "warned": ([""], ["x" * MAX_TEXT] * 5, [None], (), None),
}  # fmt: skip
NAMES = ("", "project", "model", "act", "softmax", "scaled_scores", "softmax_1d", "layer_norm", "ffn", "split_heads", "merge_heads",
         "softmax_backward", "__class__", "eval", "x" * MAX_TEXT, "\ud800")  # fmt: skip
KEYWORDS = (
    "self",
    "name",
    "arguments",
    "keywords",
    "x",
    "W",
    "X",
    "S",
    "axis",
    "h",
    "act",
    "eps",
    "params",
    "__class__",
    "",
)


def framed(header: Any, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("!II", len(text), len(body)) + text + body


def spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON tree: what it is in, and where there."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in entries:
        yield tree, key
        yield from spots(part)


def spoiled_header(rng: Random, frame: bytes) -> bytes:
    """The frame with one node or one entry of its header made odd, and lengths that fit."""
    length, _ = frame_lengths(frame[:PREFIX])
    header, body = json.loads(frame[PREFIX : PREFIX + length]), frame[PREFIX + length :]
    if header["arrays"] and rng.random() < 0.4:
        entry = rng.choice(header["arrays"])
        key = rng.choice(list(entry))
        entry[key] = rng.choice(ODD_ENTRIES[key])
        if rng.random() < 0.3:
            body += bytes(rng.choice((1, 8, 16)))
        return framed(header, body)
    container, key = rng.choice(list(spots(header)))
    change = rng.randrange(4)
    if change == 0:
        del container[key]
    elif change == 1 and isinstance(container, list):
        container.insert(key, container[key])
    elif change == 2:
        other, place = rng.choice(list(spots(header)))
        container[key] = json.loads(json.dumps(other[place]))
    else:
        container[key] = rng.choice(ODD_NODES)
    return framed(header, body)


def spoiled_array(rng: Random, array: np.ndarray) -> Value:
    """Something that comes from an array and is, mostly, another."""
    floats = array.dtype.kind == "f"
    one = array.copy()
    if one.size:
        one.flat[rng.randrange(one.size)] = (
            rng.choice((0, 1, math.nan, math.inf, -0.0, 5e-324)) if floats else rng.randrange(2)
        )
    return rng.choice(
        (
            one,
            array[..., ::-1] if array.ndim else array,
            array.T,
            array[:1] if array.ndim else array,
            array[None],
            np.concatenate([array, array]) if array.ndim else array,
            array.reshape(-1),
            array.astype(rng.choice(DTYPES)),
            np.asarray(array * 1.001) if floats else array,
            np.asarray(array * (1 + 1e-14)) if floats else array,
            np.asarray(-array if floats else ~array),
            np.zeros_like(array),
            with_layout(array, rng.choice(LAYOUTS)),
            Tensor(array),
            ArrayLike("a matrix", array),
            array.tolist(),
            [array, array],
            {"array": array},
        )
    )  # fmt: skip


def spoiled_value(rng: Random, value: Value) -> Value:
    """The value with one part made another."""
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.85:
        parts = list(value)
        place = rng.randrange(len(parts))
        parts[place] = spoiled_value(rng, parts[place])
        return type(value)(parts)
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = "result" if "result" in value and rng.random() < 0.5 else rng.choice(list(value))
        return {**value, key: spoiled_value(rng, value[key])}
    if isinstance(value, (np.ndarray, Tensor)) and rng.random() < 0.8:
        array = spoiled_array(rng, bare(value))
        return Tensor(array) if isinstance(value, Tensor) and isinstance(array, np.ndarray) else array
    if isinstance(value, (list, tuple)) and rng.random() < 0.5:
        return tuple(value) if isinstance(value, list) else list(value)
    if isinstance(value, dict) and rng.random() < 0.5:
        return {**dict(list(value.items())[1:]), rng.choice(KEYWORDS): rng.choice(ODD_VALUES)}
    return rng.choice(ODD_VALUES)


def spoiled_message(rng: Random, message: dict[str, Value]) -> Value:
    """The message with one field made another."""
    field = rng.choice(("result", "result", *ODD_FIELDS))
    if message["say"] != "observed" or rng.random() < 0.3:
        return spoiled_value(rng, message)
    return {
        **message,
        field: spoiled_value(rng, message[field]) if field == "result" else rng.choice(ODD_FIELDS[field]),
    }


def odd_message(rng: Random) -> Value:
    """An observation, a question or neither, with something odd in it."""
    observation = {"say": "observed", **Account(rng.choice(ODD_VALUES), counts={"lines": 1}).to_value()}
    nothing = {"say": "no function", "now": "an int", "by": "x = 3"}
    message: Value = rng.choice((observation, observation, question(rng), nothing, rng.choice(ODD_VALUES)))
    return spoiled_value(rng, message) if rng.random() < 0.5 else message


def question(rng: Random) -> Value:
    arguments = tuple(rng.choice(ODD_VALUES) for _ in range(rng.randrange(5)))
    keywords = {rng.choice(KEYWORDS): rng.choice(ODD_VALUES) for _ in range(rng.randrange(3))}
    return {"say": "ask", "name": rng.choice(NAMES), "arguments": arguments, "keywords": keywords}


def packed(value: Value) -> bytes:
    """The value in a frame, or what a client sends where it does not fit in one."""
    try:
        return pack(value)
    except ValueError:
        return pack({"say": "observed", **Account(Opaque("too large")).to_value()})


# ---------------------------------------------------------------------------------------------- kinds of conversation


def bytes_changed(rng: Random, frames: list[bytes]) -> bytes:
    stream = bytearray(b"".join(frames))
    for _ in range(rng.randrange(1, 5)):
        place, size = rng.randrange(len(stream) or 1), rng.randrange(1, 9)
        token = rng.choice(
            (rng.randbytes(size), bytes(stream[place : place + size]), b'"', b"[", b"}", b"9", b"\0", b"\xff", b"null")
        )
        cut = rng.choice((0, len(token), size))
        stream[place : place + cut] = token
    return bytes(stream[: rng.randrange(len(stream))] if rng.random() < 0.1 else stream)


def some(rng: Random, frames: list[bytes]) -> set[int]:
    """The places of one frame, of three, or of many."""
    return set(rng.sample(range(len(frames)), min(len(frames), rng.choice((1, 3, 60)))))


def headers_changed(rng: Random, frames: list[bytes]) -> bytes:
    chosen = some(rng, frames)
    return b"".join(spoiled_header(rng, frame) if place in chosen else frame for place, frame in enumerate(frames))


def values_changed(rng: Random, frames: list[bytes]) -> bytes:
    chosen = some(rng, frames)
    return b"".join(packed(spoiled_message(rng, unpack(f))) if place in chosen else f for place, f in enumerate(frames))


def messages_replaced(rng: Random, frames: list[bytes]) -> bytes:
    chosen = some(rng, frames)
    return b"".join(packed(odd_message(rng)) if place in chosen else frame for place, frame in enumerate(frames))


def questions_asked(rng: Random, frames: list[bytes]) -> bytes:
    chosen = some(rng, frames)
    asked = [value for frame in frames[:100] if (value := unpack(frame))["say"] == "ask"] or [question(rng)]
    return b"".join(
        part
        for place, frame in enumerate(frames)
        for part in (
            *(
                packed(rng.choice((question(rng), spoiled_value(rng, rng.choice(asked)))))
                for _ in range(3 * (place in chosen))
            ),
            frame,
        )
    )


def frames_out_of_place(rng: Random, frames: list[bytes]) -> bytes:
    other = list(rng.choice(subject(rng.choice(EXERCISES)).conversations))
    mixed = [rng.choice((frame, frame, rng.choice(frames), rng.choice(other))) for frame in frames]
    return b"".join(frame for frame in mixed for _ in range(rng.choice((0, 1, 1, 1, 1, 2))))


def noise(rng: Random, frames: list[bytes]) -> bytes:
    lengths = rng.choice(
        ((0, 0), (1, 0), (2**32 - 1, 2**32 - 1), (MAX_HEADER, MAX_FRAME), (MAX_HEADER + 1, 0), (40, 8))
    )
    start = rng.choice(
        (b"", struct.pack("!II", *lengths), b"GET / HTTP/1.1\r\n\r\n", b"\x80\x04\x95", frames[0] + frames[0][:9])
    )
    return start + rng.randbytes(rng.randrange(200))


KINDS: dict[str, Callable[[Random, list[bytes]], bytes]] = {
    kind.__name__: kind
    for kind in (
        bytes_changed,
        headers_changed,
        values_changed,
        messages_replaced,
        questions_asked,
        frames_out_of_place,
        noise,
    )
}


# ---------------------------------------------------------------------------------------------- the verdict


class Wire:
    """The judge's connection: these bytes arrive, in pieces of any size, and then the other side is gone."""

    def __init__(self, stream: bytes, rng: Random) -> None:
        self.stream, self.place, self.rng = stream, 0, rng

    def settimeout(self, seconds: float) -> None: ...

    def sendall(self, data: bytes) -> None: ...

    def recv(self, most: int) -> bytes:
        piece = self.stream[self.place : self.place + min(most, self.rng.choice((1, 100, 100_000)))]
        self.place += len(piece)
        return piece


class Listening:
    """A link that remembers the last reply to each call, and counts them all."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.last: list[Value] = []
        self.replies = 0

    def send(self, value: Value) -> None:
        if value["do"] == "call":
            self.last.append(None)
        self.link.send(value)

    def receive(self) -> Value:
        self.replies += 1
        self.last[-1] = self.link.receive()
        return self.last[-1]


def converse(name: str, kind: str, seed: int) -> tuple[int, Verdict]:
    """Let the judge of an exercise hear one conversation; how many replies it took, and its verdict."""
    rng = Random(f"{name} {kind} {seed}")
    tried = subject(name)
    exercise = tried.paper.exercise
    stream = KINDS[kind](rng, list(rng.choice((tried.conversations[0], *tried.conversations))))
    link = Listening(SocketLink(Wire(stream, rng)))  # type: ignore[arg-type]
    began = time.thread_time()
    verdict = interview.judge(tried.paper, link, allow=unhurried)
    took = time.thread_time() - began
    assert took < SECONDS
    probes = exercise.probes
    assert [(f.shows, f.points) for f in verdict.findings] == [(p.shows, p.points) for p in probes]
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict
    assert (repr(verdict) + html(verdict)).encode()
    assert "<script" not in html(verdict)
    call = 0
    for sheet, finding in zip(tried.paper.sheets, verdict.findings, strict=True):
        probe, cases = sheet.probe, (*sheet.cases, *sheet.again)
        end = call + len(cases)
        if finding.earned:
            looked_at = observed_rightly if finding.earned == finding.points else observed_in_numbers
            for case, wanted, got in zip(cases, tried.answers[call:end], link.last[call:end], strict=True):
                assert looked_at(exercise, probe, case, wanted, got), f"points for {probe.shows}"
        call = end
    return link.replies, verdict


def observed_rightly(exercise: Exercise, probe: Probe, case: Case, wanted: Value, got: Value) -> bool:
    """Whether an observation is right, looked at with other eyes than the judge's: whoever has points must pass here."""
    if wanted["raised"]:
        return got["raised"] is not None and got["raised"][0] == wanted["raised"][0]
    if got["raised"] is not None or (probe.measures == "lines" and "lines" not in got["counts"]):
        return False
    if to_json(got["arguments"]) != to_json(wanted["arguments"]):
        return False
    right, given = (_looked_at(exercise, case, account) for account in (wanted, got))
    return alike(right[probe.part], given[probe.part]) if probe.part else alike(right, given)


def observed_in_numbers(exercise: Exercise, probe: Probe, case: Case, wanted: Value, got: Value) -> bool:
    """Whether an observation has the right numbers, in whatever form: whoever has a part of the points must pass here."""
    if wanted["raised"] or got["raised"]:
        return bool(wanted["raised"] and got["raised"]) and got["raised"][0] == wanted["raised"][0]
    right, given = (_looked_at(exercise, case, account) for account in (wanted, got))
    if probe.part:
        right, given = right[probe.part], given[probe.part]
    if isinstance(right, dict):
        return all(_same_numbers(right[key], given[key]) for key in right)
    return _same_numbers(right, given)


def _same_numbers(right: Value, given: Value) -> bool:
    if isinstance(right, str):
        return isinstance(given, str) and right.lower() == given.strip().lower()
    return near(np.array(_flat(right), np.float64), np.array(_flat(given), np.float64))


def _flat(value: Value) -> list[float]:
    if isinstance(value, (list, tuple, dict)):
        return [number for part in (value.values() if isinstance(value, dict) else value) for number in _flat(part)]
    return [float(number) for number in np.ravel(bare(value))]


def _looked_at(exercise: Exercise, case: Case, message: Value) -> Value:
    told = Account.from_value({key: part for key, part in message.items() if key != "say"})
    if case.harness in TELLINGS:
        told = TELLINGS[case.harness](case.arguments, told)
    return outcomes(told.result) if exercise.view else told.result


def alike(right: Value, given: Value) -> bool:
    if isinstance(right, dict):
        return (
            isinstance(given, dict) and right.keys() == given.keys() and all(alike(right[k], given[k]) for k in right)
        )
    if isinstance(right, (list, tuple)):
        return type(right) is type(given) and len(right) == len(given) and all(map(alike, right, given))
    if isinstance(right, (np.ndarray, Tensor)):
        return type(right) is type(given) and bare(right).dtype == bare(given).dtype and near(bare(right), bare(given))
    if isinstance(given, (np.ndarray, Tensor)):
        given = bare(given).item() if bare(given).ndim == 0 else None
    if type(right) in (int, float):
        return type(given) in (type(right), int) and near(np.float64(right), np.float64(given))
    return type(right) is type(given) and right == given


def near(right: Any, given: Any) -> bool:
    if np.shape(right) != np.shape(given):
        return False
    if right.dtype.kind != "f":
        return bool(np.all(right == given))
    right, given = right.astype(np.float64), given.astype(np.float64)
    room = 1e-3 * np.abs(right[np.isfinite(right)]).max(initial=0.0)
    return bool(np.allclose(given, right, rtol=1e-3, atol=room, equal_nan=True))


def fuzz(name: str, replies: int, rounds: int = ROUNDS, first: int = 0) -> Counter[str]:
    """Let the judge of an exercise hear conversations of every kind.

    Args:
        replies, rounds: how many replies, and conversations of each kind, there are at the least.
        first: the first seed.

    Returns:
        How many replies of each kind there were, and how often each outcome.
    """
    heard: Counter[str] = Counter()
    seed = first
    while seed < first + rounds or sum(heard[kind] for kind in KINDS) < replies:
        for kind in KINDS:
            try:
                count, verdict = converse(name, kind, seed)
            except Exception as error:
                raise AssertionError(f"converse({name!r}, {kind!r}, {seed})") from error
            heard[kind] += count
            heard[verdict.outcome] += 1
        seed += 1
    return heard


@pytest.mark.thorough
@pytest.mark.parametrize("name", EXERCISES)
def test_no_reply_makes_the_judge_stumble_or_give_points_that_are_not_earned(name: str) -> None:
    for other in EXERCISES:
        subject(other)  # frames of any may turn up
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heard = fuzz(name, REPLIES)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEBIBYTES << 10
    assert {"tampered", "crashed"} < set(heard) - set(KINDS)


def test_ten_thousand_replies_are_tried() -> None:
    assert REPLIES * len(EXERCISES) >= 10_000


@pytest.mark.parametrize("name", EXERCISES)
def test_what_unpack_takes_could_have_been_packed(name: str) -> None:
    frames = [frame for conversation in subject(name).conversations for frame in conversation]
    taken = 0
    for seed in range(200):
        rng = Random(seed)
        spoil = rng.choice((spoiled_header, lambda rng, frame: bytes_changed(rng, [frame])))
        try:
            value = unpack(spoil(rng, rng.choice(frames)))
        except Malformed:
            continue
        taken += 1
        assert pack(unpack(pack(value))) == pack(value)
    assert 0 < taken < 200


@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_repeated_is_an_honest_conversation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "unchanged", lambda rng, frames: b"".join(frames))
    verdicts = [converse(name, "unchanged", seed)[1] for seed in range(9)]
    assert {"passed"} < {verdict.outcome for verdict in verdicts} <= {"passed", "partly", "wrong"}
    assert any(verdict.mistakes for verdict in verdicts)
