"""Perturbations: the same meaning on every input tried, whatever the syntax; what cannot be done is counted."""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from codestress.literals import parse_literal, same_value
from codestress.mutate.perturbations.checking import Checked, check_problems, run_calls
from codestress.mutate.perturbations.inputs import NoOtherValue, other_value
from codestress.mutate.perturbations.messages import (
    Trace,
    hint,
    insert_messages,
    messages,
    useless_value,
)
from codestress.mutate.perturbations.programs import program_of, vanilla
from codestress.mutate.perturbations.python_sites import METHODS
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
    rename,
)
from codestress.mutate.perturbations.variants import (
    Perturbation,
    Variant,
    make_variants,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from conftest import slow, some
from mutate.perturbing import REWRITING, draw, needs_node, usable
from standard_library import standard_source
from told import names

ALL: tuple[Perturbation, ...] = (*REWRITING, "MHC")
ZOO = Problem(
    "zoo",
    Path(__file__).with_name("zoo.txt").read_text(encoding="utf-8").strip(),
    "f",
    "words=['ab', 'Cake', 'aab'], limit=2",
    "",
)


def one_variant(
    checked: list[Checked], perturbation: Perturbation, executor: Executor, seed: int
) -> Variant:
    """The variant that is made whatever the guard doubts; with the guard, the doubted one is refused with a reason."""
    [made] = make_variants(
        checked, perturbation, executor, seed=seed, guard="tag"
    ).values()
    [guarded] = make_variants(checked, perturbation, executor, seed=seed).values()
    assert guarded.status in ("applied", "unchanged", "refused"), guarded.why
    if guarded.status == "refused":
        assert guarded.why
        assert made.doubt or made.status == "rejected"
    return made


@pytest.mark.isolation
@pytest.mark.parametrize("perturbation", ALL)
def test_all_syntax_keeps_its_meaning(
    perturbation: Perturbation, executor: Executor
) -> None:
    checked = usable([ZOO], executor)
    for seed in some(range(3), 3):
        variant = one_variant(checked, perturbation, executor, seed)
        assert (variant.status, variant.attempts) == ("applied", 1), variant.why
        assert variant.sites
        assert variant.problem.code != checked[0].problem.code


def test_names_in_the_papers_form() -> None:
    renamed = rename(vanilla(ZOO)).problem
    call = r"f\(Var_\d+=\['ab', 'Cake', 'aab'\], Var_\d+=2\)"
    assert re.fullmatch(call, renamed.call)
    nodes = ast.walk(ast.parse(renamed.code))
    left = {node.id for node in nodes if isinstance(node, ast.Name)}
    new = {name for name in left if re.fullmatch(r"Var_\d+|f\d*", name)}
    assert len(new) > 20
    # The last three: keywords of methods, and one beside two stars, which collect keywords.
    kept = {"self", "Shelf", "functools", "Tally", "front", "room", "upper"}
    assert left - new - kept <= set(dir(builtins))
    code = "def g(b, a):\n    c = a\n    return h(c, b)\n\ndef h(x, y):\n    return x"
    first = rename(Problem("p", code, "g", "1, a=2", "2"))
    assert first.problem.code.split("\n\n") == [
        "def f(Var_2, Var_1):\n    Var_3 = Var_1\n    return f1(Var_3, Var_2)",
        "def f1(Var_4, Var_5):\n    return Var_4",
    ]
    assert first.problem.call == "f(1, Var_1=2)"
    pairs = [site.text.split(" → ") for site in first.sites]
    assert [old for old, _ in pairs] == ["g", "b", "a", "c", "h", "x", "y"]
    assert [new for _, new in pairs[:3]] == ["f", "Var_2", "Var_1"]


@pytest.mark.parametrize(
    ("code", "arguments", "renamed"),
    [
        (  # a built-in, where it is a parameter and nowhere else
            "def f(list):\n    return g(list)\n\ndef g(x):\n    return list(x)",
            "(1, 2)",
            [
                "def f(Var_1):\n    return f1(Var_1)",
                "def f1(Var_2):\n    return list(Var_2)",
            ],
        ),
        (  # names that something unknown is called with
            "def f(a, key):\n    g = h\n    return g(key=a) + h(b=1, key=key)\n\n"
            "def h(key, b=2):\n    return key + b",
            "1, 2",
            ["(key=Var_1)", "f1(Var_2=1, key=", "def f1(key, Var_2=2):"],
        ),
    ],
    ids=["a shadowed built-in", "an unknown function's keywords"],
)
def test_names_that_may_not_be_renamed_stay(
    code: str, arguments: str, renamed: list[str]
) -> None:
    names(rename(Problem("p", code, "f", arguments, "")).problem.code, *renamed)


@pytest.mark.parametrize("name", ["generated", "contest"])
@pytest.mark.parametrize("perturbation", ALL)
def test_variants_do_not_depend_on_order_number_or_workers(
    perturbation: Perturbation, name: str, executor: Executor
) -> None:
    problems = (
        generated_problems(12) if name == "generated" else contest_problems()[:12]
    )
    checked, _ = check_problems(some(problems, 2), executor, 0)
    whole = make_variants(checked, perturbation, executor, seed=3)
    with Executor(workers=1) as alone:
        part = make_variants(checked[::-2], perturbation, alone, seed=3)
    assert part == {one: whole[one] for one in part}
    other = make_variants(checked, perturbation, executor, seed=4)
    if perturbation != "REN":
        assert any(other[one].problem.code != whole[one].problem.code for one in whole)


def test_a_higher_density_only_adds(executor: Executor) -> None:
    checked, _ = check_problems(contest_problems()[:10], executor, 0)
    found = [
        make_variants(checked, "MCC", executor, seed=0, density=p)
        for p in (0.2, 0.5, 0.8, 1.0)
    ]
    for lower, higher in itertools.pairwise(found):
        for name, variant in lower.items():
            assert set(variant.sites) <= set(higher[name].sites)
    for variant in found[-1].values():
        places = list(program_of(variant.problem).message_sites())
        assert len(variant.sites) == len(places)


def test_messages_are_as_many_as_the_paper_says() -> None:
    found = {kind: [text for _, text in texts] for kind, texts in messages().items()}
    counts = {kind: len(texts) for kind, texts in found.items()}
    assert counts == dict.fromkeys(counts, 20) | dict.fromkeys(METHODS, 5)
    assert (len(METHODS), len(counts)) == (16, 23)
    every = list(itertools.chain.from_iterable(found.values()))
    assert len(set(every)) == len(every)
    assert all("{value}" in message for message in found["return"])


@pytest.mark.isolation
def test_a_message_names_no_value_that_the_call_returns(executor: Executor) -> None:
    useless = useless_value(frozenset())  # where nothing is returned
    program = f"def f(x):\n    return {useless}"
    problems = [Problem("useless", program, "f", "1", useless)]
    problems += some([*generated_problems(60), *contest_problems()[:60]], 3)
    for one in usable(problems, executor):
        problem = one.problem
        how = {"style": "comment", "density": 1, "trace": one.trace}
        made = insert_messages(problem, draw(problem.id), **how)
        said = [site.text for site in made.sites if site.kind == "return"]
        if len(said) == 1:
            output = parse_literal(problem.output).value
            value = useless_value(one.trace.returned[0])
            assert not same_value(parse_literal(value).value, output)
            texts = [text.format(value=value) for _, text in messages()["return"]]
            assert said[0] in texts


SCALARS = "0 -1 1 False True '' [] None {} 'a' 0.0 set()"


@given(st.sets(st.sampled_from(SCALARS.split())))
def test_a_useless_value_is_none_of_those_seen(seen: set[str]) -> None:
    value = useless_value(frozenset(seen))
    assert value not in seen
    assert parse_literal(value).value not in [
        parse_literal(text).value for text in seen
    ]


PLAIN = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.text(max_size=8),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=len(some(range(300), 3)))
@given(PLAIN, st.integers(0, 10_000))
def test_another_value_has_the_same_type_and_is_another(
    value: object, seed: int
) -> None:
    try:
        other = other_value(value, draw("value", seed))
    except NoOtherValue:
        return
    assert type(other) is type(value)
    assert not same_value(other, value)
    if isinstance(value, tuple):
        assert len(other) == len(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "between"),
    [
        ("    y = x\n    return y", "  "),
        ("    if x:\n        return 1\n    return 2", "\n    "),
        ("    x.append(1)", "\n    "),
    ],
    ids=["behind the only return", "after several", "after none"],
)
def test_hints_stand_where_the_paper_puts_them(body: str, between: str) -> None:
    problem = Problem("p", f"def f(x):\n{body}", "f", "1", "1")
    told = f"{problem.code}{between}# The return value is 3"
    assert hint(problem, "3", "output").problem.code == told
    head = "def f(x):  # The function call is f(3)"
    assert hint(problem, "3", "input").problem.code == f"{head}\n{body}"


@pytest.mark.isolation
def test_wrong_inputs_give_another_output_and_written_hints_are_checked(
    executor: Executor,
) -> None:
    checked, _ = check_problems(some(generated_problems(30), 2), executor, 0)
    variants = make_variants(checked, "MHC", executor, seed=0, task="input")
    applied = [one for one in variants.values() if one.status == "applied"]
    assert len(applied) >= 0.93 * len(checked)
    first, second, _ = (one.problem for one in checked[:3])
    written = {first.id: first.output, second.id: "'surely wrong'"}
    found = make_variants(checked[:3], "MHC", executor, seed=0, written_hints=written)
    assert [one.status for one in found.values()] == ["rejected", "applied", "rejected"]
    assert "'surely wrong'" in found[second.id].problem.code


@pytest.mark.isolation
@needs_node
def test_written_hints_are_literals_of_the_programs_language(
    executor: Executor,
) -> None:
    checked, _ = check_problems(contest_problems("javascript")[:2], executor, 0)
    one, other = (problem.problem.id for problem in checked)
    written = {one: "(None, True)", other: "{1, 2}"}
    found = make_variants(checked, "MHC", executor, seed=0, written_hints=written)
    names(found[one].problem.code, "// The return value is [null, true]")
    assert found[other].status == "rejected", "JSON has no sets"


@pytest.mark.isolation
def test_what_changes_its_meaning_is_drawn_again_then_rejected_and_counted(
    executor: Executor,
) -> None:
    code = "def f(value):\n    return sorted(locals())"
    checked = usable([Problem("p", code, "f", "1", "['value']")], executor)
    refused = make_variants(checked, "REN", executor, seed=0)["p"]
    assert refused.status == "refused"
    names(refused.why, "locals")
    variant = make_variants(checked, "REN", executor, seed=0, guard="tag")["p"]
    assert (variant.status, variant.attempts) == ("rejected", 4)
    names(variant.why, "['value']", "['Var_1']")
    assert refused.problem == variant.problem == checked[0].problem
    plain = Problem("q", "def f(value):\n    return value", "f", "1", "1")
    made = make_variants(usable([plain], executor), "RTF", executor, seed=0)
    assert made["q"].status == "unchanged"


@pytest.mark.isolation
def test_problems_that_cannot_be_used_are_named(executor: Executor) -> None:
    programs = {
        "good": ("def f(x):\n    return x", "1"),
        "wrong": ("def f(x):\n    return x", "2"),
        "raises": ("def f(x):\n    return x[0]", "2"),
    }
    problems = [
        Problem(name, code, "f", "1", output)
        for name, (code, output) in programs.items()
    ]
    checked, faults = check_problems(problems, executor, 0)
    assert [one.problem.id for one in checked] == ["good"]
    assert faults.keys() == {"wrong", "raises"}
    assert re.search(r"\b1\b.*\b2\b", faults["wrong"])
    names(faults["raises"], "TypeError")


MODULES = [
    "dataclasses",
    "argparse",
    "asyncio/tasks",
    "inspect",
    "typing",
    "statistics",
]


@pytest.mark.parametrize("module", slow(some(MODULES, 3), "inspect"))
def test_whole_modules_still_parse(module: str) -> None:
    code = f"{standard_source(module)}\ndef f():\n    return 0\n"
    problem = vanilla(Problem("m", code, "f", "", "0"))
    once = rename(problem).problem
    changed = [once.code]
    for number in some(range(2), 2):
        made = [
            reformat_conditions(problem, draw("c", number)),
            insert_garbage(problem, draw("g", number)),
        ]
        for style in ("comment", "print"):
            how = {"style": style, "density": 1, "trace": Trace()}
            made.append(insert_messages(problem, draw("m", number), **how))
        changed += [one.problem.code for one in made]
    for text in changed:
        compile(text, module, "exec")
    twice = rename(once).problem
    numbered = re.compile(r"\b(Var_|f)\d+\b")
    assert numbered.sub("N", twice.code) == numbered.sub("N", once.code)


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.isolation
def test_no_perturbation_changes_any_program_of_cruxeval(
    executor: Executor, shared_data: Path
) -> None:
    problems = read_problems(shared_data / "cruxeval" / "cruxeval.jsonl").problems
    checked = usable(problems, executor)
    assert len(checked) == 800
    for perturbation in ALL:
        made = make_variants(checked, perturbation, executor, seed=0, guard="tag")
        statuses = [variant.status for variant in made.values()]
        # The published set: 46 % byte-identical to vanilla.
        unchanged = 367 if perturbation == "RTF" else 0
        assert statuses.count("unchanged") == unchanged
        assert statuses.count("applied") == 800 - unchanged
        # What the rules refuse was made nevertheless, and says why it is refused.
        assert sum(bool(one.doubt) for one in made.values()) <= 8


@needs_node
@pytest.mark.parametrize("perturbation", some(ALL, 2))
def test_javascript_keeps_its_meaning(
    perturbation: Perturbation, executor: Executor
) -> None:
    scripts = usable(some(contest_problems("javascript")[:16], 2), executor)
    variants = make_variants(scripts, perturbation, executor, seed=0)
    statuses = [one.status for one in variants.values()]
    least = (0.6 if perturbation == "RTF" else 1) * len(scripts)
    assert statuses.count("applied") >= least, [one.why for one in variants.values()]
    assert "rejected" not in statuses


@needs_node
def test_a_call_in_javascript_keeps_fractions_and_minus_zero(
    executor: Executor,
) -> None:
    code = "function f(a, b, c) {\n  return [1 / a, 1 / b, c];\n}"
    given = "-0, 0, [2.5, -1e-300, 1e300]"
    problem = Problem("p", code, "f", given, "", "javascript")
    [execution] = run_calls([(problem, given)], executor)
    expected = [-math.inf, math.inf, [2.5, -1e-300, 1e300]]
    assert same_value(execution.value, expected), execution


def test_javascript_names_and_shorthands() -> None:
    code = (
        "const scale = (x) => x * 2;\nfunction pick({ first, second: other = 1 }, ...rest) {\n"
        "  const total = first + other;\n  return { total, first, rest: rest.map((one) => scale(one)) };\n}"
    )
    problem = Problem("p", code, "pick", '{"first": 1}, 2', "", "javascript")
    renamed = rename(problem).problem
    assert renamed.code == (
        "const f1 = (Var_6) => Var_6 * 2;\nfunction f({ first: Var_1, second: Var_3 = 1 }, ...Var_4) {\n"
        "  const Var_5 = Var_1 + Var_3;\n"
        "  return { total: Var_5, first: Var_1, rest: Var_4.map((Var_2) => f1(Var_2)) };\n}"
    )
    assert renamed.call == 'f({"first": 1}, 2)'


@pytest.mark.slow
def test_contest_programs_are_many_and_the_same_in_both_languages(
    executor: Executor,
) -> None:
    python = contest_problems()
    assert len({problem.function for problem in python}) >= 40
    assert len({problem.output for problem in python}) > 0.7 * len(python)
    assert len(usable(python, executor)) == len(python)
    if not missing("javascript"):
        scripts = usable(contest_problems("javascript"), executor)
        assert [one.problem.id for one in scripts] == [one.id for one in python]
