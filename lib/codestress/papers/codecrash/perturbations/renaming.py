"""REN: variables and parameters become Var_1, Var_2, …, functions f, f1, … (CodeCrash, appendix B.1.1).

The paper collects names; here each occurrence is resolved to the variable that it stands for, so that a parameter
called `list` is renamed and the builtin of another function is not. What is reached by attribute (methods, fields),
imported, a class, or given by a keyword to something that cannot be resolved, keeps its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codestress.generation.scopes import Names, Scope, resolve
from codestress.papers.codecrash.perturbations import javascript
from codestress.papers.codecrash.perturbations.edits import NotPerturbed, Perturbed, Site, numbered
from codestress.papers.codecrash.perturbations.python import PythonProgram, read_in_classes
from codestress.problems.program import Problem

Binding = tuple[Scope, str]
"""A variable: the scope that binds it, and its name."""


def rename(problem: Problem) -> Perturbed:
    """Renames everything that may be renamed; keyword arguments and the evaluated call follow.

    Functions are numbered in the order of the text, the called one first; variables in the order of their names.
    """
    if problem.language == "javascript":
        return javascript.rename(problem)
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
    new = _new_names(names, free, problem.function)
    found = [
        (occurrence, new[owner, occurrence.name])
        for occurrence in names.occurrences
        if (owner := names.binding(occurrence)) is not None and (owner, occurrence.name) in new
    ]
    keywords = list(_known_keywords(tree, names, new))
    sites: dict[str, Site] = {}
    for occurrence, name in sorted(found, key=lambda one: getattr(one[0].node, "lineno", 0)):
        if occurrence.name != name:
            kind = "variable" if name.startswith("Var_") else "function"
            sites.setdefault(name, Site(getattr(occurrence.node, "lineno", 0), kind, f"{occurrence.name} → {name}"))
    for occurrence, name in found:
        occurrence.rename(name)
    for keyword, name in keywords:
        keyword.arg = name
    return program.perturbed(sites.values())


def _may_be_renamed(scope: Scope, name: str, opaque: set[str]) -> bool:
    kinds = scope.bound[name]
    if scope.kind == "class" or not kinds <= {"parameter", "variable", "function"} or name.startswith("__"):
        return False
    if "parameter" in kinds:
        in_class = scope.kind == "function" and scope.parent is not None and scope.parent.kind == "class"
        return name not in opaque and not (in_class and name in ("self", "cls"))
    return True


def _new_names(names: Names, free: set[Binding], called: str) -> dict[Binding, str]:
    """New names, none of which the program already uses for something that keeps its name."""
    kept = {
        occurrence.name
        for occurrence in names.occurrences
        if (owner := names.binding(occurrence)) is None or (owner, occurrence.name) not in free
    } | {name for scope in names.scopes for name in scope.bound if (scope, name) not in free}
    ordered = sorted(
        (scope.functions[name][0].lineno, name)
        for scope, name in free
        if "function" in scope.bound[name] and name in scope.functions
    )
    found = dict.fromkeys(name for _, name in ordered)
    if called in found and "f" in kept:
        raise NotPerturbed("the name f is taken by an import or a class")
    functions = numbered("f", [name for name in found if name != called], kept) | {called: "f"}
    variables = numbered("Var_", sorted({name for scope, name in free if "function" not in scope.bound[name]}), kept)
    return {
        (scope, name): functions[name] if "function" in scope.bound[name] else variables[name] for scope, name in free
    }


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


def _known_keywords(tree: ast.Module, names: Names, new: dict[Binding, str]) -> Iterator[tuple[ast.keyword, str]]:
    """Keywords of calls of the program's own functions, with the new names of their parameters."""
    inner = {id(scope.node): scope for scope in names.scopes}
    for call, target in _calls(names, tree):
        if target is None:
            continue
        owner, function = target
        for keyword in call.keywords:
            if keyword.arg is not None and {*_named(target, keyword.arg)} == {True}:
                scope = inner[id(owner.functions[function][0])]
                if (scope, keyword.arg) in new:
                    yield keyword, new[scope, keyword.arg]
