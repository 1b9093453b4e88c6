"""REN, RTF and GBC: names, conditions, and code that does nothing (CodeCrash, appendix B.1).

REN: variables and parameters become Var_1, Var_2, …, functions f, f1, …. The paper collects names; here each occurrence
is resolved to the variable that it stands for, so that a parameter called `list` is renamed and the builtin of another
function is not. What is reached by attribute (methods, fields), imported, a class, or given by a keyword to something
that cannot be resolved, keeps its name.

GBC: the paper says that there are seven dead loops (its Code 5), its text does not hold them: they are the kit's own.
What a guarded perturbation draws and may not put is the next of its kind that it may.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal, TypeVar

from codestress.generation.scopes import FunctionNode, Names, Scope, resolve
from codestress.papers.codecrash.perturbations.edits import (
    Guard,
    NotPerturbed,
    Perturbed,
    Place,
    Site,
    numbered,
    unused,
)
from codestress.papers.codecrash.perturbations.javascript import JavaScriptProgram
from codestress.papers.codecrash.perturbations.javascript_guards import IDENTIFIERS, declared, line_of
from codestress.papers.codecrash.perturbations.programs import program_of
from codestress.papers.codecrash.perturbations.python import PythonProgram, read_in_classes
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, text_of

T = TypeVar("T")
N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""How many of each a program gets."""
Binding = tuple[Scope, str]
"""A variable: the scope that binds it, and its name."""
Occurrence = tuple[int, str, Literal["function", "variable"], Callable[[str], None]]
"""Line, name, what it names, and what puts another name there."""


def rename(problem: Problem) -> Perturbed:
    """Renames everything that may be renamed; keyword arguments and the evaluated call follow.

    Functions are numbered in the order of the text, the called one first; variables in the order of their names.
    """
    return _rename_script(problem) if problem.language == "javascript" else _rename_python(problem)


def _renamed(
    program: PythonProgram | JavaScriptProgram,
    functions: Iterable[str],
    variables: Iterable[str],
    kept: set[str],
    occurrences: Iterable[Occurrence],
) -> Perturbed:
    """All of the occurrences renamed; new names are none of those that are kept."""
    called = program.problem.function
    new = {
        "function": numbered("f", [name for name in functions if name != called], kept) | {called: "f"},
        "variable": numbered("Var_", sorted(variables), kept),
    }
    sites: dict[str, Site] = {}
    for line, old, kind, put in occurrences:
        if (name := new[kind].get(old, old)) != old:
            put(name)
            sites.setdefault(name, Site(line, kind, f"{old} → {name}"))
    return Perturbed(program.changed() if sites else program.problem, tuple(sites.values()))


def _rename_script(problem: Problem) -> Perturbed:
    """A name is renamed everywhere, which keeps the meaning as long as no variable is called like something that is
    used without a declaration."""
    program = JavaScriptProgram(problem)
    found = list(declared(program.root))
    functions, variables, classes = (
        {name for name, kind, _ in found if kind == wanted} for wanted in ("function", "variable", "class")
    )
    kept = classes | program.used_names() - functions - variables
    if "f" in kept:
        raise NotPerturbed("the name f is taken")
    variables -= functions | classes
    named = [(node, text_of(node)) for node in nodes(program.root) if node.type in IDENTIFIERS]
    made = _renamed(
        program,
        dict.fromkeys(old for node, old in named if node.type == "identifier" and old in functions),
        variables,
        kept,
        (
            (line_of(node), old, "function" if old in functions else "variable", partial(program.rename, node))
            for node, old in named
        ),
    )
    return replace(made, problem=replace(made.problem, function="f"))


def _rename_python(problem: Problem) -> Perturbed:
    program = PythonProgram(problem)
    tree, names = program.tree, program.names
    keywords = list(_keywords(tree, names))
    opaque = {keyword.arg for keyword, scope in keywords if scope is None}
    in_call = {id(node) for node in ast.walk(program.call)}
    in_classes = read_in_classes(names)
    free = {
        (scope, name)
        for scope in names.scopes
        if id(scope.node) not in in_call
        for name in scope.bound
        if _may_be_renamed(scope, name, opaque) and not (scope.kind == "module" and name in in_classes)
    }
    bindings = [(one, (names.binding(one), one.name)) for one in names.occurrences]
    kept = {one.name for one, binding in bindings if binding not in free}
    kept |= {name for scope in names.scopes for name in scope.bound if (scope, name) not in free}
    defined = {(scope, name): scope.functions[name][0].lineno for scope, name in free if name in scope.functions}
    functions = [name for _, name in sorted((line, name) for (_, name), line in defined.items())]
    if problem.function in functions and "f" in kept:
        raise NotPerturbed("the name f is taken by an import or a class")
    found: list[Occurrence] = sorted(
        (
            (getattr(one.node, "lineno", 0), one.name, _kind(*binding), one.rename)
            for one, binding in bindings
            if binding in free
        ),
        key=lambda one: one[0],
    )
    for keyword, scope in keywords:
        if keyword.arg is not None and (scope, keyword.arg) in free:
            found.append((0, keyword.arg, _kind(scope, keyword.arg), partial(setattr, keyword, "arg")))
    variables = {name for scope, name in free if _kind(scope, name) == "variable"}
    return _renamed(program, dict.fromkeys(functions), variables, kept, found)


def _kind(scope: Scope | None, name: str) -> Literal["function", "variable"]:
    return "function" if scope is not None and "function" in scope.bound[name] else "variable"


def _may_be_renamed(scope: Scope, name: str, opaque: set[str | None]) -> bool:
    kinds = scope.bound[name]
    if scope.kind == "class" or not kinds <= {"parameter", "variable", "function"} or name.startswith("__"):
        return False
    if "parameter" in kinds:
        in_class = scope.kind == "function" and scope.parent is not None and scope.parent.kind == "class"
        return name not in opaque and not (in_class and name in ("self", "cls"))
    return True


KEEPING = ("cache", "lru_cache", "wraps")
"""Decorators that hand keywords on as they are."""


def _keywords(tree: ast.Module, names: Names) -> Iterator[tuple[ast.keyword, Scope | None]]:
    """Each keyword of a call, with the scope of the program's function whose parameter it names; without one where it
    may mean something else: parameters with these names keep them. None of those that `**` collects."""
    scopes = {id(occurrence.node): occurrence.scope for occurrence in names.occurrences}
    inner = {id(scope.node): scope for scope in names.scopes}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        functions: list[FunctionNode] = []
        if isinstance(call.func, ast.Name):
            owner = resolve(call.func.id, scopes[id(call.func)])
            if owner is not None and owner.bound[call.func.id] == {"function"} and owner.kind != "class":
                functions = owner.functions[call.func.id]
        decorators = [decorator for function in functions for decorator in function.decorator_list]
        made = [decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in decorators]
        keeping = all(getattr(one, "attr", getattr(one, "id", "")) in KEEPING for one in made)
        for keyword in call.keywords:
            given = [function.args for function in functions]
            named = {keyword.arg in [one.arg for one in (*args.args, *args.kwonlyargs)] for args in given}
            if keyword.arg is not None and not (named == {False} and keeping):
                yield keyword, inner[id(functions[0])] if named == {True} and keeping else None


# --- RTF and GBC ---


def reformat_conditions(
    problem: Problem, draw: Draw, original: Problem | None = None, guard: Guard = "tag"
) -> Perturbed:
    """Rewrites every condition by a template drawn for it; `{para}` is a parameter of the function around it, or true
    or false. A template that would change the meaning is not drawn.

    `original` is the program before all perturbations; with the guard `refuse` only what its text shows to be harmless
    is done.
    """
    program, facts = program_of(problem), program_of(original or problem).facts
    sites, doubts = list[Site](), list[str]()

    def doubt_of(option: tuple[str, str]) -> str:
        return place.doubt or facts.condition_doubt(place.text, *option)

    for place in program.conditions():
        drawn = (draw.choice(place.templates), draw.choice([*place.named, *program.truths]))
        options = product(_from(place.templates, drawn[0]), (drawn[1], program.truths[0]))
        if (chosen := _guarded(drawn, options, doubt_of, doubts, guard)) is not None:
            template, para = chosen
            text = template.format(cond=place.text, para=para)
            place.put(text)
            sites.append(Site(place.line, "condition", f"{place.text} → {text}"))
    return Perturbed(program.changed() if sites else problem, tuple(sites), tuple(doubts))


def insert_garbage(problem: Problem, draw: Draw, original: Problem | None = None, guard: Guard = "tag") -> Perturbed:
    """Puts three of the four control flows and two of the seven functions at places drawn for each, and declares
    half of the parameters (rounded up) as globals with numbers from 1 to 100; `original` and `guard`
    as above."""
    program, facts = program_of(problem), program_of(original or problem).facts
    sites, doubts = list[Site](), list[str]()
    used, places, constant = program.used_names(), program.places(), program.truths[0]
    snippets = [*_chosen(program.control_flow, N_CONTROL_FLOW, draw), *_chosen(program.dead_loops, N_DEAD_LOOPS, draw)]

    def doubt_of(option: tuple[Place, str, str]) -> str:
        place, false, para = option
        false = false if "{false}" in template else ""
        return place.doubt or facts.garbage_doubt(template.replace("{false}", false), false, para)

    for number, template in enumerate(_chosen(snippets, len(snippets), draw) if places else []):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else constant
        drawn = (place, draw.choice(program.false_conditions), para)
        options = (
            (here, false, value)
            for here in _from(places, place)
            for value in dict.fromkeys((*_from(here.named, para), constant))
            for false in _from(program.false_conditions, drawn[1])
        )
        if (chosen := _guarded(drawn, options, doubt_of, doubts, guard)) is not None:
            place, false, para = chosen
            new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
            text = template.format(false=false.format(para=para), para=para, new=new, name=name, index=program.index)
            place.put(text)
            sites.append(Site(place.line, "dead loop" if template in program.dead_loops else "dead branch", text))
    candidates = program.hidden_names(used)
    doubt = facts.global_doubt() if candidates else ""
    doubts += [doubt] if doubt else []
    for name in _chosen([] if doubt and guard == "refuse" else candidates, math.ceil(len(candidates) / 2), draw):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return Perturbed(program.changed() if sites else problem, tuple(sites), tuple(doubts))


def _guarded(drawn: T, options: Iterable[T], doubt_of: Callable[[T], str], doubts: list[str], guard: Guard) -> T | None:
    """What was drawn, or the first option in its place of which there is no doubt, where the guard refuses it; none
    where there is none. Doubts about what is made or left out are added."""
    doubt = doubt_of(drawn)
    found = next((one for one in options if not doubt_of(one)), None) if doubt and guard == "refuse" else drawn
    doubts += [doubt] if doubt and (found is None or found is drawn) else []
    return found


def _from(items: Sequence[T], first: T) -> list[T]:
    """The items from one on, where it is one of them, and then those before it."""
    at = list(items).index(first) if first in items else 0
    return [*items[at:], *items[:at]]


def _chosen(items: Sequence[str], count: int, draw: Draw) -> list[str]:
    """`count` of the items, in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]
