"""Plans: requests that are answered, repeated or missing, and estimates from a sample of the prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.pipeline import plan as planning
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.pipeline.plan import make_plan
from codestress.types import Response
from told import names

SMALL = (
    "problems=[generated]",
    "distractor_source=installed",
    "distractors=[2]",
    "positions=2",
)


def artefacts(
    *wanted: str,
    models: tuple[str, ...] = ("sim-near",),
    settings: tuple[str, ...] = (),
) -> list[Artefact]:
    return resolve(wanted, "smoke", models, settings)


def test_an_empty_store_answers_nothing(tmp_path: Path) -> None:
    """The wordings' `as_run` half is Figure 2 again; and two of Figure 5's versions of one program can be equal."""
    chosen = artefacts("origin/fig02", "origin/wording", "semtrace/fig05")
    rows, errors = make_plan(chosen, tmp_path / "empty.sqlite")
    assert not errors
    assert [row.answered for row in rows] == [0, 0, 0]
    first, wording, versions = rows
    assert first.repeated == 0
    assert wording.repeated == wording.requests // 2 > 0
    keys = set()
    trials = chosen[2].trials()
    for trial in trials.items:
        keys.add(trials.render(trial).digest)
    assert versions.missing == len(keys)
    assert versions.repeated == len(trials.items) - len(keys)


def test_after_a_run_all_requests_are_answered_and_none_repeated(
    tmp_path: Path,
) -> None:
    (artefact,) = artefacts("origin/fig02")
    run(artefact.trials(), ["sim-near"], store=tmp_path / "s.sqlite")
    (row,) = make_plan([artefact], tmp_path / "s.sqlite").rows
    assert row.answered == row.requests
    assert row.repeated == row.missing == row.characters == 0


def test_a_first_answer_answers_one_request_and_a_finished_run_all_that_is_ever_asked(
    tmp_path: Path,
) -> None:
    """Figure 7 asks again only about faults that Figure 9's questions found."""
    before, after = artefacts("faultloc/fig09", "faultloc/fig07")
    store = tmp_path / "s.sqlite"
    empty = make_plan([after], store).rows[0]
    run(before.trials(), ["sim-near"], store=store)
    begun = make_plan([after], store).rows[0]
    assert 0 < begun.answered < begun.requests <= empty.requests
    assert begun.missing > 0
    with Store(store) as responses:
        asked = responses.count()
    run(after.trials(), ["sim-near"], store=store)
    with Store(store) as responses:
        asked = responses.count() - asked
    assert asked <= begun.missing
    ended = make_plan([after], store).rows[0]
    assert ended.missing == 0
    assert ended.answered == ended.requests < empty.requests


def test_another_servers_answers_answer_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows with one model id have the same keys; each server is asked for itself."""
    urls = {"here": "http://127.0.0.1:9/v1", "there": "http://gateway.invalid:9/v1"}
    entries = load_registry()
    for name, url in urls.items():
        row = {
            "name": name,
            "engine": "openai",
            "id": "m",
            "settings": {"base_url": url},
        }
        entries[name] = ModelEntry.model_validate(row)
    monkeypatch.setattr("codestress.pipeline.artefacts.load_registry", lambda: entries)
    [artefact] = artefacts("origin/fig02", models=(*urls,))
    store = tmp_path / "s.sqlite"
    here, there = make_plan([artefact], store).rows
    assert (here.answered, here.repeated) == (there.answered, there.repeated) == (0, 0)
    assert here.missing == there.missing == here.requests
    trials = artefact.trials()
    answer = Response("FINAL ANSWER: dad", "stop", server=urls["there"])
    with Store(store) as responses:
        for trial in trials.items:
            key = request_of(trials, trial, entries["there"]).key
            responses.put(key, "there", answer)
    plan = make_plan([artefact], store)
    [there] = plan.rows
    assert (there.answered, there.missing) == (there.requests, 0)
    names(plan.errors["origin/fig02"], urls["there"].removesuffix("/v1"), "revision")


def test_a_sample_comes_near_to_all_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figure 7 asks Figure 1's questions and the same without the first query: half of it is repeated."""
    settings = (*SMALL, "distractors=[0]", "n_problems=60")
    chosen = artefacts("semtrace/fig01", "semtrace/fig07", settings=settings)
    exact = make_plan(chosen, tmp_path / "s.sqlite")
    assert {row.rendered for row in exact.rows} == {1.0}
    monkeypatch.setattr(planning, "RENDERED", 60)
    sampled = make_plan(chosen, tmp_path / "s.sqlite")
    for row, truth in zip(sampled.rows, exact.rows, strict=True):
        assert row.rendered < 0.4
        assert (row.requests, row.problems) == (truth.requests, truth.problems)
        assert row.characters == pytest.approx(truth.characters, rel=0.1)
        assert row.longest == pytest.approx(truth.longest, rel=0.1)
        assert row.repeated == pytest.approx(truth.repeated, abs=0.1 * truth.requests)
    assert exact.rows[1].repeated == exact.rows[0].requests
    assert make_plan(chosen, tmp_path / "s.sqlite") == sampled
