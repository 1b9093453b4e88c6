"""Messages are held against a run of the call: true, false, or undecided; controls change nothing."""

from __future__ import annotations

import pytest

from codestress.inference.run import run
from codestress.mutate.perturbations.checking import check_problems
from codestress.mutate.perturbations.messages import messages, truth_of
from codestress.mutate.perturbations.programs import program_of
from codestress.mutate.perturbations.variants import make_variants
from codestress.papers.codecrash import studies
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.results.differences import averages, differences
from codestress.parameters import questions
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.types import Language, Source

CODE = {
    "python": """from __future__ import annotations

def never():
    return 1

def f(n, items):
    total = n
    total = total + 0
    if n > 50:
        total += 1
    while n > 3:
        n -= 1
    for item in []:
        total -= item
    items.append(n)
    items.sort()
    text = 'ab'.upper().lower()
    items.pop() if n > 50 else 0
    return [total, items, text]""",
    "javascript": """function never() {
  return 1;
}

function f(n, items) {
  let total = n;
  if (n > 50) {
    total += 1;
  }
  while (n > 3) {
    n -= 1;
  }
  for (const item of []) {
    total -= item;
  }
  items.push(n);
  return [total, items];
}""",
}
CALLED = {"python": "5, [9, 1]", "javascript": "5, [9, 1]"}
RETURNED = {"python": "[5, [1, 3, 9], 'ab']", "javascript": "[5, [9, 1, 3]]"}
LANGUAGES = [
    "python",
    pytest.param(
        "javascript",
        marks=pytest.mark.skipif(bool(missing("javascript")), reason="Node"),
    ),
]
SAID = {
    "python": {
        "def never():": {"skipped": True, "unused": True},
        "def f(n, items):": {"skipped": False, "unused": None},
        "    return 1": {"value": None},
        "    return [total, items, text]": {"value": False},
        "    if n > 50:": {"skipped": True, "unused": True},
        "        total += 1": {"kept": True, "skipped": True},
        "    total = n": {"kept": False, "skipped": False, "unused": None},
        "    total = total + 0": {"kept": True, "skipped": False},
        "        n -= 1": {"kept": False},
        "    items.append(n)": {"kept": False},
        "    items.sort()": {"kept": False, "skipped": False},
        "    items.pop() if n > 50 else 0": {"kept": None},
    },
    "javascript": {
        "function never() {": {"skipped": True},
        "function f(n, items) {": {"skipped": False, "unused": None},
        "  return 1;": {"value": None},
        "  return [total, items];": {"value": False},
        "  if (n > 50) {": {"skipped": True},
        "    total += 1;": {"kept": True, "skipped": True},
        "  let total = n;": {"kept": None, "skipped": False},
        "  items.push(n);": {"kept": None},
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_messages_say_is_held_against_a_run_of_the_call(
    language: Language,
) -> None:
    problem = Problem(
        "p",
        CODE[language],
        "f",
        CALLED[language],
        RETURNED[language],
        language,
        Source.KIT,
    )
    with Executor() as executor:
        [checked], faults = check_problems([problem], executor, 0)
        true = make_variants([checked], "MCC-TRUE", executor, seed=0)
    assert not faults
    lines = checked.problem.code.split("\n")
    found: dict[str, dict[str, bool | None]] = {}
    for number, site in enumerate(program_of(checked.problem).message_sites()):
        claims = {claim for claim, _ in messages()[site.kind]}
        told = {
            claim: truth_of(claim, site.kind, number, checked.trace) for claim in claims
        }
        found.setdefault(lines[site.line - 1], {}).update(told)
    for line, said in SAID[language].items():
        assert said.items() <= found[line].items(), line
    loops = {site.kind for site in true["p"].sites} & {"while", "for"}
    assert loops == {"for"}  # of the one that turns no message is true


def test_messages_of_one_truth_and_any_as_before() -> None:
    with Executor() as executor:
        checked, _ = check_problems(
            [*generated_problems(12), *contest_problems()[:12]], executor, 0
        )
        assert all(one.trace.ran for one in checked)
        for name in ("MCC", "MPS"):
            made = {
                truth: make_variants(
                    checked,
                    f"{name}-{truth.upper()}" if truth else name,
                    executor,
                    seed=0,
                )
                for truth in ("", "false", "true", "undecidable")
            }
            expected = {
                "false": {False},
                "true": {True},
                "undecidable": {None},
                "": {True, False, None},
            }
            for truth, variants in made.items():
                assert {
                    site.truth for one in variants.values() for site in one.sites
                } == expected[truth]
            false = make_variants(checked, name, executor, seed=0, truth="false")
            assert false == made["false"]
            assert all(one.status == "applied" for one in false.values())


def test_losses_stand_beside_what_controls_lose() -> None:
    given = studies.Predictions(
        artefact="codecrash/controls",
        models=["sim-trusting"],
        problems=["contest"],
        n_problems=12,
        samples_direct=2,
        perturbations=["VAN", "AGAIN", "BLANK", "MCC"],
    )
    trials = questions(given)
    prompts = {
        name: [
            (trials.render(one).messages[-1].content, one.sample)
            for one in trials.items
            if one.factors["perturbation"] == name
        ]
        for name in given.perturbations
    }
    assert [text for text, _ in prompts["AGAIN"]] == [
        text for text, _ in prompts["VAN"]
    ]
    assert {sample for _, sample in prompts["AGAIN"]} == {
        2,
        3,
    }  # asked anew, not looked up
    for (blank, sample), (plain, other) in zip(
        prompts["BLANK"], prompts["VAN"], strict=True
    ):
        assert (sample, blank.count("\n")) == (other, plain.count("\n") + 1)
        assert [line for line in blank.split("\n") if line] == [
            line for line in plain.split("\n") if line
        ]
    table = differences(
        run(trials, given.models).answers, rule="strict", confidence=0.95
    )
    lost = averages(table).set_index("perturbation")["lost_pct"]
    assert 0 < max(lost["AGAIN"], lost["BLANK"]) < lost["MCC"]
