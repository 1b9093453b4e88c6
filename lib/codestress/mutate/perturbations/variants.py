"""Variants of problems: copies whose program a perturbation has changed. Each is run to check that
it keeps its meaning, else drawn again, else rejected.

The artifact of CodeCrash saves what fails unperturbed; here such a variant is `rejected` and
counted, and one where nothing could change is `unchanged` and counted. Before any run, rules look
for constructs that a perturbation refuses (guards.py): a program with such a construct is
`refused`, or the variant is made all the same and counted as doubtful.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypedDict, Unpack

from codestress.literals import UNREADABLE, reason_of
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations import messages
from codestress.mutate.perturbations.checking import Checked, differences
from codestress.mutate.perturbations.edits import (
    GlobalNames,
    Guard,
    NotPerturbed,
    Perturbed,
    Refused,
    Site,
)
from codestress.mutate.perturbations.own import known_perturbation, rewrite
from codestress.mutate.perturbations.programs import why_refused
from codestress.mutate.perturbations.renaming import rename
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
)
from codestress.mutate.perturbations.wrong import wrong_values
from codestress.problems.program import Problem, from_stranger
from codestress.sandbox.executor import Executor
from codestress.seeding import rng
from codestress.types import Task

PAPERS = ("VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC")
"""Conditions of CodeCrash: unchanged program (VAN); names (REN); conditions (RTF); garbage (GBC);
all three (PSC-ALL); misleading comments (MCC), prints (MPS) and hints (MHC)."""
CONTROLS = ("AGAIN", "BLANK")
"""Controls that change nothing in a program: asked again, and with one blank line more."""
NEUTRAL = "NCC"
"""Name of the control of MCC: neutral comments, as long as the misleading ones and at the same
places."""
TAGGED: Mapping[str, tuple[str, messages.Truth]] = {
    "MCC-FALSE": ("MCC", "false"),
    "MCC-TRUE": ("MCC", "true"),
    "MCC-UNDECIDABLE": ("MCC", "undecidable"),
    "MPS-FALSE": ("MPS", "false"),
    "MPS-TRUE": ("MPS", "true"),
    "MPS-UNDECIDABLE": ("MPS", "undecidable"),
}
"""Misleading comments and prints of one truth alone, such as `MCC-FALSE`: perturbation and truth,
by name."""
PERTURBATIONS = (*PAPERS, *CONTROLS, NEUTRAL, *TAGGED)
Perturbation = Annotated[str, known_perturbation(*PERTURBATIONS)]
"""Name of one of the kit's perturbations, or of a custom one (params/perturbations.yaml)."""
Status = Literal["applied", "unchanged", "refused", "rejected"]
"""Result of a perturbation. `applied`: the variant behaves like its program on all inputs tried.
`unchanged`: there was nothing to change. `refused`: a rule refuses the program, before any run.
`rejected`: the variant could not be made, or every draw of it behaved differently."""
ATTEMPTS = 4
"""Most draws of a variant before the variant is rejected."""
STYLES: Mapping[str, messages.Format] = {
    "MCC": "comment",
    NEUTRAL: "neutral",
    "MPS": "print",
}
"""Styles of messages by perturbation."""


class Settings(TypedDict, total=False):
    """Settings of perturbations, in brackets what holds without them."""

    task: Task
    """MHC (misleading hints) names a wrong output or input [output]."""
    guard: Guard
    """Where the rules refuse a program, make no variant or one with a `doubt` [refuse]."""
    truth: messages.Truth
    """Truth of the messages of MCC, MPS and NCC in the problem's call [any]."""
    density: float
    """Share of the places that get a message [1.0]."""
    wording: messages.Wording
    """Source of the messages [kit]."""
    globals_of: GlobalNames
    """Names that GBC (garbage code) declares as globals [parameters]."""


@dataclass(frozen=True)
class Variant:
    """Result of a perturbation of one problem: the perturbed problem, or why there is none."""

    problem: Problem
    """Perturbed problem; the vanilla problem where the perturbation was not applied."""
    status: Status
    sites: tuple[Site, ...] = ()
    attempts: int = 1
    why: str = ""
    """Reason of a refusal or rejection; else empty."""
    doubt: str = ""
    """Reason why the rules refuse an applied variant, which may not mean the same everywhere; else
    empty."""


def make_variants(
    problems: Sequence[Checked],
    perturbation: Perturbation,
    executor: Executor,
    *,
    seed: int,
    written_hints: Mapping[str, str] | None = None,
    **settings: Unpack[Settings],
) -> dict[str, Variant]:
    """Returns the variant of each problem under one perturbation, by the problem's id. An applied
    variant behaved like its vanilla program on all inputs (one that differs in comments alone: on
    the problem's own); others are drawn again, and rejected after `ATTEMPTS` draws.

    `written_hints` are values by id for MHC to name instead of the kit's own; a right one is
    rejected.
    """
    checked = {one.problem.id: one for one in problems}
    if perturbation in ("VAN", "AGAIN"):
        return {name: Variant(one.problem, "applied") for name, one in checked.items()}
    if perturbation in TAGGED:
        perturbation, settings["truth"] = TAGGED[perturbation]
    wrong: Mapping[str, str] = {}
    if perturbation == "MHC":
        task = settings.get("task", "output")
        wrong = wrong_values(problems, executor, seed, task, written_hints)
    # Neutral comments stand where misleading ones would.
    stream = "MCC" if perturbation == NEUTRAL else perturbation
    variants: dict[str, Variant] = {}
    pending = list(checked)
    for attempt in range(1, ATTEMPTS + 1):
        applied: dict[str, Problem] = {}
        for name in pending:
            draw = Draw(rng(seed, "perturb", stream, name, attempt))
            text = wrong.get(name, "")
            made = _drawn(checked[name], perturbation, draw, text, settings)
            if written_hints is not None:  # what a file says stands in the program
                made = replace(made, problem=from_stranger(made.problem))
            variants[name] = replace(made, attempts=attempt)
            if made.status == "applied":
                applied[name] = made.problem
        faults = differences(applied, checked, executor)
        pending = [name for name, fault in faults.items() if fault]
        for name in pending:
            before = checked[name].problem
            variants[name] = Variant(before, "rejected", (), attempt, faults[name])
    return variants


def _drawn(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    wrong: str,
    settings: Settings,
) -> Variant:
    """Returns the variant that one draw makes, not yet run; the vanilla problem with the status
    `refused`, `rejected` or `unchanged` where there is none."""
    problem = checked.problem
    try:
        made = perturb(checked, perturbation, draw, wrong=wrong, **settings)
    except Refused as refusal:
        return Variant(problem, "refused", why=str(refusal))
    except UNREADABLE as error:
        return Variant(problem, "rejected", why=reason_of(error))
    if not made.sites:
        return Variant(problem, "unchanged")
    doubt = ""
    if settings.get("guard") == "tag":
        doubt = why_refused(problem, perturbation)
    return Variant(made.problem, "applied", made.sites, doubt=doubt)


def perturb(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    *,
    wrong: str = "",
    **settings: Unpack[Settings],
) -> Perturbed:
    """Returns the problem after one draw of a perturbation, not yet run; the result's `sites` is
    empty where nothing could change. `wrong` is the value that MHC names.

    Raises `Refused` where `guard` is `refuse` and a rule refuses the program, and `NotPerturbed`
    where the perturbation cannot be made.
    """
    problem = checked.problem
    if perturbation not in PERTURBATIONS:
        return rewrite(problem, perturbation, draw)
    guarded = settings.get("guard", "refuse") == "refuse"
    if guarded and (why := why_refused(problem, perturbation)):
        raise Refused(why)
    if perturbation in STYLES:
        return messages.insert_messages(
            problem,
            draw,
            style=STYLES[perturbation],
            density=settings.get("density", 1.0),
            trace=checked.trace,
            truth=settings.get("truth", "any"),
            wording=settings.get("wording", "kit"),
        )
    if perturbation == "MHC":
        if not wrong:
            raise NotPerturbed("no wrong value of the same type was found")
        return messages.hint(problem, wrong, settings.get("task", "output"))
    if perturbation == "BLANK":
        return messages.add_blank_line(problem)
    of = settings.get("globals_of", "parameters")
    return _rewritten(problem, perturbation, draw, of)


def _rewritten(
    problem: Problem, perturbation: Perturbation, draw: Draw, globals_of: GlobalNames
) -> Perturbed:
    """Returns the problem with REN, RTF or GBC, or with all three for PSC-ALL."""
    made = Perturbed(problem)
    steps = ("RTF", "GBC", "REN") if perturbation == "PSC-ALL" else (perturbation,)
    for step in steps:
        if step == "REN":
            done = rename(made.problem)
        elif step == "RTF":
            done = reformat_conditions(made.problem, draw, problem)
        else:
            done = insert_garbage(made.problem, draw, problem, globals_of)
        made = Perturbed(done.problem, made.sites + done.sites)
    return made
