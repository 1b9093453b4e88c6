"""Sense and Sensitivity: the contexts, the prompts to the letter, the sizes, and what readers make of them."""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pandas as pd
import pytest

from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.papers.semtrace.contexts import distractor_context
from codestress.papers.semtrace.positions import Task
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.results import (
    by_position,
    largest_drops,
    losses,
    removal,
    tables,
)
from codestress.papers.semtrace.studies import (
    LineRemoval,
    Questions,
    Templates,
    rendered_templates,
)
from codestress.parameters import questions
from codestress.pipeline.artefacts import resolve
from codestress.report.claims import ledger
from codestress.report.published import read_published
from codestress.report.statements import statements
from codestress.scoring.begun import ReadingRule
from codestress.types import Outcome, Prompt, Response, Trial, Trials
from conftest import artefact_of
from told import names, refused

TASKS = get_args(Task)
SMALL = {
    "artefact": "semtrace/x",
    "models": ["sim-near"],
    "tasks": [*TASKS],
    "problems": ["generated"],
    "n_problems": 3,
    "distractors": [4, 8],
    "distractor_source": "installed",
    "matched": "count",
    "positions": 3,
}


HOW = SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=200, seed=0)


def trials_of(**changes: object) -> Trials:
    return questions(Questions.model_validate(SMALL).model_copy(update=changes))


def shown(trials: Trials) -> Prompt:
    """The first question for an output."""
    asked = (t for t in trials.items if t.factors["task"] == "output_prediction")
    return trials.render(next(asked))


PREFILLS = {
    "input_prediction": "Sure! Here is the corresponding input:\n\n```python\nassert [70, 189] == f(",
    "output_prediction": "Sure! Here is the corresponding output:\n\n```python\nassert f('a', 3) ==",
    "function_retrieval": "Sure! Here is the full function starting at key `aaaaaa` and ending at key `bbbbbb`:\n\n"
    "```python",
    "line_retrieval": "Sure! Here is the line with key cccccc:\n\n```python",
}


@pytest.mark.parametrize("task", TASKS)
def test_the_four_templates_are_the_papers_to_the_letter(task: str) -> None:
    trials = trials_of(tasks=[task], n_problems=1, distractors=[0], qac=[True, False])
    prompt, without = map(trials.render, trials.items)
    said = prompt.messages[0].content
    [problem] = problems_of("generated", 1, 0).values()
    code = problem.code
    values = {"[70, 189]": problem.output, "'a', 3": problem.arguments}
    if keys := re.findall(r"^([0-9a-f]{6}) ", said, re.MULTILINE):
        lines = zip(keys, code.split("\n"), strict=True)
        code = "\n".join(f"{key} {line}" for key, line in lines)
        [*_, asked] = re.findall(r"`([0-9a-f]{6})`", said)
        assert asked in keys
        values |= {"aaaaaa": keys[0], "bbbbbb": keys[-1], "cccccc": asked}
    expected = [template(task), PREFILLS[task]]
    for placeholder, value in (values | {"CODE": code}).items():
        expected = [one.replace(placeholder, value) for one in expected]
    assert [said, prompt.prefill] == expected
    after = without.messages[0].content
    assert said.endswith(after)
    assert after.startswith(("[FUNCTIONS]", "```python"))


def test_contexts_can_be_matched_by_length_and_models_lack_prefill() -> None:
    by_count, by_tokens = (
        len(shown(trials_of(distractors=[8], matched=how)).messages[0].content)
        for how in ("count", "tokens")
    )
    assert abs(by_tokens - 8 * 200 * 4) < 2500
    assert by_count < by_tokens
    with refused(ParameterError, "distractors", "900000", "installed"):
        shown(trials_of(distractors=[900_000]))
    begun, told = shown(trials_of()), shown(trials_of(prefill="user"))
    wanted = "Begin your answer with exactly this, and complete it:"
    text = f"{begun.messages[0].content}\n\n{wanted}\n\n{begun.prefill}"
    assert (told.messages[0].content, told.prefill) == (text, "")


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
def test_only_what_varies_varies() -> None:
    """The same distractors in the same order for every task and place; the fewer are the first of the more."""
    trials = trials_of()
    texts = {}
    for trial in trials.items:
        task, count, place = map(trial.factors.get, ("task", "distractors", "position"))
        text = trials.render(trial).messages[0].content
        texts[trial.problem, task, count, place] = text
    few, many = (
        distractor_context("generated_0", count, "installed", None, 0)
        for count in (4, 8)
    )
    assert many[:4] == few
    for task in ("input_prediction", "output_prediction"):
        text = texts["generated_0", task, 8, 0]
        places = [text.index(code) for code in many]
        assert places == sorted(places)
    assert len(set(texts.values())) == len(texts) == 3 * 4 * 2 * 3
    keyed = texts["generated_0", "function_retrieval", 4, 1]
    keyed = keyed.split("```python\n")[1].split("\n```")[0]
    again = texts["generated_0", "line_retrieval", 8, 2]
    assert all(line in again for line in keyed.split("\n") if line[7:])


def test_contexts_are_described_as_equation_2_says(tmp_path: Path) -> None:
    found = []
    for fragments in (1, 3):
        changes = {"tasks": ["line_retrieval"], "fragments": fragments}
        given = Questions.model_validate(SMALL | changes)
        store = tmp_path / "s.sqlite"
        answers = run(questions(given), ["sim-wide"], store=store).answers
        found.append(by_position.contexts(answers, given))
        assert by_position.factor_differences(answers, "qac", ["task"], HOW).empty
        table = by_position.accuracy_by_position(answers, HOW)
        assert (table["n"].sum(), table["relative"].max()) == (len(answers), 1)
    whole, parts = found
    assert list(whole["depth"]) == [0, 0.5, 1] * 2
    assert whole["concentration"].to_numpy() == pytest.approx(1)
    assert (parts["concentration"] < 0.6).all()
    assert whole["granularity"].iloc[3] > whole["granularity"].iloc[2]
    assert (whole["granularity"] < 1).all()


def crossed(names: list[str], *values: Iterable[object]) -> pd.DataFrame:
    """All combinations of the values, in columns of these names."""
    return pd.DataFrame([*product(*values)], columns=names)


def test_a_subsample_and_a_smaller_study_are_part_of_the_whole() -> None:
    asked: dict[str, Any] = {"tasks": ["output_prediction"]}
    entry = load_registry()["sim-wide"]

    def keys(**changes: Any) -> set[str]:
        trials = trials_of(**asked, **changes)
        return {request_of(trials, trial, entry).key for trial in trials.items}

    drawn = keys(n_problems=40, subsample=0.125, distractors=[4])
    assert len(drawn) == 5 * 3
    assert keys() | drawn <= keys(n_problems=40)


@pytest.mark.slow
@pytest.mark.usefixtures("public")
def test_the_papers_sizes_and_what_its_figures_share() -> None:
    registry = load_registry()
    sizes = {"fig01": 70_400, "fig02": 70_400, "fig03": 35_200}
    sizes |= {"fig05": 143_988, "fig09": 70_400}
    wanted = [f"semtrace/{name}" for name in sizes]
    chosen = resolve(wanted, "paper")
    assert all(len(artefact.models) == 10 for artefact in chosen)
    trials = [artefact.trials() for artefact in chosen]
    assert [len(one.items) for one in trials] == [*sizes.values()]
    entry = registry["llama-3.3-70b"]
    for index in (0, 35_000, 70_399):
        first, same = (
            request_of(one, one.items[index], entry).key
            for one in (trials[0], trials[-1])
        )
        assert first == same


BEHIND = "\nThe assert statement above is true.\n```python\nassert f(0) == 0\nassert 0 == f(0)\n```"


def gold(trials: Trials) -> Iterator[tuple[Trial, Prompt, str]]:
    """Each trial with its prompt and the right completion of what is begun."""
    problems = {**problems_of("generated", 3, 0), **problems_of("semtrace", 3, 0)}
    for trial in trials.items:
        problem = problems[trial.problem]
        right = f" {problem.output}"
        if trial.factors["task"] == "input_prediction":
            right = f"{problem.arguments})"
        yield trial, trials.render(trial), f"{right}\n```"


PREDICTED: dict[str, Any] = {
    "tasks": ["input_prediction", "output_prediction"],
    "distractors": [0],
}


@pytest.mark.isolation
def test_scorers_know_what_each_model_was_given() -> None:
    """Right answers are right, whatever follows: continued, with the beginning repeated, or written whole."""
    trials = trials_of(
        **PREDICTED,
        models=["sim-near", "sim-wide"],
        problems=["generated", "semtrace"],
        metrics=["strict", "partial"],
        per_model={"sim-wide": {"prefill": "user"}},
    )
    near, wide = map(trials.of, ("sim-near", "sim-wide"))
    own = [prompt.messages[0].content for _, prompt, _ in gold(wide)]
    for index, (trial, prompt, right) in enumerate(gold(near)):
        whole = prompt.prefill + right
        assert own[index].endswith(prompt.prefill)
        for asked, text in ((near, right), (near, whole), (wide, whole)):
            said = f"<think>\nassert f(0) == 0\n</think>\n{text}{BEHIND}"
            for judge in asked.judges.values():
                outcome = judge(trial, Response(said, "stop")).outcome
                assert outcome is Outcome.CORRECT, text


@pytest.mark.isolation
def test_the_rules_of_reading_are_compared_on_the_same_answers(tmp_path: Path) -> None:
    """A model that is right and goes on talking: under the rule of the last assertion nothing of it is."""
    changes = PREDICTED | {"models": ["mine"]}
    completed = gold(trials_of(**changes))
    answers = {prompt.prefill: right + BEHIND for _, prompt, right in completed}
    (tmp_path / "m.py").write_text(
        f"def answer(messages, *, prefill, **_):\n    return {answers!r}[prefill]\n"
    )
    registry = tmp_path / "models.yaml"
    registry.write_text(
        f"mine: {{engine: function, settings: {{function: '{tmp_path}/m.py:answer'}}}}"
    )
    where = {"store": tmp_path / "s.sqlite", "registry": registry}
    frames = {}
    for rule in get_args(ReadingRule):
        trials = trials_of(**changes, reading=rule)
        frames[rule] = run(trials, ["mine"], **where).answers
    table = tables.shares_by_reading(frames).set_index(["model", "task"])
    found = {name: set(values) for name, values in table.items()}
    alike = {"n": {3}, "first_fence": {1}, "last_assertion": {0}, "first_line": {1}}
    assert found == alike | {"differ": {1}}


def test_line_removal_of_models_and_interpreter_are_the_same_programs() -> None:
    values = {"artefact": "semtrace/x", "models": ["sim-near"], "n_problems": 4}
    values |= {"problems": "generated"}
    asked, executed, few = (
        questions(LineRemoval.model_validate(values | change))
        for change in ({}, {"shown": "program"}, {"versions": 3})
    )
    assert len(asked.items) == 2 * len(executed.items)
    twins = {(t.problem, *t.factors.values()): t for t in asked.items}
    for trial in executed.items[:40]:
        program = executed.render(trial)
        prompt = asked.render(twins[trial.problem, *trial.factors.values()])
        code = program.messages[0].content
        assert f"[FUNCTIONS]\n{code}\n[/FUNCTIONS]" in prompt.messages[0].content
        assert prompt.prefill.endswith(f"assert {program.prefill} ==")
    assert {t.factors["removed"] == 0 for t in few.items} == {True, False}
    assert {(t.problem, *t.factors.values()) for t in few.items} <= twins.keys()


def test_what_the_paper_prints_stands_beside_ours() -> None:
    models = load_registry()
    rows = [models["llama-3.1-8b"], models["sim-near"]]
    table = tables.licences(rows).set_index("name")
    own = table.loc["llama-3.1-8b", ["licence", "table_3"]].tolist()
    assert own == ["Llama 3.1 Community License", "Llama3.3"]
    assert table.loc["sim-near", "table_3"] == ""
    assert table.loc["cruxeval", "table_3"] == "MIT License"
    shapes = tables.architectures([models["codestral-22b-v0.1"]], 30_810).iloc[0]
    assert shapes["smallest_base"] < shapes["rope_base"]
    assert tables.smallest_rope_base(30_810) == pytest.approx(861_000, abs=500)
    printed = tables.published_baselines("semtrace/tab01", 0.95)
    assert len(printed) == 30
    ours = printed.iloc[:2].assign(cell=None)
    both = tables.beside_published(ours, "semtrace/tab01", 0.95)
    assert both["from"].value_counts().to_dict() == {"the paper": 30, "here": 2}


def test_the_query_on_both_sides_is_compared_on_the_same_problems() -> None:
    """At 15 of 100 places the query before the code helps, at 5 it hurts."""
    frame = crossed(["qac", "n"], (True, False), range(100))
    n, qac = frame["n"], frame["qac"]
    right = (n < 40 + 15 * qac).where(~n.between(60, 64), ~qac)
    frame = frame.assign(value_strict=right.astype(float), model="m", task="t")
    frame = frame.assign(problem=(n // 2).astype(str), position=n % 2)
    found = by_position.factor_differences(frame, "qac", ["task"], HOW).iloc[0]
    assert (found["first"], found["second"], found["items"]) == ("False", "True", 100)
    assert found["difference"] == pytest.approx(0.10)
    assert (found["only_second"], found["only_first"]) == (15, 5)
    assert found["low"] < 0.10 < found["high"]


def test_templates_are_rendered_on_one_problem() -> None:
    values = {name: SMALL[name] for name in SMALL.keys() & Templates.model_fields}
    values |= {"problems": "generated", "problem": 2, "distractors": [0, 4]}
    prompts = rendered_templates(Templates.model_validate(values))
    asked = [(task, count) for task, count, _ in prompts]
    assert asked == [*product(TASKS, (0, 4))]
    code = problems_of("generated", 3, 0)["generated_2"].code
    names(prompts[0][2].messages[0].content, code)
    assert (tables.template_table(prompts)["characters"] > 100).all()


LARGER = read_published("semtrace")["groups"]["larger"]


def test_drops_of_several_models_are_read_as_a_mean_or_a_maximum() -> None:
    """All that "a 16.05 % average accuracy decrease across models" and "up to 36.42 %" can mean, by hand."""
    # Of ten, at two places.
    right = dict(zip(LARGER, ((9, 3), (6, 9), (9, 9), (8, 4)), strict=True))
    names = ["model", "position", "problem"]
    answers = crossed(names, LARGER, (0, 1), range(100))
    few = [right[row.model][row.position] for row in answers.itertuples()]
    answers["value_strict"] = (answers["problem"] % 10 < few).astype(float)
    answers = answers.assign(
        dataset="semtrace", task="t", digits=2, qac=True, keys=False, distractors=20
    )
    drops = largest_drops.largest_drops(answers, HOW)
    group = drops.query("model == 'larger' and context == 'any'").set_index("reading")
    assert group[["points", "relative"]].T.to_dict("list") == {
        largest_drops.OWN: pytest.approx([130 / 4, 100 * (6 / 9 + 3 / 9 + 4 / 8) / 4]),
        largest_drops.MEAN: pytest.approx([80 - 62.5, 100 * 17.5 / 80]),
        largest_drops.MOST: pytest.approx([60, 100 * 6 / 9]),
    }


@pytest.mark.slow
def test_losses_of_several_models_are_read_in_five_ways() -> None:
    """Curves that are exponentials: by hand."""
    curves = dict(zip(LARGER, [(0.8, 0.5), (0.4, 0.25)] * 2, strict=True))
    names = ["model", "removed", "problem"]
    answers = crossed(names, LARGER, (0, 1, 2), range(0, 10_000, 20))
    chances = [
        curves[row.model][0] * curves[row.model][1] ** row.removed
        for row in answers.itertuples()
    ]
    answers["value_strict"] = (answers["problem"] / 10_000 < chances).astype(float)
    answers["share_removed"] = answers["removed"] / 2
    answers["task"] = "output_prediction"
    given = SimpleNamespace(**vars(HOW), trend="exponential", weighted=False)
    given.resamples = 20

    def read(answers: pd.DataFrame) -> dict[str, float]:
        fits = removal.fit_removal(answers, given)  # type: ignore[arg-type]
        table = losses.group_losses(fits, answers, 0.95).query("model == 'larger'")
        return table.set_index("reading")["loss_at_half"].to_dict()

    mean, points = 1 - (0.5 + 0.25) / 2, (0.4 + 0.3) / 2
    expected = {
        losses.FITTED: mean,
        losses.OBSERVED: mean,
        losses.OF_MEAN: 1 - (0.4 + 0.1) / (0.8 + 0.4),
        f"{losses.OF_MEAN}, in points": points,
        f"{losses.OBSERVED}, in points": points,
    }
    assert read(answers) == pytest.approx(expected, abs=0.01)
    # No version lacks half of its lines.
    assert losses.OBSERVED not in read(answers[answers["removed"] != 1])


@pytest.mark.slow
def test_the_gain_of_semtrace_over_cruxeval_is_the_ratio_of_the_means() -> None:
    frame = crossed(
        ["model", "dataset", "n"], LARGER, ("semtrace", "cruxeval"), range(200)
    )
    few = frame["dataset"].map({"semtrace": 9, "cruxeval": 6})
    right = (frame["n"] % 10 < few).astype(float)
    frame = frame.assign(value_strict=right, task="output_prediction", distractors=20)
    frame["problem"] = frame["dataset"] + frame["n"].astype(str)
    given, none = (
        artefact_of("semtrace/fig03", "paper").parameters,
        pd.DataFrame(columns=["model"]),
    )
    stated = statements("semtrace", "fig03")
    others = {name: none for one in stated for name in (one.table, one.each) if name}

    def claim(answers: pd.DataFrame) -> pd.Series:
        gains = largest_drops.task_gains(answers, confidence=0.95)
        table = ledger(given, others | {"gains": gains})
        return table[table["statement"].str.contains("higher on SemTrace")].squeeze()

    found = claim(frame)
    assert found["regenerated"] == pytest.approx(50)
    named = [one.partition(": ")[::2] for one in found["readings"].split("; ")]
    assert {name: told.split(" (")[0] for name, told in named} == {
        "gain of the models' mean": "50 %",
        "mean of the models' gains": "50 %",
        "gain of the models' mean, in points": "30 points",
    }
    assert found["verdict"] == "inconclusive", "36.38 lies between 30 points and 50 %"
    # Delta method: the ratio's relative variance is the sum of those of the two means.
    spread = 150 * math.sqrt(0.1 / 0.9 / 200 + 0.4 / 0.6 / 200)
    assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * spread, rel=0.15)
    # A model that was asked about half of the problems counts as much as the others.
    gpt = frame["model"] == LARGER[0]
    half = frame.assign(value_strict=frame["value_strict"].where(~gpt, 1.0))
    half = half[~gpt | (frame["n"] < 100)]
    gain = 100 * ((1 + 3 * 0.9) / (1 + 3 * 0.6) - 1)
    assert claim(half)["regenerated"] == pytest.approx(gain)
    one_set = frame[frame["dataset"] == "semtrace"]
    for lacking in (one_set, frame[~gpt], frame.assign(distractors=4)):
        assert claim(lacking)["verdict"] == "not run"
        names(claim(lacking)["basis"], "gpt-4.1-2025-04-14")


TOLD = {
    "input_prediction": (
        "You are given a number of Python functions and an assertion containing an output of one of the functions. "
        "Find any input such that executing that function on the input leads to the given output. There may be "
        "multiple answers, but you should only output one.",
        "assert [70, 189] == f(??)",
    ),
    "output_prediction": (
        "You are given a number of Python functions and an assertion containing an input to one of the functions. "
        "Complete the assertion with a literal (no unsimplified expressions, no function calls) containing the "
        "output when executing the provided code on the given input, even if the function is incorrect or "
        "incomplete. Do NOT output any extra information.",
        "assert f('a', 3) == ??",
    ),
}


SOUGHT = {
    "function_retrieval": "function starting at key `aaaaaa` and ending at key `bbbbbb`",
    "line_retrieval": "line with key `cccccc`",
}


def template(task: str) -> str:
    """Figures 11 to 14: the question stands before and behind the code."""
    if task in TOLD:
        told, asked = TOLD[task]
        assertion = f"[ASSERTION]\n{asked}\n[/ASSERTION]"
        code = "[FUNCTIONS]\nCODE\n[/FUNCTIONS]"
        return "\n\n".join([told, assertion, code, assertion, told])
    before, behind = (
        f"Each line in the code block {where} starts with a random key. I'm looking for a {SOUGHT[task]} in the code "
        f"snippet {where}. Can you help me find it?"
        for where in ("below", "above")
    )
    return f"{before}\n\n```python\nCODE\n```\n\n{behind}"
