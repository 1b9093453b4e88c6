"""Sense and Sensitivity: the contexts, the prompts to the letter, the sizes, and what readers make of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pandas as pd
import pytest

from codestress.artefact_files import load_profile
from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.papers.semtrace.contexts import distractor_context
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
from codestress.pipeline.artefacts import Overrides, resolve, select
from codestress.report.claims import ledger
from codestress.report.published import read_published
from codestress.report.statements import statements
from codestress.scoring.begun import ReadingRule
from codestress.types import Outcome, Prompt, Response, Trial, Trials
from told import refused

SMALL = {
    "artefact": "semtrace/x",
    "models": ["sim-near"],
    "tasks": [
        "input_prediction",
        "output_prediction",
        "function_retrieval",
        "line_retrieval",
    ],
    "problems": ["generated"],
    "n_problems": 3,
    "distractors": [4, 8],
    "distractor_source": "installed",
    "matched": "count",
    "positions": 3,
}


def trials_of(**changes: object) -> Trials:
    return questions(Questions.model_validate(SMALL).model_copy(update=changes))


def shown(trials: Trials, **factors: object) -> Prompt:
    trial = next(
        t
        for t in trials.items
        if all(t.factors[name] == value for name, value in factors.items())
    )
    return trials.render(trial)


INPUT = """You are given a number of Python functions and an assertion containing an output of one of the functions. \
Find any input such that executing that function on the input leads to the given output. There may be multiple \
answers, but you should only output one.

[ASSERTION]
assert [70, 189] == f(??)
[/ASSERTION]

[FUNCTIONS]
CODE
[/FUNCTIONS]

[ASSERTION]
assert [70, 189] == f(??)
[/ASSERTION]

You are given a number of Python functions and an assertion containing an output of one of the functions. Find any \
input such that executing that function on the input leads to the given output. There may be multiple answers, but \
you should only output one."""
OUTPUT = """You are given a number of Python functions and an assertion containing an input to one of the functions. \
Complete the assertion with a literal (no unsimplified expressions, no function calls) containing the output when \
executing the provided code on the given input, even if the function is incorrect or incomplete. Do NOT output any \
extra information.

[ASSERTION]
assert f('a', 3) == ??
[/ASSERTION]

[FUNCTIONS]
CODE
[/FUNCTIONS]

[ASSERTION]
assert f('a', 3) == ??
[/ASSERTION]

You are given a number of Python functions and an assertion containing an input to one of the functions. Complete \
the assertion with a literal (no unsimplified expressions, no function calls) containing the output when executing \
the provided code on the given input, even if the function is incorrect or incomplete. Do NOT output any extra \
information."""
FUNCTION = """Each line in the code block below starts with a random key. I'm looking for a function starting at key \
`aaaaaa` and ending at key `bbbbbb` in the code snippet below. Can you help me find it?

```python
CODE
```

Each line in the code block above starts with a random key. I'm looking for a function starting at key `aaaaaa` and \
ending at key `bbbbbb` in the code snippet above. Can you help me find it?"""
LINE = """Each line in the code block below starts with a random key. I'm looking for a line with key `cccccc` in \
the code snippet below. Can you help me find it?

```python
CODE
```

Each line in the code block above starts with a random key. I'm looking for a line with key `cccccc` in the code \
snippet above. Can you help me find it?"""
PREFILLS = {
    "input_prediction": "Sure! Here is the corresponding input:\n\n```python\nassert [70, 189] == f(",
    "output_prediction": "Sure! Here is the corresponding output:\n\n```python\nassert f('a', 3) ==",
    "function_retrieval": "Sure! Here is the full function starting at key `aaaaaa` and ending at key `bbbbbb`:\n\n"
    "```python",
    "line_retrieval": "Sure! Here is the line with key cccccc:\n\n```python",
}


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("input_prediction", INPUT),
        ("output_prediction", OUTPUT),
        ("function_retrieval", FUNCTION),
        ("line_retrieval", LINE),
    ],
)
def test_the_four_templates_are_the_papers_to_the_letter(task: str, text: str) -> None:
    """Figures 11 to 14."""
    trials = trials_of(tasks=[task], n_problems=1, distractors=[0], qac=[True, False])
    prompt, without = map(trials.render, trials.items)
    said = prompt.messages[0].content
    [problem] = problems_of("generated", 1, 0).values()
    shown = {
        "[70, 189]": problem.output,
        "'a', 3": problem.arguments,
        "CODE": problem.code,
    }
    if keys := re.findall(r"^([0-9a-f]{6}) ", said, re.MULTILINE):
        lines = zip(keys, problem.code.split("\n"), strict=True)
        shown["CODE"] = "\n".join(f"{key} {line}" for key, line in lines)
        [*_, asked] = re.findall(r"`([0-9a-f]{6})`", said)
        assert asked in keys
        shown |= {"aaaaaa": keys[0], "bbbbbb": keys[-1], "cccccc": asked}
    expected = [text, PREFILLS[task]]
    for placeholder, value in shown.items():
        expected = [one.replace(placeholder, value) for one in expected]
    assert [said, prompt.prefill] == expected
    after = without.messages[0].content
    assert said.endswith(after)
    assert after.startswith(("[FUNCTIONS]", "```python"))


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
def test_only_what_varies_varies() -> None:
    """The same distractors in the same order for every task and place; the fewer are the first of the more."""
    trials = trials_of()
    blocks = {
        (
            t.problem,
            t.factors["task"],
            t.factors["distractors"],
            t.factors["position"],
        ): trials.render(t)
        for t in trials.items
    }
    few, many = (
        distractor_context("generated_0", count, "installed", None, 0)
        for count in (4, 8)
    )
    assert many[:4] == few
    for task in ("input_prediction", "output_prediction"):
        text = blocks["generated_0", task, 8, 0].messages[0].content
        assert text.index(many[0]) < text.index(many[7])
        assert all(code in text for code in many)
    assert len(set(blocks.values())) == len(blocks) == 3 * 4 * 2 * 3
    keyed = blocks["generated_0", "function_retrieval", 4, 1].messages[0].content
    keyed = keyed.split("```python\n")[1].split("\n```")[0]
    again = blocks["generated_0", "line_retrieval", 8, 2].messages[0].content
    lines = [line for line in keyed.split("\n") if line[7:]]
    assert all(line in again for line in lines)


def test_contexts_can_be_matched_by_length() -> None:
    both = [trials_of(matched=matched) for matched in ("count", "tokens")]
    by_count, by_tokens = (
        shown(trials, task="output_prediction", distractors=8) for trials in both
    )
    assert abs(len(by_tokens.messages[0].content) - 8 * 200 * 4) < 2500
    assert len(by_count.messages[0].content) < len(by_tokens.messages[0].content)


def test_too_few_distractors_and_models_without_prefill() -> None:
    with refused(ParameterError, "distractors", "900000", "installed"):
        shown(trials_of(distractors=[900_000]), task="output_prediction")
    begun = shown(trials_of(), task="output_prediction")
    told = shown(trials_of(prefill="user"), task="output_prediction")
    assert told.prefill == ""
    text = told.messages[0].content
    assert text.startswith(begun.messages[0].content)
    assert text.endswith(
        f"Begin your answer with exactly this, and complete it:\n\n{begun.prefill}"
    )


def test_contexts_are_described_as_equation_2_says(tmp_path: Path) -> None:
    tables = []
    for fragments in (1, 3):
        given = Questions.model_validate(
            SMALL | {"fragments": fragments, "tasks": ["line_retrieval"]}
        )
        answers = run(
            questions(given), ["sim-wide"], store=tmp_path / "s.sqlite"
        ).answers
        tables.append(by_position.contexts(answers, given))
    whole, parts = tables
    assert list(whole["depth"]) == [0, 0.5, 1] * 2
    assert whole["concentration"].to_numpy() == pytest.approx(1)
    assert (parts["concentration"] < 0.6).all()
    assert whole["granularity"].iloc[3] > whole["granularity"].iloc[2]
    assert (whole["granularity"] < 1).all()


def test_a_subsample_and_a_smaller_study_are_part_of_the_whole() -> None:
    whole = trials_of(n_problems=40, tasks=["output_prediction"])
    registry = load_registry()["sim-wide"]
    keys = {request_of(whole, trial, registry).key for trial in whole.items}
    for part in (
        trials_of(tasks=["output_prediction"]),
        trials_of(n_problems=40, subsample=0.125, distractors=[4]),
    ):
        predicted = [t for t in part.items if t.factors["task"] == "output_prediction"]
        assert {request_of(part, trial, registry).key for trial in predicted} <= keys
    assert (
        len({t.problem for t in trials_of(n_problems=40, subsample=0.125).items}) == 5
    )


@pytest.mark.slow
def test_the_papers_sizes_and_what_its_figures_share(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    registry = load_registry()
    wanted = [
        "semtrace/fig01",
        "semtrace/fig02",
        "semtrace/fig03",
        "semtrace/fig05",
        "semtrace/fig09",
    ]
    chosen = resolve(
        select(wanted, load_profile("paper")), "paper", Overrides(), registry
    )
    trials = {artefact.name: artefact.trials() for artefact in chosen}
    assert [len(trials[name].items) for name in wanted] == [
        70_400,
        70_400,
        35_200,
        143_988,
        70_400,
    ]
    assert all(len(artefact.models) == 10 for artefact in chosen)
    first, same = trials["semtrace/fig01"], trials["semtrace/fig09"]
    entry = registry["llama-3.3-70b"]
    for index in (0, 35_000, 70_399):
        one, other = (request_of(t, t.items[index], entry).key for t in (first, same))
        assert one == other


@pytest.mark.slow
def test_readers_do_what_they_are_made_for(tmp_path: Path) -> None:
    """A reader with room for everything is right in retrieval, traces and outputs at every place; a small one not."""
    registry = tmp_path / "models.yaml"
    registry.write_text(
        "sim-all: {engine: simulated, settings: {capacity: 100000000}}\n"
        "sim-ends: {engine: simulated, settings: {capacity: 100000000, floor: 0.1, edge: 0.08}}\n"
    )
    trials = trials_of(
        n_problems=12, distractors=[8], problems=["generated", "semtrace"], positions=5
    )
    results = run(
        trials, ["sim-all", "sim-ends"], store=tmp_path / "s.sqlite", registry=registry
    )
    answers = results.answers
    exact = answers[
        (answers["model"] == "sim-all") & (answers["task"] != "input_prediction")
    ]
    assert exact["value_strict"].mean() == 1
    inputs = answers[
        (answers["model"] == "sim-all") & (answers["task"] == "input_prediction")
    ]
    assert inputs["value_strict"].mean() > 0.15
    dips = by_position.dips(
        answers,
        SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=300, seed=0),
    )
    ends = dips[
        (dips["model"] == "sim-ends") & (dips["task"] == "line_retrieval")
    ].iloc[0]
    assert ends["dip_points"] > 20
    assert (dips[dips["model"] == "sim-all"]["drop_points"] <= 100).all()
    assert by_position.factor_differences(
        answers,
        "qac",
        ["task"],
        SimpleNamespace(confidence=0.95, resamples=100, seed=0),
    ).empty
    table = by_position.accuracy_by_position(
        answers,
        SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=300, seed=0),
    )
    assert table["n"].sum() == len(answers)
    assert table["relative"].max() == 1


BEHIND = "\nThe assert statement above is true.\n```python\nassert f(0) == 0\nassert 0 == f(0)\n```"


def gold(trials: Trials) -> Iterator[tuple[Trial, Prompt, str]]:
    """Each trial with its prompt and the right completion of what is begun."""
    problems = {**problems_of("generated", 3, 0), **problems_of("semtrace", 3, 0)}
    for trial in trials.items:
        problem, prompt = problems[trial.problem], trials.render(trial)
        right = {
            "input_prediction": f"{problem.arguments})",
            "output_prediction": f" {problem.output}",
        }
        yield trial, prompt, f"{right[str(trial.factors['task'])]}\n```"


@pytest.mark.isolation
def test_scorers_know_what_each_model_was_given() -> None:
    """Right answers are right, whatever follows: continued, with the beginning repeated, or written whole."""
    tasks = ["input_prediction", "output_prediction"]
    trials = trials_of(
        models=["sim-near", "sim-wide"],
        tasks=tasks,
        problems=["generated", "semtrace"],
        distractors=[0],
        metrics=["strict", "partial"],
        per_model={"sim-wide": {"prefill": "user"}},
    )
    own = [prompt.messages[0].content for _, prompt, _ in gold(trials.of("sim-wide"))]
    for index, (trial, prompt, right) in enumerate(gold(trials.of("sim-near"))):
        whole = prompt.prefill + right
        assert own[index].endswith(prompt.prefill)
        for model, texts in (("sim-near", (right, whole)), ("sim-wide", (whole,))):
            for text in texts:
                for judge in trials.of(model).judges.values():
                    response = Response(
                        f"<think>\nassert f(0) == 0\n</think>\n{text}{BEHIND}", "stop"
                    )
                    assert judge(trial, response).outcome is Outcome.CORRECT, (
                        model,
                        text,
                    )


@pytest.mark.isolation
def test_the_rules_of_reading_are_compared_on_the_same_answers(tmp_path: Path) -> None:
    """A model that is right and goes on talking: under the rule of the last assertion nothing of it is."""
    changes = {
        "models": ["mine"],
        "tasks": ["input_prediction", "output_prediction"],
        "distractors": [0],
    }
    answers = {
        prompt.prefill: right + BEHIND
        for _, prompt, right in gold(trials_of(**changes))
    }
    (tmp_path / "m.py").write_text(
        f"def answer(messages, *, prefill, **_):\n    return {answers!r}[prefill]\n"
    )
    registry = tmp_path / "models.yaml"
    registry.write_text(
        f"mine: {{engine: function, settings: {{function: '{tmp_path}/m.py:answer'}}}}"
    )
    frames = {
        rule: run(
            trials_of(**changes, reading=rule),
            ["mine"],
            store=tmp_path / "s.sqlite",
            registry=registry,
        ).answers
        for rule in get_args(ReadingRule)
    }
    table = tables.shares_by_reading(frames)
    assert list(table.columns) == [
        "model",
        "task",
        "n",
        "first_fence",
        "last_assertion",
        "first_line",
        "differ",
    ]
    assert table["n"].tolist() == [3, 3]
    assert (table[["first_fence", "first_line", "differ"]] == 1).all(axis=None)
    assert (table["last_assertion"] == 0).all()


def test_line_removal_of_models_and_interpreter_are_the_same_programs() -> None:
    common = LineRemoval(
        artefact="semtrace/x", models=["sim-near"], problems="generated", n_problems=4
    )  # type: ignore[call-arg]
    asked, executed = (
        questions(common),
        questions(common.model_copy(update={"shown": "program"})),
    )
    assert len(asked.items) == 2 * len(executed.items)
    for trial in executed.items[:40]:
        program = executed.render(trial)
        code, call = program.messages[0].content, program.prefill
        twin = next(
            t
            for t in asked.items
            if (t.problem, t.factors) == (trial.problem, trial.factors)
        )
        prompt = asked.render(twin)
        assert f"[FUNCTIONS]\n{code}\n[/FUNCTIONS]" in prompt.messages[0].content
        assert prompt.prefill.endswith(f"assert {call} ==")
    few = questions(common.model_copy(update={"versions": 3}))
    assert {t.factors["removed"] == 0 for t in few.items} == {True, False}
    assert {(t.problem, t.factors["mask"]) for t in few.items} <= {
        (t.problem, t.factors["mask"]) for t in asked.items
    }


def test_the_rope_bound_is_the_papers() -> None:
    assert tables.smallest_rope_base(30_810) == pytest.approx(861_000, abs=500)


def test_what_the_paper_prints_stands_beside_ours() -> None:
    models = load_registry()
    table = tables.licences([models["llama-3.1-8b"], models["sim-near"]]).set_index(
        "name"
    )
    assert table.loc["llama-3.1-8b", ["licence", "table_3"]].tolist() == [
        "Llama 3.1 Community License",
        "Llama3.3",
    ]
    assert table.loc["sim-near", "table_3"] == ""
    assert table.loc["cruxeval", "table_3"] == "MIT License"
    shapes = tables.architectures([models["codestral-22b-v0.1"]], 30_810).iloc[0]
    assert shapes["smallest_base"] < shapes["rope_base"]
    printed = tables.published_baselines("semtrace/tab01", 0.95)
    assert len(printed) == 30
    both = tables.beside_published(printed.iloc[:2], printed)
    assert both["from"].value_counts().to_dict() == {"the paper": 30, "here": 2}


def test_the_query_on_both_sides_is_compared_on_the_same_problems() -> None:
    """At 15 of 100 places the query before the code helps, at 5 it hurts."""
    rows = [
        {
            "model": "m",
            "dataset": "d",
            "task": "t",
            "distractors": 20,
            "problem": f"p{n // 2}",
            "position": n % 2,
        }
        | {
            "qac": qac,
            "value_strict": float(n < 40 + 15 * qac if not 60 <= n < 65 else not qac),
        }
        for qac in (True, False)
        for n in range(100)
    ]
    frame = pd.DataFrame(rows)
    by = ["dataset", "task", "distractors"]
    found = by_position.factor_differences(
        frame, "qac", by, SimpleNamespace(confidence=0.95, resamples=500, seed=0)
    ).iloc[0]
    assert (found["first"], found["second"], found["items"]) == ("False", "True", 100)
    assert found["difference"] == pytest.approx(0.10)
    assert (found["only_second"], found["only_first"]) == (15, 5)
    assert found["low"] < 0.10 < found["high"]


def test_templates_are_rendered_on_one_problem() -> None:
    given = {
        "artefact": "semtrace/x",
        "models": ["sim-near"],
        "problems": "generated",
        "problem": 2,
    }
    prompts = rendered_templates(
        Templates.model_validate(
            given
            | {
                "distractors": [0, 4],
                "distractor_source": "installed",
                "matched": "count",
            }
        )
    )
    assert [(task, count) for task, count, _ in prompts] == [
        (task, count)
        for task in (
            "input_prediction",
            "output_prediction",
            "function_retrieval",
            "line_retrieval",
        )
        for count in (0, 4)
    ]
    table = tables.template_table(prompts)
    assert (table["characters"] > 100).all()


def test_drops_of_several_models_are_read_as_a_mean_or_a_maximum() -> None:
    """All that "a 16.05 % average accuracy decrease across models" and "up to 36.42 %" can mean, by hand."""
    models = read_published("semtrace")["groups"]["larger"]
    # Of ten, at two places.
    right = {
        models[0]: (9, 3),
        models[1]: (6, 9),
        models[2]: (9, 9),
        models[3]: (8, 4),
    }
    rows = [
        {
            "model": model,
            "problem": f"p{n}",
            "position": place,
            "value_strict": float(n % 10 < count),
        }
        for model, counts in right.items()
        for place, count in enumerate(counts)
        for n in range(100)
    ]
    setting = {
        "dataset": "semtrace",
        "task": "output_prediction",
        "digits": 2,
        "qac": True,
        "keys": False,
    }
    answers = pd.DataFrame(rows).assign(distractors=20, **setting)
    found = largest_drops.largest_drops(
        answers,
        SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=200, seed=0),
    )
    group = found[(found["model"] == "larger") & (found["context"] == "any")].set_index(
        "reading"
    )
    points, shares = (60, 30, 0, 40), (6 / 9, 3 / 9, 0, 4 / 8)
    assert group.loc[
        largest_drops.OWN, ["points", "relative"]
    ].tolist() == pytest.approx([sum(points) / 4, 100 * sum(shares) / 4])
    assert group.loc[
        largest_drops.MEAN, ["points", "relative"]
    ].tolist() == pytest.approx([80 - 62.5, 100 * 17.5 / 80])
    assert group.loc[
        largest_drops.MOST, ["points", "relative"]
    ].tolist() == pytest.approx([60, 100 * 6 / 9])


@pytest.mark.slow
def test_losses_of_several_models_are_read_in_five_ways() -> None:
    """Curves that are exponentials: by hand."""
    models = read_published("semtrace")["groups"]["larger"]
    kept = dict(zip(models, (0.5, 0.25, 0.5, 0.25), strict=True))
    tops = dict(zip(models, (0.8, 0.4, 0.8, 0.4), strict=True))
    rows = [
        {
            "model": model,
            "problem": f"p{n}",
            "removed": removed,
            "value_strict": float(n < 10_000 * share),
        }
        for model in models
        for removed in (0, 1, 2)
        for share in [tops[model] * kept[model] ** removed]
        for n in range(0, 10_000, 20)
    ]
    answers = pd.DataFrame(rows).assign(task="output_prediction")
    answers["share_removed"] = answers["removed"] / 2
    how = {
        "trend": "exponential",
        "weighted": False,
        "confidence": 0.95,
        "resamples": 20,
        "seed": 0,
    }
    table = losses.group_losses(
        removal.fit_removal(answers, SimpleNamespace(**how)), answers, 0.95
    )  # type: ignore[arg-type]
    group = table[table["model"] == "larger"].set_index("reading")["loss_at_half"]
    assert group[losses.FITTED] == pytest.approx(1 - (0.5 + 0.25) / 2, abs=0.01)
    assert group[losses.OBSERVED] == pytest.approx(1 - (0.5 + 0.25) / 2, abs=0.01)
    assert group[losses.OF_MEAN] == pytest.approx(
        1 - (0.4 + 0.1) / (0.8 + 0.4), abs=0.01
    )
    assert group[f"{losses.OF_MEAN}, in points"] == pytest.approx(
        (0.4 + 0.3) / 2, abs=0.01
    )
    assert group[f"{losses.OBSERVED}, in points"] == pytest.approx(
        (0.4 + 0.3) / 2, abs=0.01
    )
    without = answers[answers["removed"] != 1]
    left = losses.group_losses(
        removal.fit_removal(without, SimpleNamespace(**how)), without, 0.95
    )  # type: ignore[arg-type]
    assert losses.OBSERVED not in set(left["reading"]), (
        "no version lacks half of its lines"
    )


@pytest.mark.slow
def test_the_gain_of_semtrace_over_cruxeval_is_the_ratio_of_the_means() -> None:
    models = [
        "gpt-4.1-2025-04-14",
        "deepseek-coder-v2",
        "llama-3.3-70b",
        "qwen2.5-coder-32b",
    ]
    rows = [
        {
            "model": model,
            "dataset": dataset,
            "problem": f"{dataset}_{n}",
            "task": "output_prediction",
        }
        | {"distractors": 20, "value_strict": float(n % 10 < right)}
        for model in models
        for dataset, right in (("semtrace", 9), ("cruxeval", 6))
        for n in range(200)
    ]
    frame = pd.DataFrame(rows)

    def claim(answers: pd.DataFrame) -> pd.Series:
        gains = largest_drops.task_gains(answers, confidence=0.95)
        given = resolve(["semtrace/fig03"], "paper", Overrides(), load_registry())[
            0
        ].parameters
        none = pd.DataFrame(columns=["model"])
        stated = statements("semtrace", "fig03")
        others = {
            name: none for one in stated for name in (one.table, one.each) if name
        }
        table = ledger(given, {**others, "gains": gains})
        return table[table["statement"].str.contains("higher on SemTrace")].squeeze()

    found = claim(frame)
    assert found["regenerated"] == pytest.approx(50)
    named = [one.partition(": ")[::2] for one in found["readings"].split("; ")]
    assert [(name, told.split(" (")[0]) for name, told in named] == [
        *[("gain of the models' mean", "50 %"), ("mean of the models' gains", "50 %")],
        ("gain of the models' mean, in points", "30 points"),
    ]
    assert found["verdict"] == "inconclusive", "36.38 lies between 30 points and 50 %"
    # Delta method: the ratio's relative variance is the sum of those of the two means.
    spread = 150 * math.sqrt(0.1 / 0.9 / 200 + 0.4 / 0.6 / 200)
    assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * spread, rel=0.15)
    # A model that was asked about half of the problems counts as much as the others.
    gpt = frame["model"] == models[0]
    half = frame.assign(value_strict=frame["value_strict"].where(~gpt, 1.0))[
        ~gpt | frame["problem"].str.match(r".*_\d\d?$")
    ]
    assert claim(half)["regenerated"] == pytest.approx(
        100 * ((1 + 3 * 0.9) / (1 + 3 * 0.6) - 1)
    )
    one_set, few_models = (
        frame[frame["dataset"] == "semtrace"],
        frame[frame["model"] != models[0]],
    )
    for lacking in (one_set, few_models, frame.assign(distractors=4)):
        assert claim(lacking)["verdict"] == "not run"
        assert "gpt-4.1-2025-04-14" in claim(lacking)["basis"]
