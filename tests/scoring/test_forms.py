"""Forms of answers: right ones stay right whatever is thought before them or said behind them, wrong ones wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from codestress.papers.codecrash.assertions import score_assertion
from codestress.papers.faultloc.scoring import score_location
from codestress.papers.faultloc.studies import read_content
from codestress.papers.origin import scoring as origin
from codestress.papers.semtrace import recall
from codestress.paths import PACKAGE
from codestress.problems.problem_files import ProblemFile
from codestress.problems.program import Problem
from codestress.sandbox.executor import shared_executor
from codestress.scoring import begun as begun_forms, forms
from codestress.scoring.answer_files import score_file
from codestress.scoring.answer_layouts import AnswerFile
from codestress.scoring.begun import (
    ReadingRule,
    begun_arguments,
    begun_value,
)
from codestress.scoring.forms import (
    END_TAG,
    TAG,
    Parts,
    alone,
    fenced_program,
    final_word,
    split_thoughts,
    tagged,
    without_thoughts,
)
from codestress.types import Outcome, Response, Score, Task
from conftest import ROOT, THOROUGH, some
from scoring.exploits import OUTPUTS, written
from scoring.selftest import EXPLOITED

PROBLEM = Problem(
    "p", "def f(text, mark):\n    return [text + mark]", "f", "'a', ')'", "['a)']"
)
FENCES = Problem(
    "q", "def f(n):\n    return '```' * n + ') == '", "f", "1", "'```) == '"
)
OUTPUT = "Sure! Here is the corresponding output:\n\n```python\nassert {0.call} =="
INPUT = "Sure! Here is the corresponding input:\n\n```python\nassert {0.output} == f("
BLOCK = "Sure! Here is the line with key a1b2c3:\n\n```python"
LINE = "    assert x == ')'  # ```"
CODE = "def f(x):\n    y = x\n    return y"
LISTING = "def is_prime(n): ...\ndef square_sum(n): ...\ndef other(n): ..."


@dataclass(frozen=True)
class Scorer:
    """A scorer with right answers, wrong ones, and what may stand behind an answer and change nothing."""

    score: Callable[[Response], Score]
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    tails: tuple[str, ...] = ()


PROSE = (
    "\nThe assert statement above holds: f(??) is answered.",
    "\nThat is, `assert f('b', '') == ['b']`; it's so.",
    "\nassert f('b', '') == ['b']",
    "\n```python\nassert f('b', '') == ['b']\nassert ['b'] == f('b', '')\n```\n",
    "\n```\nb\n```\nFor example (the text 'b').",
    "\nSure! Here is another:\n\n```python\nassert 1 == f(1)\n```",
)
"""Behind the closing fence of a begun answer, or the end of another form."""


def output_scorer(problem: Problem, begun: str) -> Scorer:
    given = begun.format(problem)
    own = OUTPUT.format(problem)
    starts = ("" if given else own, own, own[own.index("```") :])
    right = tuple(f"{start} {problem.output}\n```" for start in starts)
    wrong = tuple(text.replace(problem.output, "['b']") for text in right)
    return Scorer(recalled(problem, given), right, wrong, PROSE)


def input_scorer(problem: Problem, begun: str) -> Scorer:
    given = begun.format(problem)
    own = INPUT.format(problem)
    starts = ["" if given else own, own]
    starts += [own[own.index(mark) :] for mark in ("assert", "```")]
    right = [f"{start}{problem.arguments})\n```" for start in starts]
    right.append(f"{starts[0]}{problem.arguments}  # a comment\n)\n```")
    wrong = tuple(f"{start}2, 3)\n```" for start in starts)
    return Scorer(called(problem, given), tuple(right), wrong, PROSE)


def recalled(problem: Problem, begun: str = "") -> Callable[[Response], Score]:
    """The reader of outputs of Sense and Sensitivity."""
    return lambda response: recall.score_output_completion(problem, response, begun)


def called(problem: Problem, begun: str = "") -> Callable[[Response], Score]:
    """The reader of inputs of Sense and Sensitivity."""
    return lambda response: recall.score_input_completion(problem, response, begun)


def retrieved(begun: str) -> Callable[[Response], Score]:
    """The reader of lines of Sense and Sensitivity."""
    keyed = [f"a1b2c3 {LINE}"]
    return lambda response: recall.score_retrieval([LINE], keyed, response, begun)


def in_file(task: Task, problem: Problem = PROBLEM) -> Callable[[Response], Score]:
    """`codestress score` on a file with one answer."""

    def score(response: Response) -> Score:
        answers = AnswerFile("", {"p": [response.text]})
        of = ProblemFile([problem], {}), answers, task, "strict", shared_executor()
        return score_file(*of).scores["p"][0]

    return score


def assertion(task: Task) -> Scorer:
    whole = f"{PROBLEM.call} == {PROBLEM.output}"
    right = (
        f"[ANSWER] {whole} [/ANSWER]",
        f"**[ANSWER]**\n```\n{whole}\n```\nas it runs\n[/ANSWER]",
    )
    wrong = ("[ANSWER] f('b', '') == ['b'] [/ANSWER]", "[ANSWER] f(1) [/ANSWER]")
    tails = (
        *PROSE,
        "\nIt stands between [ANSWER] and [/ANSWER].",
        "\nYou gave [ANSWER] f('a', ')') == ?? [/ANSWER] to me.",
        "\nYou gave `[ANSWER] f(??) == ['a)'] [/ANSWER]`.",
        "\nSee the [ANSWER] tag.",
    )
    score = partial(score_assertion, PROBLEM, task)
    return Scorer(score, right, wrong, tails)


def location(response: Response) -> Score:
    return score_location(response, 2, CODE, 0)


BROAD = (
    "\nThis is so (see the list).",
    "\n```python\nx = {'a': 1}\n```",
    "\nI was asked for {} and `{x}`.",
)
SCORERS = {
    "semtrace output": output_scorer(PROBLEM, OUTPUT),
    "semtrace output, strings like fences": output_scorer(FENCES, OUTPUT),
    "semtrace output, not begun": output_scorer(PROBLEM, ""),
    "semtrace output, not begun, strings like fences": output_scorer(FENCES, ""),
    "semtrace input": input_scorer(PROBLEM, INPUT),
    "semtrace input, not begun": input_scorer(PROBLEM, ""),
    "semtrace input, strings like fences, not begun": input_scorer(FENCES, ""),
    "semtrace retrieval": Scorer(
        retrieved(BLOCK),
        (f"\n{LINE}\n```", f"\na1b2c3 {LINE}\n```", f"{BLOCK}\n{LINE}\n```", f"```python\n{LINE}\n```",
            f"``` python \n{LINE}\n```"),
        (f"\n {LINE}\n```", "\n```", "\n\n```"),
        PROSE,
    ),
    "semtrace retrieval, not begun": Scorer(
        retrieved(""),
        (f"{BLOCK}\n{LINE}\n```", f"Here it is:\n```\n{LINE}\n```"),
        (f"{BLOCK}\n {LINE}\n```", f"```python\n\n```\n{LINE}"),
        PROSE,
    ),
    "codecrash output": assertion("output"),
    "codecrash input": assertion("input"),
    "score output": Scorer(
        in_file("output"), ("```python\n['a)']\n```", "```\n['a)'];\n```"), ("```\n['b']\n```", "```\n```"), PROSE
    ),
    "score input": Scorer(
        in_file("input"), ("```python\nf('a', ')')\n```", "```\n'a', ')'\n```"), ("```\nf(1, 2)\n```",), PROSE
    ),
    "score, bare": Scorer(in_file("output"), ("['a)']", "`['a)']`", "**['a)']**"), ("['b']", "['a)'] or more")),
    "origin": Scorer(
        lambda response: origin.score_strict(response, "bench"),
        ("FINAL ANSWER: bench", "**FINAL ANSWER:** `Bench`."),
        ("FINAL ANSWER: dad", "bench", "FINAL ANSWER: YOUR_ANSWER"),
        (*PROSE, "\nI was to write FINAL ANSWER: YOUR_ANSWER, and so I did.", '\n"FINAL ANSWER: YOUR ANSWER".'),
    ),
    "origin, by the authors' rule": Scorer(
        lambda response: origin.score_reference(response, "bench"),
        ("FINAL ANSWER: bench",),
        ("FINAL ANSWER: dad",),
        BROAD,
    ),
    "origin, planted functions": Scorer(
        lambda response: origin.score_inefficient_code(response, LISTING),
        ("is_prime and square_sum are slow",),
        ("is_prime is slow",),
        BROAD,
    ),
    "origin, clue": Scorer(origin.score_clue, ("It says you won the prize",), ("It is a cipher",), BROAD),
    "origin, hint": Scorer(origin.score_unlock, ("Microbes are small",), ("Microbes",)),
    "faultloc": Scorer(
        location,
        ('{"line_number": 2, "line": "y = x"}', '```json\n{"line": "}", "line_number": "2"}\n```'),
        ('{"line_number": 3}', "line 2"),
        (*PROSE, *BROAD, '\nIt has the form {"line_number": N, "line": "…"}.'),
    ),
}  # fmt: skip


def stopped(text: str) -> Response:
    return Response(text, "stop")


@pytest.mark.isolation
@pytest.mark.parametrize("name", SCORERS)
def test_gold_is_right_and_corrupted_answers_are_wrong(name: str) -> None:
    scorer = SCORERS[name]
    for text in scorer.right:
        assert scorer.score(stopped(text)).outcome is Outcome.CORRECT, text
    for text in scorer.wrong:
        assert scorer.score(stopped(text)).value == 0, text


@pytest.mark.parametrize(
    "mark", ["$", "$x", "`", "*", "(", "<a>", "[ANSWER]", "\\boxed{"]
)
def test_a_mark_that_a_model_repeats_is_read_at_once(mark: str) -> None:
    """A reader that tries each pair of marks would need hours."""
    assert alone(mark * 5_000 + "x").endswith("x")


@pytest.mark.isolation
@pytest.mark.parametrize(
    "name", [name for name, scorer in SCORERS.items() if scorer.tails]
)
def test_what_stands_behind_an_answer_changes_nothing(name: str) -> None:
    scorer = SCORERS[name]
    for text in (*scorer.right, *(text for text in scorer.wrong if "```" in text)):
        expected = scorer.score(stopped(text))
        for tail in scorer.tails:
            assert scorer.score(stopped(text + tail)) == expected, (text, tail)
        assert scorer.score(stopped(text + "".join(scorer.tails))) == expected, text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" 5, 'a message'\n```", "5"),
        (' 5, f"it\'s {x}"  # so\n```', "5"),
        ("assert f(3) == [5], 'a message'\n```", "[5]"),
        ("```{python}\nassert f(3) == [5]\n```", "[5]"),
        (" 5\nprint('ok')\n```", "5\nprint('ok')"),
        (" [1,\n 2]\n```", "[1,\n 2]"),
        (" (5, 'a text')\n```", "(5, 'a text')"),
        (" 1, 2\n```", "1, 2"),
        (" '''a\n, 'b'\n'''\n```", "'''a\n, 'b'\n'''"),
        ("\n 5\n```", "5"),
        (" 5, 'a' 'b'\n```", "5"),
        (" 5, ('a')\n```", "5"),
        (" 5, (\n    'a'\n)\n```", "5"),
        (" 5, '''a\nb'''\n```", "5"),
        (" 5, f'''a\n{x}'''\n```", "5"),
        (" 5, 'a';\n```", "5"),
        (" 5, \\\n    'a'\n```", "5"),
        (" [5, 'b'], 'a'\n```", "[5, 'b']"),
        ("assert (f(3) == [5])\n```", "[5]"),
        ("assert(f(3) == [5]), 'a'\n```", "[5]"),
        ("assert [5] == f(3)\n```", "[5]"),
        ("assert f(3) == set([5])\n```", "set([5])"),
    ],
)
def test_a_value_ends_before_the_assertions_message(text: str, value: str) -> None:
    """`assert x == 5, 'a text'` compares with 5."""
    assert begun_value(text, OUTPUT.format(PROBLEM)).text == value


MARKS = ["\n```\n", "`", "(", ")", "'", '"', " == ", "assert ", "f(", "#", "\n", "is"]
WORDS = st.lists(st.sampled_from([*PROSE, *MARKS]))


@pytest.mark.isolation
@pytest.mark.parametrize(
    "name", [name for name in SCORERS if name.startswith("semtrace")]
)
@given(tail=WORDS | st.lists(st.text(max_size=20), max_size=3))
@settings(max_examples=30 if THOROUGH else 8, deadline=None)
def test_any_text_behind_a_begun_answer_changes_nothing(
    name: str, tail: list[str]
) -> None:
    scorer = SCORERS[name]
    behind = "\n" + "".join(tail)
    # Tags of thoughts have a test of their own.
    if "<" in behind or "[" in behind.replace("['b']", ""):
        return
    for text in scorer.right:
        assert scorer.score(stopped(text + behind)).outcome is Outcome.CORRECT, text


THOUGHTS = (
    "",
    "short",
    "It is [ANSWER] f(0) == 0 [/ANSWER], FINAL ANSWER: dad, or {\"line_number\": 3}.",
    "```python\nassert f('b', '') == ['b']\n```\nis what I'd say (if it's so",
    "I may close </think> here, or not.\nYes.",
    "is_prime",
    "it's a Caesar cipher: a -> b",
)  # fmt: skip
[FILE] = PACKAGE.rglob("dress.yaml")
DRESS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
THOUGHT_OF = ["\n<think>\n{}\n</think>\n{}", "<think >{}</think >{}"]
for example in DRESS["hidden thoughts"]["written"]:
    if "hm" in example:
        THOUGHT_OF.append(example.replace("hm", "{}").replace("…", "{}"))


@pytest.mark.isolation
@pytest.mark.parametrize("name", SCORERS)
def test_thoughts_before_an_answer_change_nothing(name: str) -> None:
    scorer = SCORERS[name]
    for text in (*scorer.right, *scorer.wrong):
        expected = scorer.score(stopped(text))
        for thought in THOUGHTS:
            for form in some(THOUGHT_OF, 4):
                thoughtful = scorer.score(stopped(form.format(thought, text)))
                assert thoughtful == expected, (form, thought, text)


@pytest.mark.parametrize("name", SCORERS)
def test_thoughts_that_never_end_are_no_answer(name: str) -> None:
    scorer = SCORERS[name]
    for text in scorer.right:
        for thought in (f"<think>{text}", f"<think>{text}</think>\n"):
            outcome = scorer.score(stopped(thought)).outcome
            assert outcome is Outcome.ONLY_REASONING
        # Files of answers do not say which were cut off.
        if not name.startswith("score"):
            cut = scorer.score(Response(f"<think>{text}", "length"))
            assert cut.outcome is Outcome.TRUNCATED


@given(st.text(), st.from_regex(r"[abc'`][abc \n'`]*|", fullmatch=True))
def test_any_thoughts_come_off(thought: str, answer: str) -> None:
    for name in ("<{}think>", "<{}thinking>", "[{}THINK]"):
        opening, closing = name.format(""), name.format("/")
        parts = Parts(thought, answer)
        assert split_thoughts(f"{opening}{thought}{closing}{answer}") == parts
        parts = Parts(f"{thought}\n", answer)
        assert split_thoughts(f"{thought}\n{closing}\n{answer}") == parts


@pytest.mark.parametrize(
    "text",
    [
        "'</think>'",
        'f("<think>", 1)',
        "I closed `</think>` above",
        "'a <think>b</think> c'",
        r'    text = re.sub(r"<think>.*?</think>", "", text)',
        r"""{"line": "s = '<think> ' + \"x\"", "line_number": 2}""",
        "[ANSWER] f(1) == 5 [/ANSWER] Here is my response: 5",
        "Here is my thought process: it comes first. FINAL ANSWER: bench",
        "[REASONING] It comes first. FINAL ANSWER: bench",
    ],
)
def test_tags_that_are_spoken_of_and_words_like_them_are_no_thoughts(text: str) -> None:
    assert split_thoughts(text) == Parts("", text)


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("<think>a</think>b</think>c", "ab", "c"),
        ("<think>a</think>b</think>", "a", "b"),
        # An apostrophe begins no quotes, and quotes nothing behind the thoughts.
        ("the users' text, it's </think>'b'", "the users' text, it's ", "'b'"),
        ("<think>That's 5</think>'<think>'", "That's 5", "'<think>'"),
        (
            "<think>That's 5</think>f('a') == '</think>'",
            "That's 5",
            "f('a') == '</think>'",
        ),
        ("<think>That's 5</think>5", "That's 5", "5"),
        # Words close what words have opened, marks what marks have.
        ("<think>Here is my response: 5", "Here is my response: 5", ""),
    ],
)
def test_thoughts_are_told_from_answers(text: str, thoughts: str, answer: str) -> None:
    assert split_thoughts(text) == Parts(thoughts, answer)


@pytest.mark.parametrize(
    "text",
    [
        "<" + "a_" * 50_000,
        "`<think>` " * 20_000,
        "<think>a</think>" * 20_000,
        "'a'b" * 50_000,
        "'\\" * 100_000,
    ],
)
def test_many_tags_and_half_tags_are_read_at_once(text: str) -> None:
    """Hours, where each is looked for from the beginning or taken apart in all ways."""
    assert len("".join(split_thoughts(text))) <= len(text)


@pytest.mark.parametrize("opening", ["```", "```think", "Answer:[ANSWER]The answer is"])
def test_a_line_that_never_ends_is_read_at_once(opening: str) -> None:
    assert alone(opening + "\t" * 100_000).strip("`") in opening


@pytest.mark.parametrize("before", ["", "```\ndef f(x):\n    return x\n```\n"])
def test_fences_that_are_never_closed_are_read_at_once(before: str) -> None:
    text = before + "x ```python\n" * 40_000
    assert fenced_program(text, "f") == before[4:-5]


def test_thoughts_that_the_prompt_asks_for_end_at_the_answer() -> None:
    for opening in (
        "[THOUGHT]",
        "[THOUGHT] one [THOUGHT]",
        "[THOUGHT] one [\\THOUGHT]",
    ):
        text = f"{opening} two\n[ANSWER] f(3) == 5 [/ANSWER]"
        assert tagged(without_thoughts(text)) == "f(3) == 5"
    # Those of the template are not known to have ended.
    assert not split_thoughts("<think> I could say [ANSWER] f(3) == 5 [/ANSWER]").answer


def test_a_begun_answer_that_ends_in_nothing_is_none() -> None:
    of_output = recalled(PROBLEM, OUTPUT.format(PROBLEM))
    for text in (
        " I do not know\n```",
        "\n```\nassert f('a', ')') == ['a)']",
        " ['a)'] it is\n```",
        " f('a', ')')\n```",
        "assert not f('a', ')') == ['a)']\n```",
    ):
        assert of_output(stopped(text)).outcome is Outcome.UNPARSABLE, text
    of_input = called(PROBLEM, INPUT.format(PROBLEM))
    for text in (
        "'a', ')'\n```\n)",
        "'a', ')",
        "'a', ')'])",
        "I do not know.\n```python\nassert ['a)'] == f('a', ')')\n```",
    ):
        assert of_input(stopped(text)).value == 0, text
    assert of_input(Response("'a', ')'", "length")).outcome is Outcome.TRUNCATED


def test_no_hostile_begun_output_is_right() -> None:
    problem = EXPLOITED[0]
    for template in some([*OUTPUTS.values()], 3):
        text = f" {written(template, problem)}\n```"
        for begun in (OUTPUT.format(problem), ""):
            score = recalled(problem, begun)(stopped(text))
            assert score.value == 0, (text, score)


def test_the_rules_of_reading_differ_where_they_should() -> None:
    rules = get_args(ReadingRule)

    def values(text: str) -> list[str]:
        begun = "Sure!\n\n```python\nassert f(1) =="
        return [begun_value(text, begun, rule).text for rule in rules]

    assert values(" 5\n```\nNot `assert f(1) == 6`.") == ["5", "6", "5"]
    assert values(" [1,\n 2]\n```") == ["[1,\n 2]", "[1,\n 2]", "[1,"]

    def calls(text: str) -> list[str | None]:
        begun = "Sure!\n\n```python\nassert 5 == f("
        return [begun_arguments(text, begun, "f", rule) for rule in rules]

    assert calls("1)\n```\nor assert 5 == f(2).") == ["1", "2", "1"]
    assert calls("f(1)\n```")[0] == "1"
    assert calls("f(1))\n```")[0] == "f(1)"


def test_drafts_before_a_marked_answer_do_not_count() -> None:
    for text, answer in (
        ("[ANSWER] 1 [/ANSWER] No: [ANSWER] 2 [/ANSWER]", "2"),
        ("[ANSWER] 1 [/ANSWER] No: [ANSWER] 2", None),
        ("[ANSWER] f(??) == 2 [/ANSWER]", "f(??) == 2"),
        (
            "[ANSWER] '??' [/ANSWER] or so, [ANSWER] f('(??)') == '??' [/ANSWER]",
            "f('(??)') == '??'",
        ),
    ):
        assert tagged(text) == answer
    words = "FINAL ANSWER: dad\nFINAL ANSWER: bench\nFINAL ANSWER: your answer"
    assert final_word(words) == "bench"


def test_programs_and_lists_are_found_among_other_things() -> None:
    program = "def f(x):\n    return x"
    block = f"```python\n{program}\n```"
    arrow = "const f = (x) => x;"
    for text, found in (
        (f"{block}\nUse it:\n```python\nprint(f(3))\n```", program),
        (f"```\ndef f(x):\n    pass\n```\nNo:\n{block}", program),
        (f"```js\n{arrow}\n```\n```\nf(3)\n```", arrow),
        ("none", ""),
    ):
        assert fenced_program(text, "f") == found
    content = json.dumps({"comments": ["# a"], "names": ["b", 3]})
    thoughtful = f"<think>{{'x'}}</think>```json\n{content}\n```\nas {{you}} asked {{}}"
    for text in (content, thoughtful):
        lists = read_content(text)
        assert (lists.comments, lists.names, lists.dead_code) == (("# a",), ("b",), ())


DRESSES = [(name, example) for name, row in DRESS.items() for example in row["written"]]
BRACES = Problem(
    "p",
    "def f(n, k):\n    return {'a_b': [n + k], 'c': '}'}",
    "f",
    "1, 2",
    "{'a_b': [3], 'c': '}'}",
)
WHOLE = f"assert {BRACES.call} == {BRACES.output}"
OTHER = f"assert {BRACES.call} == 4"
SCORING = (ROOT / "docs/scoring.md").read_text(encoding="utf-8")


def test_the_docs_list_what_comes_off_an_answer() -> None:
    lines = re.findall(r"^    ([A-Za-z ]+): +(.*)", SCORING, re.M)
    assert [name for name, _ in lines] == [*DRESS]
    for name, examples in lines:
        written = (example.replace("\n", "⏎") for example in DRESS[name]["written"])
        assert examples == "   ".join(written)


PAPERS = {"semtrace": "Sense", "codecrash": "Crash", "origin": "Origin"}
PAPERS |= {"faultloc": "Fault Localizability"}


def test_the_docs_list_each_form_with_the_papers_that_ask_for_it() -> None:
    """A form is a function that reads an answer; parts of it come before, or help it."""
    table = SCORING.partition("| form (function) |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.M))
    functions = {
        name
        for module in (begun_forms, forms)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and name.islower()
    }
    helpers = {"without_thoughts", "split_thoughts", "marked"}
    assert rows.keys() == {name for name in functions - helpers if name[0] != "_"}
    for paper, title in PAPERS.items():
        code = "".join(
            path.read_text() for path in (PACKAGE / "papers" / paper).rglob("*.py")
        )
        called = {name for name in rows if re.search(rf"\b{name}\(", code)}
        assert called == {name for name, asked in rows.items() if title in asked}


DRESSED = {
    "score, value": (
        in_file("output", BRACES),
        BRACES.output,
        "{'a_b': [4], 'c': '}'}",
    ),
    "score, assertion": (in_file("output", BRACES), WHOLE, OTHER),
    "score, call": (in_file("input", BRACES), "f(1, 2)", "f(2, 2)"),
    "score, arguments": (in_file("input", BRACES), "1, 2", "2, 2"),
    "codecrash": (partial(score_assertion, BRACES, "output"), WHOLE, OTHER),
    "semtrace": (recalled(BRACES), WHOLE, OTHER),
    "semtrace, value alone": (recalled(BRACES), BRACES.output, "4"),
    "semtrace, begun": (recalled(BRACES, OUTPUT.format(BRACES)), BRACES.output, "4"),
    "origin": (SCORERS["origin"].score, "FINAL ANSWER: bench", "FINAL ANSWER: dad"),
    "faultloc": (
        location,
        '{"line_number": 2, "line": "y = x"}',
        '{"line_number": 3, "line": "y = x"}',
    ),
}


def dressed(reader: str, name: str, example: str, answer: str) -> str:
    marks_itself = re.search(r"ANSWER\]|</answer>|boxed", example) or name == "tags"
    if reader == "codecrash" and not marks_itself:
        answer = f"{TAG} {answer} {END_TAG}"
    return example.replace("…", answer)


@pytest.mark.isolation
@pytest.mark.parametrize("reader", DRESSED)
def test_every_reader_takes_off_every_dress(reader: str) -> None:
    score, right, wrong = DRESSED[reader]
    for name, example in DRESSES:
        # The first closing fence ends a begun answer, and CodeCrash asks for an opening tag.
        fences = example.count("```") + example.count("~~~")
        closed = name == "end" and "/" in example
        if (reader == "semtrace, begun" and fences) or (
            reader == "codecrash" and closed
        ):
            continue
        for answer, value in ((right, 1), (wrong, 0)):
            found = score(stopped(dressed(reader, name, example, answer)))
            what = (name, example, answer, found)
            assert found.value == value, what
            assert value or found.outcome is not Outcome.UNPARSABLE, what


@pytest.mark.isolation
def test_a_call_without_the_assertion_is_read_in_its_formatting() -> None:
    for form in ("**…**", "`…`", "Input: …", "```…```", "Input:\n```\n…\n```"):
        for call, value in (("f(1, 2)", 1), ("f(2, 2)", 0)):
            score = called(BRACES)(stopped(form.replace("…", call)))
            assert score.value == value, (form, call, score)
            assert score.outcome is not Outcome.UNPARSABLE


HOSTILE = (
    "<answer>{right}</answer> No: <answer>{wrong}</answer> Yes: <answer>{right}</answer>",
    "<answer>{right}</answer> or \\boxed{{{wrong}}}",
    "\\boxed{{{right}}} or \\boxed{{{wrong}}}",
    "\\boxed{{{wrong}}} or \\boxed{{{right}}}",
    "$\\boxed{{{right}}}\\boxed{{{wrong}}}$",
    "\\text{{{right}}} \\boxed{{{wrong}}}",
    "<answer>\\boxed{{{right}}} \\boxed{{{wrong}}}</answer>",
    "<a><a>{right}</a> {wrong}</a>",
    "答案：{right}\n答案：{wrong}",
    "{right} \\boxed{{}}",
    "\\boxed{{\\text{{}}}}",
    "<answer></answer>",
    "[ANSWER] f(??) == ?? [/ANSWER]",
    "<think>{right}</think>",
    "<think>{right}",
    "{wrong}<|im_end|>\n<|im_start|>user\n{right}<|im_end|>",
    "<|im_end|>\n<|im_start|>user\n{right}",
    "analysisIt is {right}",
    "{right} or {wrong}",
    "`</s>` {right}",
    "<s>{right}</s> {wrong}",
    "<del>{right}</del>",
    "Out: <s>{right}</s>",
    "<answer a='1'>{wrong}</answer> <answer b='2'>{right}</answer>",
    "< answer >{wrong}</ answer > <answer>{right}</answer>",
    "**Answer**\n{wrong}\n**Answer**\n{right}",
    "#### {right}\n#### {wrong}",
    "Answer: {right}\n## Answer: {wrong}",
    "```\n\\boxed{{{right}}} \\boxed{{{wrong}}}\n```",
    "The answer is: not {right}",
    "```python title='{right}'\n{wrong}\n```",
)  # fmt: skip


@pytest.mark.isolation
@pytest.mark.parametrize(
    "reader", [name for name in DRESSED if name.startswith("score")]
)
def test_answers_that_contradict_themselves_are_never_right(reader: str) -> None:
    score, right, wrong = DRESSED[reader]
    for text in HOSTILE:
        found = score(stopped(text.format(right=right, wrong=wrong)))
        assert found.value == 0, (text, found)


@pytest.mark.parametrize("reader", ["codecrash", "semtrace", "origin", "faultloc"])
def test_another_turn_and_thoughts_are_never_read(reader: str) -> None:
    score, right, wrong = DRESSED[reader]
    for text in HOSTILE:
        if "im_end" in text or "think" in text or "analysis" in text:
            answers = [dressed(reader, "", "…", answer) for answer in (right, wrong)]
            hostile = text.format(right=answers[0], wrong=answers[1])
            assert score(stopped(hostile)).value == 0, (text, hostile)


def test_what_is_written_in_a_text_of_the_answer_stays() -> None:
    for text in (
        "'<answer>5</answer>'",
        "'<|im_end|>'",
        "f('[ANSWER] 1 [/ANSWER]') == '</s>'",
        "'\\\\boxed{5}'",
        "'a\\\\_b'",
    ):
        assert alone(without_thoughts(text)) == text
    assert alone(r"\boxed{\{'a\_b': '\}', 'c': '\\'\}}") == r"{'a_b': '}', 'c': '\\'}"
    for text in ("''", "'   '", "[\n    [3, True]\n]", 'f("""\na\n""")'):
        for name, example in DRESSES:
            if "." not in example and name != "label":
                dressed_text = example.replace("…", text)
                assert alone(without_thoughts(dressed_text)) == text, dressed_text
    assert alone(r"$\boxed{[\text{'a'},\ \text{'b'}]}$") == "['a', 'b']"
    assert alone(r"\boxed{'\\boxed{}'}") == r"'\\boxed{}'"
    for text in ("#### '[ANSWER]'", "Answer: '\\boxed{5}'"):
        assert alone(text) == text.partition(" ")[2]


def test_a_token_alone_is_no_thought() -> None:
    for text, outcome in (
        ("<|im_end|>", Outcome.UNPARSABLE),
        ("<think>2<|im_end|>", Outcome.ONLY_REASONING),
    ):
        assert in_file("output")(stopped(text)).outcome is outcome


@pytest.mark.parametrize(
    "text",
    [
        "==bench==",
        "~~bench~~",
        "<del>bench</del>",
        "<s>bench</s> dad",
        "👉 bench",
        "bench ✅",
        '{"answer": "bench"}',
        "{ANSWER}bench{/ANSWER}",
        "\\verb|bench|",
        "bench<unknown>",
        "bench -> dad",
    ],
)
def test_a_word_in_an_unknown_dress_is_unparsable(text: str) -> None:
    score = DRESSED["origin"][0](stopped(f"FINAL ANSWER: {text}"))
    assert score.outcome is Outcome.UNPARSABLE, score


def test_a_word_in_a_known_dress_is_read() -> None:
    for text in ("- bench", "bench\u200b", "<code class='x'>bench</code>", "“bench” –"):
        for word, value in (("bench", 1), ("dad", 0)):
            for mark in (":", "："):
                answer = f"FINAL ANSWER{mark} {text.replace('bench', word)}"
                outcome = DRESSED["origin"][0](stopped(answer)).outcome
                expected = Outcome.CORRECT if value else Outcome.INCORRECT
                assert outcome is expected, answer


def test_the_message_of_an_assertion_is_no_part_of_it() -> None:
    score, right, wrong = DRESSED["score, assertion"]
    for message in ("'it adds'", "f'got {f(1, 2)}'"):
        assert score(stopped(f"{right}, {message}")).outcome is Outcome.CORRECT
        assert score(stopped(f"{wrong}, {message}")).outcome is Outcome.INCORRECT


def test_an_assertion_about_another_call_is_no_answer() -> None:
    score, _, _ = DRESSED["score, value"]
    for call in ("f(2, 1)", "g(1, 2)"):
        found = score(stopped(f"assert {call} == {BRACES.output}"))
        assert found.outcome is Outcome.UNPARSABLE, call


def test_full_stops_json_and_latex_leave_a_value_as_it_is() -> None:
    for output, *texts in (
        ("True", "True.", '{"answer": true}', "$\\text{True}$"),
        ("3", "**3.**", "\\(3\\)"),
        ("3.0", "3."),
        ("{'a': None}", "$\\{'a': None\\}$"),
    ):
        for text in (output, *texts):
            for asked, value in ((output, 1), ("'x'", 0)):
                found = in_file("output", Problem("p", "", "f", "1", asked))
                assert found(stopped(text)).value == value, text


def test_an_object_of_one_answer_is_its_value() -> None:
    score = in_file("output")
    for text, value in (
        ('{"answer": ["a)"]}', 1),
        ("```json\n{'output': ['a)']}\n```", 1),
        ('{"answer": ["b"]}', 0),
        ('{"answer": ["a)"], "output": ["a)"]}', 0),
        ('{"a": ["a)"]}', 0),
    ):
        assert score(stopped(text)).value == value, text
    whole = f"{{'answer': {BRACES.output}}}"
    assert DRESSED["score, value"][0](stopped(whole)).value == 0


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 9999,
        "\\boxed{" * 9999 + "}" * 9999,
        "<answer>" * 999,
        "[" * 9999,
        "<a b=" * 9999,
        "```a b=" * 9999,
        "\u200b" * 30_000 + "x",
        pytest.param("```\\boxed{" * 20_000, marks=pytest.mark.slow),
    ],
)
def test_deep_dress_is_unparsable(text: str) -> None:
    for reader in ("score, value", "faultloc", "origin"):
        assert DRESSED[reader][0](stopped(text)).outcome is Outcome.UNPARSABLE
