"""What may be done to a program is decided from its text: hostile programs keep their meaning on inputs never tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hostile import PYTHON

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import (
    Checked,
    check_problems,
    run_calls,
)
from codestress.mutate.perturbations.inputs import argument_values, trial_inputs
from codestress.mutate.perturbations.variants import (
    Perturbation,
    Variant,
    draw_variant,
    make_variants,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Outcome
from codestress.sandbox.runtimes import missing
from codestress.seeding import rng
from codestress.types import Source
from conftest import some

REWRITING: tuple[Perturbation, ...] = ("REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS")


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


@pytest.fixture(scope="module")
def hostile(executor: Executor) -> list[Checked]:
    problems = [
        Problem(str(number), one.code, "f", one.asked, "")
        for number, one in enumerate(PYTHON)
    ]
    runs = run_calls([(problem, problem.arguments) for problem in problems], executor)
    assert all(run.outcome == "returned" for run in runs), [
        run for run in runs if run.outcome != "returned"
    ]
    given = [
        replace(problem, output=repr(run.value))
        for problem, run in zip(problems, runs, strict=True)
    ]
    checked, faults = check_problems(given, executor, 0)
    assert not faults
    return checked


def differing(
    checked: list[Checked],
    variants: dict[str, Variant],
    inputs: dict[str, list[str]],
    executor: Executor,
) -> list[str]:
    """Applied variants that do something else than their programs on these inputs."""
    applied = [
        one.problem for one in checked if variants[one.problem.id].status == "applied"
    ]
    pairs = [(problem, text) for problem in applied for text in inputs[problem.id]]
    before = run_calls(pairs, executor)
    after = run_calls(
        [(variants[problem.id].problem, text) for problem, text in pairs], executor
    )
    return [
        f"{problem.code}\non {text}: {told(one)}, then {told(other)}\n{variants[problem.id].problem.code}"
        for (problem, text), one, other in zip(pairs, before, after, strict=True)
        if told(one) != told(other)
    ]


def told(execution: Execution) -> str:
    return (
        f"{execution.outcome} {execution.value!r} {execution.detail.partition(':')[0]}"
    )


# In `make test`, test_meaning.py finds what differs in the same programs.
@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.parametrize("perturbation", REWRITING)
def test_hostile_programs_keep_their_meaning_or_are_refused_with_a_reason(
    perturbation: Perturbation, hostile: list[Checked], executor: Executor
) -> None:
    inputs = {str(number): list(one.others) for number, one in enumerate(PYTHON)}
    for seed in some(range(2), 2):
        variants = make_variants(hostile, perturbation, executor, seed=seed)
        assert not differing(hostile, variants, inputs, executor)
        assert all(one.why for one in variants.values() if one.status == "refused")
        assert not [one for one in variants.values() if one.status == "rejected"]
        # not by refusing everything
        assert sum(
            one.status in ("applied", "unchanged") for one in variants.values()
        ) > 0.5 * len(hostile)


@pytest.mark.slow
@pytest.mark.isolation
def test_the_guards_are_what_keeps_them(
    hostile: list[Checked], executor: Executor
) -> None:
    inputs = {str(number): list(one.others) for number, one in enumerate(PYTHON)}
    unrun = {}
    for one in hostile:
        unrun[one.problem.id] = draw_variant(one, "REN", Draw(rng(0)), guard="tag")
    assert differing(hostile, unrun, inputs, executor)
    for perturbation in ("REN", "GBC"):
        for seed in range(4):
            variants = make_variants(
                hostile, perturbation, executor, seed=seed, guard="tag"
            )
            # Runs near by find what the rules doubt here.
            assert not differing(hostile, variants, inputs, executor)
        doubtful = [one for one in variants.values() if one.doubt]
        assert doubtful
        assert all(one.status == "applied" for one in doubtful)


def test_what_changes_no_tree_is_run_on_its_own_input_alone(executor: Executor) -> None:
    """Each program is said to have returned another value on every input but its own."""
    checked, _ = check_problems(generated_problems(6), executor, 0)
    no_such = Execution(Outcome.RETURNED, "no such value")
    changed = [
        replace(one, executions=(one.executions[0], *[no_such] * (len(one.inputs) - 1)))
        for one in checked
    ]
    expected = {
        "MCC": "applied",
        "BLANK": "applied",
        "MPS": "rejected",
        "REN": "rejected",
    }
    for perturbation, status in expected.items():
        made = make_variants(changed, perturbation, executor, seed=0)
        assert {one.status for one in made.values()} == {status}


@pytest.mark.slow
@pytest.mark.isolation
def test_the_kits_own_programs_are_seldom_refused(executor: Executor) -> None:
    checked, _ = check_problems(
        [*contest_problems()[::6], *generated_problems(24)], executor, 0
    )
    for perturbation in REWRITING:
        refused = make_variants(checked, perturbation, executor, seed=0)
        tagged = make_variants(checked, perturbation, executor, seed=0, guard="tag")
        statuses = Counter(one.status for one in refused.values())
        assert statuses["refused"] + statuses["rejected"] <= 0.02 * len(checked), (
            statuses
        )
        # what is not in doubt has the text that it has without a guard
        assert all(
            refused[name].problem == one.problem
            for name, one in tagged.items()
            if not one.doubt
        )


def test_inputs_are_of_the_same_types_and_reach_for_the_programs_constants() -> None:
    code = "def f(n, word, items):\n    return n == 37 or word == 'needle' or not items"
    problem = Problem("p", code, "f", "5, 'hay', [1, 2]", "False")
    texts = trial_inputs(problem, Draw(rng(0, "inputs")))
    assert len(texts) >= 8
    assert problem.arguments not in texts
    found = [argument_values(replace(problem, arguments=text)) for text in texts]
    assert all(
        [type(value) for value in values] == [int, str, list] for values in found
    )
    assert any(values[0] == 37 for values in found)
    assert any(values[1] == "needle" for values in found)
    assert any(values[2] == [] for values in found)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing("javascript")), reason="no Node")
def test_calls_that_share_a_process_end_as_those_that_have_their_own(
    executor: Executor,
) -> None:
    checked, _ = check_problems(
        some(contest_problems("javascript")[::8], 2), executor, 0
    )
    calls = some([(one.problem, text) for one in checked for text in one.inputs], 4)
    assert len(calls) > len(checked) > 2
    alone = [run_calls([call], executor)[0] for call in calls]
    assert repr(run_calls(calls, executor)) == repr(alone)  # nan is nan
    code = "function f(x) { return x.length.toFixed(); }"
    raising = Problem("p", code, "f", "null", "", "javascript", source=Source.KIT)
    ends = run_calls([(raising, text) for text in ('"ab"', "null", "[1]")], executor)
    assert [end.outcome for end in ends] == ["returned", "raised", "returned"]
    assert [end.value for end in ends] == ["2", None, "1"]
