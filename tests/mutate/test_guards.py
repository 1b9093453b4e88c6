"""The guards decide from a program's text alone: they refuse what they doubt, and little else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from test_meaning import outcomes

from codestress.mutate.perturbations.checking import Checked, check_problems, run_calls
from codestress.mutate.perturbations.inputs import argument_values, trial_inputs
from codestress.mutate.perturbations.variants import (
    Variant,
    draw_variant,
    make_variants,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Source
from conftest import some
from mutate.hostile import PYTHON
from mutate.perturbing import REWRITING, draw, needs_node, usable


def differing(
    checked: list[Checked], variants: dict[str, Variant], executor: Executor
) -> list[str]:
    """Applied variants that do something else than their programs on inputs that validation need not see."""
    before, after = [], []
    for one, case in zip(checked, PYTHON, strict=True):
        variant = variants[one.problem.id]
        if variant.status == "applied":
            before += [(one.problem, text) for text in case.others]
            after += [(variant.problem, text) for text in case.others]
    both = (outcomes(calls, "python", executor) for calls in (before, after))
    return [
        f"{problem.code}\non {text}: {first}, then {second}"
        for (problem, text), first, second in zip(before, *both, strict=True)
        if first != second
    ]


@pytest.mark.slow
@pytest.mark.isolation
def test_the_guards_are_what_keeps_the_meaning(executor: Executor) -> None:
    """Without the guards some of the hostile programs differ; test_meaning.py shows that with them none does."""
    problems = [Problem(one.why, one.code, "f", one.asked, "") for one in PYTHON]
    hostile = usable(problems, executor)
    unrun = {
        one.problem.id: draw_variant(one, "REN", draw(), guard="tag") for one in hostile
    }
    assert differing(hostile, unrun, executor)
    for perturbation in ("REN", "GBC"):
        for seed in range(4):
            made = make_variants(
                hostile, perturbation, executor, seed=seed, guard="tag"
            )
            # Runs near by find what the rules doubt here.
            assert not differing(hostile, made, executor)
        doubtful = {one.status for one in made.values() if one.doubt}
        assert doubtful == {"applied"}


@pytest.mark.slow
@pytest.mark.isolation
def test_the_kits_own_programs_are_seldom_refused(executor: Executor) -> None:
    problems = [*contest_problems()[::6], *generated_problems(24)]
    checked, _ = check_problems(problems, executor, 0)
    for perturbation in REWRITING:
        guarded = make_variants(checked, perturbation, executor, seed=0)
        counts = Counter(one.status for one in guarded.values())
        assert counts["refused"] + counts["rejected"] <= 0.02 * len(checked), counts
        # What is not in doubt has the text that it has without a guard.
        made = make_variants(checked, perturbation, executor, seed=0, guard="tag")
        for name, one in made.items():
            assert one.doubt or guarded[name].problem == one.problem


def test_inputs_are_of_the_same_types_and_reach_for_the_programs_constants() -> None:
    code = "def f(n, word, items):\n    return n == 37 or word == 'needle' or not items"
    problem = Problem("p", code, "f", "5, 'hay', [1, 2]", "False")
    texts = trial_inputs(problem, draw("inputs"))
    assert len(texts) >= 8
    assert problem.arguments not in texts
    found = [argument_values(replace(problem, arguments=text)) for text in texts]
    for values in found:
        assert [type(value) for value in values] == [int, str, list]
    for place, constant in enumerate((37, "needle", [])):
        assert constant in [values[place] for values in found]


@pytest.mark.slow
@needs_node
def test_calls_that_share_a_process_end_as_those_that_have_their_own(
    executor: Executor,
) -> None:
    problems = some(contest_problems("javascript")[::8], 2)
    checked, _ = check_problems(problems, executor, 0)
    calls = some([(one.problem, text) for one in checked for text in one.inputs], 4)
    assert len(calls) > len(checked) > 2
    alone = [run_calls([call], executor)[0] for call in calls]
    assert repr(run_calls(calls, executor)) == repr(alone)  # nan is nan
    code = "function f(x) { return x.length.toFixed(); }"
    raising = Problem("p", code, "f", "null", "", "javascript", source=Source.KIT)
    ends = run_calls([(raising, text) for text in ('"ab"', "null", "[1]")], executor)
    assert [end.outcome for end in ends] == ["returned", "raised", "returned"]
    assert [end.value for end in ends] == ["2", None, "1"]
