"""Studies in another harness: what is exported, and that inspect_ai asks and scores it as the kit does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codestress import cli
from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_for
from codestress.pipeline.exports import item_of, write_inspect_task
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, read
from codestress.types import Message, Prompt, Sampling
from conftest import artefact_of
from openai_server import MODEL, OpenAIServer, Received, Reply, as_json, completion_body
from served import Served
from told import names, refused

WRONG = {
    "origin": "FINAL ANSWER: nothing",
    "semtrace": "'wrong'\n```",
    "codecrash": "[ANSWER] f() == 'wrong' [/ANSWER]",
    "faultloc": '{"line_number": 9999}',
}
"""A wrong answer in the form that each paper asks for."""
OTHERS = [
    ("I would rather not say.", "stop", ""),
    ("", "stop", ""),
    ("Let us see: first", "length", ""),
    ("", "stop", "I think, and say nothing."),
]
"""Text, finish reason and thoughts of other replies."""


def read_items(task: Path) -> list[dict[str, Any]]:
    lines = task.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_items_are_the_requests_that_show_shows(tmp_path: Path) -> None:
    runner = CliRunner()
    study = ["semtrace/tab01", "--profile", "smoke", "--set", "seed=1"]
    export = ["export", "inspect", *study, "--out", str(tmp_path)]
    result = runner.invoke(cli.cli, export)
    assert result.exit_code == 0, result.output
    names(result.stdout, "inspect eval")
    [task] = tmp_path.glob("*.py")
    compile(task.read_text(encoding="utf-8"), task.name, "exec")
    show = ["show", *study, "--limit", "0", "--json"]
    requests = json.loads(runner.invoke(cli.cli, show).stdout)
    for item, request in zip(read_items(task), requests, strict=True):
        begun = {"role": "assistant", "content": request["prompt"]["prefill"]}
        assert item["input"] == [*request["prompt"]["messages"], begun]
        trials, _, first = item_of(item["metadata"])
        assert trials.items[first.index].problem == item["metadata"]["problem"]


@pytest.mark.parametrize(
    "change",
    [{"index": 10**6}, {"study": ["origin/fig04", "smoke", [], ["d=[3]"]]}],
)
def test_an_item_that_is_no_question_of_this_kit_is_refused(
    change: dict[str, Any], tmp_path: Path
) -> None:
    task, _ = write_inspect_task(artefact_of("origin/fig04", "smoke"), tmp_path)
    metadata = read_items(task)[0]["metadata"]
    metadata["codestress"].update(change)
    with refused(ParameterError, "origin/fig04", "codestress export inspect"):
        item_of(metadata)


def test_an_artefact_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export = ["export", "inspect", "--profile", "smoke", "--out", str(out)]
    result = CliRunner().invoke(cli.cli, [*export, "origin/published"])
    assert result.exit_code == 1
    names(result.stderr, "origin/published")
    assert not out.exists()


class Replies:
    """Replies to the questions of a paper: right, wrong, of no known form, refused or cut off, by the question.

    A server gives them first; then inspect_ai's mock model repeats them and knows no others.
    """

    def __init__(self, paper: str) -> None:
        self.paper = paper
        self.by_question: dict[str, tuple[str, str, str]] = {}

    def serve(self, received: Received) -> Reply:
        body = received.body
        turns = [(turn["role"], turn["content"]) for turn in body["messages"]]
        key = json.dumps([turns, body["temperature"], body["max_tokens"]])
        text, reason, thoughts = self.reply(turns, body["temperature"])
        self.by_question[key] = text, reason, thoughts
        return as_json(completion_body(text, reason, reasoning_content=thoughts))

    def reply(
        self, turns: list[tuple[str, str]], temperature: float
    ) -> tuple[str, str, str]:
        messages = tuple(Message(role, text) for role, text in turns)
        prefill = messages[-1].content if messages[-1].role == "assistant" else ""
        messages = messages[:-1] if prefill else messages
        prompt = Prompt(messages, Sampling(temperature), prefill)
        kind = int(prompt.digest, 16) % 10
        if kind == 5:
            return WRONG[self.paper], "stop", ""
        if kind > 5:
            return OTHERS[kind - 6]
        perfect = Settings(capacity=1e9, thorough=True)
        reading = read(request_for(load_registry()["sim-flat"], prompt), perfect)
        return answer_text(reading, prefill), "stop", "Let me see." if kind == 4 else ""

    def repeat(self, messages: list[Any], _tools: Any, _choice: Any, how: Any) -> Any:
        from inspect_ai import model as inspect

        turns = [(message.role, message.text) for message in messages]
        key = json.dumps([turns, how.temperature, how.max_tokens])
        text, reason, thoughts = self.by_question[key]
        parts: list[Any] = [inspect.ContentText(text=text)]
        if thoughts:
            parts.insert(0, inspect.ContentReasoning(reasoning=thoughts))
        choice = inspect.ChatCompletionChoice(
            message=inspect.ChatMessageAssistant(content=parts),
            stop_reason="max_tokens" if reason == "length" else reason,
        )
        # Without it inspect_ai counts tokens, by a vocabulary from the network.
        usage = inspect.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return inspect.ModelOutput(choices=[choice], usage=usage)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("origin/fig04", ["step=16"]),
        ("semtrace/tab01", ["n_problems=10"]),
        ("codecrash/tab01", []),
        ("faultloc/fig06", ["content=model", "strengths=[1]"]),
    ],
)
def test_inspect_scores_every_item_as_the_kit_does(
    name: str, settings: list[str], served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "inspect_ai is missing: pip install -e '.[inspect]' in an environment of its own"
    inspect_ai = pytest.importorskip("inspect_ai", reason=reason)
    artefact = artefact_of(name, "smoke", *settings)
    task, _ = write_inspect_task(artefact, served.folder / "tasks")
    replies = Replies(artefact.paper)
    with OpenAIServer(replies.serve) as server:
        served.rows(server, row={"id": MODEL}, prefill="vllm")
        results = served.run(artefact.trials())
    # Before Python 3.13 inspect_ai finds no task by an absolute path.
    monkeypatch.chdir(task.parent)
    [log] = inspect_ai.eval(
        task.name,
        model="mockllm/model",
        model_args={"custom_outputs": replies.repeat},
        display="none",
        log_dir=str(served.folder / "logs"),
    )
    assert log.status == "success", log.error
    samples = sorted(log.samples, key=lambda sample: sample.id)
    rows = results.answers.to_dict("records")
    for sample, answer in zip(samples, rows, strict=True):
        check_sample(sample, answer, [*artefact.trials().judges])
    outcomes = {*results.answers["outcome_strict"]}
    assert outcomes >= {"correct", "incorrect", "unparsable", "truncated"}
    [strict] = [score for score in log.results.scores if score.name == "strict"]
    values = results.answers["value_strict"]
    # A mean leaves out what was not asked.
    assert strict.metrics["mean"].value == pytest.approx(values.mean())
    assert strict.unscored_samples == values.isna().sum()


def check_sample(sample: Any, answer: dict[str, Any], rules: list[str]) -> None:
    score = sample.scores["judged"]
    assert sample.metadata["problem"] == answer["problem"]
    assert len(sample.metadata["codestress_earlier"]) == len(answer["earlier"])
    for rule in rules:
        value = pytest.approx(answer[f"value_{rule}"], nan_ok=True)
        assert score.value[rule] == value
        for field in ("outcome", "detail"):
            assert score.metadata[rule][field] == answer[f"{field}_{rule}"]
