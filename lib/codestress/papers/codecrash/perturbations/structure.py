"""RTF and GBC: conditions rewritten by templates, and code that does nothing (CodeCrash, appendix B.1.2 and B.1.3).

The paper says that there are seven dead loops (its Code 5), its text does not hold them: they are the kit's own.
What a guarded perturbation draws and may not put is the next of its kind that it may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    program, sites, doubts = program_of(problem, original), list[Site](), list[str]()

    def doubt_of(option: tuple[str, str]) -> str:
        return place.doubt or program.facts.condition_doubt(place.text, *option)

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
    program, sites, doubts = program_of(problem, original), list[Site](), list[str]()
    used, places, constant = program.used_names(), program.places(), program.truths[0]
    snippets = [*_chosen(program.control_flow, N_CONTROL_FLOW, draw), *_chosen(program.dead_loops, N_DEAD_LOOPS, draw)]

    def doubt_of(option: tuple[Place, str, str]) -> str:
        place, false, para = option
        false = false if "{false}" in template else ""
        return place.doubt or program.facts.garbage_doubt(template.replace("{false}", false), false, para)

    for number, template in enumerate(_chosen(snippets, len(snippets), draw) if places else []):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else constant
        drawn = (place, draw.choice(program.false_conditions), para)
        options = _garbage(places, drawn, program.false_conditions, constant)
        if (chosen := _guarded(drawn, options, doubt_of, doubts, guard)) is not None:
            place, false, para = chosen
            new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
            text = template.format(false=false.format(para=para), para=para, new=new, name=name, index=program.index)
            place.put(text)
            sites.append(Site(place.line, "dead loop" if template in program.dead_loops else "dead branch", text))
    candidates = program.hidden_names(used)
    doubt = program.facts.global_doubt() if candidates else ""
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


def _garbage(
    places: Sequence[Place], drawn: tuple[Place, str, str], falses: Sequence[str], constant: str
) -> Iterator[tuple[Place, str, str]]:
    """Places, false conditions and values to put instead of those drawn, the nearest to them first."""
    place, first, para = drawn
    for here in _from(places, place):
        for value in dict.fromkeys([*(_from(here.named, para) if para in here.named else here.named), constant]):
            yield from ((here, false, value) for false in _from(falses, first))


def _from(items: Sequence[T], first: T) -> list[T]:
    """The items from one on, and then those before it."""
    at = list(items).index(first)
    return [*items[at:], *items[:at]]


def _chosen(items: Sequence[str], count: int, draw: Draw) -> list[str]:
    """`count` of the items, in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]
