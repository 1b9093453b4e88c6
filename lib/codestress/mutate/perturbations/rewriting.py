"""REN, RTF and GBC: renamed names, rewritten conditions, and garbage code (CodeCrash, appendix
B.1).

REN: variables and parameters become Var_1, Var_2, …, functions f, f1, …. The paper collects names;
here each occurrence is resolved to its variable, so that a parameter called `list` is renamed and
the builtin in another function is not. A name stays if it is reached by attribute (methods,
fields), imported, a class's, or a keyword of a call that cannot be resolved.

GBC: the paper says that there are seven dead loops (its Code 5), but its text does not hold them:
they are the kit's own. A condition that the paper prints as false, or a parameter that must equal
itself, is put only into programs without values that may be unequal to themselves (NaN). The next
text of its kind replaces a text that the rules refuse (guards.py).
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.edits import (
    GlobalNames,
    NotPerturbed,
    Perturbed,
    Site,
    numbered,
    unused,
)
from codestress.mutate.perturbations.javascript import JavaScriptProgram
from codestress.mutate.perturbations.javascript_guards import (
    IDENTIFIERS,
    declared,
    line_of,
)
from codestress.mutate.perturbations.programs import program_of
from codestress.mutate.perturbations.python import PythonProgram, read_in_classes
from codestress.mutate.scopes import FunctionNode, Names, Scope, resolve
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, text_of

N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""Numbers of control flows and dead functions that GBC puts into a program."""

Occurrence = tuple[int, str, Literal["function", "variable"], Callable[[str], None]]
"""One place where a name stands: its line, the name, the kind of the named thing, and a function
that puts another name there."""


def rename(problem: Problem) -> Perturbed:
    """Returns the problem with REN: everything that may be renamed has a new name, in keyword
    arguments and the problem's call too. The result's `sites` is empty where no name changed.
    Raises `NotPerturbed` where the name f is taken.

    Functions become f (the called one), f1, … in the order of the text, variables Var_1, … in the
    order of their names.
    """
    return (
        _rename_script(problem)
        if problem.language == "javascript"
        else _rename_python(problem)
    )


def _renamed(
    program: PythonProgram | JavaScriptProgram,
    functions: Iterable[str],
    variables: Iterable[str],
    kept: set[str],
    occurrences: Iterable[Occurrence],
) -> Perturbed:
    """Returns the problem with all `occurrences` renamed: the function that the problem calls
    becomes f, other `functions` f1, …, and `variables` Var_1, …; numbers that give a name in `kept`
    are skipped."""
    called = program.problem.function
    others = [name for name in dict.fromkeys(functions) if name != called]
    new = {
        "function": numbered("f", others, kept) | {called: "f"},
        "variable": numbered("Var_", sorted(variables), kept),
    }
    sites: dict[str, Site] = {}
    for line, old, kind, put in occurrences:
        if (name := new[kind].get(old, old)) != old:
            put(name)
            sites.setdefault(name, Site(line, kind, f"{old} → {name}"))
    return Perturbed(
        program.changed() if sites else program.problem, tuple(sites.values())
    )


def _rename_script(problem: Problem) -> Perturbed:
    """Returns a JavaScript problem with REN: each name is renamed everywhere alike, which keeps the
    meaning as long as no variable has the name of something that is used without a declaration.
    Raises `NotPerturbed` where the name f is taken."""
    program = JavaScriptProgram(problem)
    kinds: dict[str, set[str]] = defaultdict(set)
    for name, kind, _ in declared(program.root):
        kinds[kind].add(name)
    functions, variables, classes = (
        kinds[kind] for kind in ("function", "variable", "class")
    )
    kept = classes | program.used_names() - functions - variables
    if "f" in kept:
        raise NotPerturbed("the name f is taken")
    variables -= functions | classes
    named = [
        (node, text_of(node))
        for node in nodes(program.root)
        if node.type in IDENTIFIERS
    ]
    occurrences: list[Occurrence] = []
    in_order = list[str]()
    for node, name in named:
        called = name in functions
        if called and node.type == "identifier":
            in_order.append(name)
        put = partial(program.rename, node)
        occurrences.append(
            (line_of(node), name, "function" if called else "variable", put)
        )
    renamed = _renamed(program, in_order, variables, kept, occurrences)
    return replace(renamed, problem=replace(renamed.problem, function="f"))


def _rename_python(problem: Problem) -> Perturbed:
    program = PythonProgram(problem)
    tree, names = program.tree, program.names
    keywords = list(_keywords(tree, names))
    opaque = {keyword.arg for keyword, scope in keywords if scope is None}
    in_call = {id(node) for node in ast.walk(program.call)}
    every = [(scope, name) for scope in names.scopes for name in scope.bound]
    in_classes = {("module", name) for name in read_in_classes(names)}
    free = {
        (scope, name)
        for scope, name in every
        if id(scope.node) not in in_call
        and _may_be_renamed(scope, name, opaque)
        and (scope.kind, name) not in in_classes
    }
    bindings = [(one, (names.binding(one), one.name)) for one in names.occurrences]
    kept = {one.name for one, binding in bindings if binding not in free}
    kept |= {name for scope, name in every if (scope, name) not in free}
    defined = sorted(
        (scope.functions[name][0].lineno, name)
        for scope, name in free
        if name in scope.functions
    )
    functions = [name for _, name in defined]
    if problem.function in functions and "f" in kept:
        raise NotPerturbed("the name f is taken by an import or a class")
    occurrences: list[Occurrence] = [
        (getattr(one.node, "lineno", 0), one.name, _kind(*binding), one.rename)
        for one, binding in bindings
        if binding in free
    ]
    occurrences.sort(key=lambda occurrence: occurrence[0])
    for keyword, scope in keywords:
        if keyword.arg is not None and (scope, keyword.arg) in free:
            put = partial(setattr, keyword, "arg")
            occurrences.append((0, keyword.arg, _kind(scope, keyword.arg), put))
    variables = {name for scope, name in free if _kind(scope, name) == "variable"}
    return _renamed(program, functions, variables, kept, occurrences)


def _kind(scope: Scope | None, name: str) -> Literal["function", "variable"]:
    return (
        "function"
        if scope is not None and "function" in scope.bound[name]
        else "variable"
    )


def _may_be_renamed(scope: Scope, name: str, opaque: set[str | None]) -> bool:
    kinds = scope.bound[name]
    if scope.kind == "class" or name.startswith("__"):
        return False
    if "parameter" in kinds:
        method = (
            scope.kind == "function" and scope.parent and scope.parent.kind == "class"
        )
        if name in opaque or (method and name in ("self", "cls")):
            return False
    return kinds <= {"parameter", "variable", "function"}


KEEPING = ("cache", "lru_cache", "wraps")
"""Decorators that pass keyword arguments on with their names."""


def _keywords(
    tree: ast.Module, names: Names
) -> Iterator[tuple[ast.keyword, Scope | None]]:
    """Yields each keyword of a call with the scope of the program's function whose parameter the
    keyword names, or with None where that is uncertain: then parameters of that name are not
    renamed. Keywords that a `**` parameter collects are left out."""
    scopes = {id(occurrence.node): occurrence.scope for occurrence in names.occurrences}
    inner = {id(scope.node): scope for scope in names.scopes}
    for defined in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        yield from ((keyword, None) for keyword in defined.keywords if keyword.arg)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        functions: list[FunctionNode] = []
        if isinstance(call.func, ast.Name):
            name = call.func.id
            owner = resolve(name, scopes[id(call.func)])
            if owner and owner.bound[name] == {"function"} and owner.kind != "class":
                functions = owner.functions[name]
        decorators = [
            decorator for function in functions for decorator in function.decorator_list
        ]
        applied = [getattr(decorator, "func", decorator) for decorator in decorators]
        keeping = all(
            getattr(one, "attr", getattr(one, "id", "")) in KEEPING for one in applied
        )
        for keyword in call.keywords:
            named = set[bool]()
            for function in functions:
                given = [*function.args.args, *function.args.kwonlyargs]
                named.add(keyword.arg in [parameter.arg for parameter in given])
            if keyword.arg is not None and not (named == {False} and keeping):
                yield (
                    keyword,
                    inner[id(functions[0])] if named == {True} and keeping else None,
                )


# --- RTF and GBC ---


def reformat_conditions(
    problem: Problem, draw: Draw, original: Problem | None = None
) -> Perturbed:
    """Returns the problem with RTF: every condition is rewritten by a template drawn for it. The
    result's `sites` lists the rewritten conditions; it is empty where there are none.

    `{para}` in a template is a parameter of the enclosing function, or true or false. Where the
    rules of guards.py refuse the template, `{para}` becomes true, else the next template is taken;
    a condition for which all are refused stays. `original` is the program before all perturbations,
    whose constructs the rules look at; `problem` itself if None.
    """
    program, rules = program_of(problem), program_of(original or problem)
    sites = list[Site]()
    for place in program.conditions():
        drawn = draw.choice(place.templates)
        para = draw.choice([*place.named, *program.truths])
        for template in _from(place.templates, drawn):
            constant = template.replace("{para}", program.truths[0])
            forms = (template, constant)
            usable = [
                form for form in forms if not rules.refusal(form, place.text, para)
            ]
            if usable:
                text = usable[0].format(cond=place.text, para=para)
                place.put(text)
                sites.append(Site(place.line, "condition", f"{place.text} → {text}"))
                break
    return Perturbed(program.changed() if sites else problem, tuple(sites))


def insert_garbage(
    problem: Problem,
    draw: Draw,
    original: Problem | None = None,
    globals_of: GlobalNames = "parameters",
) -> Perturbed:
    """Returns the problem with GBC (garbage code). The result's `sites` lists what was put; it is
    empty where nothing was.

    Three of the four control flows and two of the seven dead functions are put at places drawn for
    each; one that the rules of guards.py refuse is left out, and the next false condition replaces
    a refused one. Half of the program's parameters (rounded up), or of its parameters and local
    variables (`globals_of` is `both`), are declared as globals with numbers from 1 to 100; local
    variables alone where there is no parameter. `original` is the program before all perturbations,
    whose constructs the rules look at; `problem` itself if None.
    """
    program, rules = program_of(problem), program_of(original or problem)
    texts, sites = program.texts, list[Site]()
    used, places, constant = program.used_names(), program.places(), program.truths[0]
    # Before garbage is put in, whose own names are none of the program's.
    both = program.hidden_names(variables=True)
    own = both if globals_of == "both" else program.hidden_names()
    candidates = own or both
    snippets = draw.sample(texts["control_flow"], N_CONTROL_FLOW)
    snippets += draw.sample(texts["dead_loops"], N_DEAD_LOOPS)
    order = draw.sample(snippets, len(snippets)) if places else []
    for number, template in enumerate(order):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else constant
        drawn = draw.choice(texts["false_conditions"])
        if rules.refusal(template.replace("{para}", constant)):
            continue
        if rules.refusal("{para}", para=para):
            para = constant
        every = _from(texts["false_conditions"], drawn)
        false = next(one for one in every if not rules.refusal(one, para=para))
        values = {
            "false": false.format(para=para),
            "para": para,
            "index": program.index,
        }
        values["new"] = unused(f"Temp_Var_{number}", used)
        values["name"] = unused(f"funct{number + 1}", used)
        text = template.format(**values)
        place.put(text)
        kind = "dead loop" if template in texts["dead_loops"] else "dead branch"
        sites.append(Site(place.line, kind, text))
    for name in draw.sample(candidates, math.ceil(len(candidates) / 2)):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return Perturbed(program.changed() if sites else problem, tuple(sites))


def _from(items: list[str], first: str) -> list[str]:
    """The list `items` turned so that it begins with `first`: the items before it come last."""
    at = items.index(first)
    return items[at:] + items[:at]
