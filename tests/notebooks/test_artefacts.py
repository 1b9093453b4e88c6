"""Every artefact at smoke size, built as a user builds it, and what it leaves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from codestress.artefact_files import read_artefact
from codestress.paths import FILES
from codestress.report.caption import LONGEST_ALT, READERS
from codestress.report.published import without_numbers
from codestress.types import Outcome
from conftest import ROOT, codestress, smoke_names, some
from drawn import faults
from told import names

OTHERS = ("sim-flat", "sim-wide", "sim-wordy")


def test_everything_an_artefact_leaves_is_there(smoke: Path) -> None:
    for name in smoke_names():
        folder = smoke / "smoke" / name
        for file in (*FILES, "notebook.ipynb", "notebook.html"):
            assert (folder / file).stat().st_size > 0, f"{name}: {file}"
        assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_parquet(folder / "data.parquet")) > 0
        assert r"\toprule" in (folder / "table.tex").read_text()


def test_no_notebook_shows_a_library_s_warning(smoke: Path) -> None:
    for name in smoke_names():
        notebook = (smoke / "smoke" / name / "notebook.ipynb").read_text()
        for cell in json.loads(notebook)["cells"]:
            streams = [output.get("name") for output in cell.get("outputs", [])]
            assert "stderr" not in streams, (name, cell["outputs"])


def test_counts_add_up_and_every_number_can_be_traced(smoke: Path) -> None:
    for name in smoke_names():
        manifest = json.loads((smoke / "smoke" / name / "manifest.json").read_text())
        assert (
            sum(sum(counts.values()) for counts in manifest["counts"].values())
            == manifest["asked"]
        )
        assert all(
            set(counts) == {reason.value for reason in Outcome}
            for counts in manifest["counts"].values()
        )
        assert set(manifest["counts"]) == {
            model["name"] for model in manifest["models"]
        }
        assert manifest["parameters"]["artefact"] == name
        for part in (
            "environment",
            "inputs",
            "commit",
            "requests_sha256",
            "tokens",
            "prompts",
            "build_seconds",
        ):
            assert part in manifest


def test_simulated_readers_are_labelled_everywhere(smoke: Path) -> None:
    for name in smoke_names():
        folder = smoke / "smoke" / name
        manifest = json.loads((folder / "manifest.json").read_text())
        models = [model["name"] for model in manifest["models"]]
        assert manifest["simulated"] == [
            name for name in models if name.startswith("sim-")
        ]
        others = {name for name in models if not name.startswith("sim-")}
        assert others <= {"python", "nano"} or manifest["asked"] == 0
        shown = bool(manifest["simulated"]) and manifest["asked"] > 0
        assert ("simulated readers" in (folder / "figure.svg").read_text()) == shown
    names((smoke / "smoke" / "index.html").read_text(), "not language models")


def test_nothing_that_is_left_says_where_it_was_made(smoke: Path) -> None:
    """Neither the project's folder nor that of the outputs, as texts: a notebook can be sent to anybody."""
    places = [str(place).encode() for place in (ROOT, smoke, Path.home())]
    for artefact in smoke_names():
        for name in (
            "notebook.ipynb",
            "notebook.html",
            "answers.html",
            "manifest.json",
            "table.csv",
            "figure.svg",
        ):
            content = (smoke / "smoke" / artefact / name).read_bytes()
            assert [place for place in places if place + b"/" in content] == [], (
                artefact,
                name,
            )


def test_each_figure_has_the_paper_s_numbers_or_says_why_not(smoke: Path) -> None:
    """Lists, examples and drawings of programs have none."""
    none = {
        "codecrash/cases",
        "codecrash/tab03",
        "faultloc/fig02",
        "faultloc/tab01",
        "faultloc/tab03",
    }
    none |= {"semtrace/prompts", "semtrace/tab03", "semtrace/tab04"}
    for name in smoke_names():
        manifest = json.loads((smoke / "smoke" / name / "manifest.json").read_text())
        drawing = " ".join(
            ElementTree.parse(smoke / "smoke" / name / "figure.svg")
            .getroot()
            .itertext()
        ).casefold()
        first_word = re.split("[ :]", manifest["title"])[0]
        why = without_numbers(name).partition(": ")[2]
        assert why in drawing, name
        assert ("as numbers" in drawing) == ("as numbers" in why), name
        if first_word in ("Figure", "Figures", "Table", "Section") and name not in none:
            assert "published" in drawing or "the paper" in drawing, name


def test_figures_can_be_read_at_the_width_at_which_they_are_printed(
    smoke: Path,
) -> None:
    wrong = {
        name: faults(smoke / "smoke" / name / "figure.svg", read_artefact(name).width)
        for name in smoke_names()
    }
    assert not {name: lines for name, lines in wrong.items() if lines}


def test_figures_have_short_alt_text_that_names_simulated_readers(smoke: Path) -> None:
    for name in smoke_names():
        folder = smoke / "smoke" / name
        root = ElementTree.parse(folder / "figure.svg").getroot()
        alt = root.find("{http://www.w3.org/2000/svg}desc")
        assert root.get("role") == "img"
        assert alt is not None
        assert alt.text is not None
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["alt"] == alt.text
        assert 60 < len(alt.text) <= LONGEST_ALT, name
        readers = [*manifest["simulated"]] if manifest["asked"] else []
        assert (READERS in alt.text) == bool(readers), name
        assert all(reader in alt.text for reader in readers), name


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


def test_no_number_of_a_real_model_comes_from_a_reader(smoke: Path) -> None:
    """No statement that a run would decide has a number here, where no model ran."""
    for name in smoke_names():
        ledger = smoke / "smoke" / name / "claims.csv"
        if ledger.is_file():
            claims = pd.read_csv(ledger)
            assert set(claims[claims["evidence"] == "re-run"]["verdict"]) <= {
                "not run"
            }, name
            copied = claims[claims["evidence"].isin(["quoted", "finding"])]
            assert set(copied["verdict"]) <= {"no verdict", "not run"}, name
    assert len(pd.read_csv(smoke / "smoke/semtrace/tab01/claims.csv")) == 30
    if "codecrash/tab10" in smoke_names():
        assert (
            len(pd.read_csv(smoke / "smoke/codecrash/tab10/claims.csv")) == 17 * 3 * 4
        )
    table = pd.read_csv(smoke / "smoke/semtrace/tab04/table.csv", index_col="name")
    assert list(table.index[table["reaches_bound"] == "no"]) == [
        "llama-3.1-8b",
        "llama-3.3-70b",
        "deepseek-coder-v2-lite",
        "deepseek-coder-v2",
    ]


def test_the_pages_need_nothing_from_outside(smoke: Path) -> None:
    written = [
        f"{name}/{file}"
        for name in smoke_names()
        for file in ("notebook.html", "answers.html")
    ]
    pages = [smoke / "smoke" / name for name in ("index.html", *written)]
    for page in pages:
        text = page.read_text()
        assert not re.search(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//",
            text,
        )
        assert "@import" not in text
        scripts = [
            tag
            for tag in re.findall(r"<script\b[^>]*>", text)
            if "text/html" not in tag
        ]
        assert scripts == ["<script>"] * (
            page.name == "index.html"
        )  # search and filter
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
    again = codestress(
        "build", *smoke_names(), "--profile", "smoke", "--json", outputs=smoke
    )
    states = {one["name"]: one["state"] for one in json.loads(again.stdout)}
    assert states == dict.fromkeys(smoke_names(), "up to date")

    def built_at() -> dict[str, int]:
        return {
            name: (smoke / "smoke" / name / "manifest.json").stat().st_mtime_ns
            for name in smoke_names()
        }

    before = built_at()
    (smoke / "smoke/origin/sec63/table.csv").unlink()
    back = codestress(
        "build", *smoke_names(), "--profile", "smoke", "--json", outputs=smoke
    )
    assert [o["name"] for o in json.loads(back.stdout) if o["state"] == "built"] == [
        "origin/sec63"
    ]
    assert {name for name, at in built_at().items() if at != before[name]} == {
        "origin/sec63"
    }


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes(smoke: Path, tmp_path: Path) -> None:
    built = some(("origin/fig02", "origin/fig06", "codecrash/tab09"), 3)
    done = codestress("build", *built, "--profile", "smoke", outputs=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in built:
        for file in (
            "figure.pdf",
            "figure.png",
            "figure.svg",
            "table.csv",
            "table.md",
            "table.tex",
            "data.parquet",
            "answers.parquet",
        ):
            first, second = (
                (root / "smoke" / name / file).read_bytes()
                for root in (smoke, tmp_path)
            )
            assert first == second, f"{name}: {file}"
    same = codestress(
        "diff",
        str(smoke / "smoke" / built[0]),
        str(tmp_path / "smoke" / built[0]),
        outputs=smoke,
    )
    assert same.returncode == 0, same.stdout
    other = codestress(
        "diff", "smoke/origin/fig02", "smoke/origin/fig03", outputs=smoke
    )
    assert other.returncode == 1
    names(other.stdout, "parameters.d", "[15]", "[-15]")


@pytest.mark.slow
def test_tables_come_out_of_the_answers_without_the_kit(smoke: Path) -> None:
    script = ROOT / "docs/recompute.py"
    assert "codestress" not in script.read_text()
    done = subprocess.run(
        [sys.executable, script, smoke / "smoke"], capture_output=True, text=True
    )
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
    done = codestress(
        "explain",
        "codecrash/tab01",
        "--profile",
        "smoke",
        "--outcome",
        "incorrect",
        "--limit",
        "2",
        "--json",
        outputs=smoke,
    )
    assert [row["verdicts"]["strict"] for row in json.loads(done.stdout)] == [
        "incorrect"
    ] * 2
    found = codestress(
        *(
            "explain",
            "origin/fig04",
            "--profile",
            "smoke",
            "--where",
            "model=sim-wide",
            "--limit",
            "0",
            "--json",
        ),
        outputs=smoke,
    )
    rows = json.loads(found.stdout)
    manifest = json.loads((smoke / "smoke/origin/fig04/manifest.json").read_text())
    assert len(rows) == sum(manifest["counts"]["sim-wide"].values())
    right = sum(row["verdicts"]["strict"] == "correct" for row in rows)
    assert right == manifest["counts"]["sim-wide"]["correct"]
    other = codestress(
        "explain",
        "origin/fig04",
        "--profile",
        "smoke",
        "--set",
        "seed=5",
        outputs=smoke,
    )
    names(other.stderr, "build origin/fig04", "seed=5")
    other = codestress("explain", "semtrace/tab03", "--profile", "smoke", outputs=smoke)
    names(other.stderr, "semtrace/tab03", "nothing")
    other = codestress("explain", "origin/fig04", "--outcome", "rihgt", outputs=smoke)
    names(other.stderr, "--outcome", "'rihgt'")


@pytest.mark.slow
def test_plan_show_and_report(smoke: Path) -> None:
    plan = json.loads(
        codestress(
            "plan", *smoke_names(), "--profile", "smoke", "--json", outputs=smoke
        ).stdout
    )
    assert {row["artefact"] for row in plan} == set(smoke_names())
    facts = {
        "semtrace/prompts",
        "semtrace/tab03",
        "semtrace/tab04",
        "codecrash/perturbations",
    }
    facts |= {
        f"faultloc/{name}" for name in ("tab01", "tab03", "tab04", "fig05", "audit")
    }
    facts |= {name for name in smoke_names() if name.endswith("/published")}
    assert all(row["missing"] == 0 for row in plan)
    assert {row["artefact"] for row in plan if row["requests"] == 0} == facts & {
        *smoke_names()
    }
    fresh = json.loads(
        codestress(
            "plan",
            "origin/fig02",
            "--profile",
            "smoke",
            "--set",
            "seed=3",
            "--json",
            outputs=smoke,
        ).stdout
    )
    assert all(row["missing"] == row["requests"] for row in fresh)
    shown = codestress(
        "show",
        "origin/fig02",
        "--where",
        "lines=16",
        "--limit",
        "0",
        "--json",
        outputs=smoke,
    )
    requests = json.loads(shown.stdout)
    assert [request["factors"]["model"] for request in requests] == [
        "sim-near",
        "sim-edges",
        "sim-flat",
        "sim-wide",
        "sim-wordy",
    ]
    assert "workbench" not in json.dumps(requests[0]["factors"])
    assert (
        codestress(
            "show", "origin/fig02", "--where", "line=16", outputs=smoke
        ).returncode
        == 1
    )
    assert codestress("report", "--profile", "smoke", outputs=smoke).returncode == 0
    assert "responses" in codestress("store", "status", outputs=smoke).stdout


@pytest.mark.slow
def test_commands_that_the_report_prints_work_as_typed(smoke: Path) -> None:
    index = (smoke / "smoke/index.html").read_text()
    # The paper's own size needs its data.
    plans = re.findall(r"make plan (\S+) PROFILE=paper MODELS=([\w.-]+)", index)
    assert {name.split("/")[0] for name, _ in plans} == {
        name.split("/")[0] for name in smoke_names()
    }
    commands = [
        ["plan", name, "--models", model, "--profile", "smoke"] for name, model in plans
    ]
    explained = re.findall(
        r"<code>\.venv/bin/codestress (explain \S+ --profile smoke)</code>", index
    )
    assert len(explained) > len(smoke_names()) / 2
    commands += [explained[0].split(), explained[-1].split()]
    for command in commands:
        done = codestress(*command, outputs=smoke)
        assert done.returncode == 0, done.stderr
        names(done.stdout, command[1])
