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
from codestress.pipeline.artefacts import Artefact
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


def exported(
    folder: Path, name: str, *settings: str
) -> tuple[Artefact, Path, list[dict[str, Any]]]:
    artefact = artefact_of(name, "smoke", *settings)
    path, count = write_inspect_task(artefact, folder)
    lines = path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == count
    return artefact, path, [json.loads(line) for line in lines]


def test_items_are_the_requests_that_show_shows(tmp_path: Path) -> None:
    runner = CliRunner()
    study = ["semtrace/tab01", "--profile", "smoke", "--set", "seed=1"]
    export = ["export", "inspect", *study, "--out", str(tmp_path)]
    done = runner.invoke(cli.cli, export)
    assert done.exit_code == 0, done.output
    assert "inspect eval" in done.stdout
    [path] = tmp_path.glob("*.jsonl")
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    show = ["show", *study, "--limit", "0", "--json"]
    shown = json.loads(runner.invoke(cli.cli, show).stdout)
    for item, request in zip(items, shown, strict=True):
        begun = {"role": "assistant", "content": request["prompt"]["prefill"]}
        assert item["input"] == [*request["prompt"]["messages"], begun]
        trials, _, first = item_of(item["metadata"])
        assert trials.items[first.index].problem == item["metadata"]["problem"]
    compile(path.with_suffix(".py").read_text(encoding="utf-8"), path.name, "exec")


def test_an_item_that_is_no_question_of_this_kit_is_refused(tmp_path: Path) -> None:
    *_, items = exported(tmp_path, "origin/fig04")
    metadata = items[0]["metadata"]
    for changed in (
        {"index": 1},
        {"index": 10**6},
        {"study": ["origin/fig04", "smoke", [], ["d=[3]"]]},
    ):
        with refused(ParameterError, "origin/fig04", "codestress export inspect"):
            item_of({**metadata, "codestress": {**metadata["codestress"], **changed}})


def test_what_asks_nothing_is_left_out_and_said(tmp_path: Path) -> None:
    export = ["export", "inspect", "--profile", "smoke", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli.cli, [*export, "origin/published"])
    assert done.exit_code == 1
    names(done.stderr, "origin/published")
    assert not (tmp_path / "out").exists()


def model_reply(paper: str, received: Received) -> tuple[str, str, str]:
    """Text, finish reason and thoughts: right, wrong, of no known form, refused or cut off, by the question."""
    turns = tuple(Message(**message) for message in received.body["messages"])
    prefill = turns[-1].content if turns[-1].role == "assistant" else ""
    sampling = Sampling(received.body["temperature"])
    prompt = Prompt(turns[:-1] if prefill else turns, sampling, prefill)
    kind = int(prompt.digest, 16) % 10
    if kind == 5:
        return WRONG[paper], "stop", ""
    if kind > 5:
        return OTHERS[kind - 6]
    entry = load_registry()["sim-flat"]
    perfect = Settings(capacity=1e9, thorough=True)
    text = answer_text(read(request_for(entry, prompt), perfect), prefill)
    return text, "stop", "Let me see." if kind == 4 else ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "more"),
    [
        ("origin/fig04", ["step=16"], []),
        ("semtrace/tab01", ["n_problems=10"], []),
        ("codecrash/tab01", [], []),
        ("faultloc/fig06", ["content=model", "strengths=[1]"], ["skipped"]),
    ],
)
def test_inspect_scores_every_item_as_the_kit_does(
    name: str,
    settings: list[str],
    more: list[str],
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kit asks a server; inspect_ai's mock model repeats its answers, and knows no other question."""
    inspect_ai = pytest.importorskip(
        "inspect_ai",
        reason="inspect_ai is missing: pip install -e '.[inspect]' in an environment of its own",
    )
    outputs = pytest.importorskip("inspect_ai.model")
    artefact, task, items = exported(served.folder / "tasks", name, *settings)
    said: dict[str, tuple[str, str, str]] = {}

    def behaviour(received: Received) -> Reply:
        turns = [[turn["role"], turn["content"]] for turn in received.body["messages"]]
        text, reason, thoughts = reply = model_reply(artefact.paper, received)
        sampling = [received.body[name] for name in ("temperature", "max_tokens")]
        said[json.dumps([turns, *sampling])] = reply
        return as_json(completion_body(text, reason, reasoning_content=thoughts))

    def repeated(messages: list[Any], _tools: Any, _choice: Any, config: Any) -> Any:
        turns = [[message.role, message.text] for message in messages]
        asked = json.dumps([turns, config.temperature, config.max_tokens])
        text, reason, thoughts = said[asked]
        parts = [outputs.ContentReasoning(reasoning=thoughts)] if thoughts else []
        parts.append(outputs.ContentText(text=text))
        choice = outputs.ChatCompletionChoice(
            message=outputs.ChatMessageAssistant(content=parts),
            stop_reason="max_tokens" if reason == "length" else reason,
        )
        # Without it inspect_ai counts tokens, by a vocabulary from the network.
        usage = outputs.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return outputs.ModelOutput(choices=[choice], usage=usage)

    with OpenAIServer(behaviour) as server:
        served.rows(server, row={"id": MODEL}, prefill="vllm")
        results = served.run(artefact.trials())
    # Before Python 3.13 inspect_ai finds no task by an absolute path.
    monkeypatch.chdir(task.parent)
    [log] = inspect_ai.eval(
        task.name,
        model="mockllm/model",
        model_args={"custom_outputs": repeated},
        display="none",
        log_dir=str(served.folder / "logs"),
    )
    assert log.status == "success", log.error
    samples = sorted(log.samples, key=lambda sample: sample.id)
    assert len(items) == len(samples)
    rules = artefact.trials().judges
    rows = results.answers.to_dict("records")
    for sample, answer in zip(samples, rows, strict=True):
        score = sample.scores["judged"]
        assert sample.metadata["problem"] == answer["problem"]
        for rule in rules:
            value = pytest.approx(answer[f"value_{rule}"], nan_ok=True)
            assert score.value[rule] == value
            for field in ("outcome", "detail"):
                assert score.metadata[rule][field] == answer[f"{field}_{rule}"]
        assert len(sample.metadata["codestress_earlier"]) == len(answer["earlier"])
    outcomes = {*results.answers["outcome_strict"]}
    if artefact.paper == "origin":
        assert (results.answers["attempts"] > 1).any(), "a refusal is asked again"
        outcomes.add("refused")
    read = {"correct", "incorrect", "unparsable"}
    assert outcomes >= {*read, "refused", "truncated", *more}
    assert any(results.answers["earlier"]) == ("skipped" in more)
    [strict] = [score for score in log.results.scores if score.name == "strict"]
    values = results.answers["value_strict"]
    # A mean leaves out what was not asked.
    assert strict.metrics["mean"].value == pytest.approx(values.mean())
    assert strict.unscored_samples == values.isna().sum()
