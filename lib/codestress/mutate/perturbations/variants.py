"""Variants of problems: copies of problems whose program a perturbation has changed.

Each variant is run to check that it keeps its program's meaning. If it does not, the
variant is drawn again, and in the end rejected. CodeCrash's artifact saves the
unperturbed program if a perturbation fails. Here such a variant is `rejected` and
counted; a variant with nothing to change is `unchanged` and counted. Before any run,
rules (guards.yaml) look for constructs that a perturbation refuses. A program with such
a construct is `refused`, or the variant is made all the same and counted as doubtful.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypedDict, Unpack

from codestress.literals import UNREADABLE, parse_literal, reason_of, same_value
from codestress.problems.program import Problem, from_stranger, literal_text
from codestress.sandbox.executor import Executor, Outcome
from codestress.seeding import rng
from codestress.types import Task
from codestress.validation import one_of

from ..draw import Draw
from . import messages, own
from .checking import (
    Call,
    Checked,
    differences,
    run_calls,
)
from .edits import (
    GlobalNames,
    Guard,
    NotPerturbed,
    Perturbed,
    Site,
)
from .inputs import (
    argument_text,
    argument_values,
    other_inputs,
    other_value,
)
from .kinds import NEUTRAL, PERTURBATIONS, TAGGED, Truth
from .programs import why_refused
from .rewriting import (
    insert_garbage,
    reformat_conditions,
    rename,
)

Perturbation = Annotated[str, one_of("perturbation", PERTURBATIONS, lambda: own.FILE)]
"""Name of one of the kit's perturbations, or of a custom one
(params/perturbations.yaml)."""
Status = Literal["applied", "unchanged", "refused", "rejected"]
"""Result of a perturbation.

`applied`: the variant behaves like its program on all inputs tried. `unchanged`: there
was nothing to change. `refused`: a rule refuses the program, before any run.
`rejected`: the variant could not be made, or every draw of it behaved differently.
"""
CANDIDATES = 40
"""Most nearby inputs, or other outputs, among which a wrong value for MHC is searched.
"""
ATTEMPTS = 4
"""Most draws of a variant before the variant is rejected."""
STEPS = ("RTF", "GBC", "REN")
"""Perturbations of PSC-ALL in the order applied: REN comes last, so that the names in
garbage code are renamed too."""
STYLES: Mapping[str, messages.Format] = {
    "MCC": "comment",
    NEUTRAL: "neutral",
    "MPS": "print",
}
"""Dict from a perturbation with messages to the style of its messages."""


class Settings(TypedDict, total=False):
    """Settings of perturbations; the default is in brackets."""

    task: Task
    """Whether MHC (misleading hints) names a wrong output or a wrong input [output]."""
    guard: Guard
    """Treatment of a program that the rules refuse: no variant, or a variant with a
    `doubt` [refuse]."""
    truth: Truth
    """Truth, in the problem's call, of the messages of MCC, MPS and NCC [any]."""
    density: float
    """Share of the places that get a message, 0 to 1 [1.0]."""
    wording: messages.Wording
    """Source of the messages [kit]."""
    globals_of: GlobalNames
    """Names that GBC (garbage code) declares as globals [parameters]."""


@dataclass(frozen=True)
class Variant:
    """Result of a perturbation of one problem: the perturbed problem, or the reason why
    there is none."""

    problem: Problem
    """Perturbed problem; the vanilla problem if the perturbation was not applied."""
    status: Status
    sites: tuple[Site, ...] = ()
    attempts: int = 1
    why: str = ""
    """Reason of a refusal or rejection; else empty."""
    doubt: str = ""
    """Reason why the rules refuse an applied variant, which may not mean the same for
    all inputs; else empty."""


def make_variants(
    problems: Sequence[Checked],
    perturbation: Perturbation,
    executor: Executor,
    *,
    seed: int,
    written_hints: Mapping[str, str] | None = None,
    **settings: Unpack[Settings],
) -> dict[str, Variant]:
    """Return a dict from each problem's id to the problem's variant under one perturbation.

    An applied variant behaved like its vanilla program on all inputs. Any other is drawn
    again, and rejected after `ATTEMPTS` draws. `written_hints` is a dict from a
    problem's id to MHC's value for it; right values are rejected.
    """
    if perturbation in TAGGED:
        perturbation, settings["truth"] = TAGGED[perturbation]
    by_id = {checked.problem.id: checked for checked in problems}
    wrong = {}
    if perturbation == "MHC":
        wrong = _wrong_values(problems, executor, seed, settings, written_hints)
    stream = "MCC" if perturbation == NEUTRAL else perturbation
    variants: dict[str, Variant] = {}
    reasons = dict.fromkeys(by_id, "")
    for attempt in range(1, ATTEMPTS + 1):
        changed = {}
        for name in reasons:
            draw = Draw(rng(seed, "perturb", stream, name, attempt))
            text = wrong.get(name, "")
            variant = draw_variant(by_id[name], perturbation, draw, text, **settings)
            # A hint from a file makes the program untrusted.
            if written_hints is not None:
                variant = replace(variant, problem=from_stranger(variant.problem))
            variants[name] = replace(variant, attempts=attempt)
            if variant.sites:
                changed[name] = variant.problem
        reasons = differences(changed, by_id, executor)
        for name, why in reasons.items():
            variants[name] = Variant(by_id[name].problem, "rejected", (), attempt, why)
    return variants


def draw_variant(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    wrong: str = "",
    **settings: Unpack[Settings],
) -> Variant:
    """Return the variant that one draw makes, not yet run.

    If there is none, return the vanilla problem with the status `refused`, `rejected`
    or `unchanged`. `wrong` is the value that MHC names.
    """
    problem = checked.problem
    doubt = ""
    if perturbation in ("VAN", "AGAIN"):
        return Variant(problem, "applied")
    try:
        if perturbation in PERTURBATIONS:
            doubt = why_refused(problem, perturbation)
        if doubt and settings.get("guard", "refuse") == "refuse":
            return Variant(problem, "refused", why=doubt)
        perturbed = _perturbed(checked, perturbation, draw, wrong, settings)
    except UNREADABLE as error:
        return Variant(problem, "rejected", why=reason_of(error))
    if not perturbed.sites:
        return Variant(problem, "unchanged")
    return Variant(perturbed.problem, "applied", perturbed.sites, doubt=doubt)


def _perturbed(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    wrong: str,
    settings: Settings,
) -> Perturbed:
    """Return the problem after one draw of a perturbation; raise `NotPerturbed` if it cannot be made."""
    problem = changed = checked.problem
    if perturbation not in PERTURBATIONS:
        return own.rewrite(problem, perturbation, draw)
    if perturbation in STYLES:
        return messages.insert_messages(
            problem,
            draw,
            style=STYLES[perturbation],
            trace=checked.trace,
            density=settings.get("density", 1.0),
            truth=settings.get("truth", "any"),
            wording=settings.get("wording", "kit"),
        )
    if perturbation == "MHC":
        if not wrong:
            raise NotPerturbed("no wrong value of the same type was found")
        return messages.hint(problem, wrong, settings.get("task", "output"))
    if perturbation == "BLANK":
        return messages.add_blank_line(problem)
    globals_of = settings.get("globals_of", "parameters")
    sites: tuple[Site, ...] = ()
    for step in STEPS if perturbation == "PSC-ALL" else (perturbation,):
        if step == "REN":
            result = rename(changed)
        elif step == "RTF":
            result = reformat_conditions(changed, draw, problem)
        else:
            result = insert_garbage(changed, draw, problem, globals_of)
        changed, sites = result.problem, sites + result.sites
    return Perturbed(changed, sites)


# --- wrong values that misleading hints name ---


def _wrong_values(
    problems: Sequence[Checked],
    executor: Executor,
    seed: int,
    settings: Settings,
    written: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return a dict from each problem's id to a wrong output, or to a wrong input if
    the setting `task` is `input`.

    A wrong input makes the function return another output or, failing that, raise. The
    dict has no entry, or an empty text, for a problem without a wrong value. `written`,
    a dict from id to value, replaces the kit's own candidates.
    """
    calls: list[Call] = []
    wrong: dict[str, str] = {}
    raising: dict[str, str] = {}
    for checked in problems:
        problem = checked.problem
        if settings.get("task", "output") == "output":
            wrong[problem.id] = _output(problem, seed, written)
        elif written is None:
            calls += [(problem, text) for text in _inputs(problem, seed)]
        elif text := written.get(problem.id):
            calls.append((from_stranger(problem), text))
    for (problem, text), run in zip(calls, run_calls(calls, executor), strict=True):
        right = parse_literal(problem.output).value
        if run.outcome is Outcome.RAISED:
            raising.setdefault(problem.id, text)
        elif run.outcome is Outcome.RETURNED and not same_value(run.value, right):
            wrong.setdefault(problem.id, text)
    return raising | wrong


def _inputs(problem: Problem, seed: int) -> Iterator[str]:
    """Yield inputs near a problem's own, then inputs that do not fit: arguments
    swapped, or of other types.

    Inputs that do not fit are for functions that give the same output for every fitting
    input. CodeCrash, appendix B.3, tells its model to do that. Yield nothing if an
    argument is not plain data.
    """
    draw = Draw(rng(seed, "wrong input", problem.id))
    yield from other_inputs(problem, draw, CANDIDATES)
    with suppress(*UNREADABLE):
        values = argument_values(problem)
        for changed in (values[::-1], [None] * len(values), [0] * len(values)):
            if not same_value(changed, values):
                yield argument_text(problem, changed)


def _output(problem: Problem, seed: int, written: Mapping[str, str] | None) -> str:
    """Return a wrong output of the same type as the problem's own, as a literal of the
    program's language.

    If `written` is not None, return its value for the problem instead. Return the empty
    text if the written value is right or has no such literal, or if no other value is
    found.
    """
    right = parse_literal(problem.output).value
    draw = Draw(rng(seed, "wrong output", problem.id))
    values: Iterable[Any] = (other_value(right, draw) for _ in range(CANDIDATES))
    with suppress(TypeError, *UNREADABLE):
        if written is not None:
            values = [parse_literal(written.get(problem.id, "")).value]
        for value in values:
            if not same_value(value, right):
                return literal_text(value, problem.language)
    return ""
