"""Builds with minutes, and `codestress try`: real servers on loopback, functions of a file, stops at a budget."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from codestress.cli import cli, trying
from codestress.pipeline.turns import by_kinds, problems_between
from codestress.types import Prompt, Sampling, Trial, Trials
from conftest import codestress, some
from openai_server import (
    MODEL,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    failure,
)

ARTEFACTS = ("codecrash/tab01", "origin/fig02")
QUESTIONS = {"codecrash/tab01": 200, "origin/fig02": 117}


def says(received: Received) -> bytes:
    """An answer with the request's headers in it, as a server might log them."""
    return json.dumps(completion_body(json.dumps(received.headers))).encode()


def manifests(outputs: Path) -> dict[str, dict[str, object]]:
    """By artefact, of figures with changed models; outcomes add up to all questions."""
    found = {}
    for path in sorted((outputs / "mine").glob("*/*/manifest.json")):
        manifest = json.loads(path.read_text())
        [counts] = manifest["counts"].values()
        left_out = sum(manifest["not_asked"].values())
        assert sum(counts.values()) == manifest["asked"] + left_out
        assert counts["skipped"] == left_out
        found[manifest["artefact"]] = manifest | {"folder": path.parent, "left_out": left_out}
    return found


@pytest.mark.slow
def test_a_stop_at_the_budget_leaves_balanced_counts_and_is_said_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-marker-of-this-test")
    with OpenAIServer(lambda received: as_json(json.loads(says(received)))) as server:
        words = ("build", *ARTEFACTS, "--profile", "try", "--models", server.base_url)
        words = (*words, "--key-env", "MY_KEY")
        done = codestress(*words, "--minutes", "60", outputs=tmp_path, MAX_REQUESTS="60")
        assert done.returncode == 0, done.stderr
        before = len(server.requests)
        assert 50 < before <= 60
        first = {request.prompt for request in server.requests}
        stopped = manifests(tmp_path)
        assert set(stopped) == set(ARTEFACTS)
        for name, manifest in stopped.items():
            assert manifest["asked"] + manifest["left_out"] == QUESTIONS[name]
            assert manifest["left_out"] > 0
            [(label, why)] = manifest["not_run"].items()
            assert label.endswith(f"{manifest['left_out']} of {QUESTIONS[name]} questions")
            assert "60 of 60 requests (MAX_REQUESTS)" in why
            assert f"{label}: not run here" in (manifest["folder"] / "figure.svg").read_text()
            assert f"{label}: not run here" in (manifest["folder"] / "table.csv").read_text()
            assert f"{label}: not run here: {why}" in done.stdout
        page = (tmp_path / "mine/index.html").read_text()
        for manifest in stopped.values():
            assert f"{manifest['left_out']} questions not asked" in page
        left_out = sum(manifest["left_out"] for manifest in stopped.values())
        assert re.search(rf"{MODEL}@\S+: 317 questions: .*\b{left_out} skipped", done.stdout)
        answers = {
            name: pd.read_parquet(manifest["folder"] / "answers.parquet")
            for name, manifest in stopped.items()
        }
        conditions = answers["codecrash/tab01"].groupby("perturbation").size()
        assert len(conditions) == 5
        assert conditions.max() - conditions.min() <= 4  # the problems of the last turn
        problems = [part["problem"].nunique() for part in answers.values()]
        assert max(problems) <= 1.5 * min(problems) + 1
        folder = stopped["codecrash/tab01"]["folder"]
        explained = codestress("explain", f"mine/codecrash/{folder.name}", outputs=tmp_path)
        assert explained.returncode == 0, explained.stderr

        again = codestress(*words, outputs=tmp_path)
        assert again.returncode == 0, again.stderr
        more = [request.prompt for request in server.requests[before:]]
    assert first.isdisjoint(more)
    for name, manifest in manifests(tmp_path).items():
        assert (manifest["asked"], manifest["not_asked"]) == (QUESTIONS[name], {})
        assert not manifest["not_run"]
        assert "not run here" not in (manifest["folder"] / "figure.svg").read_text()
    assert "mine/index.html" in again.stdout
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sk-marker" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_function_of_a_file_is_tried_and_what_is_not_reached_has_no_figure(
    tmp_path: Path,
) -> None:
    (tmp_path / "my_model.py").write_text("def shrug(messages, **sampling):\n    return 'no'\n")
    model = f"{tmp_path}/my_model.py:shrug"
    done = codestress("try", model, "--minutes", "60", outputs=tmp_path / "o", MAX_REQUESTS="9")
    assert done.returncode == 0, done.stderr
    first, *more = done.stderr.splitlines()
    assert first.startswith(f"60 minutes from now: a short question to {model}, then")
    assert "making the questions of codecrash/tab01 (1 of 6); about 60 min left" in more
    assert not [line for line in more if line.startswith("answers")]
    assert "mine/index.html" in done.stdout
    assert "a sample of minutes judges no claim of the papers" in done.stdout
    name = r"shrug@my_model-[0-9a-f]{8}"
    why = rf"{name}: 0 of 8 answers right: \d × unparsable: .* 0 of 8 answers could be read, "
    why += "so that it has no place"
    assert re.search(why, done.stdout)
    page = (tmp_path / "o/mine/index.html").read_text()
    assert re.search(why, page)
    assert "(s)" not in page
    assert re.search(r"\d answers? of 1 model, judged", page)
    found = manifests(tmp_path / "o")
    for manifest in found.values():
        drawn = (manifest["folder"] / "figure.svg").read_text()
        assert re.search(rf"No number of {name}\s+counts: 0 of", drawn)
        assert "published 0 %" not in drawn
    explained = re.search(r"see answers: codestress explain (\S+)", done.stdout)
    assert explained
    shown = codestress("explain", explained[1], outputs=tmp_path / "o")
    assert "--- answered\nno" in shown.stdout
    assert sum(manifest["asked"] for manifest in found.values()) == 8  # and whether it answers
    stopped = re.findall(r"\] ([^@\s]+)@\S+  stopped(?:\n|  for)", done.stderr)
    assert done.stderr.count("nothing was asked: stopped at the budget") == 1
    assert {*stopped} | {*found} == {
        *("codecrash/tab01", "faultloc/tab02", "origin/fig01", "origin/fig02"),
        *("semtrace/fig03", "semtrace/tab01"),
    }
    assert f"{len(found)} built, {len(stopped)} stopped" in done.stdout


@pytest.mark.slow
def test_a_stop_at_a_limit_is_stopped_not_failed_and_a_reason_is_shown_once(
    tmp_path: Path,
) -> None:
    def gone(received: Received) -> Reply:
        counts = received.prompt.startswith("Count from")
        return completion("1, 2, 3") if counts else failure(404, "marker-of-the-failure")

    with OpenAIServer(lambda _: completion("no")) as server:
        words = ("build", "origin/fig02", "--profile", "try", "--models", server.base_url)
        done = codestress(*words, outputs=tmp_path / "o", MAX_REQUESTS="5")
    assert done.returncode == 1  # its figure is missing
    assert "1 stopped; gallery" in done.stdout
    assert "5 of 5 requests (MAX_REQUESTS)" in done.stderr
    assert "failed" not in done.stdout + done.stderr
    assert done.stderr.endswith("\n")
    with OpenAIServer(gone) as server:
        words = ("build", *ARTEFACTS, "--profile", "try", "--models", server.base_url)
        done = codestress(*words, outputs=tmp_path / "o")
    assert done.returncode == 1
    assert done.stderr.count("marker-of-the-failure") == 1
    assert "for the reason at [1/2]" in done.stderr
    assert "2 × failed for one reason, that of codecrash/tab01" in done.stdout


@pytest.mark.parametrize(
    ("code", "why"),
    some(
        [
            (
                "def ask(messages, **how):\n    raise OSError('no GPU')",
                "the function raised OSError: no GPU",
            ),
            (
                "def ask(messages, **how):\n    return None",
                "the function returned NoneType, not a text",
            ),
            (
                "async def ask(messages, **how):\n    return 'no'",
                "the function is async; give one that waits",
            ),
            ("def ask(messages):\n    return 'no'", "unexpected keyword argument"),
        ],
        4,
    ),
)
def test_a_function_that_cannot_be_asked_is_told_at_once(
    code: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "own_model.py"
    path.write_text(code)
    done = codestress("try", f"{path}:ask", outputs=tmp_path / "o")
    assert done.returncode == 1
    assert why in done.stderr
    assert "It is called as ask(messages, prefill=…" in done.stderr


def test_problems_are_asked_whole_and_each_once() -> None:
    items = [
        Trial(f"p{number}", {"place": place}) for number in range(20) for place in ("a", "b", "c")
    ]
    own = Trials(items[:30], lambda _: Prompt((), Sampling()), {})
    trials = Trials(items, lambda _: Prompt((), Sampling()), {}, own={"m": own})
    mixed = [
        Trial(f"q{number}", {"kind": "rare" if number < 4 else "usual"}) for number in range(40)
    ]
    order = by_kinds(mixed)
    assert len({*order}) == 40
    assert {*order[:8]} >= {"q0", "q1", "q2", "q3"}
    parts = [problems_between(trials, *ends) for ends in ((0, 1), (1, 7), (7, 30))]
    assert [len(part.items) for part in parts] == [3, 18, 39]
    assert {trial.problem for trial in parts[0].items} != {"p0"}
    asked = [(trial.problem, trial.factors["place"]) for part in parts for trial in part.items]
    assert len({*asked}) == len(asked) == 60
    assert [len(part.of("m").items) for part in parts] == [3, 18, 9]


def test_servers_on_this_machine_are_listed_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [MODEL, "nomic-embed-text"]

    class Several(OpenAIServer):
        def reply(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
            return (
                as_json({"data": [{"id": name} for name in names]})
                if path == "/v1/models"
                else super().reply(method, path, headers, content)
            )

    with Several(lambda _: completion("no")) as server:
        places = {
            "Ollama": ("http://localhost:9", "ollama serve"),
            "vLLM": (server.base_url, "vllm serve MODEL"),
        }
        monkeypatch.setattr(trying, "LOCAL_SERVERS", places)
        listed = CliRunner().invoke(trying.try_command, [])
    assert listed.exit_code == 0
    assert (
        listed.output
        == f"vLLM at {server.base_url}:\n  make try MODEL={server.base_url} ID={MODEL}\n"
    )
    with Several(lambda _: completion("no")) as server:
        names.remove(MODEL)
        monkeypatch.setattr(trying, "LOCAL_SERVERS", {"vLLM": (server.base_url, "")})
        listed = CliRunner().invoke(trying.try_command, [])
    assert listed.output == f"vLLM at {server.base_url}: no model that writes text\n"
    monkeypatch.setattr(trying, "LOCAL_SERVERS", places)
    listed = CliRunner().invoke(trying.try_command, [])
    assert "No server answers on this machine" in listed.output
    assert "ollama serve" in listed.output


@pytest.mark.slow
def test_a_function_that_never_returns_ends_with_the_minutes(tmp_path: Path) -> None:
    """At its first question, and later: then its other answers are kept, and the rest counts as not asked."""
    (tmp_path / "my_model.py").write_text(
        "import time\n"
        "from pathlib import Path\n"
        "calls = Path(__file__).with_suffix('.calls')\n"
        "def hang(messages, **how):\n    time.sleep(9999)\n"
        "def tire(messages, **how):\n"
        "    with calls.open('a') as file:\n        file.write('.')\n"
        "    time.sleep(9999 if calls.stat().st_size > 6 else 0)\n    return 'no'\n"
    )
    words = ("build", "origin/fig02", "--profile", "try")
    model = f"{tmp_path}/my_model.py"
    hung = codestress(
        *words, "--models", f"{model}:hang", "--minutes", "0.05", outputs=tmp_path / "o"
    )
    assert hung.returncode != 0
    assert "the minutes" in hung.stderr
    done = codestress(
        *words, "--models", f"{model}:tire", "--minutes", "0.4", outputs=tmp_path / "o"
    )
    assert done.returncode == 0, done.stderr
    for manifest in manifests(tmp_path / "o").values():
        assert manifest["asked"] <= 5  # the sixth was whether it answers
        assert manifest["asked"] + manifest["left_out"] == QUESTIONS["origin/fig02"]
        break
    else:
        # A busy machine had no time for one answer.
        assert "nothing was asked: the minutes are over" in done.stderr


@pytest.mark.slow
def test_no_time_for_a_single_question_is_said_for_each_artefact(tmp_path: Path) -> None:
    done = codestress("try", "sim-near", "--minutes", "0.001", outputs=tmp_path / "o")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("nothing was asked: the minutes are over") >= 1


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "2000"])
@pytest.mark.parametrize("words", [("try", "nano"), ("build", "origin/fig02")])
def test_minutes_are_a_number_above_0(words: tuple[str, ...], minutes: str) -> None:
    done = CliRunner().invoke(cli, [*words, "--minutes", minutes])
    assert done.exit_code == 2
    assert "must be above 0 and at most 1440" in done.output
