"""Perturbations of your own: the README's is proved by running, one that changes the meaning is rejected."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from codestress import functions
from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.run import run
from codestress.mutate.perturbations import own
from codestress.mutate.perturbations.variants import check_problems, make_variants
from codestress.papers.codecrash import studies as codecrash
from codestress.pipeline.artefacts import Overrides, resolve
from codestress.pipeline.inputs import inputs_of
from codestress.problems.generated import generated_problems
from codestress.sandbox.executor import Executor
from conftest import ROOT


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def write(code: str, name: str) -> None:
        monkeypatch.setattr(functions, "ROOT", tmp_path)
        monkeypatch.setattr(own, "FILE", tmp_path / "perturbations.yaml")
        own._function.cache_clear()
        codecrash._variants.cache_clear()
        (tmp_path / "mine.py").write_text(code)
        (tmp_path / "perturbations.yaml").write_text(
            json.dumps({"MINE": {"function": f"mine.py:{name}"}})
        )

    return write


def readme_code() -> str:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    found = re.search(r"    # my_perturbation.py\n((?:    .*\n)+)", readme)
    assert found
    return "".join(f"{line[4:]}\n" for line in found[1].splitlines())


def statuses(count: int = 40) -> Counter[str]:
    with Executor() as executor:
        problems, _ = check_problems(generated_problems(count), executor, 0)
        variants = make_variants(problems, "MINE", executor, seed=0)
    for variant in variants.values():
        assert (variant.status == "applied") == bool(variant.sites)
    return Counter(variant.status for variant in variants.values())


@pytest.mark.slow
@pytest.mark.isolation
def test_the_readme_s_perturbation_is_neutral_and_asked_about(
    put: Callable[[str, str], None], tmp_path: Path
) -> None:
    put(readme_code(), "double_negation")
    found = statuses()
    assert found["applied"] > 5
    assert found["rejected"] == 0
    overrides = Overrides(("sim-careful",), ("perturbations=[VAN,MINE]",))
    [artefact] = resolve(["codecrash/tab01"], "smoke", overrides, load_registry())
    assert any(name.endswith("mine.py") for name in inputs_of(artefact))
    trials = artefact.trials()
    assert {trial.factors["perturbation"] for trial in trials.items} == {"VAN", "MINE"}
    assert any("not not" in trials.render(trial).messages[-1].content for trial in trials.items)
    assert (
        run(trials, ["sim-careful"], store=tmp_path / "s.sqlite").counts()["sim-careful"]["correct"]
        > 0
    )


@pytest.mark.isolation
@pytest.mark.parametrize(
    "code",
    [
        "def f(code, draw): return code.replace('return ', 'return 1 or ')",
        "def f(code, draw): return code + '\\n)'",
        "def f(code, draw): return 1 / 0",
        "def f(code, draw): return None",
    ],
)
def test_what_changes_the_meaning_or_breaks_is_rejected(
    put: Callable[[str, str], None], code: str
) -> None:
    put(code, "f")
    found = statuses(20)
    assert found["rejected"] >= 15, found


def test_a_name_or_file_that_is_not_there_is_told(put: Callable[[str, str], None]) -> None:
    put(readme_code(), "double_negative")
    with pytest.raises(ParameterError, match=r"no such perturbation; did you mean 'MINE'\?"):
        resolve(
            ["codecrash/tab01"],
            "smoke",
            Overrides((), ("perturbations=[VAN,MNE]",)),
            load_registry(),
        )
    with pytest.raises(ParameterError, match=r"MINE: 'mine.py:double_negative': AttributeError"):
        statuses(5)
