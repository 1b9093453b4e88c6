"""A perturbation changes what it is named for: the rest of code and call is vanilla's, character for character."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Checked
from codestress.mutate.perturbations.edits import NotPerturbed, Perturbed
from codestress.mutate.perturbations.messages import Trace
from codestress.mutate.perturbations.programs import program_of, vanilla
from codestress.mutate.perturbations.variants import (
    Perturbation,
    draw_variant,
    make_variants,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.studies import assertion_to_complete
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.seeding import rng
from codestress.types import Language, Task
from conftest import some
from mutate.perturbing import REWRITING, usable

CONDITIONS: tuple[Perturbation, ...] = ("VAN", *REWRITING, "MHC", "NCC", "BLANK")
RENAMING = ("REN", "PSC-ALL")
TASKS: tuple[Task, ...] = ("output", "input")
CODE = '''
LIMIT = 2

def twice(words, n=1):
    return [word * n for word in words] if n else words

def chosen(words, n=1, *, größe=0, key=None, **more):
    """Words that are long enough."""
    found = []
    for word in words:
        if len(word) > größe:
            found.append(word * n)
    while len(found) > 3:
        found.pop()
    return found if key is None else key(found)
'''
CALLS = {
    "words = ['a', 'bc'], n = 2": "chosen(Var_4 = ['a', 'bc'], Var_3 = 2)",
    'words=["a", "bc"],n=0x2': 'chosen(Var_4=["a", "bc"],Var_3=0x2)',
    "('a', 'é' 'ü'),  größe = -1,": "chosen(('a', 'é' 'ü'),  Var_2 = -1,)",
    "\n    words=[  # some words\n        'a',\n        \"bc\",  # 'größe'\n    ],\n    n = 1_0,\n": (
        "chosen(\n    Var_4=[  # some words\n        'a',\n        \"bc\",  # 'größe'\n    ],\n    Var_3 = 1_0,\n)"
    ),
    "['ä'], 1, # one\n größe=0": "chosen(['ä'], 1, # one\n Var_2=0)",
    "twice(words=['ö'], n=LIMIT), n=LIMIT": "chosen(f1(Var_4=['ö'], Var_3=Var_0), Var_3=Var_0)",
    "*[['a'], 2], key=lambda words: words[::LIMIT]": "chosen(*[['a'], 2], Var_1=lambda words: words[::Var_0])",
    "words='''a\nb''', n=(1)": "chosen(Var_4='''a\nb''', Var_3=(1))",
}
"""Arguments, and the call with its names as REN may write them (`Var_N` for those that are renamed)."""


def odd_problems() -> list[Problem]:
    return [
        Problem(f"call {number}", CODE, "chosen", text, "")
        for number, text in enumerate(CALLS)
    ]


def perturbed(
    problem: Problem, condition: Perturbation, task: Task, seed: int
) -> Perturbed:
    """A draw of the condition; whether it means the same is asked elsewhere."""
    if condition == "VAN":
        return Perturbed(problem)
    checked = Checked(problem, (), (), Trace())
    draw = Draw(rng(seed, condition, problem.id))
    how = {"density": 1, "task": task, "wrong": "'no'", "guard": "tag"}
    made = draw_variant(checked, condition, draw, **how)
    if made.status == "rejected":
        raise NotPerturbed(made.why)
    return Perturbed(made.problem, made.sites)


def pieces(text: str) -> list[str]:
    """Words, and what stands between them."""
    return re.split(r"(\w+)", text)


def alike(before: str, after: str, names: Mapping[str, str]) -> bool:
    """Whether two texts differ in names alone, each of which has become another by the mapping from new to old."""
    if re.search(r"\{ ?\w", before):  # { a } of JavaScript becomes { a: b }
        after = re.sub(
            r"\b(\w+): (\w+)\b",
            lambda pair: pair[2] if names.get(pair[2]) == pair[1] else pair[0],
            after,
        )
    first, second = pieces(before), pieces(after)
    return len(first) == len(second) and all(
        one == other or names.get(other) == unicodedata.normalize("NFKC", one)
        for one, other in zip(first, second, strict=True)
    )


def written(text: str, language: Language) -> list[str]:
    """The lines of a statement as the language's programs write it."""
    return (ast.unparse(ast.parse(text)) if language == "python" else text).split("\n")


class Change:
    """What a condition says that it changed."""

    def __init__(
        self, condition: Perturbation, before: Problem, made: Perturbed
    ) -> None:
        self.before, self.after = before, made.problem
        self.program = program_of(before)
        self.names: dict[str, str] = {}
        self.conditions: list[tuple[str, str]] = []
        self.messages: list[str] = []
        self.lines = Counter[str]()
        for site in made.sites:
            old, arrow, new = site.text.partition(" → ")
            if condition in ("MCC", "MPS", "MHC", "NCC"):
                self.messages.append(site.text)
            elif site.kind == "condition":
                self.conditions.append((old, written(new, before.language)[0]))
            elif arrow:
                self.names[new] = old
            elif site.kind in ("dead branch", "dead loop", "global"):
                lines = written(site.text, before.language)
                self.lines.update(line.strip() for line in lines)
        form = self.program.printed if condition == "MPS" else self.program.comment
        for text in self.messages:
            if condition == "MPS":
                self.lines.update(written(form.format(text), before.language))
            else:
                self.lines[form.format(text)] += 1
        blank = condition in ("GBC", "PSC-ALL", "BLANK")
        # `ast.unparse` puts one before each definition.
        self.lines[""] = self.after.code.count("\n") if blank else 0

    def candidates(self, line: str) -> Iterator[str]:
        """A line as it was, and with its condition rewritten."""
        yield line
        for old, new in self.conditions:
            for head in ("if ", "while ", "(") if old in line else ():
                yield line.replace(f"{head}{old}", f"{head}{new}", 1)

    def same_line(self, before: str, after: str) -> bool:
        if any(alike(one, after, self.names) for one in self.candidates(before)):
            return True
        comment = after.removeprefix(before).strip()
        left = comment.removeprefix(self.program.comment.format("")).strip()
        for text in self.messages if after.startswith(before) else ():
            left = left.replace(text, "", 1).strip()
        return after.startswith(before) and comment != left == ""

    def explained(self) -> str:
        """The first line that the change does not explain; empty where there is none."""
        before = self.before.code.split("\n")
        for line in self.after.code.split("\n"):
            if before and self.same_line(before[0], line):
                before.pop(0)
                continue
            fitting = [
                one
                for one, left in self.lines.items()
                if left and alike(one, line.strip(), self.names)
            ]
            if not fitting:
                return line
            self.lines[fitting[0]] -= 1
        return "".join(before)


def check(problems: list[Problem], condition: Perturbation, task: Task) -> int:
    """How many were perturbed; each in what the condition is named for alone."""
    count = 0
    for number, raw in enumerate(problems):
        before = vanilla(raw)
        try:
            made = perturbed(before, condition, task, number % 3)
        except NotPerturbed:
            continue
        change = Change(condition, before, made)
        assert change.explained() == "", (condition, before.code, made.problem.code)
        names = change.names if condition in RENAMING else {}
        assert alike(raw.call, made.problem.call, names), made.problem.call
        asked, now = (
            assertion_to_complete(one, task) for one in (before, made.problem)
        )
        assert alike(asked, now, change.names), now
        count += bool(made.sites)
    return count


@pytest.mark.parametrize("condition", some(CONDITIONS, 3))
def test_a_program_and_its_call_change_as_named_and_no_further(
    condition: Perturbation,
) -> None:
    python = [*generated_problems(12), *some(contest_problems(), 12), *odd_problems()]
    scripts = some(contest_problems("javascript"), 12)
    for task, problems in (("output", python), ("input", python), ("output", scripts)):
        count = check(problems, condition, task)
        assert count >= (0 if condition == "VAN" else len(problems) // 2)


@pytest.mark.parametrize("condition", some(CONDITIONS, 3))
def test_cruxeval_changes_as_named_and_no_further(
    condition: Perturbation, shared_data: Path
) -> None:
    problems = read_problems(shared_data / "cruxeval" / "cruxeval.jsonl").problems[::4]
    for task in TASKS:
        check(some(problems, 8), condition, task)


@pytest.mark.parametrize("arguments", CALLS)
def test_the_call_keeps_its_text_but_for_names(arguments: str) -> None:
    before = vanilla(Problem("p", CODE, "chosen", arguments, ""))
    call = perturbed(before, "REN", "output", 0).problem.call
    numbered = re.compile(r"\bVar_\d+")
    assert numbered.sub("Var_N", call) == numbered.sub(
        "Var_N", CALLS[arguments].replace("chosen(", "f(")
    )


@pytest.mark.isolation
def test_renamed_calls_run_as_before(executor: Executor) -> None:
    checked = usable(odd_problems(), executor)
    for condition in RENAMING:
        variants = make_variants(checked, condition, executor, seed=0, guard="tag")
        assert {one.status for one in variants.values()} == {"applied"}, variants


def script(condition: str, indent: str = "  ") -> Problem:
    lines = (
        "function f(a) {",
        f"{indent}let i = 0;",
        f"{indent}if ({condition}) {{",
        f"{indent * 2}return 1;",
        f"{indent}}}",
        f"{indent}return i;",
        "}",
    )
    return Problem("script", "\n".join(lines), "f", "3", "1", "javascript")


@pytest.mark.parametrize(
    ("condition", "whole"),
    [
        ("i++, a > 5", "(i++, a > 5)"),
        ("{ a: 1 }[a] === 1", "({ a: 1 }[a] === 1)"),
        ("/* why */ a > 1", "a > 1"),
    ],
)
def test_a_condition_of_a_script_is_rewritten_as_a_whole(
    condition: str, whole: str
) -> None:
    before = f"if ({condition}) {{"
    found = set()
    for seed in range(20):
        made = perturbed(script(condition), "RTF", "output", seed).problem.code
        [after] = [line for line in made.split("\n") if line.strip().startswith("if")]
        assert whole in after != before
        assert after.count("/*") == before.count("/*")
        assert "=> {" not in after
        found.add(after)
    assert len(found) > 2


def test_lines_of_a_script_keep_their_tabs_and_line_ends() -> None:
    tabs, ends = script("a > 1", "\t"), script("a > 1")
    ends = replace(ends, code=ends.code.replace("\n", "\r\n"))
    for seed in range(8):
        lines = perturbed(tabs, "GBC", "output", seed).problem.code.split("\n")
        assert set(tabs.code.split("\n")) <= set(lines)
        made = perturbed(ends, "MCC", "output", seed).problem.code
        assert made.count("\r\n") == made.count("\n") == made.count("\r")


@pytest.mark.parametrize("condition", ["MPS", "MCC"])
def test_a_function_of_a_docstring_alone_keeps_it(condition: Perturbation) -> None:
    code = 'def g():\n    """only this"""\n\ndef f(x):\n    return g() or x'
    problem = Problem("p", code, "f", "3", "3")
    made = ast.parse(perturbed(problem, condition, "output", 0).problem.code)
    [function, _] = [node for node in made.body if isinstance(node, ast.FunctionDef)]
    assert ast.get_docstring(function) == "only this"


def test_a_keyword_of_a_class_keeps_its_name() -> None:
    code = (
        "class Base:\n    def __init_subclass__(cls, tag):\n        cls.tag = tag\n\n"
        "class A(Base, tag=5):\n    pass\n\ndef f(x):\n    return A.tag + x"
    )
    made = perturbed(Problem("p", code, "f", "3", "8"), "REN", "output", 0).problem.code
    assert made.count("tag=5") == 1
    assert "__init_subclass__(cls, tag)" in made
