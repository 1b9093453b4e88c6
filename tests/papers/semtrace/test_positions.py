"""Trials of target positions: what varies, what different studies share, and how each
model's answers are read."""

from collections.abc import Iterator
from typing import Any

import pytest
from small_study import trials_of

from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.papers.semtrace.contexts import distractor_context
from codestress.papers.semtrace.prompting import problems_of
from codestress.pipeline.artefacts import resolve
from codestress.types import Outcome, Response, Source, Trial, Trials


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
def test_only_what_varies_varies() -> None:
    """Every task and place has the same distractors in the same order; the fewer are the
    first of the more."""
    trials = trials_of()
    messages = {}
    for trial in trials.items:
        factors = [trial.factors[name] for name in ("task", "distractors", "position")]
        message = trials.render(trial).messages[0].content
        messages[trial.problem, *factors] = message
    assert len(set(messages.values())) == len(messages) == 3 * 4 * 2 * 3
    contexts = []
    for count in (4, 8):
        context = distractor_context("generated_0", count, "installed", None, 0)
        contexts.append(context)
    few, many = contexts
    assert many[:4] == few
    for task in ("input_prediction", "output_prediction"):
        message = messages["generated_0", task, 8, 0]
        places = [message.index(code) for code in many]
        assert places == sorted(places)
    small = messages["generated_0", "function_retrieval", 4, 1]
    large = messages["generated_0", "line_retrieval", 8, 2]
    block = small.split("```python\n")[1].split("\n```")[0]
    assert all(line in large for line in block.split("\n") if line[7:])


def test_a_subsample_and_a_smaller_study_are_part_of_the_whole() -> None:
    entry = load_registry()["sim-wide"]

    def keys(**changes: Any) -> set[str]:
        trials = trials_of(tasks=["output_prediction"], **changes)
        return {request_of(trials, trial, entry).key for trial in trials.items}

    subsample = keys(n_problems=40, subsample=0.125, distractors=[4])
    assert len(subsample) == 5 * 3
    assert keys() | subsample <= keys(n_problems=40)


@pytest.mark.slow
@pytest.mark.usefixtures("public")
def test_the_papers_sizes_and_what_its_figures_share() -> None:
    sizes = {"fig01": 70_400, "fig02": 70_400, "fig03": 35_200}
    sizes |= {"fig05": 143_988, "fig09": 70_400}
    artefacts = resolve([f"semtrace/{name}" for name in sizes], "paper")
    assert all(len(artefact.models) == 10 for artefact in artefacts)
    trials = [artefact.trials() for artefact in artefacts]
    assert [len(part.items) for part in trials] == [*sizes.values()]
    entry = load_registry()["llama-3.3-70b"]
    for index in (0, 35_000, 70_399):
        keys = set()
        for part in (trials[0], trials[-1]):
            keys.add(request_of(part, part.items[index], entry).key)
        assert len(keys) == 1


BEHIND = "\nThe assert statement above is true.\n```python\nassert f(0) == 0\nassert 0 == f(0)\n```"


def gold(trials: Trials) -> Iterator[tuple[Trial, str, str]]:
    """Yield each trial with its message and the right completion of its prefill."""
    problems = {**problems_of("generated", 3, 0), **problems_of("semtrace", 3, 0)}
    for trial in trials.items:
        problem = problems[trial.problem]
        completion = f" {problem.output}\n```"
        if trial.factors["task"] == "input_prediction":
            completion = f"{problem.arguments})\n```"
        yield trial, trials.render(trial).messages[0].content, completion


@pytest.mark.isolation
def test_each_models_answer_is_read_by_what_it_was_shown() -> None:
    """Right answers are right, whatever follows: continued, with the beginning repeated,
    or written whole."""
    trials = trials_of(
        tasks=["input_prediction", "output_prediction"],
        distractors=[0],
        models=["sim-near", "sim-wide"],
        problems=["generated", "semtrace"],
        metrics=["strict", "partial"],
        per_model={"sim-wide": {"prefill": "user"}},
    )
    near, wide = map(trials.of, ("sim-near", "sim-wide"))
    messages = [message for _, message, _ in gold(wide)]
    for message, (trial, _, completion) in zip(messages, gold(near), strict=True):
        prefill = near.render(trial).prefill
        assert message.endswith(prefill)
        whole = prefill + completion
        for part, text in ((near, completion), (near, whole), (wide, whole)):
            answer = f"<think>\nassert f(0) == 0\n</think>\n{text}{BEHIND}"
            for judge in part.judges.values():
                score = judge(trial, Response(answer, "stop"))
                assert score.outcome is Outcome.CORRECT, text


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize("source", ["installed", "cosqa"])
def test_functions_of_a_data_set_make_a_prompts_program_untrusted(source: str) -> None:
    trials = trials_of(n_problems=1, distractor_source=source)
    stranger = trials.render(trials.items[0]).source is Source.STRANGER
    assert stranger == (source == "cosqa")
