"""CodeCrash: the paper's numbers recomputed, the conditions paired, the prompts, what readers make of them."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from codestress.artefact_files import load_profile
from codestress.errors import DataError, ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.literals import parse_literal
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.inputs import other_value
from codestress.mutate.perturbations.messages import messages
from codestress.papers.codecrash import programs, studies as codecrash
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.material import translated
from codestress.papers.codecrash.results import (
    differences,
    leaderboard,
    reasoning,
    verdicts,
)
from codestress.papers.codecrash.results.conditions import SETTING
from codestress.papers.codecrash.writing import (
    with_other_rows,
    write_material,
)
from codestress.parameters import questions
from codestress.paths import PARAMS
from codestress.pipeline.artefacts import Artefact, Overrides, resolve, select
from codestress.pipeline.inputs import inputs_of
from codestress.pipeline.plan import make_plan
from codestress.prompts import prompt_text
from codestress.report.claims import ledger
from codestress.report.protocol import stamp
from codestress.report.published import published_numbers, read_published
from codestress.sandbox.runtimes import missing
from codestress.scoring.forms import fenced_program
from codestress.seeding import rng
from codestress.types import Trials
from conftest import ROOT, codestress, slow
from openai_server import OpenAIServer, Received, Reply, completion
from told import names, refused

READERS = ["sim-careful", "sim-trusting"]


def given_of(**changes: Any) -> codecrash.Predictions:
    given = {
        "artefact": "codecrash/x",
        "models": READERS,
        "problems": ["contest"],
        "n_problems": 6,
    }
    given |= {"hints": "generated", "messages": "kit"} | changes
    return codecrash.Predictions.model_validate(given)


def trials_of(**changes: Any) -> Trials:
    given = given_of(**changes).model_dump(exclude={"relative", "confidence"})
    return questions(codecrash.Questions.model_validate(given))


def one_artefact(name: str, profile: str, *models: str) -> Artefact:
    (artefact,) = resolve([name], profile, Overrides(models=models), load_registry())
    return artefact


def test_the_headline_comes_out_of_the_published_values() -> None:
    published = leaderboard.published_differences()
    headlines = leaderboard.headlines(published)
    numbers = headlines.groupby("mode")["degradation"].apply(
        lambda one: one.round(2).tolist()
    )
    assert dict(numbers) == {
        "direct": [23.21, 23.02, 24.45],
        "cot": [13.78, 13.80, 14.40],
    }
    none = {"published": published[:0], "differences": pd.DataFrame()}
    claims = ledger(
        one_artefact("codecrash/tab02", "paper").parameters,
        none | {"headline": headlines},
    )
    assert claims["verdict"].tolist() == ["inconclusive", "inconclusive"], (
        "the paper prints no formula"
    )
    assert [
        re.findall(r"([\d.]+) % \((\w+)\)", told) for told in claims["readings"]
    ] == [
        [("23.21", "reproduced"), ("23.02", "differs"), ("24.45", "differs")],
        [("13.78", "reproduced"), ("13.80", "reproduced"), ("14.40", "differs")],
    ]
    assert set(claims["evidence"]) == {"recomputed"}
    assert published["label"].nunique() == 17


def test_the_headline_s_readings_come_out_of_the_project_page(
    shared_data: Path,
) -> None:
    """Another way: from the file of the project page, cell by cell, its own Merge scores among them."""
    page = json.loads(
        (shared_data / "codecrash-leaderboard" / "summary.json").read_text()
    )
    labels = set(leaderboard.published_differences()["label"])
    for ending, printed in (
        ("", [23.21, 23.02, 24.45]),
        (" (CoT)", [13.78, 13.80, 14.40]),
    ):
        losses: dict[str, list[float]] = {
            name: [] for name in ("CRUXEval", "LiveCodeBench", "Merge")
        }
        for label, name in product(labels, ("PSC-ALL", "MCC", "MPS", "MHC")):
            for dataset, cells in page[f"{label}{ending}"].items():
                losses[dataset].append(100 * (1 - cells[name] / cells["VAN"]))
        crux, contest, merge = (sum(found) / len(found) for found in losses.values())
        readings = [(800 * crux + 479 * contest) / 1279, merge, (crux + contest) / 2]
        assert [round(one, 2) for one in readings] == printed


def test_the_published_tables_come_out_of_the_published_values(
    shared_data: Path,
) -> None:
    known = json.loads(
        (shared_data / "published" / "published-results.json").read_text()
    )["codecrash"]
    frame = leaderboard.published_differences()
    index = frame.set_index(["label", "dataset", "mode", "perturbation"])
    datasets = {"Crux": "cruxeval", "LCB": "livecodebench"}

    def check(
        values: dict[str, Any], columns: list[str], mode: str, column: str
    ) -> int:
        compared = 0
        for label, rows in values.items():
            for short, dataset in datasets.items():
                for name, value in zip(columns, rows[short], strict=True):
                    assert index.loc[
                        (label, dataset, mode, name), column
                    ] == pytest.approx(value, abs=0.0051)
                    compared += 1
        return compared

    tab01, tab10, tab13 = (
        known[name]
        for name in (
            "table1_direct_relative_pct",
            "table10_direct_structural_relative_pct",
            "table13_direct_absolute_pp",
        )
    )
    assert check(tab01["values"], tab01["columns"], "direct", "relative_pct") == 136
    assert check(tab10["values"], tab10["columns"], "direct", "relative_pct") == 136
    assert check(tab13["values"], tab13["columns"], "direct", "points") == 238
    four = ["PSC-ALL", "MCC", "MPS", "MHC"]
    assert (
        check(known["table15_16_cot"]["relative_pct"], four, "cot", "relative_pct")
        == 136
    )
    assert check(known["table15_16_cot"]["absolute_pp"], four, "cot", "points") == 136
    for label, rows in known["table2_direct_vs_cot_merge_relative_pct"][
        "values"
    ].items():
        for mode, title in (("direct", "Direct"), ("cot", "CoT")):
            for name, value in zip(four, rows[title], strict=True):
                found = index.loc[(label, "merge", mode, name), "relative_pct"]
                assert found == pytest.approx(value, abs=0.0051)
    row = known["table13_direct_absolute_pp"]["website_average_row"]
    for name, (crux, lcb, merged) in row.items():
        for dataset, value in (
            ("cruxeval", crux),
            ("livecodebench", lcb),
            ("merge", merged),
        ):
            chosen = frame[
                (frame["dataset"] == dataset)
                & (frame["mode"] == "direct")
                & (frame["perturbation"] == name)
            ]
            # A mean of rounded ones.
            assert chosen["points"].mean() == pytest.approx(value, abs=0.0101)


def test_input_prediction_as_published() -> None:
    frame = leaderboard.published_differences("input")
    stated = published_numbers("codecrash/input")
    assert stated is not None
    means = [
        frame[(frame["perturbation"] == name) & (frame["mode"] == mode)][
            "relative_pct"
        ].mean()
        for name in ("PSC-ALL", "MCC", "MPS", "MHC")
        for mode in ("direct", "cot")
    ]
    assert means == pytest.approx(stated["averages"], abs=0.01)


def test_prompts_have_the_papers_two_sentences_and_form() -> None:
    trials = trials_of(
        problems=["generated"], perturbations=["VAN", "REN"], modes=["direct", "cot"]
    )
    for trial in trials.items:
        system, user = trials.render(trial).messages
        assert (system.role, user.role) == ("system", "user")
        assert "Do NOT output any extra information" in user.content
        assert "Ensure the provided expression syntax is correct" in user.content
        # The instruction names the tag, the question ends with it.
        shots = user.content.count("[/ANSWER]") - 2
        assert shots == (2 if trial.factors["mode"] == "direct" else 1)
        assert user.content.endswith(" == ?? [/ANSWER]")
        assert ("[THOUGHT]" in user.content) == (trial.factors["mode"] == "cot")
        sampling = trials.render(trial).sampling
        assert (sampling.temperature, sampling.top_p) == (0.2, 0.95)
        assert sampling.max_tokens == (
            200 if trial.factors["mode"] == "direct" else 2000
        )
    renamed = [
        trials.render(t).messages[1].content
        for t in trials.items
        if t.factors["perturbation"] == "REN"
    ]
    assert all("def f(Var_" in text for text in renamed)
    assert Counter(
        trial.sample for trial in trials.items if trial.factors["mode"] == "direct"
    ) == dict.fromkeys(range(3), 12)


def test_the_defences_are_asked_in_the_papers_words() -> None:
    """Table 8's sentence and Table 9's four steps, as section 4.3 prints them, and no word of what misleads."""
    told = trials_of(
        problems=["generated"],
        perturbations=["VAN", "MCC"],
        ignore=[False, True],
        samples_direct=1,
    )
    texts = {
        bool(t.factors["ignore"]): told.render(t).messages[1].content
        for t in told.items
    }
    sentence = (
        "Please ignore the comments and any other non-code elements in the code snippet"
    )
    assert (sentence in texts[True], sentence in texts[False]) == (True, False)
    assert (
        prompt_text("codecrash.ignore") == f"{sentence}."
    )  # that they may be wrong is not said
    # Table 8 has one column of vanilla programs, which have no comments to be ignored.
    assert {(t.factors["perturbation"], t.factors["ignore"]) for t in told.items} == {
        ("VAN", False), ("MCC", False), ("MCC", True),
    }  # fmt: skip
    cleaned = trials_of(
        problems=["generated"], perturbations=["MCC"], refactor=[True], samples_direct=1
    )
    asked = cleaned.render(cleaned.items[0]).messages[-1].content.splitlines()[-1]
    steps = (
        "(i) deleting misleading comments, (ii) renaming unintelligible identifiers, (iii) adding missing imports, "
        "and (iv) stripping dead code"
    )
    assert steps in asked


def test_reasoning_models_are_asked_directly_with_room_to_think_beside_the_others() -> (
    None
):
    """Appendix D; section 4.1 compares Qwen2.5-72B step by step with QwQ."""
    for name in ("codecrash/tab06", "codecrash/fig04"):
        artefact = one_artefact(name, "paper")
        given = artefact.parameters
        own = {model: given.of_model(model).model_dump() for model in given.models}
        assert own["qwq-32b"]["modes"] == ["direct"]
        assert own["qwq-32b"]["samples_direct"] == 1
        assert load_registry()["qwq-32b"].max_tokens == 32768
        assert "cot" in own["qwen2.5-72b"]["modes"]
        assert own["qwen2.5-72b"]["max_tokens_cot"] == 2000
        assert stamp(given) == "as the paper"
    assert len(one_artefact("codecrash/fig04", "paper").models) == 18
    changed = Overrides(settings=("n_problems=1",))
    (small,) = resolve(["codecrash/tab06"], "smoke", changed, load_registry())
    trials = small.trials()
    modes = {
        model: {trial.factors["mode"] for trial in trials.of(model).items}
        for model in small.parameters.models
    }
    assert modes == {"sim-trusting": {"cot"}, "sim-thinking": {"direct"}}


def test_published_points_stand_under_their_own_data_set() -> None:
    published = leaderboard.published_differences()
    theirs = {
        name: len(
            published[(published["mode"] == "direct") & (published["dataset"] == name)]
        )
        for name in ("cruxeval", "livecodebench", "merge")
    }
    row = {
        "language": "python",
        "task": "output",
        "ignore": False,
        "refactor": False,
        "perturbation": "MCC",
    }
    row |= {"density": 1.0, "model": "m", "relative_pct": -1.0, "points": -1.0}

    def panels(*datasets: str, modes: tuple[str, ...] = ("direct",)) -> dict[str, int]:
        table = pd.DataFrame(
            [
                row | {"dataset": name, "mode": mode}
                for name in datasets
                for mode in modes
            ]
        )
        return dict(
            leaderboard.published_points(published, table, relative=True)[
                "panel"
            ].value_counts(sort=False)
        )

    assert panels("generated", "contest", "merge") == {
        "generated problems": theirs["cruxeval"],
        "contest programs": theirs["livecodebench"],
        "all problems": theirs["merge"],
    }
    assert panels("generated") == {"generated problems": theirs["cruxeval"]}
    assert panels("generated", modes=("direct", "cot")).keys() == {
        "direct",
        "chain of thought",
    }
    assert panels("mine") == {}
    assert panels("cruxeval", "livecodebench", "merge") == {
        "CRUXEval": theirs["cruxeval"], "LiveCodeBench": theirs["livecodebench"], "all problems": theirs["merge"],
    }  # fmt: skip
    assert panels("cruxeval", "generated", "merge") == {
        "CRUXEval": theirs["cruxeval"], "generated problems": theirs["cruxeval"],
    }  # fmt: skip
    table = pd.DataFrame(
        [
            row
            | {
                "dataset": "generated",
                "mode": "direct",
                "average_tokens": 1,
                "tokens_low": 1,
            }
        ]
    )
    table = table.assign(tokens_high=1, most_tokens=1)
    _, points = reasoning.token_points(table, reasoning.published_reasoning())
    assert set(zip(points["panel"], points["beside"], strict=True)) == {
        ("generated problems", "CRUXEval")
    }
    _, points = reasoning.token_points(
        table.assign(dataset="cruxeval"), reasoning.published_reasoning()
    )
    assert set(points["panel"]) == {"CRUXEval"}


def test_candidates_are_different_requests_and_unchanged_programs_are_asked_once() -> (
    None
):
    trials = trials_of(
        problems=["generated"], n_problems=12, perturbations=["VAN", "RTF"]
    )
    entry = load_registry()["sim-careful"]
    keys: dict[tuple[str, str], list[str]] = {}
    for trial in trials.items:
        found = keys.setdefault((str(trial.factors["perturbation"]), trial.problem), [])
        found.append(request_of(trials, trial, entry).key)
    assert all(len(set(found)) == 3 for found in keys.values())
    unchanged = {
        trial.problem
        for trial in trials.items
        if trial.factors["status"] == "unchanged"
    }
    assert unchanged
    for name in {trial.problem for trial in trials.items}:
        assert (keys["RTF", name] == keys["VAN", name]) == (name in unchanged)


MINIMUM_COST = """def minimumCost(s: str) -> int:
    ans = 0
    for i in range(1, len(s)):
        if s[i - 1] != s[i]:
            ans += min(i, len(s) - i)
    return ans"""
SETTINGS = (
    "n_problems=4",
    "perturbations=[VAN,REN,PSC-ALL,MCC,MPS,MHC]",
    "samples_direct=3",
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """By data set, the questions of another process (its hashes are others), with two of LiveCodeBench's form."""
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {
            "question_id": 2777,
            "id": f"sample_{number}",
            "function_name": "minimumCost",
            "code": MINIMUM_COST,
            "input": f"minimumCost(s = {text!r})",
            "output": output,
            "numsteps": 13,
        }
        for number, (text, output) in enumerate([("0011", "2"), ("010101", "9")])
    ]
    (folder / "livecodebench").mkdir()
    (folder / "livecodebench" / "execution-v2.jsonl").write_text(
        "\n".join(map(json.dumps, rows))
    )
    command = [
        "show",
        "codecrash/tab01",
        "--profile",
        "smoke",
        "--models",
        "sim-careful",
        "--limit",
        "0",
        "--json",
    ]
    for setting in ("problems=[contest,livecodebench]", *SETTINGS):
        command += ["--set", setting]
    where = {"CODESTRESS_DATA": str(folder), "PYTHONHASHSEED": "1"}
    done = codestress(*command, outputs=folder, **where)
    assert done.returncode == 0, done.stderr
    texts: dict[str, list[str]] = {"contest": [], "livecodebench": []}
    for row in json.loads(done.stdout):
        texts[row["factors"]["dataset"]].append(
            row["prompt"]["messages"][-1]["content"]
        )
    return texts


@pytest.mark.isolation
def test_two_runs_with_one_seed_ask_the_same_bytes(shown: dict[str, list[str]]) -> None:
    changed = Overrides(("sim-careful",), ("problems=[contest]", *SETTINGS))
    (artefact,) = resolve(["codecrash/tab01"], "smoke", changed, load_registry())
    trials = artefact.trials()
    texts = [trials.render(trial).messages[-1].content for trial in trials.items]
    assert texts == shown["contest"]


@pytest.mark.isolation
def test_livecodebench_in_its_own_form(shown: dict[str, list[str]]) -> None:
    texts = shown["livecodebench"]
    assert len(texts) == 2 * 6 * 3
    assert any("[ANSWER] f(Var_3 = '0011') == ?? [/ANSWER]" in text for text in texts)


def test_every_artefact_resolves_at_the_papers_size_as_far_as_its_data_is_here() -> (
    None
):
    names = select(["codecrash"], load_profile("paper"))
    assert len(names) == len(list((PARAMS / "codecrash").glob("*.yaml")))
    for artefact in resolve(names, "paper", Overrides(), load_registry()):
        given = artefact.parameters.model_dump()
        assert ("confidence" not in given) == (
            artefact.name in ("codecrash/fig03", "codecrash/perturbations")
        )
        assert given.get("confidence", 0.95) == 0.95
    with refused(DataError, "livecodebench/execution-v2.jsonl"):
        one_artefact("codecrash/fig03", "paper").trials()


@pytest.mark.slow
@pytest.mark.isolation
def test_cruxeval_at_full_size(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    (artefact,) = resolve(
        ["codecrash/tab05"],
        "paper",
        Overrides(("sim-careful",), ("hints=generated",)),
        load_registry(),
    )
    trials = artefact.trials()
    counts = Counter(
        (t.factors["perturbation"], t.factors["mode"]) for t in trials.items
    )
    assert counts["VAN", "direct"] == 2400
    assert counts["VAN", "cot"] == 800
    assert counts["PSC-ALL", "direct"] == 2400
    assert counts["MHC", "direct"] >= 3 * 780
    (row,) = make_plan([artefact], tmp_path / "s.sqlite").rows
    assert row.requests == len(trials.items)


@pytest.mark.slow
def test_readers_and_all_conditions(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    trials = trials_of(
        n_problems=10,
        perturbations=["VAN", "PSC-ALL", "MCC", "MPS", "MHC"],
        refactor=[False, True],
        samples_direct=2,
    )
    results = run(trials, READERS, store=store)
    assert all(
        sum(counts.values()) == len(trials.items)
        for counts in results.counts().values()
    )
    answers = results.answers
    table = differences.differences(answers, rule="strict", confidence=0.95)
    assert set(table["problems"]) == {10}
    hint = table[(table["perturbation"] == "MHC") & ~table["refactor"]].set_index(
        "model"
    )
    assert hint.loc["sim-trusting", "points"] < hint.loc["sim-careful", "points"]
    assert run(trials, READERS, store=store).asked == 0
    earlier = [len(keys) for keys in answers["earlier"]]
    assert set(earlier) <= {0, 1}
    assert sum(earlier) > 0.4 * len(earlier)
    texts = stored_responses([keys[0] for keys in answers["earlier"] if keys], store)
    assert all(response.text.startswith("```python") for response in texts.values())


def test_plans_count_both_requests_of_a_pipeline(tmp_path: Path) -> None:
    artefact = one_artefact("codecrash/tab09", "smoke", "sim-careful")
    (row,) = make_plan([artefact], tmp_path / "s.sqlite").rows
    trials = artefact.trials()
    assert row.requests == len(trials.items) + sum(
        bool(trial.factors["refactor"]) for trial in trials.items
    )


def test_what_cannot_be_asked_is_said() -> None:
    with refused(
        ParameterError, "javascript", "generated", "`codestress write translations`"
    ):
        trials_of(problems=["generated"], languages=["javascript"])
    with refused(ParameterError, "input", "livecodebench"):
        trials_of(problems=["livecodebench"], task="input")
    file = "/nowhere/hints.jsonl"
    ways = (
        "`codestress write hints",
        "--problems contest --task output",
        "hints = generated",
    )
    with refused(DataError, file, *ways):
        trials_of(perturbations=["MHC"], hints=file)


@pytest.mark.parametrize("asked", [["VAN"], ["MCC"]])
def test_nothing_to_compare_is_said(asked: list[str]) -> None:
    with refused(ParameterError, f"perturbations = {asked}", "codecrash/perturbations"):
        questions(given_of(perturbations=asked))


def test_answers_that_cannot_be_compared_are_said() -> None:
    rows = [{"perturbation": "MCC", "value_strict": 1.0, "problem": "p"}]
    answers = pd.DataFrame(rows).assign(question="p", status="applied", density=1.0)
    answers = answers.assign(**dict.fromkeys(["model", "dataset", *SETTING], ""))
    answers[["ignore", "refactor"]] = False
    for compare in (differences.differences, verdicts.changed_verdicts):
        with refused(ParameterError, "VAN", "answers: MCC"):
            compare(answers, rule="strict", confidence=0.95)


def test_cases_with_a_defence_are_told_beside_the_plain_program(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    given = given_of(n_problems=20, perturbations=["VAN", "MCC"], ignore=[False, True])
    answers = run(given, ["sim-trusting"], store=store).answers
    texts = stored_responses(answers["key"], store)
    found = verdicts.cases(answers, rule="strict", per_condition=1, seed=0)
    assert set(found["ignore"]) == {False, True}
    for case in found.itertuples():
        told = verdicts.told_case(case, given, texts)
        names(told, "vanilla", case.problem, texts[case.key_after].text[-100:])


@pytest.mark.slow
def test_collapse_and_cases(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    given = given_of(
        n_problems=40,
        perturbations=["VAN", "MCC", "MHC"],
        samples_direct=1,
        max_tokens_direct=4096,
    )
    answers = run(given, ["sim-thinking"], store=store).answers
    texts = stored_responses(answers["key"], store)
    thought = reasoning.with_reasoning(answers, texts)
    table = reasoning.reasoning_table(thought, rule="strict", confidence=0.95)
    average = table.set_index("perturbation")["average_tokens"]
    assert average["VAN"] < min(average["MCC"], average["MHC"])
    assert table.set_index("perturbation")["collapses"]["MHC"] >= 1
    assert table.set_index("perturbation")["collapses"]["VAN"] == 0
    found = reasoning.doubt_curve(answers, texts)
    assert (found.perturbation, found.collapse_at is not None) == ("MHC", True)
    [growth] = reasoning.growth_table(found).itertuples()
    assert growth.c2 > 0
    told = verdicts.cases(answers, rule="strict", per_condition=1, seed=0)
    assert len(told) >= 1
    case = next(told.itertuples())
    ends = [texts[key].text[-100:] for key in (case.key_before, case.key_after)]
    names(
        verdicts.told_case(case, given, texts), case.problem, case.perturbation, *ends
    )


@contextmanager
def served(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[str, int], str]
) -> Iterator[OpenAIServer]:
    """A real server for the registry's llama-3.1-8b; `answer` gets the prompt and how often it was asked before."""

    def behave(request: Received) -> Reply:
        return completion(answer(request.prompt, request.seen))

    with OpenAIServer(behave) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        yield server


@pytest.mark.parametrize("gone", slow(["calls.json", "battery_log.py"], "calls.json"))
def test_a_missing_contest_program_is_an_error_that_names_it(
    tmp_path: Path, gone: str
) -> None:
    shutil.copytree(PARAMS, tmp_path / "params")
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    (tmp_path / "params" / "codecrash" / "contest" / gone).unlink()
    command = (
        "show",
        "codecrash/tab01",
        "--profile",
        "smoke",
        "--set",
        "problems=[contest]",
    )
    done = codestress(
        *command, outputs=tmp_path / "outputs", CODESTRESS_ROOT=str(tmp_path)
    )
    assert done.returncode == 1
    names(done.stderr, f"params/codecrash/contest/{gone}", "git checkout")


def test_contest_programs_are_inputs_of_the_artefacts_that_ask_about_them() -> None:
    asks, asks_not = (
        resolve(
            ["codecrash/tab01"],
            "smoke",
            Overrides(settings=(f"problems=[{source}]",)),
            load_registry(),
        )[0]
        for source in ("contest", "generated")
    )
    name = "data params/codecrash/contest/coin_row_duel.py"
    assert name in inputs_of(asks)
    assert name not in inputs_of(asks_not)


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.skipif(bool(missing("javascript")), reason="Node is not installed")
def test_a_model_writes_translations_and_only_those_that_mean_the_same_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = {problem.id: problem.code for problem in contest_problems()[:5]}
    twins = {problem.id: problem.code for problem in contest_problems("javascript")[:5]}
    names = {code: name for name, code in python.items()}
    first, second, third, *_ = python

    def answer(prompt: str, seen: int) -> str:
        name = names[fenced_program(prompt)]
        if name == first and seen == 0:
            return "I would rather not."
        if name == second:
            return (
                f"```javascript\n{twins[third]}\n```"  # another program: never accepted
            )
        return f"```javascript\n{twins[name]}\n```"

    checked, _ = programs.checked_problems("contest", "python", 5, "", 0)
    with served(monkeypatch, answer) as server:
        written = write_material(
            checked, "llama-3.1-8b", None, seed=0, store=tmp_path / "s.sqlite"
        )
        assert len(server.requests) == 5 + 2 + 1
    assert [row["id"] for row in written.rows] == [
        name for name in python if name != second
    ]
    assert written.counts["accepted"] == 4
    assert sum(written.counts.values()) == 5
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in written.rows))
    found = translated(contest_problems()[:5], str(path), "contest")
    assert [(problem.id, problem.language) for problem in found] == [
        (row["id"], "javascript") for row in written.rows
    ]


@pytest.mark.slow
@pytest.mark.isolation
def test_a_model_writes_hints_and_only_wrong_ones_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, _ = programs.checked_problems("generated", "python", 6, "", 0)
    by_code = {one.problem.code: one.problem for one in checked}
    order = [one.problem.id for one in checked]

    def answer(prompt: str, seen: int) -> str:
        problem = by_code[prompt.partition("```python\n")[2].partition("\n```")[0]]
        number = order.index(problem.id)
        value = repr(
            other_value(
                parse_literal(problem.output).value, Draw(rng(0, "test", problem.id))
            )
        )
        assertions = {
            0: f"{problem.call} == {problem.output}",  # true: not wrong
            1: f"{problem.call} == {{'another': 'type'}}"
            if seen == 0
            else f"{problem.call} == {value}",
        }
        return (
            f"[ANSWER] {assertions.get(number, f'{problem.call} == {value}')} [/ANSWER]"
        )

    with served(monkeypatch, answer):
        written = write_material(
            checked, "llama-3.1-8b", "output", seed=0, store=tmp_path / "s.sqlite"
        )
    assert [row["id"] for row in written.rows] == order[1:]
    (rejected,) = written.rejected
    first = by_code[checked[0].problem.code]
    assert rejected == {
        **{"id": order[0], "task": "output", "reason": rejected["reason"]},
        "answer": f"[ANSWER] {first.call} == {first.output} [/ANSWER]",
    }
    assert rejected["reason"]
    assert written.counts == {"accepted": 5, rejected["reason"]: 1}
    path = tmp_path / "h.jsonl"
    old = [
        {"id": order[1], "task": "input", "value": "1"},
        {"id": order[0], "task": "output", "value": "1"},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in old))
    path.write_text(with_other_rows(written, written.rows, path))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [old[0], *written.rows], (
        "of the other task; the rejected one is no hint any more"
    )
    trials = trials_of(
        problems=["generated"],
        perturbations=["VAN", "MHC"],
        hints=str(path),
        samples_direct=1,
    )
    told = {
        t.problem: trials.render(t).messages[1].content
        for t in trials.items
        if t.factors["perturbation"] == "MHC"
    }
    assert set(told) == set(order[1:])
    assert all(
        f"# The return value is {row['value']}\n" in told[row["id"]]
        for row in written.rows
    )


@pytest.mark.isolation
def test_written_inputs_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, _ = programs.checked_problems("generated", "python", 6, "", 0)
    by_code = {one.problem.code: one.problem for one in checked}
    order = [one.problem.id for one in checked]

    def answer(prompt: str, seen: int) -> str:
        problem = by_code[prompt.partition("```python\n")[2].partition("\n```")[0]]
        calls = [problem.call, "f(None)", "f(__import__('os').getpid())", "f()"]
        calls += ["f (\n    None,\n)", "12345"]
        call = "f(None)" if seen else calls[order.index(problem.id)]
        end = "" if call == "12345" else f" == {problem.output}"
        return f"[ANSWER] {call}{end} [/ANSWER]"

    with served(monkeypatch, answer) as server:
        written = write_material(
            checked, "llama-3.1-8b", "input", seed=0, store=tmp_path / "s.sqlite"
        )
        assert len(server.requests) == 6 + 3, (
            "of the right input and of what is no call"
        )
    assert [row["id"] for row in written.rows] == order
    values = ["None", "None", "None", "", "None", "None"]
    assert [row["value"] for row in written.rows] == values


@pytest.mark.isolation
def test_any_model_writes_hints(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def answer(messages, **settings):\n"
        "    call = messages[-1]['content'].rpartition('[ANSWER] ')[2].partition(' == ')[0]\n"
        "    return f'[ANSWER] {call} == None [/ANSWER]'\n"
    )
    path = tmp_path / "folder/h.jsonl"
    of = ("--problems", "contest", "--n-problems", "2", "--output", str(path))
    done = codestress(
        *("write", "hints", "--model", f"{tmp_path / 'own.py'}:answer", *of),
        outputs=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    names(done.stdout, "2 of another type", "h.rejected.jsonl")
    assert path.read_text() == ""


def test_the_messages_that_table_3_prints_are_to_the_letter() -> None:
    printed, kit = messages("printed"), messages()
    new = {
        kind: [
            text
            for _, text in printed[kind]
            if text not in dict(map(reversed, kit[kind]))
        ]
        for kind in kit
    }
    assert {kind: own for kind, own in new.items() if own} == {
        "condition": [
            "This branch will not execute because the condition is always unmet.",
            "The logic here ensures this block is skipped in all scenarios.",
        ],
        "operator": [
            "This operation is irrelevant and can be safely removed.",
            "The operation is unnecessary and does not affect the outcome.",
        ],
    }
    assert {kind: len(own) for kind, own in printed.items()} == {
        kind: len(own) for kind, own in kit.items()
    }


def test_tokens_grow_as_an_oracle_says() -> None:
    rows = [
        {
            "model": "m",
            "dataset": "d",
            "perturbation": name,
            "problem": f"p{n}",
            "question": f"q{n // 2}",
            "spent": spent,
        }
        for n in range(12)
        for name, spent in (
            ("VAN", 100 + n),
            ("MHC", 3 * (100 + n)),
            ("MCC", 50 if n % 2 else 150),
        )
    ]
    answers = pd.DataFrame([*rows, rows[1] | {"problem": 99}]).rename(
        columns={"spent": "reasoning_tokens"}
    )
    own = reasoning.token_growth(answers, confidence=0.95).set_index("perturbation")
    # Who has no vanilla is left out.
    assert own.loc["MHC", ["times", "problems", "questions"]].tolist() == [
        3.0,
        12,
        6,
    ]
    assert own.loc["MCC", "times"] == pytest.approx(1200 / sum(range(100, 112)))
    assert ((own["low"] < own["times"]) & (own["times"] < own["high"])).all()


def test_published_numbers_say_that_the_papers_text_has_none() -> None:
    [tables] = set(leaderboard.published_differences()["provenance"])
    [means] = set(leaderboard.published_differences("input")["provenance"])
    assert ("leaderboard" in tables, "picture" in means) == (True, True)
    rule = read_published("codecrash")["rules"]["difference"]
    assert "({provenance})" in rule["statement"]


def test_generated_hints_are_a_deviation_and_a_model_s_file_is_none() -> None:
    plain = {
        "problems": ["cruxeval", "livecodebench"],
        "n_problems": 0,
        "artefact": "codecrash/tab01",
    }
    assert (
        stamp(given_of(**plain, hints="elsewhere.jsonl", messages="printed"))
        == "as the paper"
    )
    told = stamp(given_of(**plain, hints="generated", messages="kit"))
    theirs = ("outputs/data/codecrash.hints.jsonl", "printed")
    names(told, "deviates", "hints generated", "messages kit", *theirs)


@pytest.mark.slow
def test_only_hints_depend_on_who_wrote_them() -> None:
    """With generated hints what MHC costs is not comparable, and what the others cost is."""
    published = leaderboard.published_differences()
    cells = published[
        (published["mode"] == "direct") & (published["label"] == "GPT-4o")
    ]
    numbers = {"problems": 1279, "questions": 892, "independent": 463.5}
    ours = cells.assign(
        language="python",
        task="output",
        ignore=False,
        refactor=False,
        density=1.0,
        **numbers,
    )
    ours = ours.assign(
        relative_low=ours["relative_pct"] - 0.1,
        relative_high=ours["relative_pct"] + 0.1,
    )
    plain = {
        "problems": ["cruxeval", "livecodebench"],
        "n_problems": 0,
        "messages": "printed",
    }
    given = given_of(**plain, artefact="codecrash/tab01", models=["gpt-4o-2024-05-13"])
    claims = ledger(
        given,
        leaderboard.compared_tables(ours, published) | {"own_headline": pd.DataFrame()},
    )
    words = claims[claims["regenerated"].notna() & (claims["evidence"] == "re-run")]
    hints = words["statement"].str.contains("MHC")
    assert set(words.loc[hints, "verdict"]) == {"not comparable"}
    assert set(words.loc[~hints, "verdict"]) == {"reproduced"}
