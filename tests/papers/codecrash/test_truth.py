"""Messages are held against a run of the call: true, false, or undecided; controls change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from codestress.inference.run import run
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
from codestress.types import Language, Source
from mutate.perturbing import LANGUAGES, usable

RUNS = yaml.safe_load(Path(__file__).with_name("truth.yaml").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_messages_say_is_held_against_a_run_of_the_call(
    language: Language, executor: Executor
) -> None:
    ran = RUNS[language]
    call = ran["arguments"], ran["output"]
    problem = Problem("p", ran["code"], "f", *call, language, Source.KIT)
    [checked] = usable([problem], executor)
    lines = checked.problem.code.split("\n")
    found: dict[str, dict[str, bool | None]] = {}
    for number, site in enumerate(program_of(checked.problem).message_sites()):
        told = found.setdefault(lines[site.line - 1], {})
        for claim, _ in messages()[site.kind]:
            told[claim] = truth_of(claim, site.kind, number, checked.trace)
    for line, said in ran["said"].items():
        assert said.items() <= found[line].items(), line
    true = make_variants([checked], "MCC-TRUE", executor, seed=0)["p"]
    loops = {site.kind for site in true.sites} & {"while", "for"}
    assert loops == {"for"}  # of the one that turns no message is true


@pytest.mark.parametrize("name", ["MCC", "MPS"])
def test_messages_of_one_truth_and_any_as_before(name: str, executor: Executor) -> None:
    checked = usable([*generated_problems(12), *contest_problems()[:12]], executor)
    false = make_variants(checked, name, executor, seed=0, truth="false")
    assert false == make_variants(checked, f"{name}-FALSE", executor, seed=0)
    assert {one.status for one in false.values()} == {"applied"}
    for truth, expected in {
        "-FALSE": {False},
        "-TRUE": {True},
        "-UNDECIDABLE": {None},
        "": {True, False, None},
    }.items():
        made = make_variants(checked, f"{name}{truth}", executor, seed=0).values()
        assert {site.truth for one in made for site in one.sites} == expected


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
    texts: dict[str, list[str]] = {name: [] for name in given.perturbations}
    samples: dict[str, list[int]] = {name: [] for name in given.perturbations}
    for one in trials.items:
        name = one.factors["perturbation"]
        texts[name].append(trials.render(one).messages[-1].content)
        samples[name].append(one.sample)
    assert texts["AGAIN"] == texts["VAN"]
    assert set(samples["AGAIN"]) == {2, 3}  # asked anew, not looked up
    assert samples["BLANK"] == samples["VAN"]
    for blank, plain in zip(texts["BLANK"], texts["VAN"], strict=True):
        assert blank.count("\n") == plain.count("\n") + 1
        both = [[*filter(None, text.split("\n"))] for text in (blank, plain)]
        assert both[0] == both[1]
    answers = run(trials, given.models).answers
    table = differences(answers, rule="strict", confidence=0.95)
    lost = averages(table).set_index("perturbation")["lost_pct"]
    assert 0 < max(lost["AGAIN"], lost["BLANK"]) < lost["MCC"]
