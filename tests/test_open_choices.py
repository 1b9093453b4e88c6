"""What the papers leave open: each choice stands in the paper's page, with the default that the paper profile has."""

from __future__ import annotations

import re

import pytest
import yaml

from codestress.artefact_files import artefact_names, read_artefact
from codestress.parameters import Facts
from codestress.pipeline.artefacts import resolve
from codestress.report.protocol import deviations
from codestress.rooms import offered_by
from codestress.validation import read_yaml
from conftest import ROOT, artefact_of

PAPERS = ("origin", "semtrace", "faultloc", "codecrash")
ROW = re.compile(
    r"^\| [^|]+ \| [^|]+ \| (?:`(?P<name>\w+)`|–) \| (?P<default>[^|]+) \| [^|]+ \|$",
    re.M,
)


def rows_of(paper: str) -> list[tuple[str, str]]:
    """The parameter and default of each row of a page's table, the parameter empty where the choice is none."""
    page = (ROOT / "docs" / f"{paper}.md").read_text(encoding="utf-8")
    table = page.split("\n## What the paper leaves open\n")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][2:]
    found = ROW.findall("\n".join(lines))
    assert len(found) == len(lines)
    return found


def schemas_of(paper: str) -> list[type[Facts]]:
    return list(offered_by("studies", "STUDIES")[paper].values())


@pytest.mark.parametrize("paper", PAPERS)
def test_every_open_choice_is_explained(paper: str) -> None:
    explained = {name for name, _ in rows_of(paper)}
    for schema in schemas_of(paper):
        assert set(schema.OPEN) <= explained
        assert set(schema.OPEN) <= set(schema.model_fields)
    for name in artefact_names():
        if name.startswith(f"{paper}/"):
            file = read_artefact(name)
            assert set(file.left_open) <= explained
            fields = offered_by("studies", "STUDIES")[paper][file.study.split(".")[1]]
            assert set(file.left_open) <= set(fields.model_fields)


@pytest.mark.parametrize("paper", PAPERS)
def test_defaults_are_those_of_the_paper_profile(paper: str) -> None:
    names = [name for name in artefact_names() if name.startswith(f"{paper}/")]
    values = [artefact.parameters.model_dump() for artefact in resolve(names, "paper")]
    for name, default in rows_of(paper):
        if name:
            wanted = yaml.safe_load(default.strip("`"))
            if name == "epsilon":
                wanted = float(wanted)  # YAML reads 1e-9 as a text
            assert wanted in [one[name] for one in values if name in one], name


@pytest.mark.parametrize(
    ("name", "setting", "user"),
    [
        ("origin/sec62", {"variants": 4}, {"text": ["own"]}),
        ("semtrace/fig01", {"key_separator": "tab"}, {"keys": [True]}),
        ("semtrace/tab01", {"positions": 3}, {"distractors": [20]}),
        ("semtrace/fig06", {"max_tokens": 9}, {"shown": "prompt"}),
        ("semtrace/tab03", {"longest_context": 2000}, {"show": "architecture"}),
        ("faultloc/tab02", {"content": "bank"}, {"spms": ["names"]}),
        ("codecrash/tab10", {"truth": "false"}, {"perturbations": ["MCC"]}),
        ("codecrash/tab15", {"samples_direct": 1}, {"modes": ["direct"]}),
    ],
)
def test_a_parameter_deviates_only_where_another_uses_it(
    name: str, setting: dict[str, object], user: dict[str, object]
) -> None:
    paper = artefact_of(name, "paper").parameters
    idle = paper.model_copy(update=setting)
    assert deviations(idle) == []
    used = deviations(idle.model_copy(update=user))
    assert {*setting} <= {deviation.parameter for deviation in used}


@pytest.mark.parametrize("paper", PAPERS)
def test_uses_are_of_parameters(paper: str) -> None:
    fields = set().union(*(schema.model_fields for schema in schemas_of(paper)))
    uses = read_yaml(ROOT / f"lib/codestress/papers/{paper}/used.yaml")
    for name, users in uses.items():
        assert {name, *users} <= fields, name
