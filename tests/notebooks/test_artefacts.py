"""Every artefact at smoke size, built as a user builds it, and what it leaves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from codestress.artefact_files import read_artefact
from codestress.paths import FILES
from codestress.report.caption import LONGEST_ALT, READERS
from codestress.report.published import without_numbers
from codestress.types import Outcome
from conftest import ROOT, artefact_of, codestress, ran, smoke_names, some
from drawn import faults
from told import names

Left = tuple[str, Path, dict[str, Any]]


@pytest.fixture(scope="module")
def left(smoke: Path) -> list[Left]:
    """Name, folder and manifest of each artefact."""
    folders = [(name, smoke / "smoke" / name) for name in smoke_names()]
    return [
        (name, folder, json.loads((folder / "manifest.json").read_text()))
        for name, folder in folders
    ]


def command(outputs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command on the smoke build."""
    return codestress(*words, "--profile", "smoke", outputs=outputs)


def test_everything_an_artefact_leaves_is_there(left: list[Left]) -> None:
    for name, folder, _ in left:
        for file in (*FILES, "notebook.ipynb", "notebook.html"):
            assert (folder / file).stat().st_size > 0, f"{name}: {file}"
        assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_parquet(folder / "data.parquet")) > 0
        assert r"\toprule" in (folder / "table.tex").read_text()
        # No library's warning is shown.
        for cell in json.loads((folder / "notebook.ipynb").read_text())["cells"]:
            streams = [output.get("name") for output in cell.get("outputs", [])]
            assert "stderr" not in streams, (name, cell["outputs"])


TRACED = {"environment", "inputs", "commit", "requests_sha256", "tokens", "prompts"}


def test_counts_add_up_and_every_number_can_be_traced(left: list[Left]) -> None:
    for name, _, manifest in left:
        counts = pd.DataFrame(manifest["counts"], index=[*Outcome])
        assert counts.to_dict() == manifest["counts"]
        assert counts.to_numpy().sum() == manifest["asked"]
        assert set(counts) == {model["name"] for model in manifest["models"]}
        assert manifest["parameters"]["artefact"] == name
        assert {*TRACED, "build_seconds"} <= manifest.keys()


def test_simulated_readers_are_labelled_everywhere(
    left: list[Left], smoke: Path
) -> None:
    for _, folder, manifest in left:
        models = [model["name"] for model in manifest["models"]]
        assert manifest["simulated"] == [
            name for name in models if name.startswith("sim-")
        ]
        others = {name for name in models if not name.startswith("sim-")}
        assert others <= {"python", "nano"} or manifest["asked"] == 0
        shown = bool(manifest["simulated"]) and manifest["asked"] > 0
        assert ("simulated readers" in (folder / "figure.svg").read_text()) == shown
    names((smoke / "smoke" / "index.html").read_text(), "not language models")


def test_nothing_that_is_left_says_where_it_was_made(
    left: list[Left], smoke: Path
) -> None:
    """Neither the project's folder nor that of the outputs, as texts: a notebook can be sent to anybody."""
    places = [f"{place}/".encode() for place in (ROOT, smoke, Path.home())]
    for _, folder, _ in left:
        for path in folder.iterdir():
            if path.suffix not in (".parquet", ".pdf", ".png"):
                content = path.read_bytes()
                assert not [place for place in places if place in content], path


def test_each_figure_has_the_paper_s_numbers_or_says_why_not(left: list[Left]) -> None:
    """Lists, examples and drawings of programs have none."""
    none = {"codecrash/cases", "codecrash/tab03", "semtrace/prompts"}
    none |= {"faultloc/fig02", "faultloc/tab01", "faultloc/tab03"}
    none |= {"semtrace/tab03", "semtrace/tab04"}
    for name, folder, manifest in left:
        root = ElementTree.parse(folder / "figure.svg").getroot()
        drawing = " ".join(root.itertext()).casefold()
        first_word = re.split("[ :]", manifest["title"])[0]
        why = without_numbers(name).partition(": ")[2]
        assert why in drawing, name
        assert ("as numbers" in drawing) == ("as numbers" in why), name
        if first_word in ("Figure", "Figures", "Table", "Section") and name not in none:
            assert "published" in drawing or "the paper" in drawing, name


def test_figures_can_be_read_at_the_width_at_which_they_are_printed_or_heard(
    left: list[Left],
) -> None:
    for name, folder, manifest in left:
        assert not faults(folder / "figure.svg", read_artefact(name).width), name
        root = ElementTree.parse(folder / "figure.svg").getroot()
        alt = root.findtext("{http://www.w3.org/2000/svg}desc", "")
        assert root.get("role") == "img"
        assert manifest["alt"] == alt
        assert 60 < len(alt) <= LONGEST_ALT, name
        readers = [*manifest["simulated"]] if manifest["asked"] else []
        assert (READERS in alt) == bool(readers), name
        assert all(reader in alt for reader in readers), name


def test_published_numbers_stand_beside_the_regenerated_ones(smoke: Path) -> None:
    table = pd.read_csv(smoke / "smoke/origin/fig04/table.csv").set_index("label")
    assert table.loc["GPT4-turbo", "accuracy"] == pytest.approx(32 / 117, abs=1e-4)
    assert (table["source"] == "published").sum() == 14
    claims = pd.read_csv(smoke / "smoke/origin/fig04/claims.csv")
    # No claim about a real model is decided by a simulated reader.
    assert set(
        claims[claims["statement"].str.contains("share of right")]["verdict"]
    ) == {"not run"}
    assert set(claims[claims["statement"].str.contains("height")]["verdict"]) == {
        "consistent"
    }


def test_the_interpreters_figure_says_what_ran_and_in_which_walls(smoke: Path) -> None:
    folder = smoke / "smoke/semtrace/fig06"
    manifest = json.loads((folder / "manifest.json").read_text())
    counts = manifest["counts"]["python"]
    assert counts["correct"] > 0
    assert counts["syntax error"] > counts["correct"]
    assert counts["timed out"] == counts["harness error"] == 0
    assert manifest["answered_by"]["python"][0].startswith("Python 3.")
    assert "rlimits" in manifest["answered_by"]["python"][0]
    table = pd.read_csv(folder / "table.csv")
    assert table["accuracy"].iloc[0] == 1
    assert table["share_removed"].is_monotonic_increasing
    assert table["n"].sum() == manifest["asked"]
    fits = pd.read_csv(folder / "fits.csv")
    assert 2 < fits["rate"][0] < 50
    # Nothing is claimed of the paper's programs from others.
    assert set(pd.read_csv(folder / "claims.csv")["verdict"]) == {"not run"}


@pytest.mark.slow
@pytest.mark.isolation
def test_the_papers_figure_from_the_papers_programs(
    shared_data: Path, tmp_path: Path
) -> None:
    """Sense and Sensitivity, Figure 6, to the digit: 71,994 programs, 88 at the smallest share, 23.86 % right."""
    done = codestress(
        *("build", "semtrace/fig06", "--profile", "paper"),
        outputs=tmp_path,
        CODESTRESS_DATA=str(shared_data),
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "paper/semtrace/fig06"
    counts = json.loads((folder / "manifest.json").read_text())["counts"]["python"]
    assert {reason: n for reason, n in counts.items() if n} == {
        "correct": 2829,
        "incorrect": 7851,
        "syntax error": 48607,
        "raised": 12294,
        "step limit": 413,
    }
    table = pd.read_csv(folder / "table.csv")
    smallest = table[table["share_removed"] > 0].iloc[0]
    assert (smallest["n"], round(100 * smallest["accuracy"], 2)) == (88, 23.86)
    claims = pd.read_csv(folder / "claims.csv").set_index("published")
    assert claims["verdict"].to_dict() == {
        76.14: "inconclusive",
        71994: "reproduced",
        5: "no verdict",
    }
    own = (
        "76.14 points (reproduced)",
        "86.76 points (differs)",
        "88.89 points (differs)",
    )
    names(claims.loc[76.14, "readings"], *own)


def test_no_number_of_a_real_model_comes_from_a_reader(
    left: list[Left], smoke: Path
) -> None:
    """No statement that a run would decide has a number here, where no model ran."""
    for name, folder, _ in left:
        ledger = folder / "claims.csv"
        if ledger.is_file():
            claims = pd.read_csv(ledger)
            assert set(claims[claims["evidence"] == "re-run"]["verdict"]) <= {
                "not run"
            }, name
            copied = claims[claims["evidence"].isin(["quoted", "finding"])]
            assert set(copied["verdict"]) <= {"no verdict", "not run"}, name
    table = pd.read_csv(smoke / "smoke/semtrace/tab04/table.csv", index_col="name")
    assert list(table.index[table["reaches_bound"] == "no"]) == [
        "llama-3.1-8b",
        "llama-3.3-70b",
        "deepseek-coder-v2-lite",
        "deepseek-coder-v2",
    ]


def test_the_pages_need_nothing_from_outside(smoke: Path) -> None:
    pages = [smoke / "smoke/index.html"]
    for name in smoke_names():
        pages += (smoke / "smoke" / name).glob("*.html")
    for page in pages:
        text = page.read_text()
        assert not re.search(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//",
            text,
        )
        assert "@import" not in text
        scripts = re.findall(r"<script\b(?! type=.text/html)[^>]*>", text)
        # Search and filter.
        assert scripts == ["<script>"] * (page.name == "index.html")
    index = pages[0].read_text()
    for name in smoke_names():
        assert f'href="{name}/notebook.html"' in index
        assert f'id="{name}"' in index
    assert re.findall(r'<img [^>]*alt=""', index) == []


@pytest.mark.slow
def test_nothing_changed_means_nothing_built_and_a_changed_parameter_builds_one(
    smoke: Path, tmp_path: Path
) -> None:
    smoke = shutil.copytree(smoke, tmp_path / "outputs")

    def states() -> dict[str, str]:
        done = command(smoke, "build", *smoke_names(), "--json")
        return {one["name"]: one["state"] for one in json.loads(done.stdout)}

    same = dict.fromkeys(smoke_names(), "up to date")
    assert states() == same

    def built_at() -> dict[str, int]:
        return {
            name: (smoke / "smoke" / name / "manifest.json").stat().st_mtime_ns
            for name in smoke_names()
        }

    before = built_at()
    (smoke / "smoke/origin/sec63/table.csv").unlink()
    assert states() == same | {"origin/sec63": "built"}
    changed = [name for name, at in built_at().items() if at != before[name]]
    assert changed == ["origin/sec63"]


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes(smoke: Path, tmp_path: Path) -> None:
    built = some(("origin/fig02", "origin/fig06", "codecrash/tab09"), 3)
    done = command(tmp_path, "build", *built)
    assert done.returncode == 0, done.stderr
    for name in built:
        first, second = (root / "smoke" / name for root in (smoke, tmp_path))
        for file in FILES:
            if file != "manifest.json":
                same_bytes = (first / file).read_bytes() == (second / file).read_bytes()
                assert same_bytes, f"{name}: {file}"
    same = codestress("diff", str(first), str(second), outputs=smoke)
    assert same.returncode == 0, same.stdout
    two = ("smoke/origin/fig02", "smoke/origin/fig03")
    other = codestress("diff", *two, outputs=smoke)
    assert other.returncode == 1
    names(other.stdout, "parameters.d", "[15]", "[-15]")


@pytest.mark.slow
def test_tables_come_out_of_the_answers_without_the_kit(smoke: Path) -> None:
    script = ROOT / "docs/recompute.py"
    assert "codestress" not in script.read_text()
    done = ran(sys.executable, script, smoke / "smoke")
    assert done.returncode == 0, done.stderr
    checked = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert len(checked) == len(
        re.findall(r"^check\(", script.read_text(), re.MULTILINE)
    )
    assert not re.search(r": 0 numbers", done.stdout)
    assert len(set(checked)) == 13
    for told in ("docs/recompute.py", "README.md"):
        names((ROOT / told).read_text(), "thirteen tables")
    for path in (smoke / "smoke").glob("*/*/answers.parquet"):
        answers = pd.read_parquet(path)
        counts = json.loads((path.parent / "manifest.json").read_text())["counts"]
        assert len(answers) == sum(sum(one.values()) for one in counts.values()), path
        for name in answers.select_dtypes(exclude="number"):
            # No text of a prompt or an answer.
            assert not answers[name].astype(str).str.len().max() >= 200, (
                path,
                name,
            )


def test_each_outcome_has_the_value_that_docs_say(smoke: Path) -> None:
    """The table names every outcome once; what was not asked has no score, in no paper."""
    text = (ROOT / "docs/scoring.md").read_text()
    said = dict(re.findall(r"^\| ([a-z ]+) \| (none|[01])\b[^|]*\|$", text, re.M))
    assert list(said) == [outcome.value for outcome in Outcome]
    skipped = 0
    for path in (smoke / "smoke").glob("*/*/answers.parquet"):
        answers = pd.read_parquet(path)
        for rule in [
            name.removeprefix("value_") for name in answers if name.startswith("value_")
        ]:
            for outcome, values in answers.groupby(f"outcome_{rule}")[f"value_{rule}"]:
                if said[outcome] == "none":
                    assert values.isna().all(), path
                    skipped += len(values)
                elif outcome == "incorrect" and rule == "partial":
                    assert values.between(0, 1, inclusive="left").all(), path
                else:
                    assert (values == int(said[outcome])).all(), (path, outcome)
    assert skipped


@pytest.mark.slow
def test_a_figure_is_explained_by_its_answers(smoke: Path) -> None:
    words = ("--outcome", "incorrect", "--limit", "2", "--json")
    done = command(smoke, "explain", "codecrash/tab01", *words)
    verdicts = [row["verdicts"]["strict"] for row in json.loads(done.stdout)]
    assert verdicts == ["incorrect"] * 2
    words = ("--where", "model=sim-wide", "--limit", "0", "--json")
    found = command(smoke, "explain", "origin/fig04", *words)
    rows = json.loads(found.stdout)
    manifest = json.loads((smoke / "smoke/origin/fig04/manifest.json").read_text())
    assert len(rows) == sum(manifest["counts"]["sim-wide"].values())
    right = sum(row["verdicts"]["strict"] == "correct" for row in rows)
    assert right == manifest["counts"]["sim-wide"]["correct"]
    for words, told in (
        (("origin/fig04", "--set", "seed=5"), ("build origin/fig04", "seed=5")),
        (("semtrace/tab03",), ("semtrace/tab03", "nothing")),
        (("origin/fig04", "--outcome", "rihgt"), ("--outcome", "'rihgt'")),
    ):
        names(command(smoke, "explain", *words).stderr, *told)


@pytest.mark.slow
def test_plan_show_and_report(smoke: Path) -> None:
    plan = json.loads(command(smoke, "plan", *smoke_names(), "--json").stdout)
    assert {row["artefact"] for row in plan} == set(smoke_names())
    assert all(row["missing"] == 0 for row in plan)
    for row in plan:
        manifest = smoke / "smoke" / row["artefact"] / "manifest.json"
        asked = json.loads(manifest.read_text())["asked"]
        assert bool(row["requests"]) == bool(asked), row["artefact"]
    changed = ("origin/fig02", "--set", "seed=3", "--json")
    fresh = json.loads(command(smoke, "plan", *changed).stdout)
    assert all(row["missing"] == row["requests"] for row in fresh)
    show = ("show", "origin/fig02", "--where")
    shown = command(smoke, *show, "lines=16", "--limit", "0", "--json")
    requests = json.loads(shown.stdout)
    models = [request["factors"]["model"] for request in requests]
    assert models == artefact_of("origin/fig02", "smoke").model_names
    assert "workbench" not in json.dumps(requests[0]["factors"])
    assert command(smoke, *show, "line=16").returncode == 1
    assert command(smoke, "report").returncode == 0
    assert "responses" in codestress("store", "status", outputs=smoke).stdout


@pytest.mark.slow
def test_commands_that_the_report_prints_work_as_typed(
    left: list[Left], smoke: Path
) -> None:
    index = (smoke / "smoke/index.html").read_text()
    # The paper's own size needs its data.
    plans = re.findall(r"make plan (\S+) PROFILE=paper MODELS=([\w.-]+)", index)
    papers = [{name.split("/")[0] for name, *_ in part} for part in (plans, left)]
    assert papers[0] == papers[1]
    commands = [
        ["plan", name, "--models", model, "--profile", "smoke"] for name, model in plans
    ]
    explained = re.findall(
        r"<code>\.venv/bin/codestress (explain \S+ --profile smoke)</code>", index
    )
    assert len(explained) > len(smoke_names()) / 2
    commands += [explained[0].split(), explained[-1].split()]
    for words in commands:
        done = codestress(*words, outputs=smoke)
        assert done.returncode == 0, done.stderr
        names(done.stdout, words[1])
