"""RTF and GBC: conditions rewritten by templates, and code that does nothing (CodeCrash, appendix B.1.2 and B.1.3).

The paper says that there are seven dead loops (its Code 5), its text does not hold them: they are the kit's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from codestress.papers.codecrash.perturbations.edits import Perturbed, Site, unused
from codestress.papers.codecrash.perturbations.programs import program_of
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem

N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""How many of each a program gets."""


def reformat_conditions(problem: Problem, draw: Draw) -> Perturbed:
    """Rewrites every condition by a template drawn for it; `{para}` is a parameter of the function around it, or true
    or false. A template that would change the meaning is not drawn."""
    program, sites = program_of(problem), []
    for place in program.conditions():
        template = draw.choice(place.templates)
        text = template.format(cond=place.text, para=draw.choice([*place.named, *program.truths]))
        place.put(text)
        sites.append(Site(place.line, "condition", f"{place.text} → {text}"))
    return program.perturbed(sites)


def insert_garbage(problem: Problem, draw: Draw) -> Perturbed:
    """Puts three of the four control flows and two of the seven functions at places drawn for each, and declares
    half of the parameters (rounded up) as globals with numbers from 1 to 100."""
    program = program_of(problem)
    used, places, sites = program.used_names(), program.places(), []
    snippets = [*_chosen(program.control_flow, N_CONTROL_FLOW, draw), *_chosen(program.dead_loops, N_DEAD_LOOPS, draw)]
    for number, template in enumerate(_chosen(snippets, len(snippets), draw) if places else []):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else program.truths[0]
        false = draw.choice(program.false_conditions).format(para=para)
        new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
        text = template.format(false=false, para=para, new=new, name=name, index=program.index)
        place.put(text)
        sites.append(Site(place.line, "dead loop" if template in program.dead_loops else "dead branch", text))
    candidates = program.hidden_names(used)
    for name in _chosen(candidates, math.ceil(len(candidates) / 2), draw):
        text = program.declared.format(name=name, value=draw.integer(1, 100))
        program.put_first(text)
        sites.append(Site(1, "global", text))
    return program.perturbed(sites)


def _chosen(items: Sequence[str], count: int, draw: Draw) -> list[str]:
    """`count` of the items, in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]
