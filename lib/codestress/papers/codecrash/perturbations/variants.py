"""Variants of problems: perturbed, run to see that they still mean the same, else drawn again, else left out.

CodeCrash, section 2.1, checks a variant on the problem's own input; here on inputs near by as well. The paper's
artifact saves what fails unperturbed; here it is `rejected` and counted, as `unchanged` is where nothing could change.
Before anything is run, a guard decides from the text whether the meaning must stay: else the variant is `refused`, or
made as the paper makes it and counted as doubtful (guards.py).
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Annotated, Literal

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.papers.codecrash.perturbations import messages
from codestress.papers.codecrash.perturbations.edits import Guard, NotPerturbed, Perturbed, Refused, Site
from codestress.papers.codecrash.perturbations.inputs import (
    NoOtherValue,
    argument_nodes,
    argument_values,
    call_of,
    other_inputs,
    other_value,
    trial_inputs,
    with_values,
)
from codestress.papers.codecrash.perturbations.own import known_perturbation, rewrite
from codestress.papers.codecrash.perturbations.programs import program_of, vanilla
from codestress.papers.codecrash.perturbations.rewriting import insert_garbage, reformat_conditions, rename
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, from_stranger, literal_text
from codestress.sandbox.executor import Execution, Executor, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.predictions import Task
from codestress.seeding import rng
from codestress.types import Source

PAPERS = ("VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC")
"""The paper's names: vanilla; renamed; conditions; garbage; all three; misleading comments, prints and hints."""
CONTROLS = ("AGAIN", "BLANK")
"""What changes nothing: asked again as it is, and with one blank line more."""
TAGGED: Mapping[str, tuple[str, messages.Truth]] = {
    f"{name}-{truth.upper()}": (name, truth) for name in ("MCC", "MPS") for truth in ("false", "true", "undecidable")
}
"""Misleading comments and prints of one truth alone."""
PERTURBATIONS = (*PAPERS, *CONTROLS, *TAGGED)
Perturbation = Annotated[str, known_perturbation(*PERTURBATIONS)]
"""One of the paper's, or one of your own (params/perturbations.yaml)."""
Status = Literal["applied", "unchanged", "refused", "rejected"]
ATTEMPTS = 4
"""Draws of a variant before it is rejected."""
INPUTS = 8
"""Inputs beside the problem's own on which a variant is tried."""
UNSEEN = 4
"""Other inputs on which applied variants are compared afterwards."""
WRONG_INPUTS = 40
"""Inputs near by among which one that gives another output is looked for (MHC)."""


@dataclass(frozen=True)
class Checked:
    """A vanilla problem that reproduces its output, with what it does on the inputs that variants are tried on."""

    problem: Problem
    inputs: tuple[str, ...]
    """Argument texts, the problem's own first."""
    executions: tuple[Execution, ...]
    trace: messages.Trace


@dataclass(frozen=True)
class Variant:
    """What became of a perturbation of one problem."""

    problem: Problem
    """The perturbed problem; the vanilla one where it was not applied."""
    status: Status
    sites: tuple[Site, ...] = ()
    attempts: int = 1
    why: str = ""
    """Why it was refused or rejected."""
    doubt: str = ""
    """Why an applied variant may not mean the same everywhere; found from the text, not by running."""


def check_problems(problems: Sequence[Problem], executor: Executor, seed: int) -> tuple[list[Checked], dict[str, str]]:
    """The problems that can be used, and for each of the others, by id, why not.

    A problem is left out of every condition when it does not parse, does not return its recorded output, or does not
    do the same thing twice.
    """
    faults: dict[str, str] = {}
    ready: list[tuple[Problem, tuple[str, ...]]] = []
    for problem in problems:
        try:
            clean = vanilla(problem)
            program_of(clean).called_function()
        except (SyntaxError, ValueError, RecursionError) as error:
            faults[problem.id] = f"the program does not parse: {error}"
            continue
        draw = Draw(rng(seed, "inputs", problem.id))
        ready.append((clean, (problem.arguments, *trial_inputs(clean, draw))))
    executions = iter(run_calls([(problem, text) for problem, inputs in ready for text in inputs], executor))
    again = run_calls([(problem, problem.arguments) for problem, _ in ready], executor)
    traced = run_calls([(messages.traced(problem), problem.arguments) for problem, _ in ready], executor)
    checked = []
    for (problem, inputs), second, trace in zip(ready, again, traced, strict=True):
        mine = [next(executions) for _ in inputs]
        if mine[0].outcome is not Ending.RETURNED:
            faults[problem.id] = f"its call does not return: {mine[0].outcome} {mine[0].detail}".strip()
        elif not same_value(mine[0].value, parse_literal(problem.output).value):
            faults[problem.id] = f"its call returns {mine[0].value!r:.60}, not the recorded {problem.output:.60}"
        elif not _same(mine[0], second):
            faults[problem.id] = f"not deterministic: {mine[0].value!r:.60}, then {second.value!r:.60}"
        else:
            noted = trace.outcome is Ending.RETURNED
            told = messages.read_trace(trace.value, problem.language) if noted else messages.Trace()
            kept = _telling(mine)
            inputs = tuple(inputs[place] for place in kept)
            checked.append(Checked(problem, inputs, tuple(mine[place] for place in kept), told))
    return checked, faults


def _telling(executions: Sequence[Execution]) -> list[int]:
    """Which to keep: the problem's own input and those beside it on which something new happened, then others."""
    tried = [place for place, one in enumerate(executions) if one.outcome in (Ending.RETURNED, Ending.RAISED)]
    first = {_told(executions[place]): place for place in reversed(tried)}
    new = sorted(first.values())
    return sorted([*new, *(place for place in tried if place not in new)][: 1 + INPUTS])


def run_calls(calls: Sequence[tuple[Problem, str]], executor: Executor) -> list[Execution]:
    """What became of problems on argument texts, in their order, whatever their languages."""
    done = {}
    for language in dict.fromkeys(problem.language for problem, _ in calls):
        programs = [called(problem, text) for problem, text in calls if problem.language == language]
        run = _run_scripts(programs, executor) if language == "javascript" else executor.run(programs)
        done[language] = iter(run)
    return [next(done[problem.language]) for problem, _ in calls]


def _run_scripts(programs: Sequence[Program], executor: Executor) -> list[Execution]:
    """JavaScript: all calls of one of the kit's own programs, which keep nothing from call to call, in one process: it
    takes longer to start than they do. By themselves where not all of them return."""
    groups = [list(group) for _, group in groupby(programs, key=lambda one: (one.code, one.function, one.source))]
    together = [group for group in groups if len(group) > 1 and group[0].source is Source.KIT]
    every = [
        replace(
            group[0],
            function=f"(...all) => all.map((given) => ({group[0].function})(...given))",
            arguments=tuple([*one.arguments] for one in group),
        )
        for group in together
    ]
    runs = zip(together, executor.run(every, language="javascript"), strict=True)
    returned = {
        id(group): [Execution(Ending.RETURNED, value) for value in run.value]
        for group, run in runs
        if run.outcome is Ending.RETURNED
    }
    alone = executor.run([one for group in groups if id(group) not in returned for one in group], language="javascript")
    return [one for group in groups for one in returned.get(id(group)) or [next(alone) for _ in group]]


def called(problem: Problem, arguments: str) -> Program:
    """The program that calls the problem's function on these arguments."""
    if problem.language == "javascript":
        values = tuple(json.loads(f"[{arguments}]"))
        return Program(problem.code, problem.function, values, source=problem.source)
    return Program(problem.code, call=f"{problem.function}({arguments}\n)", source=problem.source)


def _same(first: Execution, second: Execution) -> bool:
    """Whether two runs cannot be told apart: the same value, or the same kind of exception."""
    if first.outcome is not second.outcome:
        return False
    if first.outcome is Ending.RETURNED:
        return same_value(first.value, second.value)
    return first.detail.partition(":")[0] == second.detail.partition(":")[0]


# --- making variants ------------------------------------------------------------------------------------------------


def make_variants(
    problems: Sequence[Checked],
    perturbation: Perturbation,
    executor: Executor,
    *,
    seed: int,
    density: float = 1.0,
    task: Task = "output",
    written_hints: Mapping[str, str] | None = None,
    guard: Guard = "refuse",
    truth: messages.Truth = "any",
) -> dict[str, Variant]:
    """What becomes of each problem, by id. Every applied variant did the same as its vanilla program on all inputs
    (one that differs in comments alone: on its own).

    `written_hints`: values for MHC by problem, in the place of the kit's own; a right one is rejected. `truth`: of the
    messages of MCC and MPS, in the problem's call.
    """
    perturbation, truth = TAGGED.get(perturbation, (perturbation, truth))
    if perturbation in ("VAN", "AGAIN"):
        return {one.problem.id: Variant(one.problem, "applied") for one in problems}
    wrong = _wrong_values(problems, executor, seed, task, written_hints) if perturbation == "MHC" else {}
    drawn = partial(perturb, density=density, task=task, guard=guard, truth=truth)
    variants: dict[str, Variant] = {}
    pending = {one.problem.id: one for one in problems}
    for attempt in range(1, ATTEMPTS + 1):
        candidates: dict[str, Perturbed] = {}
        for name, one in pending.items():
            try:
                draw = Draw(rng(seed, "perturb", perturbation, name, attempt))
                made = drawn(one, perturbation, draw, wrong=wrong.get(name, ""))
            except Refused as refusal:
                variants[name] = Variant(one.problem, "refused", (), attempt, str(refusal))
            except (NotPerturbed, NotLiteral, SyntaxError, RecursionError, UnicodeError) as error:
                variants[name] = Variant(one.problem, "rejected", (), attempt, str(error))
            else:
                variants[name] = Variant(one.problem, "unchanged", (), attempt)
                if made.sites:  # what a file says stands in the program
                    kept = written_hints is None
                    candidates[name] = made if kept else replace(made, problem=from_stranger(made.problem))
        faults = _differences(candidates, pending, executor)
        for name, made in candidates.items():
            doubt = made.doubts[0] if made.doubts and guard == "tag" else ""
            variants[name] = (
                Variant(pending[name].problem, "rejected", (), attempt, faults[name])
                if faults[name]
                else Variant(made.problem, "applied", made.sites, attempt, doubt=doubt)
            )
        pending = {name: one for name, one in pending.items() if faults.get(name)}
    return {one.problem.id: variants[one.problem.id] for one in problems}


def perturb(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    *,
    density: float,
    task: Task,
    wrong: str,
    guard: Guard,
    truth: messages.Truth = "any",
) -> Perturbed:
    """One draw of a perturbation, not yet run; `wrong` is the value of MHC. `Refused` where the guard refuses it."""
    problem = checked.problem
    if perturbation not in PERTURBATIONS:
        return rewrite(problem, perturbation, draw)
    doubt = program_of(problem).facts.whole_doubt(perturbation)
    if doubt and guard == "refuse":
        raise Refused(doubt)
    if perturbation == "MHC" and not wrong:
        raise NotPerturbed("no wrong value of the same type was found")
    put = partial(messages.insert_messages, draw=draw, density=density, trace=checked.trace, truth=truth)
    steps: dict[str, Callable[[Problem], Perturbed]] = {
        "MCC": partial(put, style="comment"),
        "MPS": partial(put, style="print"),
        "MHC": partial(messages.hint, value=wrong, task=task),
        "BLANK": messages.add_blank_line,
        "REN": rename,
        "RTF": partial(reformat_conditions, draw=draw, original=problem, guard=guard),
        "GBC": partial(insert_garbage, draw=draw, original=problem, guard=guard),
    }
    made = Perturbed(problem, (), (doubt,) if doubt else ())
    for name in ("RTF", "GBC", "REN") if perturbation == "PSC-ALL" else (perturbation,):
        done = steps[name](made.problem)
        made = Perturbed(done.problem, made.sites + done.sites, made.doubts + done.doubts)
    names_alone = all(site.kind in ("variable", "function") for site in made.sites)
    if made.doubts and guard == "refuse" and (not made.sites or (perturbation == "PSC-ALL" and names_alone)):
        raise Refused(made.doubts[0])
    return made


def on_unseen(problems: Sequence[Checked], executor: Executor, seed: int) -> dict[str, Checked]:
    """Programs on inputs that validation did not use, by id; none where there are no such inputs."""
    others: dict[str, Checked] = {}
    for one in problems:
        draw = Draw(rng(seed, "unseen", one.problem.id))
        texts = [text for text in other_inputs(one.problem, draw, UNSEEN + INPUTS) if text not in one.inputs][:UNSEEN]
        if texts:
            others[one.problem.id] = replace(one, inputs=tuple(texts))
    before = iter(run_calls([(one.problem, text) for one in others.values() for text in one.inputs], executor))
    return {name: replace(one, executions=tuple(next(before) for _ in one.inputs)) for name, one in others.items()}


def unseen_differences(
    unseen: Mapping[str, Checked], variants: Mapping[str, Variant], executor: Executor
) -> dict[str, str]:
    """For each applied variant of a program with unseen inputs, how it differs on them."""
    applied = {name: Perturbed(variants[name].problem) for name in unseen if variants[name].status == "applied"}
    return _differences(applied, unseen, executor)


def _differences(
    candidates: Mapping[str, Perturbed], checked: Mapping[str, Checked], executor: Executor
) -> dict[str, str]:
    """For each candidate how it differs from its vanilla program; empty where it does not, on any input.

    One with the same tree, of a program that does not read its own text, differs on none; it is run on its own alone.
    """
    found: dict[str, str] = {}
    calls: dict[str, list[tuple[Problem, str]]] = {}
    for name, candidate in candidates.items():
        before, after = checked[name].problem, candidate.problem
        try:
            inputs = checked[name].inputs[: 1 if _differs_in_comments(before, after) else None]
            calls[name] = [(after, _moved(before, after, text)) for text in inputs]
        except (NotLiteral, SyntaxError) as error:
            found[name] = str(error)
    executions = iter(run_calls([call for mine in calls.values() for call in mine], executor))
    for name, mine in calls.items():
        pairs = [(text, one, next(executions)) for (_, text), one in zip(mine, checked[name].executions, strict=False)]
        told = (
            f"on {text:.60}: {_told(one)} became {_told(other)}" for text, one, other in pairs if not _same(one, other)
        )
        found[name] = next(told, "")
    return found


def _differs_in_comments(before: Problem, after: Problem) -> bool:
    """Whether two Python programs differ in comments and blank lines alone, and do not read their own text."""
    if before.language != "python" or before.call != after.call or program_of(before).facts.whole_doubt("MCC"):
        return False
    return vanilla(after).code == before.code


def _moved(before: Problem, after: Problem, arguments: str) -> str:
    """An input of the vanilla program as an input of the perturbed one, whose keywords may have other names."""
    if arguments == before.arguments:
        return after.arguments
    if before.arguments == after.arguments:
        return arguments
    nodes = argument_nodes(call_of(replace(before, arguments=arguments)))
    return with_values(after, [ast.unparse(node) for node in nodes])


def _told(execution: Execution) -> str:
    returned = execution.outcome is Ending.RETURNED
    return f"{execution.value!r:.60}" if returned else f"{execution.outcome} {execution.detail:.60}"


# --- wrong values for hints -----------------------------------------------------------------------------------------


def _wrong_values(
    problems: Sequence[Checked],
    executor: Executor,
    seed: int,
    task: Task,
    written_hints: Mapping[str, str] | None,
) -> dict[str, str]:
    """A wrong output, or an input that gives another output, by problem; none where there is none."""
    if task == "output":
        return {one.problem.id: _wrong_output(one.problem, seed, written_hints) for one in problems}
    tried: list[tuple[Checked, str]] = []
    for one in problems:
        draw, name = Draw(rng(seed, "wrong input", one.problem.id)), one.problem.id
        if written_hints is None:
            tried += [(one, text) for text in (*other_inputs(one.problem, draw, WRONG_INPUTS), *_misfits(one.problem))]
        elif name in written_hints:
            tried.append((one, written_hints[name]))
    found: dict[str, str] = {}
    raising: dict[str, str] = {}
    calls = [(one.problem if written_hints is None else from_stranger(one.problem), text) for one, text in tried]
    for (one, text), execution in zip(tried, run_calls(calls, executor), strict=True):
        if execution.outcome is Ending.RETURNED and not same_value(execution.value, one.executions[0].value):
            found.setdefault(one.problem.id, text)
        elif execution.outcome is Ending.RAISED:
            raising.setdefault(one.problem.id, text)
    return raising | found


def _misfits(problem: Problem) -> Iterator[str]:
    """Inputs that do not fit, for functions that give the same output for everything: arguments swapped, or of other
    types (appendix B.3 tells its model to do that)."""
    try:
        values = argument_values(problem)
    except (NotLiteral, ValueError):
        return
    for changed in (values[::-1], [None] * len(values), [0] * len(values)):
        if not same_value(changed, values):
            yield with_values(problem, [literal_text(value, problem.language) for value in changed])


def _wrong_output(problem: Problem, seed: int, written_hints: Mapping[str, str] | None) -> str:
    value, draw = parse_literal(problem.output).value, Draw(rng(seed, "wrong output", problem.id))
    with suppress(NotLiteral, NoOtherValue):
        if written_hints is not None:
            text = written_hints.get(problem.id, "")
            return "" if same_value(parse_literal(text).value, value) else text
        others = (other_value(copy.deepcopy(value), draw) for _ in range(WRONG_INPUTS))
        return next((literal_text(one, problem.language) for one in others if not same_value(one, value)), "")
    return ""
