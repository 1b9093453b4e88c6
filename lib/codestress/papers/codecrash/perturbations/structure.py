"""RTF and GBC: conditions rewritten by templates, and code that does nothing (CodeCrash, appendix B.1.2 and B.1.3).

The paper says that there are seven dead loops (its Code 5), its text does not hold them: they are the kit's own.
What a guarded perturbation draws and may not put is the next of its kind that it may.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeVar

from codestress.papers.codecrash.perturbations.edits import Guard, Perturbed, Place, Site, unused
from codestress.papers.codecrash.perturbations.programs import program_of
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem

T = TypeVar("T")
N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""How many of each a program gets."""


def reformat_conditions(
    problem: Problem, draw: Draw, original: Problem | None = None, guard: Guard = "tag"
) -> Perturbed:
    """Rewrites every condition by a template drawn for it; `{para}` is a parameter of the function around it, or true
    or false. A template that would change the meaning is not drawn.

    `original` is the program before all perturbations; with the guard `refuse` only what its text shows to be harmless
    is done.
    """
    program, sites, doubts = program_of(problem, original), [], []
    for place in program.conditions():
        template = draw.choice(place.templates)
        para = draw.choice([*place.named, *program.truths])
        doubt = program.condition_doubt(place, template, para)
        if doubt and guard == "refuse":
            options = product(_from(place.templates, template), (para, program.truths[0]))
            safe = [one for one in options if not program.condition_doubt(place, *one)]
            if not safe:
                doubts.append(doubt)
                continue
            template, para = safe[0]
        elif doubt:
            doubts.append(doubt)
        text = template.format(cond=place.text, para=para)
        place.put(text)
        sites.append(Site(place.line, "condition", f"{place.text} → {text}"))
    return program.perturbed(sites, doubts)


def insert_garbage(problem: Problem, draw: Draw, original: Problem | None = None, guard: Guard = "tag") -> Perturbed:
    """Puts three of the four control flows and two of the seven functions at places drawn for each, and declares
    half of the parameters (rounded up) as globals with numbers from 1 to 100; `original` and `guard`
    as above."""
    program = program_of(problem, original)
    used, places, sites, doubts = program.used_names(), program.places(), [], []
    snippets = [*_chosen(program.control_flow, N_CONTROL_FLOW, draw), *_chosen(program.dead_loops, N_DEAD_LOOPS, draw)]
    for number, template in enumerate(_chosen(snippets, len(snippets), draw) if places else []):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else program.truths[0]
        false = draw.choice(program.false_conditions)
        doubt = program.garbage_doubt(place, template, false, para)
        if doubt and guard == "refuse":
            options = _garbage(places, place, para, _from(program.false_conditions, false), program.truths[0])
            safe = next((one for one in options if not program.garbage_doubt(one[0], template, *one[1:])), None)
            if safe is None:
                doubts.append(doubt)
                continue
            place, false, para = safe
        elif doubt:
            doubts.append(doubt)
        new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
        text = template.format(false=false.format(para=para), para=para, new=new, name=name, index=program.index)
        place.put(text)
        sites.append(Site(place.line, "dead loop" if template in program.dead_loops else "dead branch", text))
    candidates = program.hidden_names(used)
    doubt = program.global_doubt() if candidates else ""
    doubts += [doubt] if doubt else []
    for name in _chosen([] if doubt and guard == "refuse" else candidates, math.ceil(len(candidates) / 2), draw):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return program.perturbed(sites, doubts)


def _garbage(
    places: Sequence[Place], place: Place, para: str, falses: Sequence[str], constant: str
) -> Iterator[tuple[Place, str, str]]:
    """Places, false conditions and values to put instead of those drawn, the nearest to them first."""
    for here in _from(places, place):
        for value in dict.fromkeys([*(_from(here.named, para) if para in here.named else here.named), constant]):
            yield from ((here, false, value) for false in falses)


def _from(items: Sequence[T], first: T) -> list[T]:
    """The items from one on, and then those before it."""
    at = list(items).index(first)
    return [*items[at:], *items[:at]]


def _chosen(items: Sequence[str], count: int, draw: Draw) -> list[str]:
    """`count` of the items, in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]
