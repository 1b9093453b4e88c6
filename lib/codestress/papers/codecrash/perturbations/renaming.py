"""REN: variables and parameters become Var_1, Var_2, …, functions f, f1, … (CodeCrash, appendix B.1.1).

The paper collects names; here each occurrence is resolved to the variable that it stands for, so that a parameter
called `list` is renamed and the builtin of another function is not. What is reached by attribute (methods, fields),
imported, a class, or given by a keyword to something that cannot be resolved, keeps its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

from codestress.generation.scopes import Names, Scope, resolve
from codestress.papers.codecrash.perturbations.edits import NotPerturbed, Perturbed, Site, numbered
from codestress.papers.codecrash.perturbations.javascript import JavaScriptProgram
from codestress.papers.codecrash.perturbations.javascript_guards import IDENTIFIERS, declared, line_of
from codestress.papers.codecrash.perturbations.python import PythonProgram, read_in_classes
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, text_of

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
    every = list(nodes(program.root))
    functions, variables, classes = (
        {name for name, kind, _ in declared(every) if kind == wanted} for wanted in ("function", "variable", "class")
    )
    kept = classes | program.used_names() - functions - variables
    if "f" in kept:
        raise NotPerturbed("the name f is taken")
    variables -= functions | classes
    found = [(node, text_of(node)) for node in every if node.type in IDENTIFIERS]
    made = _renamed(
        program,
        dict.fromkeys(old for node, old in found if node.type == "identifier" and old in functions),
        variables,
        kept,
        (
            (line_of(node), old, "function" if old in functions else "variable", partial(program.rename, node))
            for node, old in found
        ),
    )
    return replace(made, problem=replace(made.problem, function="f"))


def _rename_python(problem: Problem) -> Perturbed:
    program = PythonProgram(problem)
    tree, names = program.tree, program.names
    opaque = _opaque_keywords(tree, names)
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
    for keyword, scope in _known_keywords(tree, names):
        if keyword.arg is not None and (scope, keyword.arg) in free:
            found.append((0, keyword.arg, _kind(scope, keyword.arg), partial(setattr, keyword, "arg")))
    variables = {name for scope, name in free if _kind(scope, name) == "variable"}
    return _renamed(program, dict.fromkeys(functions), variables, kept, found)


def _kind(scope: Scope | None, name: str) -> Literal["function", "variable"]:
    return "function" if scope is not None and "function" in scope.bound[name] else "variable"


def _may_be_renamed(scope: Scope, name: str, opaque: set[str]) -> bool:
    kinds = scope.bound[name]
    if scope.kind == "class" or not kinds <= {"parameter", "variable", "function"} or name.startswith("__"):
        return False
    if "parameter" in kinds:
        in_class = scope.kind == "function" and scope.parent is not None and scope.parent.kind == "class"
        return name not in opaque and not (in_class and name in ("self", "cls"))
    return True


def _calls(names: Names, tree: ast.Module) -> Iterator[tuple[ast.Call, Binding | None]]:
    """Every call with keywords, and the function of the program that it calls, where that is certain."""
    scopes = {id(occurrence.node): occurrence.scope for occurrence in names.occurrences}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.keywords:
            continue
        target: Binding | None = None
        if isinstance(node.func, ast.Name):
            owner = resolve(node.func.id, scopes[id(node.func)])
            if owner is not None and owner.bound[node.func.id] == {"function"} and owner.kind != "class":
                target = (owner, node.func.id)
        yield node, target


def _opaque_keywords(tree: ast.Module, names: Names) -> set[str]:
    """Keywords of calls that may mean something else than a parameter: parameters with these names keep them."""
    return {
        keyword.arg
        for call, target in _calls(names, tree)
        for keyword in call.keywords
        if keyword.arg is not None and (target is None or len({*_named(target, keyword.arg)}) != 1)
    }


KEEPING = ("cache", "lru_cache", "wraps")
"""Decorators that hand keywords on as they are."""


def _named(target: Binding, keyword: str) -> Iterator[bool]:
    """For each definition of a function whether a keyword names a parameter of it, not something that `**` collects;
    for one whose decorator may look at keywords, both."""
    owner, function = target
    for defined in owner.functions[function]:
        given = defined.args
        yield keyword in [one.arg for one in (*given.args, *given.kwonlyargs)]
        for decorator in defined.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")) not in KEEPING:
                yield from (True, False)


def _known_keywords(tree: ast.Module, names: Names) -> Iterator[tuple[ast.keyword, Scope]]:
    """Keywords of calls that name parameters of the program's own functions, and these functions' scopes."""
    inner = {id(scope.node): scope for scope in names.scopes}
    for call, target in _calls(names, tree):
        for keyword in call.keywords if target is not None else ():
            if target is not None and keyword.arg is not None and {*_named(target, keyword.arg)} == {True}:
                owner, function = target
                yield keyword, inner[id(owner.functions[function][0])]
