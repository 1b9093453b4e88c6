"""What the guards let pass means the same: drawn programs are perturbed by them alone, without validation, and compared
on inputs that nothing was tried with."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Checked, run_calls
from codestress.mutate.perturbations.messages import Trace
from codestress.mutate.perturbations.programs import vanilla
from codestress.mutate.perturbations.variants import draw_variant
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import executables
from codestress.seeding import rng
from codestress.types import Language, Source
from conftest import some
from mutate.featured import UNSEEN, drawn
from mutate.hostile import JAVASCRIPT, PYTHON
from mutate.perturbing import LANGUAGES, REWRITING

BATCH = 50
"""Programs of one example: they are run together."""
QUIET = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]
IN_ONE_NODE = Path(__file__).with_name("in_one_node.js")


def outcomes(
    calls: list[tuple[Problem, str]], language: Language, executor: Executor
) -> list[str]:
    """Outcome of each call as text; the JavaScript programs, each in a context of its own, share one process."""
    if language == "javascript":
        pairs = [
            (problem.code, f"{problem.function}({text})") for problem, text in calls
        ]
        done = subprocess.run(
            [executables()[0], IN_ONE_NODE],
            input=json.dumps(pairs),
            capture_output=True,
            text=True,
            check=True,
        )
        return list(json.loads(done.stdout))
    ends = []
    for one in run_calls(calls, executor):
        # A drawn program may be none; what is said of that names its names.
        error = one.detail.partition(":")[0] * (one.outcome != "syntax error")
        ends.append(f"{one.outcome} {one.value!r} {error}")
    return ends


def differences(
    problems: list[Problem],
    unseen: Sequence[Sequence[str]],
    seed: int,
    executor: Executor,
) -> tuple[list[str], Counter[str]]:
    """Variants that do something else on unseen inputs, and what became of the perturbations."""
    pairs: list[tuple[str, Problem, Problem, str]] = []
    counts = Counter[str]()
    how = {"density": 1, "task": "output", "wrong": "", "guard": "refuse"}
    for number, (problem, inputs) in enumerate(zip(problems, unseen, strict=True)):
        before = Checked(vanilla(problem), (), (), Trace())
        for name in REWRITING:
            made = draw_variant(before, name, Draw(rng(seed, name, number)), **how)
            assert made.why or made.status not in ("refused", "rejected")
            status = "refused" if made.status == "rejected" else made.status
            counts[f"{name} {status}"] += 1
            if made.status == "applied":
                pairs += [(name, before.problem, made.problem, text) for text in inputs]
    # Once each: the unperturbed calls are the same for all perturbations.
    calls = {}
    for _, *both, text in pairs:
        for problem in both:
            calls[problem.code, text] = problem, text
    ends = outcomes([*calls.values()], problems[0].language, executor)
    ended = dict(zip(calls, ends, strict=True))
    found = []
    for name, before, after, text in pairs:
        first, second = ended[before.code, text], ended[after.code, text]
        if first != second:
            code = f"{before.code}\n----\n{after.code}"
            found.append(f"{name} on {text}: {first}, then {second}\n{code}")
    return found, counts


def check_refusals(counts: Counter[str]) -> None:
    """Fails where the guards refuse more than two of three."""
    for name in REWRITING:
        done = counts[f"{name} applied"] + counts[f"{name} unchanged"]
        assert counts[f"{name} refused"] < 2 * done, counts


def fuzz(language: Language, examples: int, *, fixed: bool) -> Counter[str]:
    """Draws that many batches of programs; none of them may differ. Gives what became of them."""
    total = Counter[str]()
    with Executor() as executor:

        @settings(
            max_examples=examples,
            derandomize=fixed,
            phases=[Phase.generate],
            suppress_health_check=QUIET,
        )
        @given(
            st.lists(drawn(language), min_size=BATCH, max_size=BATCH),
            st.integers(0, 100_000),
        )
        def all_mean_the_same(problems: list[Problem], seed: int) -> None:
            found, counts = differences(
                problems, [UNSEEN] * len(problems), seed, executor
            )
            total.update(counts)
            assert not found, found[0]

        all_mean_the_same()
    return total


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_guards_let_pass_means_the_same_everywhere(language: Language) -> None:
    counts = fuzz(language, len(some(range(300 // BATCH), 3)), fixed=True)
    check_refusals(counts)


# Long, and stays: each of these programs once got a variant that computes something else.
@pytest.mark.isolation
@pytest.mark.parametrize("language", some(LANGUAGES, 2))
def test_what_the_guards_let_pass_of_the_corpus_means_the_same(
    language: Language,
) -> None:
    corpus = PYTHON if language == "python" else JAVASCRIPT
    problems = [
        Problem(one.why, one.code, "f", one.asked, "", language, Source.KIT)
        for one in corpus
    ]
    unseen = [(one.asked, *one.others) for one in corpus]
    with Executor() as executor:
        for seed in some(range(4), 4):
            found, counts = differences(problems, unseen, seed, executor)
            assert not found, found[0]
            check_refusals(counts)


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.isolation
@pytest.mark.parametrize("language", LANGUAGES)
def test_five_thousand_programs_mean_the_same_everywhere(language: Language) -> None:
    fuzz(language, 5000 // BATCH, fixed=False)
