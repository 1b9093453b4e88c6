"""Plans: requests that are answered, repeated or missing, and estimates from a sample of the prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from codestress.errors import ParameterError
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.pipeline import plan as planning
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.pipeline.plan import check_windows, make_plan
from codestress.types import Response
from conftest import artefact_of
from told import names, refused

SMALL = (
    "problems=[generated]",
    "distractor_source=installed",
    "distractors=[2]",
    "positions=2",
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def artefacts(*wanted: str, settings: tuple[str, ...] = ()) -> list[Artefact]:
    return resolve(wanted, "smoke", ("sim-near",), settings)


def test_an_empty_store_answers_nothing_and_repetitions_are_counted_once(
    store: Path,
) -> None:
    """Half of the wordings is Figure 2 again; two of Figure 5's versions of one program can be equal."""
    chosen = artefacts("origin/fig02", "origin/wording", "semtrace/fig05")
    rows, errors = make_plan(chosen, store)
    assert not errors
    assert [row.answered for row in rows] == [0, 0, 0]
    first, wording, versions = rows
    assert first.repeated == 0
    assert wording.repeated == wording.requests // 2 > 0
    trials = chosen[2].trials()
    prompts = {trials.render(trial).digest for trial in trials.items}
    assert versions.missing == len(prompts)
    assert versions.repeated == len(trials.items) - len(prompts)


def test_a_plan_knows_which_later_requests_are_made(store: Path) -> None:
    """Figure 7 asks again only about faults that Figure 9's questions found."""
    before, after = artefacts("faultloc/fig09", "faultloc/fig07")
    [empty] = make_plan([after], store).rows
    run(before.trials(), ["sim-near"], store=store)
    [begun] = make_plan([after], store).rows
    assert 0 < begun.answered < begun.requests <= empty.requests
    with Store(store) as responses:
        count = responses.count()
    run(after.trials(), ["sim-near"], store=store)
    with Store(store) as responses:
        assert 0 < responses.count() - count <= begun.missing
    [ended] = make_plan([after], store).rows
    assert ended.missing == ended.repeated == ended.characters == 0
    assert ended.answered == ended.requests < empty.requests


def test_later_requests_of_trials_that_share_their_first_are_counted(
    store: Path,
) -> None:
    settings = ("programs=[java]", "n_programs=1", "spms=[names]", "content=bank")
    settings += ("strengths=[1,2]",)
    chosen = resolve(
        ["faultloc/fig06", "faultloc/fig07"], "smoke", ["sim-careful"], settings
    )
    items = chosen[0].trials().items
    tasks = sum(trial.factors["spm"] == "none" for trial in items)
    later = len(items) - tasks
    assert later > tasks > 0
    row, again = make_plan(chosen, store).rows
    assert row.missing == tasks + later
    assert row.longest == row.missing * 512
    assert (again.answered, again.missing) == (0, 0)
    assert again.repeated == again.requests


def test_a_plan_counts_the_problems_of_each_model(store: Path) -> None:
    models = ("gpt-4.1-2025-04-14", "llama-3.1-8b", "gemma-3-12b")
    own = f"per_model={{{models[0]}: {{subsample: 0.125}}}}"
    settings = (*SMALL, "n_problems=80", own)
    artefact = artefact_of("semtrace/fig01", "paper", *settings, models=models)
    rows, errors = make_plan([artefact], store)
    assert not errors
    assert [row.model for row in rows] == [*models]
    counts = [(row.problems, row.requests) for row in rows]
    assert counts == [(10, 40), (80, 320), (80, 320)]
    check_windows(artefact, artefact.trials())


def test_responses_of_another_server_answer_nothing(store: Path) -> None:
    """Two rows with one model id have the same keys; each server is asked for itself."""
    urls = {"here": "http://127.0.0.1:9/v1", "there": "http://gateway.invalid:9/v1"}
    entries = load_registry()
    for name, url in urls.items():
        settings = {"base_url": url}
        row = {"name": name, "engine": "openai", "id": "m", "settings": settings}
        entries[name] = ModelEntry.model_validate(row)
    [artefact] = resolve(["origin/fig02"], "smoke", [*urls], registry=entries)
    for row in make_plan([artefact], store).rows:
        assert (row.answered, row.repeated) == (0, 0)
        assert row.missing == row.requests
    trials = artefact.trials()
    response = Response("FINAL ANSWER: dad", "stop", server=urls["there"])
    with Store(store) as responses:
        for trial in trials.items:
            key = request_of(trials, trial, entries["there"]).key
            responses.put(key, "there", response)
    plan = make_plan([artefact], store)
    [there] = plan.rows
    assert (there.answered, there.missing) == (there.requests, 0)
    names(plan.errors["origin/fig02"], "http://gateway.invalid:9", "revision")


def test_a_sample_comes_near_to_all_prompts(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figure 7 asks Figure 1's questions and the same without the first query: half of it is repeated."""
    settings = (*SMALL, "distractors=[0]", "n_problems=60")
    chosen = artefacts("semtrace/fig01", "semtrace/fig07", settings=settings)
    exact = make_plan(chosen, store)
    assert {row.rendered for row in exact.rows} == {1.0}
    assert exact.rows[1].repeated == exact.rows[0].requests
    monkeypatch.setattr(planning, "RENDERED", 60)
    sampled = make_plan(chosen, store)
    for row, truth in zip(sampled.rows, exact.rows, strict=True):
        assert row.rendered < 0.4
        assert (row.requests, row.problems) == (truth.requests, truth.problems)
        assert row.characters == pytest.approx(truth.characters, rel=0.1)
        assert row.longest == pytest.approx(truth.longest, rel=0.1)
        assert row.repeated == pytest.approx(truth.repeated, abs=0.1 * truth.requests)
    assert make_plan(chosen, store) == sampled


def test_a_prompt_beyond_a_context_window_is_refused(store: Path) -> None:
    model = "gpt-3.5-turbo-0125"
    [artefact] = resolve(["semtrace/fig09"], "smoke", [model], ["distractors=[300]"])
    with refused(ParameterError, model, "16,385", "distractors = 300", "MODELS="):
        check_windows(artefact, artefact.trials())
    [row] = make_plan([artefact], store).rows
    assert row.too_long == 18
