"""Files of answers: whatever is missing, surplus or broken is named and counted."""

from __future__ import annotations

import gzip
import json
import math
import re
import subprocess
import zipfile
from decimal import Decimal
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from codestress.cli import cli
from codestress.errors import DataError, NothingMatchedError, ParameterError
from codestress.paths import ROOT
from codestress.problems import problem_files
from codestress.problems.problem_files import ProblemFile, read_problems
from codestress.problems.program import Problem
from codestress.scoring import answer_layouts
from codestress.scoring.answer_files import Answers, Report, pass_at_k, score_file
from codestress.scoring.answer_layouts import AnswerFile, read_answers
from conftest import SCRIPT, some
from told import names, refused

FILES = Path(__file__).with_name("files")
ROW = {"code": "def f(x):\n    return x + 1", "input": "1", "output": "2", "id": "a"}


def rows(*changes: dict[str, object]) -> str:
    return "\n".join(json.dumps({**ROW, **change}) for change in changes)


def problems_in(path: Path, *changes: dict[str, object]) -> ProblemFile:
    path.write_text(rows(*changes))
    return read_problems(path)


@pytest.fixture
def problems(tmp_path: Path) -> ProblemFile:
    broken = {"id": "broken", "code": "def f(x:"}
    return problems_in(
        tmp_path / "problems.jsonl", {}, {"id": "b"}, broken, {"id": "c"}
    )


def judged(problems: ProblemFile, answers: Answers) -> Report:
    return score_file(problems, AnswerFile("", answers), "output", "strict", None)


def answers_in(path: Path, *content: object, form: str = "") -> Any:
    """The answers in a file of these lines of JSON."""
    return read_answers(lines(path, *content), form).answers


def test_rows_that_are_no_problems_are_named(
    tmp_path: Path, problems: ProblemFile
) -> None:
    assert [problem.id for problem in problems.problems] == ["a", "b", "c"]
    assert list(problems.faults) == ["broken"]
    names(problems.faults["broken"], "line 3", "Python")
    path = tmp_path / "more.jsonl"
    changes = [{}, {"id": "o", "output": "f(1)"}, {"id": "n", "input": 3}]
    changes += [{"id": None}, {"id": None}]
    path.write_text(rows(*changes) + '\n[1]\n{"id"\n\n')
    faults = read_problems(path).faults
    assert list(faults) == ["o", "n", "line 4", "line 5", "line 6", "line 7"]
    names(faults["o"], "output", "'f(1)'")
    names(faults["n"], "input", "3")


def test_rows_that_people_bring_are_named_with_the_line_of_the_program(
    tmp_path: Path,
) -> None:
    path = tmp_path / "brought.jsonl"
    code = ROW["code"]
    cases: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
        "digits": ({"code": f"{code} + {'1' * 5000}"}, ("line 2", "4,300")),
        "output": ({"output": "1" * 5000}, ("literal", "4,300")),
        "Python 2": ({"code": f"{code}\nprint f"}, ("line 3", "print")),
        "magic": ({"code": f"{code}\n!ls"}, ("line 3", "invalid syntax")),
        "NUL": ({"code": f"{code}\0"}, ("line 2", "U+0000")),
        "surrogate": ({"code": f"{code}\n#\ud800"}, ("line 3", "U+D800")),
        "deep": ({"code": f"{code} + {'-' * 5000}1"}, ("nested",)),
    }
    content = rows({}, *({"id": name} | change for name, (change, _) in cases.items()))
    latin = json.dumps(ROW | {"id": "É"}, ensure_ascii=False).encode("latin-1")
    path.write_bytes(content.encode() + b"\n" + latin)
    found = read_problems(path)
    assert [problem.id for problem in found.problems] == ["a"]
    for number, (name, (_, reason)) in enumerate(cases.items(), start=2):
        place, _, told = found.faults[name].partition(": ")
        names(place, "brought.jsonl", f"line {number}")
        names(told, *reason)
    names(found.faults["line 9"], "0xc9")


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for read in (read_problems, read_answers):
        with refused(DataError, "x.jsonl", "No such file"):
            read(path)
    for changes, told in (([], ["no problem"]), ([{}, {}], ["line 2", "'a'"])):
        with refused(DataError, "x.jsonl", *told):
            problems_in(path, *changes)
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(b"BZh" + b"\xff" * 20)
    with refused(DataError, "x.json.gz", "UTF-8"):
        read_problems(packed)
    pack = gzip.compress
    for content, told in (
        (b"BZh" + b"\xff" * 20, ["utf-8"]),
        (pack(b"{"), ["JSON"]),
        (pack(b"[1]"), ["JSON", "list"]),
        (pack(b'{"a": "1"}'), ["but a", "list"]),
        (pack(b'{"id": "a", "messages": [{"content": "2"}]}'), ["id, messages"]),
    ):
        packed.write_bytes(content)
        with refused(DataError, "x.json.gz", *told):
            read_answers(packed)


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x"])
@pytest.mark.parametrize("times", [0, 1])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_what_is_packed_is_seen_by_content_not_by_name(
    name: str, times: int, encoding: str, tmp_path: Path
) -> None:
    """Browsers unpack a file and keep its name."""
    brought = rows({}, {"id": "\xe9", "output": "float('inf')"})
    problems, answers = brought.encode(encoding), '{"a": ["1"]}'.encode(encoding)
    path = tmp_path / name
    for _ in range(times):
        problems, answers = gzip.compress(problems), gzip.compress(answers)
    path.write_bytes(answers)
    assert read_answers(path).answers == {"a": ["1"]}
    path.write_bytes(problems)
    assert [problem.id for problem in read_problems(path).problems] == ["a", "\xe9"]


def test_calls_of_named_functions(tmp_path: Path) -> None:
    code = "class Solution: ...\ndef minimumCost(s: str) -> int:\n    return len(s)"
    named = {"function_name": "minimumCost", "code": code, "output": "4"}
    first = named | {"input": "minimumCost(s = '0011')"}
    other = named | {"id": "b", "input": "other(1)"}
    # As `perturb` reads rows: the arguments, or the whole call.
    alone = {"code": code, "output": "4", "function": "minimumCost"}
    calls = {"c": "s = '0011'", "d": "minimumCost(s = '0011')"}
    rows = [alone | {"id": name, "input": call} for name, call in calls.items()]
    found = problems_in(tmp_path / "lcb.jsonl", first, other, *rows)
    for problem in found.problems:
        assert (problem.function, problem.arguments) == ("minimumCost", "s = '0011'")
        assert problem.call == "minimumCost(s = '0011')"
    assert [problem.id for problem in found.problems][1:] == ["c", "d"]
    names(found.faults["b"], "minimumCost")


def test_everything_asked_is_counted_and_everything_odd_is_named(
    problems: ProblemFile,
) -> None:
    answers = {"a": ["2", "3", None], "b": ["2"], "stranger": ["2"]}
    report = judged(problems, answers | {"broken": ["2", "2", "2"]})
    outcomes = {}
    for name, scores in report.scores.items():
        outcomes[name] = [score.outcome.value for score in scores]
    assert outcomes == {
        "a": ["correct", "incorrect", "missing"],
        "b": ["correct"],
        "c": ["missing"] * 3,
        "broken": ["harness error"] * 3,
    }
    assert sum(report.counts.values()) == 10
    told = "\n".join(report.warnings)
    names(told, "Python", "no answers to: c", "stranger", "fewer than 3", ": b")
    # C, without answers, and the broken row count.
    assert report.pass_at(1) == pytest.approx((1 / 3 + 1) / 4)
    assert report.pass_at(3) == pytest.approx(1 / 3)  # b has no three
    assert report.pass_at(5) is None


def test_a_problem_whose_requests_failed_counts_like_one_without_a_row(
    tmp_path: Path, problems: ProblemFile
) -> None:
    """One row stands for a request of several answers."""
    failed = [batch("a", chat("2", "2")), batch("b", None, "late")]
    read = answers_in(tmp_path / "batch.jsonl", *failed)
    for answers in (read, {"a": ["2", "2"]}):
        report = judged(problems, answers)
        assert report.counts["missing"] == 4
        assert report.pass_at(1) == report.pass_at(2) == 1 / 4
        names("\n".join(report.warnings), "no answers to: b, c")


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=7), min_size=1, max_size=4)
)
def test_a_shorter_row_is_judged_by_the_answers_that_it_has(
    rows: list[list[bool]],
) -> None:
    ids = [f"p{number}" for number in range(len(rows))]
    known = ProblemFile([Problem(name, "", "f", "", "1") for name in ids], {})
    texts = [["1" if right else "2" for right in row] for row in rows]
    report = judged(known, dict(zip(ids, texts, strict=True)))
    shares = [sum(row) / len(row) for row in rows]
    assert report.pass_at(1) == pytest.approx(sum(shares) / len(rows))
    longest = max(map(len, rows))
    told = "\n".join(report.warnings)
    for name, row in zip(ids, rows, strict=True):
        assert (name in told) == (len(row) < longest)
    whole = [any(row) for row in rows if len(row) == longest]
    assert report.pass_at(longest) == pytest.approx(sum(whole) / len(whole))


@pytest.mark.parametrize(
    ("n", "right", "k"), [(10, 3, 1), (10, 3, 5), (10, 0, 5), (10, 8, 5), (5, 2, 5)]
)
def test_pass_at_k_is_the_share_of_subsets_with_a_right_answer(
    n: int, right: int, k: int
) -> None:
    subsets = list(combinations([1] * right + [0] * (n - right), k))
    share = sum(map(any, subsets)) / len(subsets)
    assert pass_at_k(n, right, k) == pytest.approx(share)


def command(folder: Path, *more: str, task: str = "input") -> Any:
    """`codestress score` on the answers and problems in a folder; later options win."""
    files = ["--problems", str(folder / "problems.jsonl")]
    files += ["--answers", str(folder / "answers.json")]
    words = [SCRIPT, "score", "--task", task, *files, *more]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.isolation
@pytest.mark.usefixtures("problems")
def test_the_command(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"a": ["f(1)"], "b": ["f(2)"], "c": ["f(0 + 1)"]}))
    done = command(tmp_path)
    assert done.returncode == 0, done.stderr
    names(done.stderr, "1 of 4", "warning: ", "Python")
    names(done.stdout, "pass@1 50.0000%", "isolated")
    report = json.loads(command(tmp_path, "--json").stdout)
    assert report["pass@5"] is None
    assert report["counts"]["right"] == 2
    right = {"right": True, "reason": "right", "detail": "", "unresolved": True}
    assert report["problems"]["c"] == [right]
    answers.write_text(json.dumps({"a": ["f(1"]}))
    broken = command(tmp_path, "--rule", "reference")
    assert (broken.returncode, broken.stdout) == (2, "")
    gone = command(tmp_path, "--problems", str(tmp_path / "gone.jsonl"))
    assert gone.returncode == 1
    names(gone.stderr, "gone.jsonl")


# --- Files of other harnesses: as inspect_ai 0.3, lm-eval 0.4 and others write them ---

REASONED = [{"type": "reasoning", "reasoning": "1 + 1"}, {"type": "text", "text": "2"}]


def sample(name: object, epoch: int, *contents: object) -> dict[str, object]:
    """A sample of an inspect_ai log with one choice for each of `contents`."""
    output = {"model": "mockllm/model", "completion": "", **chat(*contents)}
    facts = {"id": name, "epoch": epoch, "input": "f(1)?", "target": "2"}
    return facts | {"output": output}


def chat(*contents: object) -> dict[str, object]:
    messages = [{"role": "assistant", "content": content} for content in contents]
    choices = [{"message": message} for message in messages]
    return {"object": "chat.completion", "choices": choices}


SAMPLES = [
    sample("a", 1, "2"),
    sample("b", 1, REASONED),
    sample("a", 2, "3"),
    sample("b", 2),
]
ANSWERS = {"a": ["2", "3"], "b": ["2"]}
GAPS = {"a": ["2", "3"], "b": ["2", None]}
ADDED = dict.fromkeys(["HumanEval/0", "HumanEval/1"], [ROW["code"]] * 2)
WRITTEN = {
    # By inspect_ai 0.3.285 with a mock model, one sample without an answer; by lm-eval 0.4.13
    # with its dummy model and two filters; by EvalPlus 0.3.1, two samples of two tasks.
    "inspect.eval": ("inspect", {"f/1": ["2", "2"], "b": ["4", None]}),
    "lm_eval_samples.jsonl": ("lm-eval", {"a": ["lol"] * 2, "b": ["lol"] * 2}),
    "evalplus_samples.jsonl": ("evalplus", ADDED),
    "evalplus_results.json": ("evalplus", ADDED),
}
"""Format and answers of each file in the folder `files`, which another harness wrote."""


def member(sample: dict[str, object]) -> str:
    return f"samples/{sample['id']}_epoch_{sample['epoch']}.json"


def zipped(
    path: Path, samples: list[dict[str, object]], kind: int = zipfile.ZIP_DEFLATED
) -> Path:
    """Writes an inspect_ai log (`.eval`)."""
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("header.json", '{"version": 2, "status": "success"}')
        for row in samples:
            archive.writestr(member(row), json.dumps(row))
    return path


def lines(path: Path, *content: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in content))
    return path


def batch(name: str, body: object, error: object = None) -> dict[str, object]:
    response = None if error else {"status_code": 200, "request_id": "r", "body": body}
    facts = {"id": "batch_req_1", "custom_id": name}
    return facts | {"response": response, "error": error}


def evaluated(name: str, *texts: str) -> dict[str, object]:
    """A line of lm-eval's samples_TASK.jsonl."""
    facts = {"doc_id": 7, "doc": ROW | {"id": name}, "target": "2", "filter": "strict"}
    return facts | {"resps": [texts], "filtered_resps": texts[:1], "exact_match": 1.0}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_that_other_harnesses_wrote_are_read(name: str) -> None:
    file = read_answers(FILES / name)
    assert (file.format, file.answers) == WRITTEN[name]


def test_logs_of_inspect_are_read(tmp_path: Path) -> None:
    log = {"version": 2, "status": "success", "eval": {"task": "crux"}, "plan": {}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**log, "samples": SAMPLES}))
    for name in (
        path,
        zipped(tmp_path / "log.eval", SAMPLES),
        zipped(tmp_path / "stored.eval", SAMPLES, zipfile.ZIP_STORED),
    ):
        file = read_answers(name)
        assert (file.format, file.answers) == ("inspect", GAPS)
    parts = {"sample": SAMPLES[1], "metadata": {"id": "b"}}
    parts |= {"messages/0": [{"id": "b", "content": "3"}]}
    with zipfile.ZipFile(path, "w") as archive:  # a sample in chunks
        for part, content in parts.items():
            archive.writestr(f"samples/b_epoch_1/{part}.json", json.dumps(content))
    file = read_answers(path)
    assert (file.answers, file.warnings) == ({"b": ["2"]}, [])
    numbers = [sample(1, 1, "2"), sample(2, 1, "2", None)]
    assert read_answers(zipped(path, numbers)).answers == {"1": ["2"], "2": ["2", None]}
    path.write_text(json.dumps(log))
    with refused(NothingMatchedError, "log.json", "0 rows"):
        read_answers(path)


TEXT = {"type": "text", "text": "2"}
RESPONSES = {
    "object": "response",
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "2"}]},
    ],
    "text": {"format": {"type": "text"}},  # a setting
}
FAILED = {"status_code": 500, "body": {"message": "internal error"}}
THOUGHT = {"type": "thinking", "thinking": "1"}
MESSAGE = {"type": "succeeded", "message": {"content": [THOUGHT, TEXT]}}
ERRED = {"type": "errored", "error": {"type": "api_error"}}
PARTS = [{"text": "1 + 1", "thought": True}, {"text": "2"}]
GEMINI = {"candidates": [{"content": {"parts": PARTS}}]}


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        (batch("a", chat("2", "3")), ["2", "3"]),
        (batch("a", {"error": {"message": "overloaded"}}), [None]),
        (batch("a", None, {"code": "batch_expired"}), [None]),
        (batch("a", RESPONSES), ["2"]),
        (batch("a", {"choices": [{"text": "2"}]}), ["2"]),
        ({"custom_id": "a", "response": FAILED}, [None]),
        ({"custom_id": "a", "response": FAILED | {"body": "busy"}}, [None]),
        ({"custom_id": "a", "result": MESSAGE}, ["2"]),
        ({"custom_id": "a", "result": ERRED}, [None]),
        ({"key": "a", "response": GEMINI}, ["2"]),
    ],
)
def test_outputs_of_batches_are_read(
    tmp_path: Path, row: dict[str, object], texts: list[str | None]
) -> None:
    """Alone, and beside a row that was answered."""
    named = {name: "b" for name in ("custom_id", "key") if name in row}
    other = MESSAGE if "result" in row else batch("b", chat("2"))["response"]
    answered = row | named | {"result" if "result" in row else "response": other}
    file = read_answers(lines(tmp_path / "batch.jsonl", row, answered))
    assert file.answers == {"a": texts, "b": ["2"]}
    assert (file.format == "openai-batch") == ("custom_id" in row)


def test_samples_of_lm_eval_are_read_once_for_all_filters(tmp_path: Path) -> None:
    path = tmp_path / "samples_crux_2026.jsonl"
    texts = evaluated("a", "2", "3"), evaluated("b", "2")
    again = [row | {"filter": "flexible"} for row in texts]
    file = read_answers(lines(path, *texts, *again))
    assert (file.format, file.fields) == ("lm-eval", "doc.id, resps")
    assert file.answers == ANSWERS
    choice = evaluated("c", "") | {"resps": [["-1.5", "True"], ["-2.5", "False"]]}
    file = read_answers(lines(path, *texts, choice))
    assert file.answers == {**ANSWERS, "c": [None]}
    [told] = file.warnings
    names(told, "resps", ": 3")
    for resps, read in (
        ([["2"], ["3"]], ["2", "3"]),
        ([["-1.5", "True"]], [None]),
        ([[[-1.5, True]], [[-2.5, False]]], [None]),
    ):
        row = evaluated("a", "") | {"resps": resps}
        assert answers_in(path, row) == {"a": read}


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("livecodebench", [ROW | {"output_list": ["[2]"], "pred_list": ["2", "3"]}]),
        ("livecodebench", [{"id": "a", "pred_list": ["2", "3"]}]),
        ("evalplus", {"date": "", "eval": {"a": [{"task_id": "a", "solution": "2"}]}}),
        ("cruxeval", {"a": ["2", "3"], "b": ["2"]}),
        ("jsonl", {"id": "a", "answer": "2"}),
        ("jsonl", [{"id": 1, "target": "9", "answer": "9", "prediction": "2"}]),
        ("jsonl", [{"id": 1.0, "answer": "9", "generated_text": "2"}]),
        ("jsonl", [{"id": "a", "text": "f(1)?", "output": "2", "answer": "9"}]),
        ("jsonl", [{"id": "a", "code": "", "output": "9", "answer": "2"}]),
        ("jsonl", [{"task_id": "a", "solution": "9", "response": "2"}]),
        ("evalplus", [{"task_id": "a", "solution": "9", "completion": "2"}]),
        ("jsonl", [{"id": "a", "completions": ["2", None]}]),
        ("jsonl", [{"id": "a", "response": [{"role": "user", "text": "?"}, "2"]}]),
        ("jsonl", [{"id": "u-1", "problem_id": "a", "response": {"completion": "2"}}]),
    ],
)
def test_json_of_other_harnesses_is_read(
    tmp_path: Path, form: str, content: object
) -> None:
    path = tmp_path / "answers.json.gz"
    text = json.dumps(content, indent=1)
    path.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    file = read_answers(path)
    assert file.format == form
    assert next(iter(file.answers.values()))[0] == "2"
    assert read_answers(path, form) == file
    plain = path.rename(tmp_path / "no_suffix")
    assert read_answers(plain) == file


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("id,answer,,\n1.0,2.0,,\n2.0,,,\n,3,,\n", {"1": ["2.0"], "2": [None]}),
        ("id,preds\na,[2]\n", {"a": ["[2]"]}),
        ("id, answer\na, \"['2', '3']\"\n", {"a": ["['2', '3']"]}),
    ],
)  # fmt: skip
def test_cells_are_read_as_pandas_writes_them(
    tmp_path: Path, text: str, answers: Answers
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert read_answers(path).answers == answers


def test_tables_and_repeated_ids_are_read(tmp_path: Path) -> None:
    path = tmp_path / "table"
    cells = [("id", " answer"), ("a", '"[1, ""x"",\r\n 2]"'), ("a", "None"), ("01", "")]
    for mark in ",;\t":
        path.write_bytes("\r\n".join(map(mark.join, cells)).encode("utf-8-sig"))
        file = read_answers(path)
        assert (file.format, file.fields) == ("csv", "id, answer")
        assert file.answers == {"a": ['[1, "x",\r\n 2]', "None"], "01": [None]}
        # With pandas's index.
        path.write_text(f"\n{mark}id{mark}answer\n0{mark}a{mark}2\n")
        assert read_answers(path).answers == {"a": ["2"]}
    table = pa.table({"id": [1, 2, 1, None], "completion": ["2", None, "3", "4"]})
    pq.write_table(table, path)
    file = read_answers(path)
    assert (file.format, file.answers) == ("parquet", {"1": ["2", "3"], "2": [None]})
    names(file.warnings, "rows without id, left out: 4")
    for ids in ([Decimal("1.0")], pa.array(["1"]).dictionary_encode()):
        pq.write_table(pa.table({"task_id": ids, "completion": [["2", "3"]]}), path)
        assert read_answers(path).answers == {"1": ["2", "3"]}
    lines(path, *({"task_id": "a", "completion": text} for text in "23"))
    file = read_answers(path)
    assert (file.format, file.answers) == ("evalplus", {"a": ["2", "3"]})
    assert read_answers(path, "jsonl").format == "jsonl"
    for form in ("parquet", "cruxeval"):
        with refused(DataError, "table", f"jsonl, not {form}"):
            read_answers(path, form)
    # Only lm-eval's filters repeat the answers.
    filtered = [{"id": "a", "answer": text, "filter": text} for text in "23"]
    assert answers_in(path, *filtered) == {"a": ["2", "3"]}


def test_expected_answers_are_not_taken_for_missing_ones(tmp_path: Path) -> None:
    """Where a request failed, the model's field is empty and the expected answer stands beside."""
    path = tmp_path / "x.jsonl"
    failed = {"id": "a", "response": None, "answer": "9"}
    for response, text in (("2", "2"), (None, None)):
        other = failed | {"id": "b", "response": response}
        assert answers_in(path, failed, other) == {"a": [None], "b": [text]}
    pq.write_table(pa.Table.from_pylist([failed]), path)
    assert read_answers(path).answers == {"a": [None]}


def test_mixed_rows_are_named_and_the_others_read(tmp_path: Path) -> None:
    no_id = {"id": math.nan, "answer": "3"}
    path = lines(tmp_path / "x.jsonl", {"id": "a", "answer": "2"}, [1], no_id)
    with path.open("a") as file:
        file.write('\n{"id": "b"}\n{"id": "c", "answer": 2}\n')
        file.write('{"id": true, "answer": "2"}\n{"id": "d", "ans')
    answers = read_answers(path)
    assert answers.answers == {"a": ["2"], "b": [None], "c": [None]}
    left_out, no_text = answers.warnings
    names(left_out, "id", ": 2, 3, 6, 7")
    names(no_text, "answer", ": 4, 5")
    path.write_text('"", "ans": 1}\n{"id": "a", "answer": "2"}\n')
    assert read_answers(path).answers == {"a": ["2"]}
    path.write_text("\n\nid,answer\na,2\nb,[1, 2]\nc\n,3\n")
    answers = read_answers(path)
    assert answers.answers == {"a": ["2"], "c": [None]}
    # Two kinds of rows: the id of one and the answer of the other belong to none.
    kinds = [{"id": "a", "completion": "2"}, {"task_id": "b", "response": "3"}]
    assert answers_in(path, *kinds) == {"a": ["2"]}
    for content, told in (
        ("id,answer,answer\na,2,3\n", ("answer", "twice")),
        ('{"samples": {"first": [{}], "second": [{}]}}', ("list of rows",)),
        ("id,preds\na,\"['2', '3']\"\nb,['2']\n", ("preds", "JSON Lines", "`answer`")),
        # What follows would be its answer.
        ('id,answer\na,2\nb,"[1\nc,3\n', ("after line 2",)),
    ):
        path.write_text(content)
        with refused(DataError, "x.jsonl", *told):
            read_answers(path)
    deep = "[" * 400 + "]" * 400
    path.write_text(f'{{"id": "a", "answer": {deep}}}\n{{"id": "b", "answer": "2"}}\n')
    assert read_answers(path).answers["b"] == ["2"]


def test_fields_that_cannot_be_mapped_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    unnamed = [{"nr": 1, "answer": "2"}, {"nr": 2, "tokens": 3}]
    for content, form, *told in (
        (unnamed, "", "2 rows", "problem_id", "nr, answer, tokens"),
        # A file of problems has an output that is no model's.
        ([ROW, ROW], "", "code, input, output, id"),
        ([{"id": "a", "answer": "2"}], "lm-eval", "id, answer", "doc.id, doc.task_id"),
    ):
        with refused(NothingMatchedError, "x.jsonl", *told):
            answers_in(path, *content, form=form)
    for empty in ("", "[]", "id,answer\n", "<html></html>"):
        path.write_text(empty)
        with refused(NothingMatchedError, "x.jsonl", "0 rows"):
            read_answers(path)


def test_files_that_unpack_to_too_much_or_are_cut_off_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (FILES / "inspect.eval").read_bytes()  # its members in Zstandard
    path = tmp_path / "y.eval"
    cut = [whole[:-40], whole[:40], gzip.compress(whole)[:-9]]
    for content in (*cut, b"PK\3\4", b"PAR1", b"\xff"):
        path.write_bytes(content)
        with refused(DataError, "y.eval", "read"):
            read_answers(path)
    zipped(path, [])
    with refused(NothingMatchedError, "y.eval", "no samples", "header.json"):
        read_answers(path)
    start = whole.index(b"samples/") + 40
    path.write_bytes(whole.replace(whole[start : start + 10], b"\0" * 10))
    with refused(DataError, "y.eval", "read"):
        read_answers(path)
    for module in (answer_layouts, problem_files):
        monkeypatch.setattr(module, "LARGEST", 5_000)
    monkeypatch.setattr(answer_layouts, "MOST_ROWS", 5_000)
    bomb = json.dumps({"a": ["2" * 6_000]}).encode()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(bomb))
    table = pa.table({"id": ["a"] * 9_000, "answer": ["2"] * 9_000})
    pq.write_table(table, tmp_path / "b.parquet")
    many = [sample("a", epoch, "2" * 4_000) for epoch in range(30)]
    zipped(tmp_path / "d.eval", many)
    (tmp_path / "e.jsonl").write_text("{}\n" * 9_000)
    for name, told in (
        ("a.json.gz", "5,000 bytes"),
        ("b.parquet", "5,000 rows"),
        ("d.eval", "bytes"),
        ("e.jsonl", "5,000 lines"),
    ):
        with refused(DataError, name, told):
            read_answers(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "told"),
    some(
        [
            ({"x": ["2"]}, ["'x'", "'a'"]),
            ({"a": [None], "b": []}, ["missing"]),
            ({"broken": ["2"]}, ["harness error"]),
            ({"a": ["I cannot say"]}, ["'I cannot say'"]),
            ({}, ["no answers"]),
            ([{"id": "a", "reply": "2"}], ["id, reply"]),
            ({"a": ["2"], "x": ["2"]}, []),
        ],
        3,
    ),
)
@pytest.mark.usefixtures("problems")
def test_nothing_matched_is_an_error_and_no_share(
    tmp_path: Path, content: object, told: list[str]
) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(content))
    for task in ("input", "output") if told else ("output",):
        done = command(tmp_path, task=task)
        expected = (2, False) if told else (0, True)
        assert (done.returncode, "pass@1" in done.stdout) == expected
        names(done.stderr, *told)
        assert "pass@5" not in done.stdout
        assert "nan" not in done.stdout
    if not told:
        names(done.stdout, "cruxeval")
        report = json.loads(command(tmp_path, "--json", task="output").stdout)
        assert (report["format"], report["pass@5"]) == ("cruxeval", None)


def test_the_help_names_every_format(tmp_path: Path) -> None:
    page = CliRunner().invoke(cli, ["score", "--help"]).output
    words = re.findall(r"[\w-]+", re.sub(r"-\n\s+", "-", page))
    assert set(answer_layouts.FORMATS) <= set(words)
    page = (ROOT / "docs/scoring.md").read_text()
    layouts = answer_layouts.LAYOUTS | {"jsonl": answer_layouts.TABLE}
    for form, layout in layouts.items():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{form}`"))
        for field in chain(*layout.values()):
            assert f"`{field}`" in row
    with refused(ParameterError, "json", *answer_layouts.FORMATS):
        read_answers(tmp_path, "json")


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    problems = problems_in(tmp_path / "problems.jsonl", {"id": 1}, {"id": "2"})
    answered = [{"id": 2, "answer": "2"}, {"id": "1", "answer": "2"}]
    report = judged(problems, answers_in(tmp_path / "x.jsonl", *answered))
    assert report.counts["right"] == 2


def test_inspect_s_own_package_reads_its_logs(tmp_path: Path) -> None:
    """Logs that inspect_ai itself writes are read by their documented layout."""
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in "2343"]
    for output in outputs:
        output.usage = ModelUsage()
    for form in ("eval", "json"):
        model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
        samples = [Sample(id=name, input="?") for name in (1, "a")]
        how = {"log_format": form, "log_dir": str(tmp_path), "display": "none"}
        (log,) = eval(Task(dataset=samples), model=model, epochs=2, **how)
        answers = read_answers(Path(log.location.removeprefix("file://"))).answers
        assert sorted(map(len, answers.values())) == [2, 2]
        assert sorted(chain(*answers.values())) == ["2", "3", "3", "4"]
