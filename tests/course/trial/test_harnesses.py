"""What harnesses report of the function that they are run around."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from course.modules import Block
from course.parameters import random_parameters
from course.trial import harnesses
from course.trial.cases import case
from course.trial.comparing import Difference
from course.trial.functions import public_function
from course.trial.harnesses import (
    accepting,
    decoding,
    evaluating,
    gradients,
    refusing,
    shards,
    stepping,
    stretched,
    timing,
    twice,
)
from course.trial.observing import OUT_OF_STEP, Observation, Raised
from course.trial.ranks import Rank, held_up, simulated
from course.trial.tellings import BENT, SENT
from course.trial.text import explain
from course.trial.values import Tensor

SIZES = {"d": 4, "h": 2, "k": 3, "v": 1, "f": 5, "eps": 1e-3, "dropout": 0.5}


# ---------------------------------------------------------------------------------------------- gradients


def squares(x: torch.Tensor, n: int) -> torch.Tensor:
    return x**2


def test_the_gradient_is_that_of_a_weighted_sum_of_the_outputs() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    found = gradients(squares, {"x": x, "n": 3})
    assert list(found) == ["gradient by x"]
    torch.testing.assert_close(found["gradient by x"], 2 * x * torch.arange(3, dtype=torch.float64).cos())


@pytest.mark.parametrize("cut", [lambda x, n: (x**2).detach(), lambda x, n: torch.tensor((x.detach().numpy()) ** 2)])
def test_a_way_back_that_is_cut_gives_zeros(cut: Callable[..., torch.Tensor]) -> None:
    found = gradients(cut, {"x": torch.ones(2), "n": 3})
    assert found["gradient by x"].tolist() == [0.0, 0.0]


def test_what_stands_in_dictionaries_is_named_by_its_key() -> None:
    found = gradients(lambda X, params: X @ params["W"], {"X": torch.ones(1, 2), "params": {"W": torch.ones(2, 1)}})
    assert list(found) == ["gradient by X", "gradient by W"]


def test_a_mask_is_stretched_over_items_and_heads() -> None:
    lengths = torch.tensor([1, 2])
    mask = stretched(
        lambda lengths, n, causal, left: torch.ones(2, 1, n, n, dtype=torch.bool), lengths, 3, True, False, 4
    )
    assert mask.shape == (2, 4, 3, 3)


# --------------------------------------------------------------------------------------------- looked_into


@pytest.mark.parametrize(
    ("returned", "shape", "entries"),
    [
        (np.arange(9).reshape(3, 3), "[3, 3]", np.array([[0, 2], [6, 8]])),
        (np.arange(9).reshape(3, 3).tolist(), "[3, 3]", [[0, 2], [6, 8]]),
        (np.arange(4).reshape(2, 2), "[2, 2]", np.array([[0]])),  # it has no place 2
        (np.zeros((1, 3, 3)), "[1, 3, 3]", None),
        (None, "[]", None),
    ],
)
def test_of_a_large_table_few_places_are_brought_back(returned: object, shape: str, entries: object) -> None:
    found = case(3, [0, 2], harness="looked_into").run(lambda n: returned).result
    assert found["The shape of the table"] == shape
    assert type(found["What stands in these places"]) is type(entries)
    assert np.array_equal(found["What stands in these places"], entries)


# ------------------------------------------------------------------------------------------------- loaded


def run(load: Callable[[Block, dict[str, np.ndarray]], Any]) -> dict[str, Any]:
    params = random_parameters(np.random.default_rng(0), 4, 2, 3, 1, 5)
    X, keep = Tensor(np.ones((1, 2, 4))), Tensor(np.ones((2, 2), bool))
    observed = case(SIZES, params, X, keep, harness="loaded").run(load)
    assert observed.raised is None
    return dict(observed.result)


def test_a_module_that_is_only_told_to_evaluate_is_as_it_was() -> None:
    report = run(lambda module, params: module.eval())
    assert report["afterwards"] == {
        "mode": "evaluation",
        "what came back": "the module that was given",
        "memory of the weights": "its own",
        "weights to train": "as before",
        "dropout": "as before",
    }
    assert np.isfinite(report["output"].array).all()


@pytest.mark.parametrize(
    ("load", "key", "said"),
    [
        (lambda module, params: module, "mode", "training"),
        (lambda module, params: module.eval().dropout.train(), "mode", "evaluation, with parts in training"),
        (lambda module, params: None, "what came back", "None"),
        (lambda module, params: Block(4, 2, 3, 1, 5), "what came back", "another Block"),
        (lambda module, params: module.eval().requires_grad_(False), "weights to train", "others than before"),
        (lambda module, params: setattr(module, "dropout", torch.nn.Identity()), "dropout", "Identity()"),
        (lambda module, params: setattr(module.dropout, "p", 0.0), "dropout", "Dropout(p=0.0, inplace=False)"),
        (
            lambda module, params: setattr(module.double().output.weight, "data", torch.from_numpy(params["Wo"]).T),
            "memory of the weights",
            "shared with Wo",
        ),
    ],
)
def test_what_became_of_the_module_is_told(load: Callable[..., Any], key: str, said: str) -> None:
    assert run(load)["afterwards"][key] == said


@pytest.mark.parametrize(
    ("layer", "array", "said"),
    [
        ("output", "Wo", "Wo"),
        ("query", "Wqkv", "none of the arrays in params"),
        ("norm_before_ffn", "b2", "b2"),
        ("norm_before_attention", "gain1", "gain1"),
    ],
)
def test_whose_numbers_a_weight_holds_is_told(layer: str, array: str, said: str) -> None:
    def load(module: Block, params: dict[str, np.ndarray]) -> Block:
        weight = module.get_submodule(layer).weight
        numbers = params[array].T if params[array].ndim == 1 or layer == "output" else params[array].T + 1.0
        with torch.no_grad():
            weight.copy_(torch.tensor(numbers[: len(weight)]))
        return module

    holds = run(load)["numbers"]
    assert holds[f"What {layer}.weight holds"] == said
    assert holds["What narrow.bias holds"] == "none of the arrays in params"


def test_an_output_that_changes_from_call_to_call_is_no_output() -> None:
    assert np.isnan(run(lambda module, params: module)["output"].array).all()


# --------------------------------------------------------------------------------------------- evaluating


def measure(function: Callable[..., Any], training: bool = True) -> dict[str, Any]:
    return evaluating(function, torch.eye(3, dtype=torch.float64), torch.tensor([[0, 1, 2]]), training)


def careful(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        loss = model(ids[:, :-1]).sum(dim=-1)[0]
    model.train(was)
    return loss


@pytest.mark.parametrize("training", [True, False])
def test_who_measures_with_care_leaves_no_trace(training: bool) -> None:
    report = measure(careful, training)
    assert report.pop("loss").tolist() == [2.0, 1.0]  # the model peeks at the next token, where it is shown one
    assert report == {
        "in training mode afterwards": "yes" if training else "no",
        "carries a graph": False,
        "left switched off": "nothing",
    }


@pytest.mark.parametrize(
    ("trace", "key", "said"),
    [
        (lambda model: model.eval(), "in training mode afterwards", "no"),
        (
            lambda model: setattr(model, "training", False),
            "in training mode afterwards",
            "the part inside, but not the model",
        ),
        (lambda model: torch.set_grad_enabled(False), "left switched off", "the recording of gradients"),
        (lambda model: model.requires_grad_(False), "left switched off", "the gradients of the model's weights"),
    ],
)
def test_a_trace_that_is_left_is_told(trace: Callable[..., Any], key: str, said: object) -> None:
    def careless(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
        trace(model)
        return model(ids[:, :-1])

    assert measure(careless)[key] == said
    assert torch.is_grad_enabled()


# ----------------------------------------------------------------------------------------------- refusing


def refuse(*arguments: object) -> None:
    raise ValueError("no")


def test_a_refusal_is_an_answer_that_nothing_returned_can_pass_for() -> None:
    refused = refusing(refuse, 1)
    returned = [refusing(lambda given: given, given) for given in (ValueError("no"), refused, None, "leak")]
    assert refused not in returned
    assert returned[2:] == [None, "leak"]


def test_an_assertion_is_told_from_a_refusal() -> None:
    def asserts(x: int) -> None:
        assert x == 0

    assert refusing(asserts, 1) not in (refusing(refuse, 1), refusing(asserts, 0))


def test_another_error_that_is_raised_on_purpose_is_told_by_its_type() -> None:
    def raises(x: int) -> None:
        raise TypeError("no number")

    assert refusing(raises, 1) == "TypeError, raised"


def test_another_exception_than_a_refusal_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        refusing(lambda x: 1 / x, 0)


def test_a_refusal_of_what_is_not_to_be_refused_says_so() -> None:
    def hasty(x: int) -> None:
        if x:
            raise ValueError("no")

    with pytest.raises(ValueError, match="there is nothing to refuse here, and a 'ValueError' is raised"):
        accepting(hasty, 1)
    assert accepting(hasty, 0) is None


def test_an_operation_that_went_wrong_is_no_refusal() -> None:
    with pytest.raises(ValueError, match="mismatch"):
        accepting(lambda x: np.ones(x) @ np.ones(x + 1), 2)


# ----------------------------------------------------------------------------------------------- stepping


def test_what_a_step_returns_is_looked_at_one_by_one_if_there_are_two() -> None:
    assert stepping(lambda *given: ("row", {"K": 1}), *(TEXT,) * 5) == {"output": "row", "cache": {"K": 1}}
    assert stepping(lambda *given: ["row"], *(TEXT,) * 5) == ["row"]


# --------------------------------------------------------------------------------------------- several ranks

WEIGHTS = {"b1": np.zeros(4), "b2": np.array([1.0, 2.0])}


def returned(found: list[Any]) -> list[Any]:
    return [Rank.from_value(one).observed.result["H"] for one in found]


def test_what_a_function_keeps_from_another_block_shows() -> None:
    kept: dict[int, Any] = {}

    def remembers(rank: int, p: int, X: Any, params: dict[str, Any], *others: Any) -> Any:
        return kept.setdefault(rank, params["b2"])

    with simulated():
        found = returned(twice(remembers, 2, np.ones((1, 2)), WEIGHTS, 2, np.ones((1, 1), bool), 0.1, "relu"))
    assert [H.tolist() for H in found] == [[2.0, 1.0]] * 2


def test_an_activation_that_is_given_more_than_a_share_is_spoilt() -> None:
    def bends(times: int) -> Callable[..., Any]:
        return lambda rank, p, X, params, h, keep, eps, act: [act(np.ones((1, 2))) for _ in range(times)][-1]

    given = (2, np.ones((1, 2)), WEIGHTS, 2, np.ones((1, 1), bool), 0.1, "relu", {})
    with simulated():
        within, beyond = (returned(shards(bends(times), *given)) for times in (1, 2))
    assert [H.tolist() for H in (*within, *beyond)] == [[[1.0, 1.0]]] * 2 + [[[2.0, 2.0]]] * 2


# ------------------------------------------------------------------------------------------------- timing


def test_what_is_timed_knows_the_device_by_three_callables() -> None:
    def measure(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> list[float]:
        sync()
        start = clock()
        fn()
        launched = clock()
        sync()
        return [launched - start, clock() - start, warmup, reps]

    device = public_function("device", work=[3.0], launch=0.25, queued=2.0).begin()
    assert timing(measure, device, 4, 5) == [0.25, 3.0, 4, 5]


@pytest.mark.parametrize("name", ["fn", "sync", "clock"])
def test_a_call_with_arguments_is_refused_under_the_name_that_the_student_knows(name: str) -> None:
    def wrong(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> None:
        {"fn": fn, "sync": sync, "clock": clock}[name](warmup)

    with pytest.raises(TypeError, match=rf"^{name}\(\) takes 0 positional arguments but 1 was given$"):
        timing(wrong, public_function("device", work=[1.0]).begin(), 0, 1)


def test_a_clock_that_was_never_read_is_told_since_the_times_would_be_those_of_another() -> None:
    def measure(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> float:
        fn()
        sync()
        return 3e-6

    observed = case(public_function("device", work=[1.0]), 0, 1, harness="timing").run(measure)
    assert observed.raised is not None
    found = Difference("raised", (), None, observed.raised)
    assert explain(found, values=False) == "The 'clock' that came with fn and sync was never read."


def test_who_does_not_even_call_fn_is_told_of_the_result() -> None:
    assert timing(lambda *given: None, public_function("device", work=[1.0]).begin(), 0, 1) is None


@pytest.mark.parametrize("said", ["Torch not compiled with CUDA enabled", "Found no NVIDIA driver on your system."])
def test_who_asks_for_a_real_gpu_is_told_of_sync_whatever_torch_says(said: str) -> None:
    def measure(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> None:
        raise AssertionError(said)

    with pytest.raises(RuntimeError, match="what waits for the one of fn is 'sync'") as caught:
        timing(measure, public_function("device", work=[1.0]).begin(), 0, 1)
    assert "measure" in [entry.name for entry in caught.traceback]  # so that the student's line can be told


def test_any_other_error_stays_as_it_is() -> None:
    def measure(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> None:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError, match=r"^division by zero$"):
        timing(measure, public_function("device", work=[1.0]).begin(), 0, 1)


# ----------------------------------------------------------------------------------------------- decoding


TEXT = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], dtype=torch.float32)
WIDE, NARROW = torch.ones(2, 3), torch.ones(2, 1)


def remember(x: torch.Tensor, cache: dict[str, torch.Tensor], *weights: torch.Tensor) -> tuple[Any, Any]:
    grown = {key: torch.cat([cache[key], x @ W]) for key, W in zip("KV", weights[1:], strict=True)}
    return grown["V"].sum(dim=0, keepdim=True), grown


def test_each_token_is_given_the_cache_of_the_one_before() -> None:
    report = decoding(remember, TEXT, WIDE, WIDE, NARROW)
    assert [output.tolist() for output in report["outputs"]] == [[[1.0]], [[2.0]], [[6.0]], [[3.0]]]
    assert [list(cache["K"].shape) for cache in report["caches"]] == [[1, 3], [2, 3], [3, 3], [3, 3]]
    assert report["caches"][0]["V"].dtype == TEXT.dtype


def test_a_cache_that_is_changed_later_shows_the_change() -> None:
    def forgetful(x: torch.Tensor, cache: dict[str, torch.Tensor], *weights: torch.Tensor) -> tuple[Any, Any]:
        output, grown = remember(x, cache, *weights)
        cache.update(grown)
        return output, cache

    report = decoding(forgetful, TEXT, WIDE, WIDE, NARROW)
    assert [len(cache["K"]) for cache in report["caches"]] == [4, 4, 4, 4]


def test_caches_that_share_one_room_overwrite_each_other() -> None:
    room = torch.zeros(9, 1)

    def sharing(x: torch.Tensor, cache: dict[str, torch.Tensor], *weights: torch.Tensor) -> tuple[Any, Any]:
        output, grown = remember(x, cache, *weights)
        room[: len(grown["V"])] = grown["V"]
        return output, {"K": grown["K"], "V": room[: len(grown["V"])]}

    apart, shared = (decoding(f, TEXT, WIDE, WIDE, NARROW)["caches"][2]["V"] for f in (remember, sharing))
    assert not torch.equal(apart, shared)


def test_a_step_that_returns_no_pair_is_an_error_in_words() -> None:
    with pytest.raises(TypeError, match=r"^an output and a cache were expected, as a tuple of two$"):
        decoding(lambda x, *others: x, TEXT, WIDE, WIDE, NARROW)


# --------------------------------------------------------------------------- processes, shards and refusals

PARAMS = random_parameters(np.random.default_rng(0), 3, 2, 1, 1, 2)


def observed(function: Callable[..., Any], p: int = 2, harness: str = "processes", *more: Any) -> Observation:
    X, keep = np.arange(6.0).reshape(2, 3), np.ones((2, 2), bool)
    return case(p, X, PARAMS, 2, keep, 0.1, "tanh", *more, harness=harness).run(function)


def together(function: Callable[..., Any], p: int = 2, harness: str = "processes", *more: Any) -> Any:
    found = observed(function, p, harness, *more)
    assert found.raised is None
    return found.result


def raised(function: Callable[..., Any], harness: str = "processes") -> Raised:
    found = observed(function, harness=harness).raised
    assert found is not None
    return found


def meet_twice(rank: int, p: int, X: np.ndarray, *others: Any) -> np.ndarray:
    total = X + rank
    distributed.all_reduce(torch.from_numpy(total))
    distributed.all_reduce(torch.from_numpy(total))
    return total


def test_each_rank_answers_and_its_collectives_are_counted() -> None:
    found = together(meet_twice)
    assert found[SENT] == "2 all-reduces on each rank"
    X = np.arange(6.0).reshape(2, 3)
    assert {rank: H.tolist() for rank, H in found["H"].items()} == dict.fromkeys(
        ("What rank 0 returned", "What rank 1 returned"), (4 * X + 2).tolist()
    )


def test_collectives_that_are_no_all_reduces_are_told_of() -> None:
    def others(rank: int, *arguments: Any) -> None:
        distributed.all_reduce(torch.ones(2))
        distributed.barrier()
        distributed.broadcast(torch.ones(2), 0)

    assert together(others)[SENT] == "1 all-reduce and 2 other collectives on each rank"


def test_act_is_to_be_given_no_more_than_a_ranks_share() -> None:
    def bends(rank: int, p: int, X: np.ndarray, params: Any, h: int, keep: Any, eps: float, act: Any) -> None:
        for _ in range(2):
            act(torch.ones(1 if rank else 2))

    assert together(bends)[BENT] == "4 numbers on rank 0, at most 2 numbers on rank 1"


def test_a_result_that_is_too_large_to_travel_is_told_of() -> None:
    found = together(lambda *arguments: np.zeros(1 << 20))
    assert "too large" in repr(found["H"]["What rank 0 returned"])


def test_collectives_of_one_rank_alone_are_nobodys_business() -> None:
    assert list(together(meet_twice, p=1)) == ["H"]


def test_the_activation_comes_by_its_name() -> None:
    found = together(lambda rank, p, X, params, h, keep, eps, act: act(X))
    assert found[SENT] == "0 all-reduces on each rank"
    np.testing.assert_array_equal(found["H"]["What rank 1 returned"], np.tanh(np.arange(6.0)).reshape(2, 3))


def test_what_a_rank_prints_is_printed_with_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    together(lambda rank, *others: print("here", rank))
    assert capsys.readouterr().out == "rank 0: here 0\nrank 1: here 1\n"


def test_what_all_ranks_raise_is_raised() -> None:
    assert raised(lambda rank, p, X, *others: X + None).kind == "TypeError"

    def unwritten(*arguments: Any) -> None:
        raise NotImplementedError

    assert raised(unwritten).unwritten


def test_what_one_rank_raises_is_told_with_its_number_and_before_who_waited_for_it() -> None:
    def stumbles(rank: int, p: int, X: np.ndarray, *others: Any) -> None:
        if rank == 1:
            raise TypeError("no")
        distributed.all_reduce(torch.from_numpy(X))

    found = raised(stumbles)
    assert (found.kind, found.message) == ("TypeError on rank 1", "no")


def test_ranks_that_do_not_meet_are_told_of() -> None:
    def leaves(rank: int, p: int, X: np.ndarray, *others: Any) -> None:
        if rank == 0:
            distributed.all_reduce(torch.from_numpy(X))

    found = raised(leaves)
    assert found.kind == OUT_OF_STEP
    assert held_up(Observation(raised=found))
    assert re.fullmatch(r"rank 0 waited in a collective that was not completed.*; rank 1 returned", found.message)


def test_a_rank_that_is_never_through_does_not_keep_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harnesses, "SECONDS_TOGETHER", 600.0)
    started = time.monotonic()

    def spins(rank: int, *others: Any) -> None:
        while rank:
            pass

    found = raised(spins)
    assert found.message == "rank 0 returned; rank 1 was not through in time"
    assert time.monotonic() - started < 300  # it does not wait until all time is over


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", ["X", "params"])
def test_what_a_rank_does_to_its_arguments_is_done_to_the_callers(name: str, rank: int) -> None:
    def edits(own: int, p: int, X: np.ndarray, params: dict[str, np.ndarray], *others: Any) -> None:
        if own == rank:
            (X if name == "X" else params["b2"])[...] = 7

    changed = observed(edits).changed
    assert list(changed) == [1 if name == "X" else 2]
    now = changed[1] if name == "X" else changed[2]["b2"]
    assert (now == 7).all()
    before = PARAMS["W1"], PARAMS["b2"]
    assert name == "X" or np.array_equal(changed[2]["W1"], before[0])
    assert not (before[1] == 7).any()


def test_what_ranks_that_raise_have_done_to_their_arguments_is_told_too() -> None:
    def spoils(rank: int, p: int, X: np.ndarray, *others: Any) -> None:
        X[...] = 7
        raise ValueError("no")

    found = observed(spoils)
    assert (found.raised and found.raised.kind, list(found.changed)) == ("ValueError", [1])


def test_of_what_is_shared_out_a_rank_finds_its_own_and_a_hundred_elsewhere() -> None:
    owners = {"b1": np.array([0, 1]), "W2": np.array([[0], [1]])}
    found = together(
        lambda rank, p, X, params, *others: np.append(params["b1"], params["W2"][:, 0]), 2, "shards", owners
    )
    first, second = PARAMS["b1"], PARAMS["W2"][:, 0]
    assert found["H"]["What rank 0 returned"].tolist() == [first[0], 100, second[0], 100]
    assert found["H"]["What rank 1 returned"].tolist() == [100, first[1], 100, second[1]]


def test_a_refusal_is_every_ranks_and_comes_before_anything_is_sent() -> None:
    def refuses(*arguments: Any) -> None:
        raise ValueError("not evenly")

    def late(rank: int, p: int, X: np.ndarray, *others: Any) -> None:
        distributed.all_reduce(torch.from_numpy(X))
        raise ValueError("not evenly")

    def alone(rank: int, *others: Any) -> None:
        if rank == 0:
            raise ValueError("not evenly")

    assert raised(refuses, "refusals").kind == "ValueError"
    for function, said in (
        (late, "rank 0 raised ValueError after something was sent; rank 1 raised ValueError after something was sent"),
        (alone, "rank 0 raised ValueError; rank 1 returned"),
    ):
        found = raised(function, "refusals")
        assert (found.kind, found.message) == (OUT_OF_STEP, said)
        assert not held_up(Observation(raised=found))
    np.testing.assert_array_equal(together(meet_twice, harness="refusals"), 4 * np.arange(6.0).reshape(2, 3) + 2)
