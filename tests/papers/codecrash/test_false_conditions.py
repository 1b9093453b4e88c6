"""GBC's false conditions are false, and RTF's true ones true, for every value that may stand there; else others do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import check_problems, run_calls
from codestress.mutate.perturbations.edits import GlobalNames, Guard
from codestress.mutate.perturbations.programs import vanilla
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
)
from codestress.mutate.perturbations.variants import make_variants
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.seeding import rng

PLAIN = Problem(
    "plain", "def f(a):\n    if a > 1:\n        return 1\n    return 2", "f", "3", "1"
)
SCRIPT = "function f(a) {\n  if (a > 1) {\n    return 1;\n  }\n  return 2;\n}"
BODY = "def f(a):\n    if g(a) == 3:\n        return 1\n    return [g(a) is None]\n"
UNSURE = {
    "NaN given": ("{}\ndef g(b):\n    return b", "float('nan')"),
    "a list of floats": ("{}\ndef g(b):\n    return b[0] > 1", "[2.5]"),
    "infinity": ("{}\ndef g(b):\n    return b * 2", "1e999 - 1"),
    "made by overflow": (
        "{}\ndef g(b):\n    c = b * 1e200 * 1e200\n    return h(c - c)\ndef h(d):\n    return d > 1",
        "7",
    ),
    "made by division": (
        "{}\ndef g(b):\n    return h(b / 7)\ndef h(d):\n    return d > 1",
        "7",
    ),
    "made by a power": (
        "{}\ndef g(b):\n    return h(2 ** -b)\ndef h(d):\n    d **= -2\n    return d > 1",
        "1",
    ),
    "made by a function": (
        "from math import sqrt\n{}\ndef g(b):\n    return h(sqrt(b))\ndef h(d):\n    return d > 1",
        "4",
    ),
    "unequal to itself": (
        "class A:\n    def __eq__(self, other):\n        return False\n{}\ndef g(b):\n"
        "    return h(A())\ndef h(d):\n    return 1",
        "1",
    ),
    "not to be compared": (
        "class A:\n    def __eq__(self, other):\n        raise TypeError('no')\n{}\ndef g(b):\n    return h(A())\n"
        "def h(d):\n    return 1",
        "1",
    ),
    "not to be printed": (
        "class A:\n    def __repr__(self):\n        raise TypeError('no')\n{}\ndef g(b):\n    return h(A())\n"
        "def h(d):\n    return 1",
        "1",
    ),
    "fields that are not set": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(init=False)\n{}\n"
        "def g(b):\n    return h(A())\ndef h(d):\n    return 1",
        "1",
    ),
    "half a character": ("{}\ndef g(b):\n    return len(b)", "'\\ud800'"),
    "half a character inside": (
        "{}\ndef g(b):\n    return h('\\ud800')\ndef h(d):\n    return len(d)",
        "1",
    ),
    "a number too long": (
        "{}\ndef g(b):\n    return h(10 ** 5000)\ndef h(d):\n    return 1",
        "1",
    ),
}
SCRIPTS = {
    "NaN inside": "function g(b) {\n  return h(b / 0 - b / 0);\n}\nfunction h(d) {\n  return d;\n}",
    "NaN of a text": "function g(b) {\n  return h(Number('x'));\n}\nfunction h(d) {\n  return d;\n}",
    "NaN written": "function g(b) {\n  b = NaN;\n  return b;\n}",
}


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


def draw(name: str, seed: int) -> Draw:
    return Draw(rng(seed, name))


def test_all_seven_conditions_stand_where_they_are_false_as_the_paper_prints_them() -> (
    None
):
    wanted = {
        "python": {"False", "None", "0", "''", "a != a", "not a == a", "print(a)"},
        "javascript": {
            "false",
            "null",
            "0",
            '""',
            "a !== a",
            "!(a === a)",
            "console.log(a)",
        },
    }
    for problem in (PLAIN, replace(PLAIN, code=SCRIPT, language="javascript")):
        sites = [
            site.text
            for seed in range(60)
            for site in insert_garbage(vanilla(problem), draw("g", seed)).sites
        ]
        form = (
            r"(?:if|while) (.*):\n"
            if problem.language == "python"
            else r"(?:if|while) \((.*)\) \{\n"
        )
        heads = [re.match(form, text) for text in sites]
        assert {head[1] for head in heads if head} == wanted[problem.language]


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.parametrize("guard", ["tag", "refuse"])
def test_a_condition_that_may_be_true_is_put_nowhere(
    guard: Guard, executor: Executor
) -> None:
    problems = [
        Problem(name, code.format(BODY), "f", text, "")
        for name, (code, text) in UNSURE.items()
    ]
    runs = run_calls([(one, one.arguments) for one in problems], executor)
    assert {run.outcome for run in runs} == {"returned"}, runs
    checked, faults = check_problems(
        [
            replace(one, output=repr(run.value))
            for one, run in zip(problems, runs, strict=True)
        ],
        executor,
        0,
    )
    assert not faults
    for condition in ("GBC", "RTF"):
        for seed in range(4):
            variants = make_variants(
                checked, condition, executor, seed=seed, guard=guard
            )
            assert {one.status for one in variants.values()} <= {
                "applied",
                "refused",
            }, variants
            assert {one.attempts for one in variants.values()} == {1}


def test_no_parameter_equals_itself_where_there_are_fractions() -> None:
    code = "def f(items):\n    if len(items) > 1:\n        return 1.5\n    return 2"
    problem = vanilla(Problem("p", code, "f", "[2.5]", "2"))
    for seed in range(40):
        for made in (
            insert_garbage(problem, draw("g", seed)),
            reformat_conditions(problem, draw("r", seed)),
        ):
            assert not re.search(r"items [!=]= items", made.problem.code)


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.skipif(bool(missing("javascript")), reason="Node is not installed")
def test_javascripts_conditions_are_false_for_nan(executor: Executor) -> None:
    called = "function f(a) {\n  if (a > 1) {\n    return [g(a) === 3];\n  }\n  return 2;\n}\n"
    problems = [
        Problem(name, called + code, "f", "3", "[False]", "javascript")
        for name, code in SCRIPTS.items()
    ]
    checked, faults = check_problems(problems, executor, 0)
    assert not faults
    for problem in problems:
        for seed in range(40):
            text = insert_garbage(problem, draw("g", seed)).problem.code
            text += reformat_conditions(problem, draw("r", seed)).problem.code
            assert not re.search(r"\b([bd]) [!=]== \1\b", text)
    for condition in ("GBC", "RTF"):
        variants = make_variants(checked, condition, executor, seed=0)
        assert {(one.status, one.attempts) for one in variants.values()} == {
            ("applied", 1)
        }, variants


def test_a_name_that_may_not_be_set_is_used_nowhere() -> None:
    deleting = PLAIN.code.replace("return 1", "del a\n        b = 1\n        return b")
    later = SCRIPT.replace("return 1", "let b = 1;\n    let a = 2;\n    return a")
    for problem in (
        replace(PLAIN, code=deleting),
        replace(PLAIN, code=later, language="javascript"),
    ):
        for seed in range(40):
            for made in (
                insert_garbage(problem, draw("g", seed)),
                reformat_conditions(problem, draw("r", seed)),
            ):
                added = [
                    site.text.removeprefix("a > 1 → ").replace("a > 1", "")
                    for site in made.sites
                ]
                assert not [
                    text for text in added if re.search(r"\ba\b(?! = \d)", text)
                ], added


def test_globals_have_names_of_parameters_or_of_local_variables_too() -> None:
    """Appendix B.1.3: "a few parameters or variables"; half of them, rounded up."""
    python = "def f(a, b):\n    c = a + b\n    d = c * 2\n    return d"
    script = "function f(a, b) {\n  let c = a + b;\n  var d = c * 2;\n  return d;\n}"
    for code, language in ((python, "python"), (script, "javascript")):
        problem = vanilla(Problem("p", code, "f", "1, 2", "6", language=language))
        own = {"a", "b", "c", "d"}
        wanted: dict[GlobalNames, set[str]] = {"parameters": {"a", "b"}, "both": own}
        for globals_of, names in wanted.items():
            seen = set()
            for seed in range(40):
                made = insert_garbage(problem, draw("g", seed), globals_of=globals_of)
                texts = [site.text for site in made.sites if site.kind == "global"]
                assert len(texts) == len(names) // 2
                seen |= {re.findall(r"\w+", text)[-2] for text in texts}
            assert seen == names


def test_without_parameters_globals_have_names_of_local_variables() -> None:
    """Never those of the dead loops that are put in, which have parameters too."""
    python = "def f():\n    c = 3\n    d = c * 2\n    return d"
    script = "function f() {\n  let c = 3;\n  var d = c * 2;\n  return d;\n}"
    for code, language in ((python, "python"), (script, "javascript")):
        problem = vanilla(Problem("p", code, "f", "", "6", language=language))
        seen = set()
        for seed in range(40):
            made = insert_garbage(problem, draw("g", seed))
            [text] = [site.text for site in made.sites if site.kind == "global"]
            seen.add(re.findall(r"\w+", text)[-2])
        assert seen == {"c", "d"}


@pytest.mark.isolation
def test_globals_with_names_of_variables_change_no_result(executor: Executor) -> None:
    code = (
        "def f(a):\n    def g():\n        return c\n    c = a + 1\n"
        "    d = [e * c for e in range(3)]\n    return d, g()"
    )
    checked, _ = check_problems(
        [Problem("p", code, "f", "1", "([0, 2, 4], 2)")], executor, 0
    )
    for seed in range(4):
        made = make_variants(
            checked, "GBC", executor, seed=seed, guard="tag", globals_of="both"
        )
        assert (made["p"].status, made["p"].attempts) == ("applied", 1)
