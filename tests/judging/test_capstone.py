"""`parallel_block`: its reference, and that threads in place of processes do not change what is said of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.authoring.mutants import as_student
from autograder.exercises import exercise_named
from autograder.exercises.block.block import block
from autograder.exercises.model import Implementation
from autograder.judging import Paper, judge_here
from autograder.judging.reference import expected, given
from course.client import answer
from course.trial.comparing import same_answers
from course.trial.functions import public_function
from course.trial.observing import OUT_OF_STEP
from tests.support.sampled import sampled

PARALLEL_BLOCK = exercise_named("10_capstone", "parallel_block")
TOLD_APART = {mistake.__name__: mistake for mistake in PARALLEL_BLOCK.mistakes}


OFTEN = [PARALLEL_BLOCK.variants[0], TOLD_APART["sums_T1_too"], TOLD_APART["never_refuses"]]


def drawn() -> list[Any]:
    rng = np.random.default_rng(3)
    return [case for probe in PARALLEL_BLOCK.probes for case in probe.draw(rng)]


@pytest.mark.parametrize("case", [case for case in drawn() if case.harness == "processes"])
def test_what_is_expected_of_every_rank_is_the_whole_blocks_output(case: Any) -> None:
    p, X, params, h, keep, eps, act = case.arguments
    whole = block(X, params, h, keep, eps, public_function(act).run)["H"]
    for rank in range(p):
        found = expected(PARALLEL_BLOCK, case).result["H"][f"What rank {rank} returned"]
        np.testing.assert_allclose(found, whole, rtol=1e-12 if X.dtype == np.float64 else 1e-5)


@pytest.mark.parametrize(
    "implementation",
    sampled(
        [
            *PARALLEL_BLOCK.variants,
            *(
                TOLD_APART[name]
                for name in (
                    "uses_what_all_reduce_returns",
                    "sums_T1_too",
                    "gathers_and_adds",
                    "one_other_collective",
                    "hidden_features_cut_too_late",
                    "values_cut_as_queries",
                    "never_refuses",
                    "puts_both_together_first",
                    "counts_ranks_from_the_end",
                    "Wo_not_cut",
                    "only_rank_0_sums",
                    "only_rank_0_refuses",
                    "refuses_hidden_features_too_late",
                    "divides_b2_in_place",
                    "computes_in_float32",
                )
            ),
        ],
        OFTEN.__contains__,
        lambda implementation: implementation.__name__,
    ),
)
def test_processes_answer_as_the_threads_that_stand_for_them(implementation: Implementation) -> None:
    student = as_student(PARALLEL_BLOCK, implementation)
    for case in PARALLEL_BLOCK.public:
        real = case.run(student)
        simulated = given(PARALLEL_BLOCK, student, case, False)
        assert same_answers([expected(PARALLEL_BLOCK, case)], [real], [simulated])
        assert (real.raised and real.raised.message) == (simulated.raised and simulated.raised.message)
        if real.raised and real.raised.kind == OUT_OF_STEP:
            return  # one is enough: each takes seconds


def test_a_mistake_is_named_where_the_student_has_processes_and_the_judge_has_threads() -> None:
    verdict = judge_here(as_student(PARALLEL_BLOCK, TOLD_APART["b2_on_every_rank"]), Paper(PARALLEL_BLOCK, 1), answer)
    assert verdict.mistakes == ("b2_on_every_rank",)
    assert 0 < verdict.score < verdict.points


def test_after_a_case_in_which_ranks_waited_the_others_of_its_probe_are_not_tried() -> None:
    verdict = judge_here(as_student(PARALLEL_BLOCK, TOLD_APART["only_rank_0_sums"]), Paper(PARALLEL_BLOCK, 1), answer)
    assert verdict.mistakes == ("only_rank_0_sums",)
    assert verdict.findings[0].reason.startswith("Rank 0 waited in a collective")
