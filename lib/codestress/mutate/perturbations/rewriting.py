"""REN, RTF and GBC: renamed variables and functions, rewritten conditions, and garbage
code (CodeCrash, appendix B.1).

REN: variables and parameters become Var_1, Var_2, …, functions f, f1, … The paper
collects names. Here each occurrence is resolved to its variable, so that a parameter
called `list` is renamed, but the built-in in another function is not. A name stays if
it is reached by attribute (methods, fields), is imported, names a class, or is a
keyword of a call that cannot be resolved.

RTF and GBC: some templates and false conditions compare a parameter with itself. They
are put only into programs without values that may be unequal to themselves (NaN). If
the rules (guards.yaml) refuse a text, the next text of its kind replaces it.

GBC: the paper says that there are seven dead loops (its Code 5), but its text does not
show them; these loops are the kit's own.
"""

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Literal

from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, text_of

from ..draw import Draw
from ..scopes import FunctionNode, Names, Occurrence, Scope, resolve
from .edits import (
    GlobalNames,
    NotPerturbed,
    Perturbed,
    Site,
    numbered,
    unused,
    without,
)
from .javascript import JavaScriptProgram
from .javascript_syntax import (
    IDENTIFIERS,
    declared,
    line_of,
)
from .programs import Program, program_of, why_refused
from .python import PythonProgram, bound_in_classes

Kind = Literal["function", "variable"]
"""Kinds of things that are renamed."""
Named = tuple[int, str, Kind, Callable[[str], None]]
"""One occurrence of a name: its line, the name, the kind of the named thing, and a
function that puts another name there."""
N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""Numbers of control flows and dead functions that GBC puts into a program."""


# --- RTF, GBC ---


def reformat_conditions(
    problem: Problem, draw: Draw, original: Problem | None = None
) -> Perturbed:
    """Return the problem with RTF: every condition is rewritten with a template drawn
    for it.

    The result's `sites` lists the rewritten conditions; it is empty if there are none.
    `{para}` in a template is a parameter of the enclosing function, or true or false.

    If the rules of guards.yaml refuse the template, `{para}` becomes true; if they
    refuse that too, the next template is tried. A condition for which all templates are
    refused stays. The rules look at the constructs of `original`, the program before
    all perturbations; `problem` itself if None.
    """
    program = program_of(problem)
    sites = list[Site]()
    for place in program.conditions():
        forms = list[str]()
        for template in _rotated(place.templates, draw):
            forms += [template, template.replace("{para}", program.truths[0])]
        para = draw.choice([*place.named, *program.truths])
        for form in forms:
            if not why_refused(original or problem, form, place.text, para):
                text = form.format(cond=place.text, para=para)
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
    """Return the problem with GBC (garbage code).

    The result's `sites` lists the inserted code; it is empty if nothing was inserted.
    Three of the four control flows and two of the seven dead functions are put at
    places drawn for each. A snippet that the rules of guards.yaml refuse is left out.
    If they refuse a false condition, the next one replaces it.

    Half of the program's parameters (rounded up) are declared as globals with numbers
    from 1 to 100. If there is no parameter, half of the local variables are; if
    `globals_of` is `both`, half of parameters and local variables. The rules look at
    the constructs of `original`, the program before all perturbations; `problem` itself
    if None.
    """
    program = program_of(problem)
    # Read before the garbage adds names of its own.
    params, local = program.hidden_names()
    names = params or local
    if globals_of == "both":
        names = [*dict.fromkeys(params + local)]
    sites = _insert_snippets(program, original or problem, draw)
    for name in draw.sample(names, math.ceil(len(names) / 2)):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return Perturbed(program.changed() if sites else problem, tuple(sites))


def _insert_snippets(program: Program, original: Problem, draw: Draw) -> list[Site]:
    """Put control flows and dead functions into the program, and return the changes
    made.

    The rules look at the problem `original`.
    """
    sites = list[Site]()
    used, places, texts = program.used_names(), program.places(), program.texts
    true = program.truths[0]
    snippets = draw.sample(texts["control_flow"], N_CONTROL_FLOW)
    snippets += draw.sample(texts["dead_loops"], N_DEAD_LOOPS)
    order = draw.sample(snippets, len(snippets)) if places else []
    for number, template in enumerate(order):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else true
        conditions = _rotated(texts["false_conditions"], draw)
        if why_refused(original, template.replace("{para}", true)):
            continue
        if why_refused(original, "{para}", para=para):
            para = true
        false = next(
            text for text in conditions if not why_refused(original, text, para=para)
        )
        text = template.format(
            false=false.format(para=para),
            para=para,
            index=program.index,
            new=unused(f"Temp_Var_{number}", used),
            name=unused(f"funct{number + 1}", used),
        )
        place.put(text)
        kind = "dead loop" if template in texts["dead_loops"] else "dead branch"
        sites.append(Site(place.line, kind, text))
    return sites


def _rotated(items: Sequence[str], draw: Draw) -> list[str]:
    """Return `items` rotated to begin with an item drawn at random; the items before it
    come last."""
    at = items.index(draw.choice(items))
    return [*items[at:], *items[:at]]


# --- REN ---


def rename(problem: Problem) -> Perturbed:
    """Return the problem with REN: everything that may be renamed has a new name, also
    in keyword arguments and in the problem's call.

    The result's `sites` is empty if no name changed. The called function becomes f,
    further functions f1, … in the order of the text, variables Var_1, … in the order of
    their names. Raises `NotPerturbed` if the name f is taken.
    """
    if problem.language == "javascript":
        return _rename_script(problem)
    return _rename_python(problem)


def _renamed(
    program: Program,
    functions: list[str],
    occurrences: Sequence[Named],
    reserved: set[str],
) -> Perturbed:
    """Return the problem with all `occurrences` renamed.

    The function that the problem calls becomes f, further functions of `functions` f1,
    …, and variables Var_1, …. Numbers that would give a name in `reserved` are skipped.
    """
    called = program.problem.function
    others = without(functions, {called})
    variables = {name for _, name, kind, _ in occurrences if kind == "variable"}
    new = {
        "function": numbered("f", others, reserved) | {called: "f"},
        "variable": numbered("Var_", sorted(variables), reserved),
    }
    sites: dict[str, Site] = {}
    for line, old, kind, put in occurrences:
        name = new[kind][old]
        if name != old:
            put(name)
            sites.setdefault(name, Site(line, kind, f"{old} → {name}"))
    changed = program.changed() if sites else program.problem
    return Perturbed(changed, tuple(sites.values()))


def _rename_script(problem: Problem) -> Perturbed:
    """Return a JavaScript problem with REN: each name is renamed everywhere alike.

    That keeps the meaning as long as no variable has the name of something that is used
    without a declaration.
    """
    program = JavaScriptProgram(problem)
    kinds: dict[str, set[str]] = defaultdict(set)
    for name, kind, _ in declared(program.root):
        kinds[kind].add(name)
    classes = kinds["class"]
    renamed: dict[str, Kind] = dict.fromkeys(kinds["variable"] - classes, "variable")
    renamed |= dict.fromkeys(kinds["function"], "function")
    reserved = classes | program.used_names() - set(renamed)
    if "f" in reserved:
        raise NotPerturbed("the name f is taken")
    occurrences: list[Named] = []
    for node in nodes(program.root):
        name, put = text_of(node), partial(program.rename, node)
        if node.type in IDENTIFIERS and name in renamed:
            occurrences.append((line_of(node), name, renamed[name], put))
    in_order = [name for _, name, kind, _ in occurrences if kind == "function"]
    result = _renamed(program, in_order, occurrences, reserved)
    return replace(result, problem=replace(result.problem, function="f"))


def _rename_python(problem: Problem) -> Perturbed:
    """Return a Python problem with REN: each occurrence of a name is resolved to its variable."""
    program = PythonProgram(problem)
    names = program.names
    keywords, opaque = _keywords(program.tree, names)
    in_call = {id(node) for node in ast.walk(program.call)}
    in_classes = bound_in_classes(names)
    free = set[tuple[Scope, str]]()
    reserved = set[str]()
    for scope in names.scopes:
        fixed = scope.kind == "class" or id(scope.node) in in_call
        for name, kinds in scope.bound.items():
            if (
                fixed
                or not kinds <= {"parameter", "variable", "function"}
                or (scope.kind == "module" and name in in_classes)
                or ("parameter" in kinds and name in opaque)
                or name.startswith("__")
            ):
                reserved.add(name)
            else:
                free.add((scope, name))
    occurrences: list[Named] = []
    defined = list[str]()
    in_order = sorted(names.occurrences, key=attrgetter("node.lineno"))
    for occurrence in [*in_order, *keywords]:
        name, binding = occurrence.name, occurrence.binding
        if binding is None or (binding, name) not in free:
            reserved.add(name)
            continue
        if isinstance(occurrence.node, FunctionNode):
            defined.append(name)
        kind: Kind = "function" if name in binding.functions else "variable"
        line = getattr(occurrence.node, "lineno", 0)
        occurrences.append((line, name, kind, occurrence.rename))
    if problem.function in defined and "f" in reserved:
        raise NotPerturbed("the name f is taken by an import or a class")
    walked = ast.walk(program.tree)
    reserved |= {str(node.arg) for node in walked if isinstance(node, ast.keyword)}
    return _renamed(program, defined, occurrences, reserved)


def _keywords(tree: ast.Module, names: Names) -> tuple[list[Occurrence], set[str]]:
    """Return the keywords of calls that name a parameter of the program's functions,
    and the names of parameters that are not renamed.

    The keywords are occurrences in the function's scope. Not renamed are `self`, `cls`,
    and keywords of calls whose function is uncertain. Keywords that a `**` parameter
    collects are left out.
    """
    scopes = {id(occurrence.node): occurrence.scope for occurrence in names.occurrences}
    inner = {id(scope.node): scope for scope in names.scopes}
    resolved = list[Occurrence]()
    opaque = {"self", "cls"}
    for node in ast.walk(tree):
        function: FunctionNode | None = None
        match node:
            case ast.Call(ast.Name(name) as called):
                function = _definition(name, scopes[id(called)])
        for keyword in getattr(node, "keywords", []):
            if function is None:
                opaque.add(keyword.arg)
                continue
            parameters = [*function.args.args, *function.args.kwonlyargs]
            if keyword.arg in [arg.arg for arg in parameters]:
                scope, put = inner[id(function)], partial(setattr, keyword, "arg")
                resolved.append(Occurrence(keyword, keyword.arg, scope, put))
    return resolved, opaque


def _definition(name: str, scope: Scope) -> FunctionNode | None:
    """Return the definition of the function that a name in `scope` means.

    Return None if the name may mean something else, or if a decorator may look at
    keyword arguments.
    """
    owner = resolve(name, scope)
    if owner is None or owner.kind == "class" or owner.bound[name] != {"function"}:
        return None
    function, *others = owner.functions[name]
    return None if others or function.decorator_list else function
