"""Fault Localizability: an oracle scores 100 % everywhere, the public labels are audited, two stages resume."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from matplotlib.colors import to_hex

from codestress.artefact_files import load_profile
from codestress.fitting.proportions import wilson
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_for, stored_requests
from codestress.inference.run import run
from codestress.inference.store import Store, stored_responses
from codestress.mutate.faults.comments import ACCUSES
from codestress.mutate.faults.fault_site import KINDS
from codestress.mutate.faults.neutral import FaultyProgram, Said, bank
from codestress.papers.faultloc import studies as faultloc
from codestress.papers.faultloc.charts import share_dots, strength_curves
from codestress.papers.faultloc.programs import parses, program_set
from codestress.papers.faultloc.results import (
    localization,
    paper,
    program_tables,
    robustness,
    stated,
)
from codestress.papers.faultloc.results.relabel import perfect_answers
from codestress.papers.faultloc.scoring import score_location
from codestress.papers.faultloc.tasks import RENAMED
from codestress.parameters import questions
from codestress.paths import PARAMS
from codestress.pipeline.artefacts import Overrides, resolve, select
from codestress.report.claims import ledger
from codestress.report.marks import Mark
from codestress.report.published import published_numbers, read_published
from codestress.report.style import MARKERS, OTHER_MARKERS, PUBLISHED
from codestress.scoring.forms import fenced_program, named_line
from codestress.types import Outcome, Response, Trials
from conftest import THOROUGH, some
from openai_server import OpenAIServer, Received, Reply, completion
from told import names

SMALL: dict[str, Any] = {
    "artefact": "faultloc/x",
    "models": ["sim-careful"],
    "programs": ["installed", "java"],
    "n_programs": 4,
    "max_lines": 300,
    "content": "bank",
    "strengths": [1, 4],
}


SMALL_PROGRAMS = {name: SMALL[name] for name in SMALL if name != "content"}
SAID: tuple[Said, ...] = ("describes", "accuses elsewhere")


def parameters(**changes: Any) -> faultloc.Localization:
    return faultloc.Localization.model_validate(SMALL | changes)


def trials_of(**changes: Any) -> Trials:
    return questions(parameters(**changes))


def tasks(**changes: Any) -> dict[str, faultloc.Task]:
    given = parameters(**changes)
    return {
        name: task
        for source in given.programs
        for name, task in faultloc.tasks_of(given, source).items()
    }


def mutated(task: faultloc.Task, *how: Any) -> FaultyProgram | str:
    """The task's program under a mutation: its name, strength, content, seed."""
    return faultloc.drawn_mutation(task.program, task.correct.language, task.id, *how)


def says(number: object, line: str = "") -> str:
    return json.dumps({"line_number": number, "line": line})


@contextmanager
def oracle(
    monkeypatch: pytest.MonkeyPatch, labels: dict[str, int]
) -> Iterator[OpenAIServer]:
    """A real server that knows the faulty line of every program it may be shown; the registry's llama-3.1-8b."""

    def behave(request: Received) -> Reply:
        return completion(says(labels[fenced_program(request.prompt)]))

    with OpenAIServer(behave) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        yield server


# Slow, as all mutations are made and asked about: nothing else quick follows a label to its score.
def test_an_oracle_scores_100_percent_in_every_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels, n_programs = dict[str, int](), len(some(range(6), 3))
    for task in tasks(n_programs=n_programs).values():
        programs: list[FaultyProgram | str] = [task.program]
        for spm in parameters().spms:
            for strength in SMALL["strengths"]:
                programs.append(
                    mutated(task, spm, strength, bank(task.correct.language), 0)
                )
        programs.append(mutated(task, "blank_line", 1, bank(task.correct.language), 0))
        labels |= {
            program.code: program.line
            for program in programs
            if isinstance(program, FaultyProgram)
        }
    trials = trials_of(n_programs=n_programs)
    with oracle(monkeypatch, labels) as server:
        results = run(trials, ["llama-3.1-8b"], store=tmp_path / "s.sqlite")
        assert len(server.requests) == results.asked == results.answers["key"].nunique()
    counts = results.counts()["llama-3.1-8b"]
    assert counts["correct"] + counts["skipped"] == len(trials.items)
    answers = results.answers
    skipped = answers[answers["outcome_strict"] == "skipped"]
    assert skipped["detail_strict"].str.contains("neutral").all()
    perfect = perfect_answers(parameters(n_programs=n_programs), trials.items)
    everyone = pd.concat([answers, perfect])
    table = localization.localized(
        everyone, ["language", "fault", "quarter"], rule="strict", confidence=0.95
    )
    assert set(table["model"]) == {"llama-3.1-8b", localization.ORACLE}
    assert set(table["accuracy"]) == set(table["accuracy_kept"]) == {1.0}
    again = robustness.robustness(
        answers, ["language", "spm", "strength"], rule="strict", confidence=0.95
    )
    assert set(again["accuracy"].dropna()) == {1.0}
    assert (again["tasks"] == again["localized"]).all()


def made_up(
    model: str, rows: list[tuple[str, int, int]], first: int = 0
) -> pd.DataFrame:
    """Answers about off-by-one faults of the last quarter: of each language so many, and so many right ones."""
    answers = [
        (model, language, f"{number:02}/OffByOne/4.1", float(number - first < found))
        for language, tasks, found in rows
        for number in range(first, first + tasks)
    ]
    table = pd.DataFrame(
        answers, columns=["model", "language", "problem", "value_strict"]
    )
    table = table.assign(
        source=table["language"], fault="OffByOne", quarter=4, spm="none"
    )
    return table.assign(value_reference=table["value_strict"])


def test_figure_9_pools_answers_and_its_cells_sum_to_the_tasks() -> None:
    """Two languages of unequal size: 1 of 2 and 1 of 16 are 2 of 18, and no mean of 50 and 6 %. One model was asked
    about two tasks that the other was not: 20 different ones; the perfect localizer's own are 24."""
    answers = pd.concat(
        [
            made_up("a", [("python", 2, 1), ("java", 16, 1)]),
            made_up("b", [("java", 18, 2)]),
            made_up(localization.ORACLE, [("python", 4, 4), ("java", 20, 20)]),
        ]
    )
    cells = localization.heat_cells(answers, "strict").set_index("row")
    for row in ("OffByOne", localization.ALL_FAULTS):
        found = cells.loc[row, ["accuracy", "found", "answers", "tasks"]].tolist()
        assert found == pytest.approx([4 / 36, 4, 36, 20])
    assert cells.loc[localization.ORACLE, ["accuracy", "tasks"]].tolist() == [1, 24]
    assert cells["cell"].map(lambda cell: isinstance(cell, dict)).tolist() == [
        True,
        True,
        False,
    ]


def test_tasks_of_a_category_are_different_ones() -> None:
    """Three models of one category found 2, 0 and 0 of ten tasks: 2 of 30 answers, 10 tasks, 2 of them kept."""
    parts = [made_up("coder", [("python", 10, found)]) for found in (2, 0, 0)]
    table = localization.localized(
        pd.concat(parts), ["language"], rule="strict", confidence=0.95
    )
    assert table.loc[0, ["tasks", "answers", "found", "kept"]].tolist() == [
        10,
        30,
        2,
        2,
    ]
    assert table.loc[0, ["accuracy", "accuracy_kept"]].tolist() == pytest.approx(
        [2 / 30, 1 / 3]
    )


def test_labels_are_right_in_all_tasks() -> None:
    table = program_tables.labels_checked(tasks(n_programs=12, per_quarter=2))
    assert (table["label_is_right"] == table["tasks"]).all()
    assert table["tasks"].sum() > 200


def test_tasks_are_drawn_by_quarter_and_do_not_depend_on_how_many_there_are() -> None:
    few, many = tasks(n_programs=3), tasks(n_programs=6)
    assert {name: task.site for name, task in few.items()} == {
        name: many[name].site for name in few
    }
    counts = Counter(
        (task.correct.id, task.site.kind, name.split("/")[-1][0])
        for name, task in many.items()
    )
    assert set(counts.values()) == {1}
    for name, task in many.items():
        assert int(name.split("/")[-1][0]) == task.program.quarter + 1
    every = tasks(n_programs=2, per_quarter=0)
    assert len(every) > 3 * len(tasks(n_programs=2))


def test_who_does_not_find_it_is_not_asked_again_and_two_stages_resume(
    tmp_path: Path,
) -> None:
    trials = trials_of(n_programs=3)
    store = tmp_path / "s.sqlite"
    first = run(trials, ["sim-careful"], store=store)
    frame = first.answers
    plain = frame[frame["spm"] == "none"].set_index("problem")["value_strict"]
    mutated = frame[frame["spm"] != "none"]
    again = mutated["outcome_strict"] != "skipped"
    assert again.any()
    assert plain[mutated.loc[again, "problem"]].eq(1).all()
    lost = mutated[mutated["detail_strict"].str.contains("localized")]
    assert plain[lost["problem"]].eq(0).all()
    assert first.asked == frame["key"].nunique() <= len(plain) + int(again.sum())
    assert run(trials, ["sim-careful"], store=store).asked == 0


@pytest.mark.slow
def test_losses_are_told_beside_those_of_asking_again(tmp_path: Path) -> None:
    trials = trials_of(
        n_programs=8,
        spms=["names", "comments"],
        strengths=[1, 2],
        said=["describes", "accuses elsewhere"],
    )
    results = run(trials, ["sim-careful"], store=tmp_path / "s.sqlite")
    frame = results.answers
    asked = frame[frame["outcome_strict"] != "skipped"]
    plain = asked[asked["spm"] == "none"]
    assert set(asked[asked["spm"] == "comments"]["said"]) == {
        "describes",
        "accuses elsewhere",
    }
    assert set(asked[asked["spm"] != "comments"]["said"]) == {""}
    again = asked[asked["spm"] == "unchanged"]
    assert len(again) == plain["value_strict"].sum() > 5
    assert again[
        "value_strict"
    ].all()  # a reader of the kit reads the same text in the same way
    assert not set(again["key"]) & set(plain["key"])  # but it is asked
    with Store(tmp_path / "s.sqlite") as store:
        sent = [
            request
            for _, request, _ in stored_requests(
                trials, [load_registry()["sim-careful"]], store
            )
        ]
    first, second = (
        {one.prompt.digest for one in sent if one.sample == sample} for sample in (0, 1)
    )
    assert len(second) == len(again)
    assert second < first  # the very same, limits included, as another sample
    blank = asked[asked["spm"] == "blank_line"]
    options: dict[str, Any] = {"rule": "strict", "confidence": 0.95}
    table = robustness.losses(frame, [], **options).set_index("control")
    mutated = asked[asked["spm"].isin(["names", "comments"])]
    lost = 1 - mutated["value_strict"].mean()
    assert list(table.loc["unchanged", ["net_lost", "lost"]]) == pytest.approx(
        [lost, lost]
    )
    kept = mutated["problem"].map(blank.set_index("problem")["value_strict"])
    net = (kept - mutated["value_strict"])[kept.notna()].mean()
    assert table.loc["blank_line", "net_lost"] == pytest.approx(net)
    assert 0 < table.loc["blank_line", "lost_control"] < 1
    assert table.loc["blank_line", "low"] <= net <= table.loc["blank_line", "high"]
    alone = table.loc["blank_line", ["low", "low_joint"]]
    assert alone["low_joint"] == alone["low"], "one comparison needs no correction"
    both = robustness.losses(frame, ["language"], **options)
    wider = robustness.losses(frame, ["language"], rule="strict", confidence=0.975)
    assert set(both.groupby("control").size()) == {2}
    assert list(both["low_joint"]) == pytest.approx(list(wider["low"]), nan_ok=True)
    by = robustness.robustness(
        frame, ["language", "change"], rule="strict", confidence=0.95
    )
    assert set(by["change"]) == {"mutated", "unchanged", "blank_line"}
    assert by[by["change"] == "mutated"]["asked_again"].sum() == len(mutated)


def test_content_by_the_model_under_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = {
        task.program.code: task.program.line
        for task in tasks(programs=["installed"], n_programs=1).values()
    }
    written = {
        "comments": [
            "Nobody calls this.",
            "Two\nlines",
            "This line is wrong.",
            "The loop is endless.",
        ]
        * 4,
        "names": [f"misleading_{n}" for n in range(8)],
        "dead_code": ["x = 1", *[f"if False:\n    never_{n} = {n}" for n in range(8)]],
    }

    def behave(request: Received) -> Reply:
        program = fenced_program(request.prompt)
        if request.prompt.startswith("Below is a Python program"):
            return completion(f"Here you are:\n{json.dumps(written)}")
        return completion(says(labels.get(program, 1)))

    changed = {
        "content": "model",
        "strengths": [2],
        "spms": ["comments", "dead_code"],
        "controls": ["blank_line"],
    }
    trials = trials_of(programs=["installed"], n_programs=1, **changed)
    with OpenAIServer(behave) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        results = run(trials, ["llama-3.1-8b"], store=tmp_path / "s.sqlite")
        texts = [request.prompt for request in server.requests]
    frame = results.answers
    asked_again = frame[
        (frame["spm"] != "none") & (frame["outcome_strict"] != "skipped")
    ]
    assert set(asked_again["spm"]) == {"comments", "dead_code", "blank_line"}
    assert (
        asked_again["earlier"]
        .map(len)
        .eq(2 - asked_again["spm"].eq("blank_line"))
        .all()
    )
    [entry] = results.models
    for answer in results.answers.to_dict("records"):
        # A person who looks at an answer is shown what it replies to, not how its trial began.
        keys = [answer["key"], *answer["earlier"]]
        stored = stored_responses(keys, tmp_path / "s.sqlite")
        prompt = results.prompt_of(answer, stored)
        sample = answer["sample"] + prompt.repetition
        assert request_for(entry, prompt, sample).key == answer["key"]
    shown = "\n".join(texts)
    assert "# Nobody calls this." in shown or "# The loop is endless." in shown
    assert "# Two" not in shown
    assert "# This line is wrong." not in shown
    assert "coherent descriptions" in shown
    assert "        never_" in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (says(4, "    return x"), (4, "    return x")),
        ("The fault:\n```json\n" + says(4) + "\n```", (4, "")),
        (says(9) + "\nNo, rather: " + says(4), (4, "")),
        ('{"line_number": 4, "line": "print("a")"}', (4, None)),
        ('{"line_number": 4}', (4, None)),
        (says("4"), (4, "")),
        (
            '{"line": "for (int i = 0; i < n; i++) {", "line_number": 2}',
            (2, "for (int i = 0; i < n; i++) {"),
        ),
        (
            '{"line": "}} else {", "why": "{\\"line_number\\": 9}", "line_number": " 2 "}',
            (2, "}} else {"),
        ),
        (
            'I see `if (x) {` and mean {"answer": {"line_number": 2, "line": "}"}}.',
            (2, "}"),
        ),
        ('[{"line_number": 3}, {"line_number": 2}] and {"note": "{"}', (2, None)),
        (r'{"line": "re.match(\'\d{3}\', s) {", "line_number": 2}', (2, None)),
        ('{"line": "print("{}")", "line_number": "2", "why": "x"}', (2, None)),
        (
            '{"line": "print("a") {", "line_number": 9} No: {"line_number": 2}',
            (2, None),
        ),
        ("{'line_number': 4, 'line': 'x = {'}", (4, None)),
        ("Line: {'line': 'for {', 'line_number': '4'}.", (4, None)),
        ("{line_number: 4} or {“line_number”: “5”}", (5, None)),
        ('{"said": "no", "answer": "{}", oops, \\"line_number\\": 4}', (4, None)),
        (
            '{"line": "{\'line_number\': 9}", "line_number": 4}',
            (4, "{'line_number': 9}"),
        ),
        ('{"line_number": "line 4"}', None),
        ('{"line_number": [4]}', None),
        ('{"line_number": -1}', (-1, None)),
        (says(True), None),
        (says(4.0), None),
        ("line 4", None),
        ("", None),
        ('{"line": "x"}', None),
    ],
)
def test_answers_are_read_strictly(
    text: str, expected: tuple[int, str | None] | None
) -> None:
    assert named_line(text) == expected


LINE = st.text(st.sampled_from("{}[]\"'\\\\,: \tline_number=()x1\u00e9"), max_size=20)


@given(
    LINE,
    LINE,
    st.integers(1, 99),
    st.booleans(),
    st.permutations(["line_number", "line", "why"]),
)
def test_the_number_is_found_wherever_it_stands(
    line: str, prose: str, number: int, digits: bool, order: list[str]
) -> None:
    values = {
        "line_number": str(number) if digits else number,
        "line": line,
        "why": says(7) + line,
    }
    text = json.dumps({key: values[key] for key in order}, indent=number % 3 or None)
    said = f"for (;;) {{\n{says(98)}{prose.replace('{', '(')}\n```json\n{text}\n```\n}}"
    assert named_line(said) == (number, line)


def test_numbers_that_no_program_has_are_wrong() -> None:
    for number in ("0", "-3", "6", "9" * 5000, f'"{"9" * 5000}"'):
        found = score_location(
            Response(f'{{"line_number": {number}}}', "stop"), 5, "a\nb\nc\nd\ne", 2
        )
        assert found.outcome is Outcome.INCORRECT, number


@pytest.mark.parametrize(
    "unit", ["{", '{"a":', '{"line_number": 1', '{"line_number":' + " " * 50, "{},"]
)
def test_hostile_texts_are_read_in_time(unit: str) -> None:
    assert named_line(unit * (50_000 // len(unit))) is None


def test_scores_and_tolerance() -> None:
    code = "a\nb\nc\nd\ne"

    def score(number: int, tolerance: int) -> Outcome:
        response = Response(says(number), "stop")
        return score_location(response, 3, code, tolerance).outcome

    assert [score(n, 0) for n in range(7)] == [
        *(
            Outcome.INCORRECT,
            Outcome.INCORRECT,
            Outcome.INCORRECT,
            Outcome.CORRECT,
            Outcome.INCORRECT,
            Outcome.INCORRECT,
            Outcome.INCORRECT,
        )
    ]
    assert [n for n in range(-3, 9) if score(n, 2) is Outcome.CORRECT] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert (
        score_location(Response('{"line_num', "length"), 3, code, 0).outcome
        is Outcome.TRUNCATED
    )
    assert (
        score_location(Response("I cannot tell.", "stop"), 3, code, 0).outcome
        is Outcome.UNPARSABLE
    )
    assert score_location(Response("  ", "stop"), 3, code, 0).outcome is Outcome.REFUSED


def test_the_public_labels_are_audited(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    table = paper.audit("public", 2)
    counted = paper.audit("counted", 2)
    first, second = (
        one.sort_values(["fault", "quarter"], ignore_index=True)
        for one in (table, counted)
    )
    assert first.equals(second)
    found = table.set_index(["fault", "quarter"])
    for fault, within, total in (
        ("BooleanLogic", 102, 622),
        ("OffByOne", 466, 2031),
        ("OperatorSwap", 449, 2727),
        ("MisplacedReturn", 3731, 3731),
    ):
        assert tuple(found.loc[(fault, 0), ["within", "tasks"]]) == (within, total)
    assert [
        round(100 * found.loc[("all faults", n), "accuracy"]) for n in (1, 2, 3, 4)
    ] == [
        86,
        62,
        51,
        27,
    ]
    last = found.loc[("BooleanLogic", 4)]  # four tasks of a program count once
    ends = wilson(last["within"] / 4, last["tasks"] / 4)
    assert (last["low"], last["high"]) == pytest.approx(ends)
    assert [
        round(100 * found.loc[("BooleanLogic", n), "accuracy"]) for n in (1, 2, 3, 4)
    ] == [
        40,
        27,
        21,
        3,
    ]
    assert set(
        ledger(
            resolve(["faultloc/audit"], "paper", Overrides(), load_registry())[
                0
            ].parameters,
            {"audit": table},
        )["verdict"]
    ) == {"no verdict"}
    exact = paper.audit("public", 0).set_index(["fault", "quarter"])
    assert (
        exact.loc[("all faults", 0), "within"] < found.loc[("all faults", 0), "within"]
    )


@pytest.mark.slow
def test_the_authors_programs_decide_what_section_i_says_of_them(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))

    def claims(**changes: Any) -> dict[float, tuple[str, str]]:
        given = faultloc.Programs.model_validate(
            {"artefact": "faultloc/fig05", "models": ["python"]} | changes
        )
        table = ledger(given, {"seeds": program_tables.seed_counts(given)})
        table = table[table["evidence"] == "recomputed"]
        assert len(table) == 2
        return dict(
            zip(
                table["published"],
                zip(table["evidence"], table["verdict"], strict=True),
                strict=True,
            )
        )

    reproduced = ("recomputed", "reproduced")
    assert claims() == {637: reproduced, 670: reproduced}
    assert (
        claims(n_programs=3, min_lines=80) == claims()
    )  # what is kept of them is another matter
    assert claims(programs=["alpaca"]) == {
        637: reproduced,
        670: ("recomputed", "not run"),
    }


def test_the_kits_own_programs_decide_nothing_of_the_papers() -> None:
    given = faultloc.Programs.model_validate(
        {
            "artefact": "faultloc/fig05",
            "models": ["python"],
            "programs": ["java"],
            "max_lines": 200,
        }
    )
    seeds = program_tables.seed_counts(given)
    assert seeds["source"].tolist() == ["java"]
    assert set(ledger(given, {"seeds": seeds})["verdict"]) == {"not run"}
    changed = seeds.assign(source="alpaca", published=636)
    assert ledger(given, {"seeds": changed})["verdict"].tolist() == [
        "differs",
        "not run",
        "not run",
        "not run",
    ]


@pytest.mark.slow
@pytest.mark.release
def test_the_papers_programs(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    python, java = program_set("alpaca", 50, 0), program_set("codesearchnet", 50, 0)
    assert len(python.programs) + sum(python.dropped.values()) == 637
    assert len(java.programs) + sum(java.dropped.values()) == 670
    assert sum(n for why, n in python.dropped.items() if "50" in why) == 121
    assert sum(n for why, n in java.dropped.items() if "already" in why) == 60
    judged = Counter(program.relevance for program in java.programs)
    assert judged[0] > 250
    assert judged[3] > 80
    kept = Overrides(("sim-careful",), ("selection=kit",))
    artefact = next(iter(resolve(["faultloc/tab02"], "paper", kept, load_registry())))
    trials = artefact.trials()
    faults = {language: Counter[object]() for language in ("python", "java")}
    for trial in trials.items:
        faults[str(trial.factors["language"])][trial.factors["fault"]] += 1
    assert faults["python"].total() > 1500
    # 4,036 sites in Java, less 324 that rules refuse: the fault might not compile, nothing
    # might reach it, or the method returns the same anyway.
    assert faults["java"] == {
        "MisplacedReturn": 1611 - 140,
        "IncorrectBooleanLogic": 946 - 55,
        "OperatorSwap": 823 - 100,
        "OffByOne": 656 - 29,
    }


@pytest.mark.slow
def test_the_kits_own_programs() -> None:
    standard = program_set("installed", 50, 300)
    assert len(standard.programs) > 150
    assert all(
        program.specification and program.lines >= 50 for program in standard.programs
    )
    java = program_set("java", 50, 300)
    assert len(java.programs) >= 20
    assert not java.dropped
    assert all(len(program.runs) >= 3 for program in java.programs)


@pytest.mark.slow
def test_table_ii_has_a_verdict_only_where_both_readings_of_compared_agree() -> None:
    """Answers that are all one line off: the paper says "compared", the artifact lets two lines pass."""
    cells = paper.published_localization()
    cell = cells[(cells["language"] == "python") & (cells["fault"] == "OffByOne")].iloc[
        0
    ]
    n = int(cell["n"])
    answers = pd.DataFrame(
        {"problem": [f"{one}/OffByOne/1" for one in range(n)]}
    ).assign(language="python", fault="OffByOne", source="alpaca", spm="none")
    off = (answers.index < n * cell["value"] / 100) * 1.0
    all_ten = read_published("faultloc")["groups"]["all"]

    def word(strict: float, reference: float, models: list[str]) -> str:
        parts = [
            answers.assign(
                model=model,
                value_strict=off * strict if model == cell["model"] else 1.0,
                value_reference=off * reference if model == cell["model"] else 1.0,
            )
            for model in models
        ]
        tables = {
            "published": cells,
            "localized": localization.compared(pd.concat(parts), ["alpaca"], 0.95),
            "counted": paper.best_on_misplaced_return(cells),
            "stated": pd.DataFrame(),
        }
        found = ledger(given, tables)
        start = f"Table II: {cell['label']}, Python, OffByOne"
        [verdict] = found[found["statement"].str.startswith(start)]["verdict"]
        return str(verdict)

    given = resolve(["faultloc/tab02"], "paper", Overrides(), load_registry())[
        0
    ].parameters
    assert word(0.0, 0.0, all_ten) == "differs"
    assert word(0.0, 1.0, all_ten) == "inconclusive", "differs by one reading alone"
    assert word(0.0, 0.0, all_ten[:9]) == "not run", "others decide what is kept"


def test_functions_are_shuffled_in_java_alone() -> None:
    """Table I."""
    items = trials_of().items
    shuffled = [one for one in items if one.factors["spm"] == "functions"]
    assert {one.factors["language"] for one in shuffled} == {"java"}
    table = program_tables.task_statistics(
        faultloc.ProgramsFigure.model_validate(SMALL_PROGRAMS)
    )
    each = table.set_index("source").eval("tasks / faulty")
    assert each.to_dict() == {"installed": 1 + 5 * 2, "java": 1 + 6 * 2}


def test_the_drop_under_function_shuffling_is_javas() -> None:
    """Section V-B2: of ten faults in Java two are found again; Python's, had they been asked, do not count."""
    models = read_published("faultloc")["groups"]["all"]
    found = [("java", n, float(n < 2)) for n in range(10)]
    found += [("python", n, 1.0) for n in range(10)]
    again = pd.DataFrame(found, columns=["language", "problem", "value_strict"])
    again = again.assign(
        source=again["language"], problem=again["problem"].astype(str) + "/x/1"
    )
    again = again.assign(
        spm="functions", strength=1, quarter=1, outcome_strict="correct"
    )
    answers = again.merge(pd.DataFrame({"model": models}), how="cross")
    answers = pd.concat([answers, answers.assign(spm="none", value_strict=1.0)])
    table = stated.stated_numbers(answers, ["x"], rule="strict", confidence=0.95)
    lost = table[table["number"] == "lost under functions"]
    assert lost["value"].tolist() == pytest.approx([0.8, 0.8])


@pytest.mark.slow
def test_claims_are_decided_only_on_the_papers_programs(tmp_path: Path) -> None:
    answers = run(
        trials_of(spms=[]), ["sim-careful"], store=tmp_path / "s.sqlite"
    ).answers
    table = localization.localized(
        answers, ["language", "fault"], rule="strict", confidence=0.95
    )
    cells = paper.published_localization()
    nothing = stated.stated_numbers(
        answers, ["installed"], rule="strict", confidence=0.95
    )
    assert nothing.empty
    tables = {
        "published": cells,
        "counted": paper.best_on_misplaced_return(cells),
        "stated": nothing,
    }
    given = resolve(["faultloc/tab02"], "paper", Overrides(), load_registry())[
        0
    ].parameters

    def claims(seeds: str) -> pd.DataFrame:
        own = table[table["model"] == "sim-careful"].assign(
            model="phi-4", programs=seeds
        )
        own = own.assign(asked="all ten")
        both = [
            own.assign(reading=reading) for reading in localization.READINGS.values()
        ]
        found = ledger(given, tables | {"localized": pd.concat(both)})
        return found[found["statement"].str.startswith("Table II")]

    others = claims("installed java")
    assert len(others) == 80
    assert set(others["verdict"]) == {"not run"}
    assert others["statement"].str.contains("Figure 7").sum() == 2
    decided = claims("alpaca codesearchnet")["verdict"] != "not run"
    assert decided.sum() == (table[table["model"] == "sim-careful"]["kept"] > 0).sum()


def test_table_iv_s_250_lines_are_not_shown_to_be_inconsistent() -> None:
    lines = paper.lines_of_a_program()
    assert dict(lines.round(1).to_numpy()) == {
        **{"all lines by its tasks": 327.8, "all lines by its prompts": 211.3},
        "lines of the public seed programs": 370.3,
    }
    given = resolve(["faultloc/tab04"], "paper", Overrides(), load_registry())[
        0
    ].parameters
    found = ledger(given, {"lines": lines, "seeds": pd.DataFrame()}).set_index(
        "statement"
    )
    row = found.loc["Table IV: average lines of a program"]
    assert (row["verdict"], row["evidence"]) == ("inconclusive", "internal")
    assert row["readings"].count("inconsistent") == 3, "two of them above it, one below"


def test_seed_programs_are_as_long_as_the_published_ones(shared_data: Path) -> None:
    for language, (count, lines) in (published_numbers("faultloc/tab04") or {})[
        "seed_lines"
    ].items():
        path = shared_data / "llmcodeimpact" / f"{language}_seed_programs.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            codes = [json.loads(row)["code"] for row in file]
        assert (len(codes), sum(len(code.split("\n")) for code in codes)) == (
            count,
            lines,
        )


def test_fewer_models_find_misplaced_returns_best_by_every_reading() -> None:
    found = paper.best_on_misplaced_return(paper.published_localization())
    assert dict(found.to_numpy()) == {
        **{"tasks of both languages together": 4, "mean of both languages": 4},
        **{"Python alone": 5, "Java alone": 3},
    }


def test_every_artefact_resolves_at_the_papers_size() -> None:
    chosen = select(["faultloc"], load_profile("paper"))
    assert len(chosen) == len([*(PARAMS / "faultloc").glob("*.yaml")])
    assert len(resolve(chosen, "paper", Overrides(), load_registry())) == len(chosen)
    heat = paper.published_heat()
    assert isinstance(heat, pd.DataFrame)
    assert (
        heat.set_index(["row", "column"]).loc[("OffByOne", "0-25 %"), "accuracy"]
        == 0.65
    )
    numbers = published_numbers("faultloc/tab02")
    assert numbers is not None
    for language, faults in numbers["values"].items():
        for fault, values in faults.items():
            of = numbers["denominators"][language][fault]
            odd = {
                one["model"]
                for one in numbers["flagged"]
                if (one["language"], one["fault"]) == (language, fault)
            }
            odd |= (
                {"GPT-4o"}
                if (language, fault) == ("java", "MisplacedReturn")
                else set()
            )
            for label, value in zip(numbers["columns"], values, strict=True):
                if label not in odd:
                    assert round(value * of / 100) / of * 100 == pytest.approx(
                        value, abs=0.00501
                    )


@pytest.mark.slow
def test_no_comment_of_the_demo_accuses_the_fault() -> None:
    """All mutants of Figure 6, and of as many programs again, with comments of the kit's own, of both kinds."""
    given = next(
        iter(resolve(["faultloc/fig06"], "demo", Overrides(), load_registry()))
    ).parameters
    assert isinstance(given, faultloc.Localization)
    given = given.model_copy(
        update={
            "n_programs": 2 * given.n_programs if THOROUGH else given.n_programs // 2
        }
    )
    accusations = bank("python", "accuses elsewhere").comments
    assert not any(map(ACCUSES.search, bank("python").comments))
    seen = Counter[str]()
    for task in (
        task
        for source in given.programs
        for task in faultloc.tasks_of(given, source).values()
    ):
        for said, strength in product(SAID, given.strengths):
            made = mutated(
                task, "comments", strength, bank(task.correct.language, said), 0
            )
            if isinstance(made, FaultyProgram):
                seen[said] += 1
                around = "\n".join(
                    made.code.split("\n")[max(0, made.line - 3) : made.line + 2]
                )
                assert not any(text in around for text in accusations), (
                    task.id,
                    said,
                    strength,
                )
    assert min(seen.values()) > (700 if THOROUGH else 100), seen


def dots(rows: list[str], models: list[str], **columns: object) -> pd.DataFrame:
    cells = [
        {
            "label": row,
            "condition": model,
            "accuracy": number / 20,
            "low": 0.0,
            "high": 1.0,
        }
        for row in rows
        for number, model in enumerate(models)
    ]
    return pd.DataFrame(cells).assign(**columns)


def test_published_figure_6_stands_in_the_rows_and_figure_7_s_counts_do_not() -> None:
    own = {"Python": dots(["names", "dead_code"], ["phi-4"])}
    panel = paper.beside_published(own, "spms")["Python"]
    theirs = panel[panel["condition"].str.startswith("published")]
    dead = [
        bars["dead_code"]
        for bars in read_published("faultloc")["fig06"]["values"].values()
    ]
    means = theirs.set_index("label")["accuracy"]
    assert len(means) == 5
    assert means["dead_code"] == pytest.approx(sum(dead) / 1000)
    [ax] = share_dots({"Python": panel}, xlabel="%").axes
    for label, part in zip(ax.get_yticklabels(), ("names", "dead code"), strict=False):
        names(label.get_text(), part)
    strokes = ax.collections[0]
    assert len(strokes.get_segments()) == 5
    assert to_hex(strokes.get_color()[0]).upper() == PUBLISHED
    by_model = paper.beside_published({"Java": dots(["phi-4"], ["phi-4"])}, "models")[
        "Java"
    ]
    assert by_model["label"].nunique() == 10, "the paper's phi-4 stands in our own row"
    assert len(by_model) == 11
    assert len(paper.published_counts()) == 20


def test_what_figures_10_and_11_count_is_not_said_and_stands_apart() -> None:
    own = {"Python": dots(["reasoning"], ["reasoning"])}
    panels = paper.beside_published(own, "categories")
    assert list(panels) == ["Python", paper.UNSAID]
    assert len(panels["Python"]) == 1
    assert set(panels[paper.UNSAID]["label"]) == {
        "reasoning",
        "multimodal",
        "generic",
        "coder",
    }


@pytest.mark.slow
def test_figures_of_seventeen_models_fit_a_page_and_tell_them_apart() -> None:
    models = [f"model {number}" for number in range(17)]
    rows = dots([f"row {number}" for number in range(8)], models, n=range(17 * 8))
    figure = share_dots({"Python": rows, "Java": rows}, xlabel="%")
    assert figure.get_figheight() <= 8.5
    python, _ = figure.axes
    drawn = [line for line in python.lines if line.get_marker() in OTHER_MARKERS]
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 17
    assert {round(float(line.get_xdata()[0]), 6) for line in drawn} == {
        5.0 * n for n in range(17)
    }
    assert "0–16" in [text.get_text() for text in python.texts]


def test_marks_of_a_figure_stand_on_its_dots() -> None:
    cells = [{"model": "phi-4", "spm": spm} for spm in ("names", "dead_code")]
    rows = dots(["names", "dead_code"], ["phi-4"], cell=cells)
    [ax] = share_dots({"Python": rows}, xlabel="%").axes
    marks = [artist for artist in ax.get_children() if isinstance(artist, Mark)]
    assert [mark.cell for mark in marks] == cells
    points = [line.get_xydata()[0] for line in ax.lines if line.get_marker() in MARKERS]
    assert [tuple(mark.get_center()) for mark in marks] == [
        tuple(one) for one in points
    ]


def test_titles_say_the_finding() -> None:
    losses = pd.DataFrame(
        {"control": "blank_line", "low": [0.1, 0.01], "low_joint": [0.05, -0.02]}
    )
    names(robustness.headline(losses, losses, "models"), "blank line", "1 of 2")
    names(robustness.headline(losses[:0], losses, "models"), "no control", "0")
    shares = pd.DataFrame(
        [
            ("phi-4", "python", "OffByOne", 0.2, 20),
            ("phi-4", "java", "OffByOne", 0.4, 20),
        ],
        columns=["model", "language", "fault", "accuracy_kept", "kept"],
    )
    said = localization.headline(shares, "faults")
    names(said, "off by one in Java (40 %)", "off by one in Python (20 %)")
    assert said.index("most") < said.index("40 %") < said.index("20 %")
    # Within a language, weighted by tasks: 4 of 20 and 20 of 40 are 40 %.
    shares = pd.DataFrame(
        [
            ("coder", "python", 0.2, 20),
            ("coder", "python", 0.5, 40),
            ("reasoning", "python", 0.3, 20),
            ("reasoning", "java", 0.9, 20),
        ],
        columns=["model", "language", "accuracy_kept", "kept"],
    )
    said = localization.headline(shares, "categories")
    names(said, "reasoning in Java (90 %)", "reasoning in Python (30 %)")
    few = shares.assign(kept=9)
    names(localization.headline(few, "versions"), "10 tasks")


def test_the_mean_line_of_figure_8_counts_models_alike(tmp_path: Path) -> None:
    trials = trials_of(n_programs=12, spms=["names", "comments"], strengths=[1, 4])
    frame = run(
        trials, ["sim-careful", "sim-trusting"], store=tmp_path / "s.sqlite"
    ).answers
    points = robustness.mean_points(frame, rule="strict", confidence=0.95).set_index(
        ["language", "mutation", "strength"]
    )
    asked = frame[
        (frame["outcome_strict"] != "skipped")
        & frame["spm"].isin(["names", "comments"])
    ]
    here = asked[(asked["language"] == "python") & (asked["strength"] == 4)]
    expected = 100 * here.groupby("model")["value_strict"].mean().mean()
    assert points.loc[("python", "all mutations", 4), "value"] == pytest.approx(
        expected
    )
    one = here[here["spm"] == "names"].groupby("model")["value_strict"].mean().mean()
    assert points.loc[("python", "names", 4), "value"] == pytest.approx(100 * one)
    assert (points["low"] < points["value"]).all()
    assert (points["value"] < points["high"]).all()
    figure = strength_curves(
        pd.concat([points.reset_index(), paper.published_strengths()])
    )
    for text, part in zip(
        figure.legends[0].get_texts(), ("mean", "published"), strict=True
    ):
        names(text.get_text(), part)


@pytest.mark.slow
def test_the_artifacts_own_programs_and_labels_are_kept(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    whole: dict[str, Any] = {
        "selection": "artifact",
        "programs": ["alpaca", "codesearchnet"],
        "n_programs": 0,
    }
    python, java = (
        program_set(source, 50, 0, "artifact") for source in ("alpaca", "codesearchnet")
    )
    for found, expected, filtered in ((python, 637, 335), (java, 670, 609)):
        assert len(found.programs) == found.published == expected
        assert sum(not program.refused for program in found.programs) == filtered
        assert (
            Counter(program.refused for program in found.programs if program.refused)
            == found.dropped
        )
    given = parameters(
        **whole | {"per_quarter": 0, "max_lines": 0, "programs": ["alpaca"]}
    )
    every = faultloc.tasks_of(given, "alpaca")
    assert len(every) == 9150
    counts = Counter(task.refused for task in every.values())
    assert counts[""] > 900
    assert sum(n for why, n in counts.items() if "changed" in why) > 1000
    unparsed = [
        task for task in every.values() if not parses(task.program.code, "python")
    ]
    assert len(unparsed) > 1334  # returns alone
    assert all(task.refused for task in unparsed)
    right = Counter(task.kind for task in every.values() if task.label_is_right)
    exact = paper.audit("public", 0).set_index(["fault", "quarter"])["within"]
    assert right == {
        RENAMED.get(kind, kind): exact[kind, 0]
        for kind in (*KINDS, *RENAMED)
        if (kind, 0) in exact
    }
    kept, dropped = program_tables.seed_tables(parameters(**whole | {"max_lines": 0}))
    assert kept["programs"].sum() == 637 + 670
    assert dropped["what"].str.startswith("kept").all()


@pytest.mark.slow
def test_an_oracle_of_the_artifacts_labels_is_right_and_what_is_refused_is_told(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    some: dict[str, Any] = {
        "selection": "artifact",
        "programs": ["alpaca"],
        "n_programs": 12,
        "max_lines": 0,
    }
    changed = some | {"spms": ["names"], "strengths": [1]}
    labels = {task.program.code: task.program.line for task in tasks(**some).values()}
    with oracle(monkeypatch, defaultdict(lambda: 1, labels)):
        results = run(
            trials_of(**changed), ["llama-3.1-8b"], store=tmp_path / "s.sqlite"
        )
    answers = results.answers
    plain = answers[answers["spm"] == "none"]
    reachable = ~plain["refused"].str.contains("no line")
    # A text may be there twice, with two labels.
    assert plain.loc[reachable, "value_strict"].mean() > 0.95
    assert plain.loc[~reachable, "value_strict"].eq(0).all()
    assert (~reachable).any()
    skipped = answers[answers["outcome_strict"] == "skipped"]
    assert skipped["detail_strict"].str.contains("parse|localized|neutral|only").all()


def test_the_kits_own_programs_are_filtered_whatever_is_selected() -> None:
    assert (
        tasks(n_programs=2, selection="artifact").keys() == tasks(n_programs=2).keys()
    )
