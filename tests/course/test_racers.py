"""Six ways to compute one block: they agree, and a missing compiler stops nobody."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from course import racers
from course.racers import EAGER, SIZES, Sizes

CPU = torch.device("cpu")
SMALL = Sizes(b=3, d=12, h=2, f=20)


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    racers.compiled.cache_clear()
    yield
    racers.compiled.cache_clear()


def by_hand(X: np.ndarray, p: dict[str, np.ndarray], h: int) -> np.ndarray:
    """The block of one sequence, from its definition, in loops."""
    n, d = X.shape
    k = d // h

    def norm(x: np.ndarray, which: str) -> np.ndarray:
        return (x - x.mean()) / np.sqrt(x.var() + racers.EPS) * p[f"gain{which}"] + p[f"bias{which}"]

    T1 = np.array([norm(x, "1") for x in X])
    rows = []
    for i in range(n):
        outputs = []
        for j in range(h):
            Wq, Wk, Wv = (p["Wqkv"][:, part * d + j * k : part * d + (j + 1) * k] for part in range(3))
            scores = np.array([(T1[i] @ Wq) @ (T1[m] @ Wk) / k**0.5 for m in range(i + 1)])
            weights = np.exp(scores) / np.exp(scores).sum()
            outputs.append(sum(weight * (T1[m] @ Wv) for m, weight in enumerate(weights)))
        t3 = np.concatenate(outputs) @ p["Wo"] + X[i]
        rows.append(np.maximum(norm(t3, "2") @ p["W1"] + p["b1"], 0) @ p["W2"] + p["b2"] + t3)
    return np.array(rows)


def drawn(sizes: Sizes, n: int, dtype: torch.dtype) -> tuple[torch.Tensor, racers.Params]:
    """Tokens and parameters, with biases and gains that matter."""
    params = racers.parameters(sizes, CPU, dtype)
    draw = torch.Generator().manual_seed(5)
    for name, values in params.items():
        if values.ndim == 1:
            params[name] = values + 0.3 * torch.randn(values.shape, generator=draw).to(dtype)
    return racers.tokens(sizes, n, CPU, dtype), params


@pytest.mark.parametrize("name", EAGER)
@pytest.mark.parametrize("n", [1, 7])
def test_each_is_the_block_of_its_definition(name: str, n: int) -> None:
    X, params = drawn(SMALL, n, torch.float64)
    expected = [by_hand(item.numpy(), {key: p.numpy() for key, p in params.items()}, SMALL.h) for item in X]
    np.testing.assert_allclose(EAGER[name](X, params, SMALL.h), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", EAGER)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_number_type_stays(name: str, dtype: torch.dtype) -> None:
    X, params = drawn(SMALL, 3, dtype)
    assert EAGER[name](X, params, SMALL.h).dtype == dtype


def test_what_is_compiled_gives_the_same_for_other_lengths_without_being_compiled_again() -> None:
    compiled = racers.compiled()
    if compiled.racer is None:
        pytest.skip(compiled.told)
    assert "torch.compile took" in repr(compiled)
    torch._dynamo.utils.counters.clear()
    for n in (3, 33, 50):
        X, params = drawn(SIZES, n, torch.float32)
        X, params = X.to(racers.here()), {name: values.to(racers.here()) for name, values in params.items()}
        with torch.no_grad():
            got, expected = compiled.racer(X, params, SIZES.h), racers.batched(X, params, SIZES.h)
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 0
    assert racers.compiled() is compiled


def test_without_a_compiler_there_are_words_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racers, "here", lambda: CPU)
    monkeypatch.setenv("CXX", "no-such-compiler")
    compiled = racers.compiled()
    assert compiled.racer is None
    assert repr(compiled) == "torch.compile needs a C++ compiler, and there is no no-such-compiler here"


def test_whatever_fails_while_compiling_is_told_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **keywords: object) -> object:
        raise OSError("no room")

    monkeypatch.setattr(racers, "_missing_compiler", lambda: None)
    monkeypatch.setattr(torch, "compile", lambda function, **options: broken)
    assert racers.compiled() == racers.Compiled(None, "torch.compile does not work here: OSError")


def test_a_python_that_torch_compile_does_not_know_is_told_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(function: object, **options: object) -> object:
        raise RuntimeError("torch.compile is not supported on this Python")

    monkeypatch.setattr(racers, "_missing_compiler", lambda: None)
    monkeypatch.setattr(torch, "compile", unknown)
    assert racers.compiled() == racers.Compiled(None, "torch.compile does not work here: RuntimeError")


def test_nothing_is_compiled_while_nbgrader_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **keywords: object) -> None:
        raise AssertionError

    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(torch, "compile", refuse)
    assert racers.compiled().racer is None


def test_the_compiler_knows_attention_by_some_spellings_of_the_mask_and_not_by_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")  # nothing is made of what it has chosen
    racers.recognised.cache_clear()
    told = racers.recognised().splitlines()
    assert [line.split(": ")[-1] for line in told] == ["1 times", "0 times"]
