"""How long a build still takes, as arithmetic: by what its parts took before, and how fast this one is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codestress.inference.registry import load_registry
from codestress.pipeline import artefacts as artefacts_module
from codestress.pipeline.artefacts import Overrides, artefact_names, resolve
from codestress.pipeline.estimate import TRUSTED_S, Estimate, Part, in_minutes, measured, part_of

KNOWN = Part(answers=1000, notebook_s=60, asking_s=30, served=False)
"""Built before."""
NEW = replace(KNOWN, asking_s=None)


def test_at_first_a_build_takes_what_it_took_before() -> None:
    estimate = Estimate({name: KNOWN for name in "abcd"}, workers=2)
    assert estimate.left() == (4 * 30 + 60, False)  # asking one after the other, then the last notebook
    assert Estimate({name: replace(KNOWN, asking_s=1) for name in "abcd"}, workers=2).left() == (4 * 60 / 2, False)


def test_a_slower_machine_is_believed_by_and_by() -> None:
    estimate = Estimate({name: replace(KNOWN, asking_s=0) for name in "abcd"}, workers=1)
    estimate.asked |= dict.fromkeys("abcd", 1.0)
    estimate.notebook_s["a"] = 120  # twice as long
    slower = (TRUSTED_S + 120) / (TRUSTED_S + 60)
    assert estimate.left() == (pytest.approx(slower * 3 * 60), False)
    estimate.notebook_s |= {"b": 120, "c": 120, "d": 120}
    assert estimate.left() == (0, False)


def test_the_first_answers_do_not_stand_for_others_that_take_less() -> None:
    """Ten slow answers of a heavy artefact, of 10,000: by answers alone it would take 1,000 s."""
    heavy, light = replace(NEW, answers=100, notebook_s=50), replace(NEW, answers=9900, notebook_s=10)
    estimate = Estimate({"a": heavy, "b": light}, workers=2)
    assert estimate.left() == (30, True)  # the notebooks; what asking takes nobody knows yet
    estimate.asked["a"], estimate.asking_s["a"] = 0.1, 1.0
    assert estimate.left() == (pytest.approx(max(30, 10 * 0.9 + 10 * 10 / 50 + 10)), False)


def test_a_server_s_answers_are_counted() -> None:
    served = {name: Part(answers, 10, None, served=True) for name, answers in {"a": 100, "b": 300}.items()}
    estimate = Estimate(served, workers=2)
    estimate.asked["a"], estimate.asking_s["a"] = 0.5, 25.0
    assert estimate.left() == (pytest.approx(0.5 * (50 + 300) + 10), False)


def test_minutes_are_told_as_they_are_known() -> None:
    told = [in_minutes(seconds, more=False) for seconds in (0, 29, 31, 200, 3600)]
    assert told == ["less than a minute left"] * 2 + [f"about {n} min left" for n in (1, 3, 60)]
    assert in_minutes(200, more=True) == "at least 3 min left"


def test_what_was_measured_is_known_for_each_artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(measured()) == sorted(artefact_names())
    monkeypatch.setattr(artefacts_module, "OUTPUTS", tmp_path)
    registry = load_registry()
    (plain,) = resolve(["origin/fig04"], "demo", Overrides(), registry)
    (changed,) = resolve(["origin/fig04"], "demo", Overrides(settings=("seed=1",)), registry)
    assert part_of(plain, 7) == Part(7, measured()["origin/fig04"], None, served=False)
    for artefact, seconds in ((plain, 3.5), (changed, 4.5)):
        artefact.folder.mkdir(parents=True)
        told = {"build_seconds": seconds, "ask_seconds": 2.0}
        (artefact.folder / "manifest.json").write_text(json.dumps(told))
        if artefact is plain:  # whose times stand for the changed one's until that is built
            assert part_of(changed, 7) == Part(7, 3.5, None, served=False)
    assert part_of(plain, 7) == Part(7, 3.5, 2.0, served=False)
    assert part_of(changed, 7) == Part(7, 4.5, 2.0, served=False)
    (served,) = resolve(["origin/fig04"], "demo", Overrides(("gpt-4o-mini-2024-07-18",)), registry)
    assert part_of(served, 7).served
