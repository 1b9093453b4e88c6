"""RTF and GBC: rewritten conditions, and garbage code (CodeCrash, appendix B.1).

GBC: the paper says that there are seven dead loops (its Code 5), but its text does not hold them:
they are the kit's own. A condition that the paper prints as false, or a parameter that must equal
itself, is put only into programs without values that may be unequal to themselves (NaN). The next
text of its kind replaces a text that the rules refuse (guards.py).
"""

from __future__ import annotations

import math

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.edits import (
    GlobalNames,
    Perturbed,
    Site,
    unused,
)
from codestress.mutate.perturbations.programs import Program, program_of, why_refused
from codestress.problems.program import Problem

N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""Numbers of control flows and dead functions that GBC puts into a program."""


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
    program = program_of(problem)
    sites = list[Site]()
    for place in program.conditions():
        forms = list[str]()
        for template in _turned(place.templates, draw):
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
    """Returns the problem with GBC (garbage code). The result's `sites` lists what was put; it is
    empty where nothing was.

    Three of the four control flows and two of the seven dead functions are put at places drawn for
    each; one that the rules of guards.py refuse is left out, and the next false condition replaces
    a refused one. Half of the program's parameters (rounded up), or of its parameters and local
    variables (`globals_of` is `both`), are declared as globals with numbers from 1 to 100; local
    variables alone where there is no parameter. `original` is the program before all perturbations,
    whose constructs the rules look at; `problem` itself if None.
    """
    program = program_of(problem)
    # Before garbage is put in, whose own names are none of the program's.
    given, local = program.hidden_names()
    names = given or local
    if globals_of == "both":
        names = [*dict.fromkeys(given + local)]
    sites = _insert_snippets(program, original or problem, draw)
    for name in draw.sample(names, math.ceil(len(names) / 2)):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return Perturbed(program.changed() if sites else problem, tuple(sites))


def _insert_snippets(program: Program, original: Problem, draw: Draw) -> list[Site]:
    """Puts control flows and dead functions into the program, and returns what was put; the rules
    look at the problem `original`."""
    sites = list[Site]()
    used, places, texts = program.used_names(), program.places(), program.texts
    true = program.truths[0]
    snippets = draw.sample(texts["control_flow"], N_CONTROL_FLOW)
    snippets += draw.sample(texts["dead_loops"], N_DEAD_LOOPS)
    order = draw.sample(snippets, len(snippets)) if places else []
    for number, template in enumerate(order):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else true
        conditions = _turned(texts["false_conditions"], draw)
        if why_refused(original, template.replace("{para}", true)):
            continue
        if why_refused(original, "{para}", para=para):
            para = true
        false = next(
            one for one in conditions if not why_refused(original, one, para=para)
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


def _turned(items: list[str], draw: Draw) -> list[str]:
    """The list `items` turned so that it begins with one drawn: the items before it come last."""
    at = items.index(draw.choice(items))
    return items[at:] + items[:at]
