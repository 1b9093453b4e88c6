"""The three descriptions of the environment agree."""

from __future__ import annotations

import re
import tomllib

import yaml

from conftest import ROOT


def pyproject() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def test_environment_yml_lists_what_pyproject_requires() -> None:
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    [from_pip] = [item["pip"] for item in conda if isinstance(item, dict)]
    listed = {item for item in [*conda, *from_pip] if isinstance(item, str)}
    wanted = {item.split(";")[0].strip() for item in pyproject()[""]}
    assert listed == wanted | {"pip", "python>=3.11", "--editable ."}


def test_the_gpu_environment_adds_vllm_and_nothing_else_has_it() -> None:
    gpu = yaml.safe_load((ROOT / "environment-gpu.yml").read_text())["dependencies"]
    assert {"pip": ["--editable .[serve]"]} in gpu
    assert any(item.startswith("vllm") for item in pyproject()["serve"])
    for name in ("requirements.lock", "requirements-dev.lock", "environment.yml"):
        assert "vllm>" not in (ROOT / name).read_text()
        assert "vllm=" not in (ROOT / name).read_text()


def test_the_locks_pin_every_requirement_alike() -> None:
    pins = {}
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = [
            line
            for line in (ROOT / name).read_text().splitlines()
            if line and not line.startswith("#")
        ]
        assert all(
            re.match(r"[A-Za-z0-9._-]+(\[.*\])?==\S+( ;.*)?$", line) for line in lines
        )
        pins[name] = set(lines)
    assert pins["requirements.lock"] <= pins["requirements-dev.lock"]
    for extra, name in (("", "requirements.lock"), ("dev", "requirements-dev.lock")):
        pinned = {line.split("==")[0].lower() for line in pins[name]}
        assert {
            re.split(r"[>=<;\[ ]", item)[0].lower() for item in pyproject()[extra]
        } <= pinned
