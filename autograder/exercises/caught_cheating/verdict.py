"""Honest, underfit or leak: where a loss lies beside the entropy.

Nobody who predicts gets below the entropy on average, so a loss down there says that the answers were seen. That is
why low is not good here. Measured on finitely many texts, an honest model lands a little below as often as a little
above, so the band reaches by `tol` to both sides and its edges belong to it. NaN is asked for first: every comparison
with NaN is false, and it would pass for whatever word stands last. All numbers are in nats, and nothing is rounded on
the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from autograder.exercises.model import Case, case, mistake, probe, right


def verdict(loss: float, entropy: float, tol: float) -> Literal["honest", "underfit", "leak"]:
    """Where a loss lies in the line: below the entropy, above it, or, up to tol, on it."""
    if loss != loss:
        raise ValueError("the loss is not a number")
    below, above = entropy - tol, entropy + tol
    if below <= loss <= above:
        return "honest"
    return "leak" if loss < below else "underfit"


PUBLIC = (
    case(1.0, 1.5, 0.25),
    case(1.5, 1.5, 0.25),
    case(2.0, 1.5, 0.25),
    case(0.5, 1.5, 0.25),
    # inside the band, ever closer to an edge
    case(1.47, 1.5, 0.25),
    case(1.5525, 1.5, 0.25),
    case(1.41, 1.5, 0.25),
    case(1.59, 1.5, 0.25),
    case(1.35, 1.5, 0.25),
    case(1.65, 1.5, 0.25),
    case(1.3, 1.5, 0.25),
    case(1.7, 1.5, 0.25),
    # outside it, where a share of the entropy would be inside
    case(1.1875, 1.5, 0.25),
    case(1.8125, 1.5, 0.25),
    # the edges
    case(1.25, 1.5, 0.25),
    case(1.75, 1.5, 0.25),
    case(0.5, 1.0, 0.5),
    case(1.5, 1.0, 0.5),
    # beyond them, by hardly anything
    *(case(1.5 + sign * (0.25 + 2.0**power), 1.5, 0.25) for power in (-20, -13, -10, -8) for sign in (1, -1)),
    case(1.5, 1.5, 0.0),  # a band of width 0
    case(1.5 + 2.0**-10, 1.5, 0.0),
    case(1.5 - 2.0**-10, 1.5, 0.0),
    case(1.5 + 2.0**-30, 1.5, 0.0),
    case(1.5 - 2.0**-30, 1.5, 0.0),
    # another entropy, other digits
    case(2.237, 2.384, 0.145),
    case(2.533, 2.384, 0.145),
    case(2.531, 2.384, 0.151),
    case(2.714, 2.384, 0.145),
    case(-0.5, 1.5, 0.25),
    case(math.nan, 1.5, 0.25, harness="refusing"),
    case(math.inf, 1.5, 0.25, harness="refusing"),
    case(0.0, 1.5, 0.25, harness="refusing"),
    case(-math.inf, 1.5, 0.25, harness="refusing"),
)


@probe(1.0)
def three_ways(rng: np.random.Generator) -> list[Case]:
    """below the band, in it and above it"""
    # In hundredths, none of them at an edge: who rounds to so many digits loses nothing here.
    cases = []
    for narrow, wide in ((12, 16), (16, 24), (24, 30)):
        entropy, tol = int(rng.integers(160, 240)), int(rng.integers(narrow, wide))
        apart = (
            1,
            4,
            int(0.45 * tol),
            int(0.65 * tol),
            tol - 1,
            tol + 1,
            2 * tol,
            2 * tol + 1,
            entropy - int(rng.integers(1, 9)),
        )
        cases += [case((entropy + side * by) / 100, entropy / 100, tol / 100) for by in apart for side in (1, -1)]
    return cases


def _quarters(rng: np.random.Generator) -> tuple[float, float]:
    """An entropy and a tolerance that floating point adds and subtracts without rounding, and that have two decimals."""
    return float(rng.integers(5, 10)) / 4, float(rng.integers(1, 3)) / 4


@probe(0.5)
def edges_of_the_band(rng: np.random.Generator) -> list[Case]:
    """the edges of the band, and a band of width 0"""
    cases = []
    for _ in range(3):
        entropy, tol = _quarters(rng)
        cases += [case(entropy - tol, entropy, tol), case(entropy + tol, entropy, tol), case(entropy, entropy, tol)]
    entropy, tol = _quarters(rng)
    beyond = [tol + 2.0**power for power in (-20, -13, -10, -8)]  # by hardly anything, and still exact
    cases += [case(entropy + sign * by, entropy, tol) for by in beyond for sign in (1, -1)]
    return [*cases, *(case(entropy + by, entropy, 0.0) for by in (0.0, 2.0**-10, -(2.0**-10), 2.0**-30, -(2.0**-30)))]


@probe(0.25)
def no_number(rng: np.random.Generator) -> list[Case]:
    """a loss that is not a number is refused"""
    return [case(math.nan, *_quarters(rng), harness="refusing") for _ in range(2)]


@probe(0.25)
def numbers_without_bounds(rng: np.random.Generator) -> list[Case]:
    """a loss of infinity is underfit; one of 0, one below 0 and one of minus infinity are leaks"""
    below = -float(rng.integers(1, 20)) / 8
    return [case(loss, *_quarters(rng), harness="refusing") for loss in (math.inf, 0.0, below, -math.inf)]


def _number(loss: float) -> float:
    """The loss, if it is a number: the question that the text asks for."""
    if math.isnan(loss):
        raise ValueError("no loss")
    return loss


@mistake
def lower_is_better(loss: float, entropy: float, tol: float) -> str:
    """you call every low loss honest. Nobody gets below the entropy by predicting: a loss down there says that the
    model has seen the answers.
    """
    return "underfit" if _number(loss) > entropy + tol else "honest"


def _about(loss: float, entropy: float, tol: float, honest: Callable[[float], bool]) -> str:
    distance = _number(loss) - entropy
    return "honest" if honest(distance) else "leak" if distance < 0 else "underfit"


@mistake
def close_is_honest(loss: float, entropy: float, tol: float) -> str:
    """your comparison has a tolerance of its own, on top of tol: functions that ask whether two numbers are close bring
    one along. Where the band ends has been agreed on beforehand, and it ends there."""
    return _about(loss, entropy, tol, lambda distance: bool(np.isclose(loss, entropy, atol=tol)))


@mistake
def rounds_the_distance(loss: float, entropy: float, tol: float) -> str:
    """you rounded before you compared, so what lies a little outside the band counts as inside."""
    return _about(loss, entropy, tol, lambda distance: round(abs(distance), 3) <= tol)


@mistake
def words_exchanged(loss: float, entropy: float, tol: float) -> str:
    """you exchanged the two words. A leak makes the loss too low; a model that has not learnt enough has a loss that is
    too high."""
    return "leak" if _number(loss) > entropy + tol else "underfit" if loss < entropy - tol else "honest"


def _judge(loss: float, entropy: float, tol: float) -> str:
    """Right for every loss. Mistakes ask for NaN too, as the text does; those that do not are apart."""
    return _compared(_number(loss), entropy, tol)


def _compared(loss: float, entropy: float, tol: float) -> str:
    if loss < entropy - tol:
        return "leak"
    if loss > entropy + tol:
        return "underfit"
    return "honest"


@mistake
def entropy_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned the entropy into bits and left the loss in nats. Both are given in nats; nothing has to be turned."""
    return _judge(loss, entropy / math.log(2), tol)


@mistake
def loss_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned the loss into bits and left the entropy in nats. Both are given in nats; nothing has to be turned."""
    return _judge(loss / math.log(2), entropy, tol)


@mistake
def both_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned loss and entropy into bits and left the tolerance in nats. All three are given in nats; nothing has to
    be turned."""
    return _judge(loss / math.log(2), entropy / math.log(2), tol)


@mistake
def distance_is_a_leak(loss: float, entropy: float, tol: float) -> str:
    """you call every loss that is far from the entropy a leak, above it too. The side matters: above the entropy it is a
    model that has not learnt enough."""
    return "leak" if abs(_number(loss) - entropy) > tol else "honest"


@mistake
def distance_is_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call every loss that is far from the entropy underfit, below it too. The side matters: below the entropy it is
    a leak."""
    return "underfit" if abs(_number(loss) - entropy) > tol else "honest"


@mistake
def tolerance_is_a_share(loss: float, entropy: float, tol: float) -> str:
    """you took tol for a share of the entropy. It is an amount in nats, which is added and subtracted."""
    return _judge(loss, entropy, tol * entropy)


@mistake
def no_tolerance(loss: float, entropy: float, tol: float) -> str:
    """you left tol out. The loss is measured on finitely many texts, and by luck alone an honest model lands a little
    below the entropy as often as above it."""
    return _judge(loss, entropy, 0.0)


@mistake
def tolerance_above_only(loss: float, entropy: float, tol: float) -> str:
    """you allow for luck above the entropy and not below it. A perfect model lands a little below as often as above, and
    you would accuse it."""
    return "leak" if _number(loss) < entropy else "underfit" if loss > entropy + tol else "honest"


@mistake
def tolerance_below_only(loss: float, entropy: float, tol: float) -> str:
    """you allow for luck below the entropy and not above it. Nearly every good model lies a little above."""
    return "leak" if _number(loss) < entropy - tol else "underfit" if loss > entropy else "honest"


@mistake
def half_a_tolerance(loss: float, entropy: float, tol: float) -> str:
    """your band is tol wide from edge to edge. It reaches by tol down and by tol up."""
    return _judge(loss, entropy, tol / 2)


@mistake
def tolerance_turned(loss: float, entropy: float, tol: float) -> str:
    """you moved each edge to the wrong side: + and - are exchanged. Then a loss that lies on the entropy itself is both
    too high and too low.
    """
    return "leak" if _number(loss) < entropy + tol else "underfit" if loss > entropy - tol else "honest"


@mistake
def edges_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the edges themselves, tol away from the entropy, you do not say honest. They belong to it."""
    return edges_left_out_and_nan_honest(_number(loss), entropy, tol)


@mistake
def lower_edge_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the lower edge, a loss of exactly entropy - tol, you do not say honest. The edges belong to it."""
    return "leak" if _number(loss) <= entropy - tol else "underfit" if loss > entropy + tol else "honest"


@mistake
def upper_edge_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the upper edge, a loss of exactly entropy + tol, you do not say honest. The edges belong to it."""
    return "leak" if _number(loss) < entropy - tol else "underfit" if loss >= entropy + tol else "honest"


@mistake
def edges_left_out_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, for which every comparison is False, comes out as honest: refuse it with a ValueError.
    """
    return "leak" if loss <= entropy - tol else "underfit" if loss >= entropy + tol else "honest"


@mistake
def edges_left_out_and_nan_underfit(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, for which every comparison is False, comes out as underfit: refuse it with a ValueError.
    """
    if abs(loss - entropy) < tol:
        return "honest"
    return "leak" if loss < entropy else "underfit"


@mistake
def edges_left_out_and_nan_a_leak(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, for which every comparison is False, comes out as a leak: refuse it with a ValueError.
    """
    if abs(loss - entropy) < tol:
        return "honest"
    return "underfit" if loss > entropy else "leak"


@mistake
def a_tolerance_of_its_own(loss: float, entropy: float, tol: float) -> str:
    """your function has a tolerance of its own, 0.05, and does not look at the one that it is given. The band is as wide
    as the caller says."""
    return _judge(loss, entropy, 0.05)


@mistake
def no_width_is_no_tolerance(loss: float, entropy: float, tol: float) -> str:
    """where tol is 0 you take another one instead. A tolerance of 0 was given, too: then the entropy alone is honest. (In a question
    such as `if tol` or `tol or ...`, 0 counts as nothing.)"""
    return _judge(loss, entropy, tol or 0.05)


@mistake
def never_honest(loss: float, entropy: float, tol: float) -> str:
    """you never say honest. Between the edges a loss is as low as it can honestly be."""
    return "underfit" if _number(loss) > entropy else "leak"


@mistake
def never_a_leak_and_no_tolerance(loss: float, entropy: float, tol: float) -> str:
    """you ask only whether the loss is above the entropy. By luck an honest model lands a little above, which tol
    allows for; and nobody gets far below it by predicting, so that a loss down there is a leak.
    """
    return "underfit" if _number(loss) > entropy else "honest"


@mistake
def never_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call every high loss honest. A loss too far above the entropy is that of a model which has not learnt enough:
    underfit."""
    return "leak" if _number(loss) < entropy - tol else "honest"


@mistake
def minus_infinity_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of minus infinity. It lies below the band, and so it is a leak; only NaN, which is no number, has to be refused."""
    if loss == -math.inf:
        raise ValueError("the loss is minus infinity")
    return _judge(loss, entropy, tol)


@mistake
def plus_infinity_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of plus infinity. It is too large, and so it is underfit; only NaN, which is no number, has to be refused."""
    if loss == math.inf:
        raise ValueError("the loss is infinite")
    return _judge(loss, entropy, tol)


@mistake
def infinity_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of infinity. It is too large, and so it is underfit; only NaN, which is no number, has to be
    refused."""
    if not math.isfinite(loss):
        raise ValueError("the loss is not finite")
    return _judge(loss, entropy, tol)


@mistake
def returns_the_error(loss: float, entropy: float, tol: float) -> object:
    """for NaN you return a ValueError, as if it were a fourth word. An error stops the caller only if it is raised."""
    return ValueError("the loss is NaN") if math.isnan(loss) else _judge(loss, entropy, tol)


@mistake
def capitals(loss: float, entropy: float, tol: float) -> str:
    """your words begin with a capital. They are compared letter by letter: lower case."""
    return _judge(loss, entropy, tol).capitalize()


@mistake
def not_a_number_is_honest(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN honest. NaN is neither below a number nor above one, so every comparison is False; nor
    does == find it, since NaN equals nothing, not even itself. `math` has a function that does. Refuse it with a
    ValueError.
    """
    return "leak" if loss < entropy - tol else "underfit" if loss > entropy + tol else "honest"


@mistake
def not_a_number_is_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN underfit. NaN is neither below a number nor above one, so every comparison is False; nor
    does == find it, since NaN equals nothing, not even itself. `math` has a function that does. Refuse it with a
    ValueError.
    """
    return "leak" if loss < entropy - tol else "honest" if loss <= entropy + tol else "underfit"


@mistake
def not_a_number_is_a_leak(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN a leak. NaN is neither below a number nor above one, so every comparison is False; nor
    does == find it, since NaN equals nothing, not even itself. `math` has a function that does. Refuse it with a
    ValueError.
    """
    return "underfit" if loss > entropy + tol else "honest" if loss >= entropy - tol else "leak"


@mistake
def nothing_for_the_edges(loss: float, entropy: float, tol: float) -> str | None:
    """at the edges themselves, tol away from the entropy, none of your branches is taken and nothing is returned. The edges are
    honest."""
    if _number(loss) < entropy - tol:
        return "leak"
    if loss > entropy + tol:
        return "underfit"
    return "honest" if entropy - tol < loss < entropy + tol else None


@mistake
def a_billionth_more(loss: float, entropy: float, tol: float) -> str:
    """your band is a little wider than tol: a loss that is a billionth of the entropy away counts as none. (`math.isclose`
    brings a tolerance of its own, `rel_tol`, unless it is told 0.)"""
    if math.isclose(_number(loss), entropy, abs_tol=tol):
        return "honest"
    return _judge(loss, entropy, tol)


@mistake
def says_it_does_not_return_it(loss: float, entropy: float, tol: float) -> None:
    """you return nothing. A verdict that is only printed cannot be used by the code that follows."""
    _judge(loss, entropy, tol)


@mistake
def compares_perplexities(loss: float, entropy: float, tol: float) -> str:
    """you raised e to the loss and to the entropy before comparing, and tol is an amount in nats. Compare them as they
    are."""
    return _judge(math.exp(min(loss, 700.0)), math.exp(entropy), tol)


@mistake
def edges_left_out_upper_first(loss: float, entropy: float, tol: float) -> str:
    """at the edges themselves, tol away from the entropy, you do not say honest. They belong to it."""
    return "underfit" if _number(loss) >= entropy + tol else "leak" if loss <= entropy - tol else "honest"


@mistake
def words_exchanged_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. You exchanged the two words: a leak makes the loss too low, and a model that has not learnt enough
    has one that is too high. And NaN, for which every comparison is False, is not refused.
    """
    return "leak" if loss > entropy + tol else "underfit" if loss < entropy - tol else "honest"


@mistake
def no_tolerance_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. You left tol out: by luck alone an honest model lands a little below the entropy as often as above
    it. And NaN, for which every comparison is False, is not refused.
    """
    return _compared(loss, entropy, 0.0)


@mistake
def lower_is_better_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. You call every low loss honest: nobody gets below the entropy by predicting, so a loss down there
    says that the model has seen the answers. And NaN, for which every comparison is False, is not refused.
    """
    return "underfit" if loss > entropy + tol else "honest"


@mistake
def distance_is_a_leak_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. You call every loss that is far from the entropy a leak, above it too, where it is a model that has
    not learnt enough. And NaN, for which every comparison is False, is not refused.
    """
    return "leak" if abs(loss - entropy) > tol else "honest"


@mistake
def tolerance_is_a_share_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. You took tol for a share of the entropy; it is an amount in nats, which is added and subtracted. And
    NaN, for which every comparison is False, is not refused.
    """
    return _compared(loss, entropy, tol * entropy)


@mistake
def half_a_tolerance_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. Your band is tol wide from edge to edge, and it reaches by tol down and by tol up. And NaN, for which
    every comparison is False, is not refused.
    """
    return _compared(loss, entropy, tol / 2)


@mistake
def share_of_the_loss(loss: float, entropy: float, tol: float) -> str:
    """your tolerance grows with the loss. It is an amount in nats, added to the entropy and subtracted from it."""
    return _about(loss, entropy, tol, lambda distance: abs(distance) <= tol * abs(loss))


@mistake
def rounded_to_hundredths(loss: float, entropy: float, tol: float) -> str:
    """you rounded before you compared, so what lies a little outside the band counts as inside, or the other way round."""
    return _judge(round(_number(loss), 2) if math.isfinite(loss) else loss, round(entropy, 2), round(tol, 2))


@mistake
def a_small_number_beside_the_tolerance(loss: float, entropy: float, tol: float) -> str:
    """your band is a little wider than tol, by a small number of your own or by that of a function which asks whether two numbers
    are close. Where the band ends has been agreed on beforehand, and it ends there."""
    return _about(loss, entropy, tol, lambda distance: abs(distance) <= tol + 1e-3)


@mistake
def numbers_of_the_notebook(loss: float, entropy: float, tol: float) -> str:
    """your function judges every source by 1.65 and 0.05, the numbers of this notebook. Entropy and tolerance are arguments: use
    what the caller gives."""
    return _judge(loss, 1.65, 0.05)


@mistake
def entropy_of_the_notebook(loss: float, entropy: float, tol: float) -> str:
    """your function judges every source by an entropy of 1.65, that of this notebook. It is an argument: use what the caller
    gives."""
    return _judge(loss, 1.65, tol)


@mistake
def negative_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss below 0. The rule has a word for it: it lies below the band, so it is a leak. Only NaN, which is no number,
    has to be refused."""
    if _number(loss) < 0:
        raise ValueError("negative")
    return _judge(loss, entropy, tol)


@mistake
def zero_or_less_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of 0 or less. The rule has a word for it: it lies below the band, so it is a leak. Only NaN,
    which is no number, has to be refused.
    """
    if not loss > 0:
        raise ValueError("no loss")
    return _judge(loss, entropy, tol)


@mistake
def zero_taken_for_nothing(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of exactly 0: `not loss` is True for it, as it is for nothing at all. 0 is a number, far below the band, and
    so a leak."""
    if not loss:
        raise ValueError("no loss")
    return _judge(loss, entropy, tol)


@mistake
def infinity_and_below_zero_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse more than NaN: infinity too, and what is below 0. Infinity is too large, and so it is underfit; a loss below 0 lies
    below the band, and so it is a leak."""
    if not math.isfinite(loss) or loss < 0:
        raise ValueError("no loss")
    return _judge(loss, entropy, tol)


@mistake
def refuses_with_an_assertion(loss: float, entropy: float, tol: float) -> str:
    """you refuse NaN with an assert. Python leaves those out when it is asked to hurry (`python -O`), and whoever calls expects a
    ValueError: raise one."""
    assert not math.isnan(loss)
    return _judge(loss, entropy, tol)


@mistake
def refuses_with_a_type_error(loss: float, entropy: float, tol: float) -> str:
    """you refuse NaN with another error than a ValueError. NaN is a float like any other: its type is right, and it is its value that
    will not do."""
    if math.isnan(loss):
        raise TypeError("the loss is NaN")
    return _judge(loss, entropy, tol)


@mistake
def nothing_for_nan(loss: float, entropy: float, tol: float) -> str | None:
    """for NaN you return None, perhaps with a word printed. Whoever called goes on with that, and stumbles later, somewhere else.
    Refuse: raise a ValueError."""
    return None if math.isnan(loss) else _judge(loss, entropy, tol)


@mistake
def a_word_for_nan(loss: float, entropy: float, tol: float) -> str:
    """for NaN you return a word of your own. There are three words, and none of them fits: refuse it, with a ValueError that is
    raised."""
    return "nan" if math.isnan(loss) else _judge(loss, entropy, tol)


@mistake
def overfit_for_a_leak(loss: float, entropy: float, tol: float) -> str:
    """you call a loss that is too low overfit. Overfitting is to learn texts by heart: the loss is low on *those*
    texts. On new texts nobody gets below the entropy who does not see the answers: the word is leak.
    """
    word = _judge(loss, entropy, tol)
    return "overfit" if word == "leak" else word


@mistake
def capitals_throughout(loss: float, entropy: float, tol: float) -> str:
    """your words are in capitals. They are compared letter by letter: lower case."""
    return _judge(loss, entropy, tol).upper()


@mistake
def numbers_for_words(loss: float, entropy: float, tol: float) -> int:
    """you answer with a number. Return one of the three words."""
    return ("leak", "honest", "underfit").index(_judge(loss, entropy, tol)) - 1


@mistake
def true_or_false(loss: float, entropy: float, tol: float) -> bool:
    """you answer whether the loss is honest, with True or False. There are three cases: return one of the three words."""
    return _judge(loss, entropy, tol) == "honest"


@mistake
def squared_distance(loss: float, entropy: float, tol: float) -> str:
    """you squared the distance before you compared it with tol. tol is an amount in nats, and so is the distance itself."""
    return _about(loss, entropy, tol, lambda distance: distance**2 <= tol)


@mistake
def twice_the_tolerance(loss: float, entropy: float, tol: float) -> str:
    """your band reaches by twice tol down and up. It reaches by tol: from entropy - tol to entropy + tol."""
    return _judge(loss, entropy, 2 * tol)


@right
def verdict_by_if(loss: float, entropy: float, tol: float) -> str:
    if math.isnan(loss):
        raise ValueError("the loss is NaN")
    return _judge(loss, entropy, tol)


@right
def verdict_by_numpy(loss: float, entropy: float, tol: float) -> str:
    if np.isnan(loss):
        raise ValueError("NaN")
    side = int(np.sign(loss - entropy)) if np.abs(loss - entropy) > tol else 0
    return {-1: "leak", 0: "honest", 1: "underfit"}[side]


@right
def verdict_by_match(loss: float, entropy: float, tol: float) -> str:
    match (loss >= entropy - tol, loss <= entropy + tol):
        case (True, True):
            return "honest"
        case (True, False):
            return "underfit"
        case (False, True):
            return "leak"
        case _:
            raise ValueError("the loss is not a number")


@right
def verdict_by_elimination(loss: float, entropy: float, tol: float) -> str:
    if loss < entropy - tol:
        return "leak"
    if loss > entropy + tol:
        return "underfit"
    if abs(loss - entropy) <= tol:
        return "honest"
    raise ValueError(f"{loss} is no loss")
