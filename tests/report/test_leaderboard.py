"""Models by task: each paper's main study, published and regenerated, with intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from codestress.artefact_files import artefact_names, read_artefact
from codestress.fitting.proportions import wilson
from codestress.inference.registry import load_registry
from codestress.report import checked, gallery
from codestress.report.model_table import board, models_by_task, write_board
from codestress.report.summary import shortfalls
from codestress.rooms import papers
from told import names


def manifest(counts: dict[str, tuple[int, int]], leaderboard: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"title": "t", "leaderboard": leaderboard, "reasons": {}}
    simulated = [name for name in counts if name.startswith("sim-")]
    told |= {"counts": {}, "models": [], "simulated": simulated}
    for name, (right, wrong) in counts.items():
        told["counts"][name] = {"correct": right, "incorrect": wrong}
        told["counts"][name] |= {"refused": 1, "skipped": 7}
        engine = "simulated" if name in simulated else "openai"
        told["models"].append({"name": name, "engine": engine})
    return told


def test_files_have_the_models_in_the_order_of_the_page(tmp_path: Path) -> None:
    counts = dict.fromkeys(["Zeta", "beta", "Alpha", "gamma"], (50, 49))
    table = models_by_task({"a/one": manifest(counts, True)})
    write_board(table, tmp_path)
    written = pd.read_csv(tmp_path / "models.csv")["model"].tolist()
    assert board(table)["models"] == written == ["Alpha", "beta", "gamma", "Zeta"]


def test_models_have_right_answers_of_those_asked_and_readers_have_no_row() -> None:
    manifests = {
        "a/one": manifest({"m1": (90, 9), "m2": (10, 89)}, False),
        "a/two": manifest({"m1": (50, 49), "m2": (60, 39), "sim-x": (99, 0)}, True),
        "b/facts": manifest({}, True),
        "c/readers": manifest({"sim-x": (99, 0)}, True),
    }
    first, second = models_by_task(manifests).itertuples()
    assert [*first[1:4], first.n] == ["m1", "a/two", "here", 100]
    assert second.model == "m2"
    ends = [100 * end for end in wilson(60, 100)]
    assert [*second[4:7]] == pytest.approx([60, *ends])


def test_each_paper_publishes_its_main_study_and_numbers_are_the_papers() -> None:
    tasks = [name for name in artefact_names() if read_artefact(name).leaderboard]
    rows = models_by_task({name: manifest({}, True) for name in tasks})
    assert set(rows["task"]) == set(tasks)
    assert {task.split("/")[0] for task in tasks} == {*papers()}
    assert set(rows["source"]) == {"published"}
    assert set(rows["model"]) <= set(load_registry())
    own = rows.set_index(["task", "model"])
    turbo = own.loc["origin/fig04", "gpt-4-turbo-2024-04-09"]
    assert (turbo["accuracy"], turbo["n"]) == (pytest.approx(100 * 32 / 117), 117)
    # Printed: 79, 77 and 100 % of 100 problems each.
    gpt = own.loc["semtrace/tab01", "gpt-4.1-2025-04-14"]
    assert (gpt["accuracy"], gpt["n"]) == (pytest.approx(256 / 3), 300)
    # Table 4's reasoning models are not in Table 1.
    assert len(own.loc["codecrash/tab01"]) == 17
    assert set(own.loc["codecrash/tab01"]["n"]) == {5 * (800 + 479)}


def test_a_changed_artefact_has_no_published_numbers_beside_it() -> None:
    rows = models_by_task({"origin/fig04@step=8": manifest({"m1": (5, 5)}, True)})
    assert rows["source"].tolist() == ["here"]


def test_the_table_is_written_for_programs_and_for_readers(tmp_path: Path) -> None:
    turbo = "gpt-4-turbo-2024-04-09"
    rows = models_by_task({"origin/fig04": manifest({turbo: (80, 19)}, True)})
    write_board(rows, tmp_path)
    table = pd.read_csv(tmp_path / "models.csv").set_index("model").loc[turbo]
    here, published = table[["source", "accuracy", "n"]].to_numpy().tolist()
    assert here == ["here", 80, 100]
    assert published == ["published", 27.35, 117]
    text = (tmp_path / "models.md").read_text(encoding="utf-8")
    numbers = ("published | 27.35 | 20.09 | 36.05 | 117", "here | 80 |")
    names(text, "origin/fig04", *numbers, "as if answers were independent")


def test_a_model_of_which_hardly_an_answer_is_read_has_no_place_and_it_is_said_why() -> (
    None
):
    mute = manifest({"m1": (50, 49), "mute": (3, 5), "wrong": (0, 99)}, True)
    mute["counts"]["mute"]["unparsable"] = 91
    mute["reasons"] = {"mute": {"unparsable: no [ANSWER]": 91, "refused": 1}}
    mute["reasons"]["wrong"] = {"refused": 1}
    assert models_by_task({"a/one": mute})["model"].tolist() == ["m1", "wrong"]
    unread, wrong = shortfalls([mute, mute])
    reasons = ("182 × unparsable: no [ANSWER]", "2 × refused", "10 read")
    names(unread, "mute", "6 of 200", *reasons, "16 of 200")
    names(wrong, "wrong", "0 of 200", "2 × refused", "198 read")
    assert wrong.count("of 200") == 1, "it has a place among the models"
    (sentence,) = shortfalls([mute | {"counts": {"m1": {"incorrect": 3}}}])
    names(sentence, "m1", "0 of 3", "3 read, and not correct")
    assert shortfalls([manifest({"sim-x": (0, 99)}, True)]) == []


def test_a_page_that_is_damaged_or_of_other_artefacts_is_not_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (checked, gallery):
        monkeypatch.setattr(module, "OUTPUTS", tmp_path)
    path = tmp_path / "demo/a/one/manifest.json"
    path.parent.mkdir(parents=True)
    assert not checked.sealed("demo")
    for content in ({}, {"title": "changed"}, None):
        path.write_text(json.dumps(content)) if content is not None else path.unlink()
        assert not checked.sealed("demo")
        page = gallery.gallery("demo")
        assert checked.sealed("demo")
    text = page.read_bytes()
    for damaged in (text[:-2000], text.replace(b"papers", b"paper", 1), b"\xff", b""):
        page.write_bytes(damaged)
        assert not checked.sealed("demo")
    page.write_bytes(text)
    (tmp_path / "demo/models.md").unlink()
    assert not checked.sealed("demo")
