"""`codestress try` against real servers on loopback, well and badly behaved, and what its page says of them."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import codestress
from codestress.errors import EngineError, ParameterError
from codestress.inference.probe import models_of
from codestress.inference.run import Answer
from codestress.report.headline import Headline, Reach
from codestress.rooms import offered_by, papers
from codestress.tryout import commands, sampling
from codestress.tryout import subject as subject_module
from codestress.tryout.commands import tried
from codestress.tryout.counts import counted
from codestress.tryout.sampling import Part
from codestress.tryout.subject import at_url, registered
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials, Usage
from conftest import some
from openai_server import MODEL, OpenAIServer, Received, Reply, as_json, completion_body, failure

CHARACTERS = 4
"""For each token, of the servers here."""


def says(received: Received, text: str = "I do not know.", most: float = math.inf) -> Reply:
    """A text, with the tokens of a prompt counted, and cut at `most` without a word."""
    characters = sum(len(message["content"]) for message in received.body["messages"])
    body = completion_body(text)
    body["usage"] |= {"prompt_tokens": int(min(most, characters / CHARACTERS))}
    return as_json(body)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rounds of each paper are enough here; no limit of a budget comes from outside."""
    monkeypatch.setattr(sampling, "ROUNDS", 4)
    for name in ("BUDGET_USD", "BUDGET_TOKENS", "MAX_REQUESTS"):
        monkeypatch.delenv(name, raising=False)


def tried_at(server: OpenAIServer, folder: Path, minutes: float = 60) -> str:
    subject = at_url(server.base_url, "", "", minutes)
    page = tried(subject, minutes, folder, f"MODEL={server.base_url}", lambda _: None, folder / "s.sqlite")
    return page.read_text()


def sums(page: str) -> list[int]:
    """Of the table of outcomes."""
    table = page[page.index("<h2>What became") : page.index("<h2>How it was asked")]
    rows = re.findall(r"<tr><td>.*?</tr>", table, re.S)
    found = []
    for row in rows:
        *parts, total = map(int, re.findall(r'class="n">(\d+)<', row))
        assert sum(parts) == total
        found.append(total)
    return found


def test_a_server_gets_its_page_and_is_asked_only_once(tmp_path: Path) -> None:
    with OpenAIServer(says) as server:
        page = tried_at(server, tmp_path)
        # Rounds of 5, 4, 5 and 4 cells.
        assert sums(page) == [20, 16, 20, 16]
        asked = len(server.requests)
        again = tried_at(server, tmp_path)
        assert len(server.requests) == asked + 1  # whether it answers at all
    assert "72 of them stored before" in again
    assert "Read with care: of 72 questions 72 unparsable" in again
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    assert folder.name == f"{MODEL}@127.0.0.1-{server.port}"
    cells = pd.read_csv(folder / "cells.csv")
    answers = pd.read_csv(folder / "answers.csv")
    assert set(cells["paper"]) == set(answers["paper"]) == set(papers())
    assert cells["n"].sum() == len(answers) == 72
    assert (cells["right"] == 0).all()
    for outside in ("http://", "https://", "//cdn"):
        for found in re.findall(rf'(?:src|href)="{outside}[^"]*"', page):
            raise AssertionError(f"the page needs {found}")
    assert re.findall(r'src="(?!data:)', page) == []


def test_more_rounds_go_on_where_fewer_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(says) as server:
        tried_at(server, tmp_path)
        few = [request.prompt for request in server.requests]
        monkeypatch.setattr(sampling, "ROUNDS", 6)
        page = tried_at(server, tmp_path)
        assert sums(page) == [30, 24, 30, 24]
        more = [request.prompt for request in server.requests[len(few) :]]
    assert set(few).isdisjoint(set(more) - {"Count from 1 to 3."})


def test_the_first_rounds_are_the_same_however_many_there_are() -> None:
    for paper, headline in offered_by("headline", "HEADLINE").items():
        study = offered_by("studies", "STUDIES")[paper][headline.study]
        values = {"artefact": f"{paper}/try", "models": ["a"], **headline.parameters(Reach(None, True))}
        parts = [
            Part(paper, headline, study.trials(study.parameters.checked(values, "try")), None, []) for _ in range(2)
        ]
        assert parts[0].rounds == parts[1].rounds
        for one in parts[0].rounds:
            assert [headline.cell(trial) for trial in one] == list(headline.cells)
        assert headline.published()["cell"].isin(headline.cells).all()
        assert headline.published()["share"].between(0, 1).all()


def test_a_limit_ends_it_and_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_REQUESTS", "40")
    with OpenAIServer(says) as server:
        page = tried_at(server, tmp_path)
        assert len(server.requests) <= 40
    assert "It ended early: stopped at the budget" in page
    assert 20 < sum(sums(page)) < 72


def test_a_server_that_continues_no_begun_answer_is_asked_without(tmp_path: Path) -> None:
    with OpenAIServer(says, prefill="refused") as server:
        page = tried_at(server, tmp_path)
        assert all(request.body["messages"][-1]["role"] == "user" for request in server.requests)
    assert "does not continue a begun answer" in page
    assert "begun in the question" in page
    assert sums(page) == [20, 16, 20, 16]


def test_a_prompt_that_the_server_cut_is_never_scored(tmp_path: Path) -> None:
    with OpenAIServer(lambda received: says(received, most=1000)) as server:
        page = tried_at(server, tmp_path)
    long = [r for r in server.requests if sum(len(m["content"]) for m in r.body["messages"]) > 2000 * CHARACTERS]
    assert len(long) > 8
    assert "cut by the server" in page
    answers = list(csv.DictReader(next(tmp_path.glob("*/answers.csv")).open()))
    cells = list(csv.DictReader(next(tmp_path.glob("*/cells.csv")).open()))
    cut = sum(int(row["cut"]) for row in cells)
    assert cut >= len(long)
    assert len(answers) + cut == 72
    assert sums(page) == [20, 16, 20, 16]


def test_texts_with_other_tokens_are_not_taken_for_cut(tmp_path: Path) -> None:
    """Code with 2.5 characters in a token, lists of words with 4.2: nothing was cut."""

    def uneven(received: Received) -> Reply:
        body = completion_body("no")
        characters = sum(len(message["content"]) for message in received.body["messages"])
        body["usage"] |= {"prompt_tokens": int(characters / (2.5 if "def " in received.prompt else 4.2))}
        return as_json(body)

    with OpenAIServer(uneven) as server:
        page = tried_at(server, tmp_path)
    assert "<th>cut by the server</th>" not in page
    assert sums(page) == [20, 16, 20, 16]


def test_prompts_that_do_not_fit_are_not_sent(tmp_path: Path) -> None:
    class Small(OpenAIServer):
        def reply(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
            if path == "/v1/models":
                return as_json({"data": [{"id": MODEL, "max_model_len": 3000}]})
            return super().reply(method, path, headers, content)

    with Small(says) as server:
        page = tried_at(server, tmp_path)
        room = [len(r.prompt) / CHARACTERS + r.body["max_tokens"] for r in server.requests]
    assert max(room) <= 3000
    assert "does not fit" in page
    assert "its context has no room for more" in page
    assert sums(page) == [20, 16, 20, 16]


@pytest.mark.parametrize(
    "refusal",
    [
        "This model's maximum context length is 1500 tokens, however you requested 2048 tokens.",
        "the request exceeds the available context size (1500 tokens), try increasing it",
        "The model is loaded with context length of only 1500 tokens, which is not enough.",
    ],
)
def test_a_context_that_nobody_told_of_is_learnt_from_the_first_refusal(refusal: str, tmp_path: Path) -> None:
    """As vLLM and llama-cpp-python, llama.cpp and LM Studio say it; what does not fit is asked no more."""
    refused = [0]

    def small(received: Received) -> Reply:
        if len(received.prompt) > 1500 * CHARACTERS:
            refused[0] += 1
            return failure(400, refusal)
        return says(received)

    with OpenAIServer(small) as server:
        page = tried_at(server, tmp_path)
    assert "1,500 tokens, as it said when it refused a longer prompt" in page
    assert "harness error" not in page
    assert sums(page) == [20, 16, 20, 16]
    cells = list(csv.DictReader(next(tmp_path.glob("*/cells.csv")).open()))
    assert 0 < refused[0] < sum(int(row["too_long"]) for row in cells)


@pytest.mark.parametrize(
    "refusal",
    some(
        [
            "Please reduce the length of the messages or completion.",
            "context_length_exceeded",
            "the request exceeds the available context size, try increasing it",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1500.",
            "prompt is too long: 1,600 tokens > 1,500 maximum",
            "<html><head><title>413 Request Entity Too Large</title></head></html>",
            "Payload Too Large",
            "Invalid 'messages[0].content': string too long.",
            "The input token count (1600) exceeds the maximum number of tokens allowed (1500).",
        ],
        3,
    ),
)
def test_a_refusal_that_does_not_say_how_much_fits_is_no_failure(refusal: str, tmp_path: Path) -> None:
    """Nor is it asked again whether as long a prompt fits."""

    def small(received: Received) -> Reply:
        return failure(400, refusal) if len(received.prompt) > 1500 * CHARACTERS else says(received)

    with OpenAIServer(small) as server:
        page = tried_at(server, tmp_path)
    assert re.search(r"not said; a prompt and its answer of at most [\d,]+ characters were refused as too long", page)
    assert "harness error" not in page
    assert sums(page) == [20, 16, 20, 16]


@pytest.mark.parametrize(
    "trouble", ["the request took too long", "Request too large for this model on tokens per min (TPM): Limit 10000"]
)
def test_a_limit_of_time_says_nothing_of_the_prompt_s_length(trouble: str, tmp_path: Path) -> None:
    def slow(received: Received) -> Reply:
        return failure(400, trouble) if len(received.prompt) > 1500 * CHARACTERS else says(received)

    with OpenAIServer(slow) as server:
        page = tried_at(server, tmp_path)
    assert "refused as too long" not in page
    assert "<th>does not fit</th>" not in page
    assert "harness error" in page


@pytest.mark.slow
def test_a_server_that_is_overloaded_or_goes_away_leaves_a_page(tmp_path: Path) -> None:
    def busy(received: Received) -> Reply:
        if received.seen == 0 and len(received.prompt) > 100 and hash(received.prompt) % 3 == 0:
            refused[0] += 1
            return failure(429, "slow down", headers={"Retry-After": "0"})
        return says(received)

    refused = [0]

    with OpenAIServer(busy) as server:
        page = tried_at(server, tmp_path / "busy")
    assert sums(page) == [20, 16, 20, 16]
    assert "harness error" not in page
    assert f"; {refused[0]} requests refused for overload" in page

    def halting(received: Received) -> Reply:
        broken = received.seen == 0 and len(received.prompt) > 100 and hash(received.prompt) % 9 == 0
        refused[0] += broken
        return Reply(b'{"choices": [') if broken else says(received)

    refused[0] = 0
    with OpenAIServer(halting) as server:
        page = tried_at(server, tmp_path / "halting")
    assert "harness error" not in page
    assert f"; {refused[0]} requests refused for overload, or without a whole reply" in page

    def failing(received: Received) -> Reply:
        return (
            failure(400, "no such slot") if "def " in received.prompt and hash(received.prompt) % 2 else says(received)
        )

    with OpenAIServer(failing) as server:
        page = tried_at(server, tmp_path / "failing")
    assert sums(page) == [20, 16, 20, 16]
    assert "status 400: no such slot" in page
    answers = pd.read_csv(next((tmp_path / "failing").glob("*/answers.csv")))
    cells = pd.read_csv(next((tmp_path / "failing").glob("*/cells.csv")))
    failed = (answers["outcome"] == "harness error").sum()
    assert 0 < failed == 72 - cells["n"].sum()
    assert f"{72 - failed} answers, {failed} questions without an answer;" in page

    gone = [0]

    def going(received: Received) -> Reply:
        gone[0] += 1
        return says(received) if gone[0] < 30 else failure(401, "the key was withdrawn")

    with OpenAIServer(going) as server:
        page = tried_at(server, tmp_path / "gone")
    assert "It ended early" in page
    assert "the key was withdrawn" in page
    assert 20 < sum(sums(page)) < 72


def test_the_time_ends_it_with_whole_answers(tmp_path: Path) -> None:
    def slow(received: Received) -> Reply:
        reply = says(received)
        return Reply(reply.body, delay=0.2)

    with OpenAIServer(slow) as server:
        page = tried_at(server, tmp_path, minutes=0.03)
        asked = len(server.requests)
    assert sum(sums(page)) <= 72
    answers = list(csv.DictReader(next(tmp_path.glob("*/answers.csv")).open()))
    assert len(answers) < asked <= len(answers) + 2  # the first was to see whether it answers
    assert "It ended early" not in page


def test_which_model_of_a_server() -> None:
    class Several(OpenAIServer):
        models: object = {"data": [{"id": "a"}, {"id": "b", "max_model_len": 4096}]}

        def reply(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
            return as_json(self.models) if path == "/v1/models" else super().reply(method, path, headers, content)

    with Several(says) as server:
        with pytest.raises(ParameterError, match=r"offers 2 models; say which:\n  ID=a\n  ID=b"):
            at_url(server.base_url, "", "", 1)
        assert at_url(server.base_url.removesuffix("/v1"), "b", "", 1).reach == Reach(4096, True)
        with pytest.raises(ParameterError, match=r"offers no 'c'"):
            at_url(server.base_url, "c", "", 1)
        for nonsense in ([], {"data": 3}, {"data": [{}]}, "x"):
            server.models = nonsense
            with pytest.raises(EngineError, match="no list of models"):
                models_of(server.base_url, "", 5)
        server.models = {"data": [{"id": "x" * 5_000_000}]}
        with pytest.raises(EngineError, match="its reply does not end"):
            models_of(server.base_url, "", 60)
    with pytest.raises(EngineError, match="no server answers"):
        at_url(server.base_url, "", "", 1)
    for url in ("ftp://localhost", "http://", "http://localhost:port/v1", "://x"):
        with pytest.raises(ParameterError, match="the URL is not an address such as"):
            at_url(url, "", "", 1)
    for url in ("http://me:sk-marker@localhost/v1", "http://localhost/v1?key=sk-marker"):
        with pytest.raises(ParameterError) as raised:
            at_url(url, "", "", 1)
        assert "KEY_ENV" in str(raised.value)
        assert "sk-marker" not in str(raised.value)
    with pytest.raises(EngineError, match="NO_SUCH_KEY is not set"):
        at_url(server.base_url, "", "NO_SUCH_KEY", 1)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/api/v0/models", {"data": [{"id": "x", "loaded_context_length": 1}, {"id": MODEL, "max_context_length": 9}]}),
        ("/api/v0/models", {"data": [{"id": MODEL, "max_context_length": 32768, "loaded_context_length": 4096}]}),
        ("/api/ps", {"models": [{"name": "other", "context_length": 9}, {"name": MODEL, "context_length": 4096}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 4096}}),
        ("/props", "nonsense"),
        ("/api/ps", {"models": 3}),
    ],
)
def test_how_long_a_prompt_may_be_is_asked_of_local_servers(place: str, said: object) -> None:
    """LM Studio, Ollama and llama.cpp tell it each in its own way, of the model as it is loaded."""

    class Local(OpenAIServer):
        def reply(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
            return as_json(said) if path == place else super().reply(method, path, headers, content)

    with Local(says) as server:
        subject = at_url(server.base_url, "", "", 1)
    known = 4096 if "4096" in json.dumps(said) else None
    assert subject.reach.context == subject.entry.context == known
    assert ("it does not say how long a prompt may be" in subject.told) == (known is None)


def test_servers_on_loopback_are_found_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(says) as server:
        places = {"Ollama": ("http://localhost:9", "ollama serve"), "vLLM": (server.base_url, "vllm serve MODEL")}
        monkeypatch.setattr(subject_module, "LOCAL_SERVERS", places)
        told = CliRunner().invoke(commands.try_command, [])
    assert told.exit_code == 0
    assert f"make try MODEL={server.base_url} ID={MODEL}" in told.output
    told = CliRunner().invoke(commands.try_command, [])
    assert "No server answers on this machine" in told.output
    assert "ollama serve" in told.output


def test_the_key_of_a_server_reaches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-marker-of-this-test")
    with OpenAIServer(lambda received: says(received, json.dumps(received.headers))) as server:
        subject = at_url(server.base_url, "", "MY_KEY", 60)
        tried(subject, 60, tmp_path, "MODEL=x", lambda _: None, tmp_path / "s.sqlite")
        assert all(request.headers["authorization"] == "Bearer sk-marker-of-this-test" for request in server.requests)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sk-marker" not in path.read_bytes(), path


def test_a_function_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "TRIED", tmp_path)
    monkeypatch.setattr(commands.tried, "__defaults__", (tmp_path / "s.sqlite",))
    (tmp_path / "my_model.py").write_text("def shrug(messages, **sampling):\n    return 'no'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import my_model  # type: ignore[import-not-found]

    page = codestress.try_model(my_model.shrug, minutes=60)
    assert page == tmp_path / "shrug/index.html"
    assert sums(page.read_text()) == [20, 16, 20, 16]
    with pytest.raises(ParameterError, match="put `def ask"):
        codestress.try_model(lambda *_, **__: "no")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def ask(messages, **how):\n    raise OSError('no GPU')", "the function raised OSError: no GPU"),
        ("def ask(messages, **how):\n    return None", "the function returned NoneType, not a text"),
        ("def ask(messages, **how):\n    return ['no']", "the function returned list, not a text"),
        ("async def ask(messages, **how):\n    return 'no'", "the function is async; give one that waits"),
        ("def ask(messages):\n    return 'no'", "unexpected keyword argument"),
    ],
)
def test_a_function_that_cannot_be_asked_is_told_at_once(code: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "own_model.py"
    path.write_text(code)
    with pytest.raises(EngineError, match=re.escape(why)) as raised:
        subject_module.function(path, "ask")
    assert "It is called as ask(messages, prefill=…" in str(raised.value)


def test_simulated_readers_are_called_so_and_what_cannot_answer_soon_is_refused(tmp_path: Path) -> None:
    page = tried(registered("sim-near", 60), 60, tmp_path, "MODEL=sim-near", lambda _: None, tmp_path / "s.sqlite")
    text = page.read_text()
    assert "A simulated reader with known parameters, not a language model." in text
    assert "Read with care" not in text
    assert sums(text) == [20, 16, 20, 16]
    assert pd.read_csv(page.parent / "cells.csv")["right"].sum() > 10


def test_what_is_told_apart_from_published_models() -> None:
    """The share of a constructed part against shares that are surely below, surely above, and the same."""
    headline = offered_by("headline", "HEADLINE")["origin"]
    trials = [Trial(f"list {n}", {"lines": 20, "list": n}) for n in range(100)]
    table = pd.DataFrame({"model": ["x", "y", "z"], "cell": "16–63", "share": [0.3, 0.5, 0.7], "n": 800})
    part = _part(headline, trials, right=50, published=table)
    one = counted(part)
    assert one.told_apart == (1, 1, 1)
    assert one.compared == "16–63"
    assert np.isclose(one.half_width, 9.6, atol=0.3)  # Wilson at 50 of 100
    few = counted(_part(headline, trials[:4], right=2, published=table))
    assert few.told_apart == (0, 0, 3)
    assert few.later is not None
    assert few.later <= 3


def _part(headline: Headline, trials: list[Trial], right: int, published: pd.DataFrame) -> Part:
    made = Trials(trials, lambda _: Prompt((Message("user", "x"),), Sampling()), {})
    part = Part("origin", replace(headline, published=lambda: published), made, None, [])
    part.asked = len(part.rounds)
    outcomes = [Outcome.CORRECT if number < right else Outcome.INCORRECT for number in range(len(trials))]
    part.rounds = [[trial] for trial in trials]
    part.asked = len(trials)
    part.answers = [
        Answer(trial, "m", "k", {"strict": Score(one, float(one is Outcome.CORRECT))}, "stop", Usage(), 0.0, 1, "")
        for trial, one in zip(trials, outcomes, strict=True)
    ]
    return part
