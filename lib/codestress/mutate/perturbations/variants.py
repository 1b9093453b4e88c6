"""Variants of problems: copies whose program a perturbation has changed. Each is run to check that
it keeps its meaning, else drawn again, else rejected.

CodeCrash, section 2.1, checks a variant on the problem's own input; this module checks inputs near
by as well. The paper's artifact saves what fails unperturbed; here such a variant is `rejected` and
counted, and one where nothing could change is `unchanged` and counted. Before any run, rules look
for constructs that a perturbation refuses (guards.py): a program with such a construct is
`refused`, or the variant is made all the same and counted as doubtful.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from typing import Annotated, Literal

from codestress.literals import (
    UNREADABLE,
    parse_literal,
    reason_of,
    same_value,
    shown_value,
)
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations import messages
from codestress.mutate.perturbations.edits import (
    GlobalNames,
    Guard,
    NotPerturbed,
    Perturbed,
    Refused,
    Site,
)
from codestress.mutate.perturbations.inputs import (
    argument_nodes,
    argument_values,
    call_of,
    json_values,
    other_inputs,
    other_value,
    trial_inputs,
    with_values,
)
from codestress.mutate.perturbations.own import known_perturbation, rewrite
from codestress.mutate.perturbations.programs import program_of, vanilla
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
    rename,
)
from codestress.problems.program import Problem, from_stranger, literal_text
from codestress.sandbox.executor import Execution, Executor, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.seeding import rng
from codestress.types import Language, Source, Task

PAPERS = ("VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC")
"""Conditions of CodeCrash: unchanged program (VAN); names (REN); conditions (RTF); garbage (GBC);
all three (PSC-ALL); misleading comments (MCC), prints (MPS) and hints (MHC)."""
CONTROLS = ("AGAIN", "BLANK")
"""Controls that change nothing in a program: asked again, and with one blank line more."""
NEUTRAL = "NCC"
"""Name of the control of MCC: neutral comments, as long as the misleading ones and at the same
places."""
TAGGED: Mapping[str, tuple[str, messages.Truth]] = {
    f"{name}-{truth.upper()}": (name, truth)
    for name in ("MCC", "MPS")
    for truth in ("false", "true", "undecidable")
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
INPUTS = 8
"""Most inputs beside the problem's own on which a variant is tried."""
UNSEEN = 4
"""Most other inputs on which applied variants are compared afterwards."""
WRONG_INPUTS = 40
"""Most inputs near by, or other outputs, among which a wrong value for MHC is searched."""


@dataclass(frozen=True)
class Checked:
    """Vanilla problem that returned its recorded output, with the inputs on which variants are
    tried and its `executions` on them, in the same order."""

    problem: Problem
    inputs: tuple[str, ...]
    """Texts of the call's arguments, the problem's own first."""
    executions: tuple[Execution, ...]
    trace: messages.Trace


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


def check_problems(
    problems: Sequence[Problem], executor: Executor, seed: int
) -> tuple[list[Checked], dict[str, str]]:
    """Returns two values: a list of the problems that can be used (`Checked`), and a dictionary
    from the id of each other problem to the reason against it.

    A problem cannot be used when it does not parse or lacks the called function, does not return
    its recorded output, or does not behave the same twice. `seed` decides the other inputs on which
    the program, and later each variant, is run.
    """
    faults: dict[str, str] = {}
    ready: list[tuple[Problem, tuple[str, ...], Problem]] = []
    for problem in problems:
        draw = Draw(rng(seed, "inputs", problem.id))
        try:
            clean = vanilla(problem)
            program_of(clean).called_function()
            inputs = (problem.arguments, *trial_inputs(clean, draw))
            ready.append((clean, inputs, messages.traced(clean)))
        except NotPerturbed as error:
            faults[problem.id] = str(error)
        except UNREADABLE as error:
            faults[problem.id] = f"the program does not parse: {reason_of(error)}"
    calls = [(problem, text) for problem, inputs, _ in ready for text in inputs]
    executions = iter(run_calls(calls, executor))
    again = run_calls([(problem, problem.arguments) for problem, *_ in ready], executor)
    traced = run_calls(
        [(notes, problem.arguments) for problem, _, notes in ready], executor
    )
    checked = []
    for (problem, inputs, _), second, noted in zip(ready, again, traced, strict=True):
        own = [next(executions) for _ in inputs]
        if fault := _fault(problem, own[0], second):
            faults[problem.id] = fault
            continue
        trace = messages.Trace()
        if noted.outcome is Ending.RETURNED:
            trace = messages.read_trace(noted.value, problem.language)
        kept = _telling(own)
        inputs = tuple(inputs[place] for place in kept)
        checked.append(
            Checked(problem, inputs, tuple(own[place] for place in kept), trace)
        )
    return checked, faults


def _fault(problem: Problem, first: Execution, second: Execution) -> str:
    """Reason why a problem cannot be used, from two executions of its call: it returned no value,
    not the recorded output, or not the same twice; empty where it can."""
    if first.outcome is not Ending.RETURNED:
        return f"its call does not return: {first.outcome} {first.detail}".strip()
    if not _same(first, second):
        return f"not deterministic: {_told(first)}, then {_told(second)}"
    if not same_value(first.value, parse_literal(problem.output).value):
        return f"its call returns {_told(first)}, not the recorded {problem.output:.60}"
    return ""


def _telling(executions: Sequence[Execution]) -> list[int]:
    """Indices of the executions to keep, in order, 1 + `INPUTS` at most: the first (on the
    problem's own input), those with a new result, then others. Those that neither returned nor
    raised are left out."""
    results: dict[str, int] = {}
    repeated = list[int]()
    for place, execution in enumerate(executions):
        ended = execution.outcome in (Ending.RETURNED, Ending.RAISED)
        if ended and results.setdefault(_told(execution), place) != place:
            repeated.append(place)
    return sorted([*results.values(), *repeated][: 1 + INPUTS])


def run_calls(
    calls: Sequence[tuple[Problem, str]], executor: Executor
) -> list[Execution]:
    """Runs `calls`, pairs of a problem and the argument text for its function, whatever the
    languages, and returns the executions in the same order. A program that fails gives an execution
    that says so."""
    programs: dict[Language, list[Program]] = defaultdict(list)
    for problem, text in calls:
        programs[problem.language].append(called(problem, text))
    done = {}
    for language, own in programs.items():
        run = _run_scripts if language == "javascript" else Executor.run
        done[language] = iter(run(executor, own))
    return [next(done[problem.language]) for problem, _ in calls]


def _run_scripts(executor: Executor, programs: Sequence[Program]) -> list[Execution]:
    """Returns the executions of JavaScript calls, in order. Neighbouring calls of one of the kit's
    own programs, which keep no state between calls, share a process, because a process takes longer
    to start than the calls to run. Other calls, and such calls of which not all return, have a
    process each."""
    run = partial(executor.run, language="javascript")
    groups = [
        list(group)
        for _, group in groupby(
            programs, key=lambda one: (one.code, one.function, one.source)
        )
    ]
    together = [
        group for group in groups if len(group) > 1 and group[0].source is Source.KIT
    ]
    every = [
        replace(
            group[0],
            function=f"(...all) => all.map((given) => ({group[0].function})(...given))",
            arguments=tuple([*one.arguments] for one in group),
        )
        for group in together
    ]
    returned = {
        id(group): [Execution(Ending.RETURNED, value) for value in execution.value]
        for group, execution in zip(together, run(every), strict=True)
        if execution.outcome is Ending.RETURNED
    }
    apart = [group for group in groups if id(group) not in returned]
    alone = iter(run([program for group in apart for program in group]))
    return [
        execution
        for group in groups
        for execution in returned.get(id(group)) or islice(alone, len(group))
    ]


def called(problem: Problem, arguments: str) -> Program:
    """Returns the `Program` that an executor runs: the problem's code, with a call of its function
    on the argument text `arguments`."""
    if problem.language == "javascript":
        values = tuple(json_values(arguments))
        return Program(problem.code, problem.function, values, source=problem.source)
    return Program(
        problem.code, call=f"{problem.function}({arguments}\n)", source=problem.source
    )


def _same(first: Execution, second: Execution) -> bool:
    """Whether two executions count as the same behaviour: the same value, or the same kind of
    exception; messages of exceptions and printed text are not compared."""
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
    task: Task = "output",
    written_hints: Mapping[str, str] | None = None,
    guard: Guard = "refuse",
    truth: messages.Truth = "any",
    density: float = 1.0,
    wording: str = messages.KIT,
    globals_of: GlobalNames = "parameters",
) -> dict[str, Variant]:
    """Returns the variant of each problem under one perturbation, by the problem's id. An applied
    variant behaved like its vanilla program on all inputs (one that differs in comments alone: on
    the problem's own); others are drawn again, and rejected after `ATTEMPTS` draws.

    Where the rules refuse a program, `guard` makes no variant (`refuse`) or one with a `doubt`
    (`tag`). For MHC, `task` says whether a wrong output or input is named; `written_hints` are such
    values by id instead of the kit's own, and a right one is rejected. For MCC, MPS and NCC,
    `truth` is the truth of the messages in the problem's call, `density` the share of places that
    get one, and `wording` their source. `globals_of` are the names that GBC declares.
    """
    perturbation, truth = TAGGED.get(perturbation, (perturbation, truth))
    if perturbation in ("VAN", "AGAIN"):
        return {one.problem.id: Variant(one.problem, "applied") for one in problems}
    wrong: Mapping[str, str] = {}
    if perturbation == "MHC":
        wrong = _wrong_values(problems, executor, seed, task, written_hints)
    drawn = partial(
        perturb, density=density, task=task, guard=guard, truth=truth, wording=wording
    )
    drawn = partial(drawn, globals_of=globals_of)
    # Neutral comments stand where misleading ones would.
    stream = "MCC" if perturbation == NEUTRAL else perturbation
    variants: dict[str, Variant] = {}
    pending = {one.problem.id: one for one in problems}
    for attempt in range(1, ATTEMPTS + 1):
        candidates: dict[str, Perturbed] = {}
        for name, one in pending.items():
            draw = Draw(rng(seed, "perturb", stream, name, attempt))
            made = _drawn(
                one,
                partial(drawn, one, perturbation, draw, wrong=wrong.get(name, "")),
                attempt,
            )
            if isinstance(made, Variant):
                variants[name] = made
            elif written_hints is None:
                candidates[name] = made
            else:
                # What a file says stands in the program.
                candidates[name] = replace(made, problem=from_stranger(made.problem))
        faults = _differences(candidates, pending, executor)
        for name, made in candidates.items():
            before = pending[name].problem
            if faults[name]:
                variants[name] = Variant(before, "rejected", (), attempt, faults[name])
                continue
            doubt = program_of(before).refusal(perturbation) if guard == "tag" else ""
            variants[name] = Variant(
                made.problem, "applied", made.sites, attempt, doubt=doubt
            )
        pending = {name: one for name, one in pending.items() if faults.get(name)}
    return {one.problem.id: variants[one.problem.id] for one in problems}


def _drawn(
    checked: Checked, perturbed: Callable[[], Perturbed], attempt: int
) -> Perturbed | Variant:
    """Returns the perturbed problem that `perturbed` makes, not yet run. Where it raises or changes
    nothing, a variant with the status `refused`, `rejected` or `unchanged` and the number
    `attempt`."""
    try:
        made = perturbed()
    except Refused as refusal:
        return Variant(checked.problem, "refused", (), attempt, str(refusal))
    except UNREADABLE as error:
        return Variant(checked.problem, "rejected", (), attempt, reason_of(error))
    return made if made.sites else Variant(checked.problem, "unchanged", (), attempt)


def perturb(
    checked: Checked,
    perturbation: Perturbation,
    draw: Draw,
    *,
    task: Task,
    wrong: str,
    guard: Guard,
    truth: messages.Truth = "any",
    density: float = 1.0,
    wording: str = messages.KIT,
    globals_of: GlobalNames = "parameters",
) -> Perturbed:
    """Returns the problem after one draw of a perturbation, not yet run; the result's `sites` is
    empty where nothing could change. The arguments are those of `make_variants`; `wrong` is the
    value that MHC names.

    Raises `Refused` where `guard` is `refuse` and a rule refuses the program, and `NotPerturbed`
    where the perturbation cannot be made.
    """
    problem = checked.problem
    if perturbation not in PERTURBATIONS:
        return rewrite(problem, perturbation, draw)
    why = program_of(problem).refusal(perturbation) if guard == "refuse" else ""
    if why:
        raise Refused(why)
    if perturbation == "MHC" and not wrong:
        raise NotPerturbed("no wrong value of the same type was found")
    put = partial(
        messages.insert_messages, draw=draw, density=density, trace=checked.trace
    )
    put = partial(put, truth=truth, wording=wording)
    steps: dict[str, Callable[[Problem], Perturbed]] = {
        "MCC": partial(put, style="comment"),
        NEUTRAL: partial(put, style="neutral"),
        "MPS": partial(put, style="print"),
        "MHC": partial(messages.hint, value=wrong, task=task),
        "BLANK": messages.add_blank_line,
        "REN": rename,
        "RTF": partial(reformat_conditions, draw=draw, original=problem),
        "GBC": partial(
            insert_garbage, draw=draw, original=problem, globals_of=globals_of
        ),
    }
    made = Perturbed(problem)
    for name in ("RTF", "GBC", "REN") if perturbation == "PSC-ALL" else (perturbation,):
        done = steps[name](made.problem)
        made = Perturbed(done.problem, made.sites + done.sites)
    return made


def on_unseen(
    problems: Sequence[Checked], executor: Executor, seed: int
) -> dict[str, Checked]:
    """Returns by id each problem with up to `UNSEEN` inputs that were not tried before, in place of
    its own, and the executions on them (`Checked`); problems without such inputs are left out.
    `seed` decides the inputs."""
    others: dict[str, Checked] = {}
    for one in problems:
        draw = Draw(rng(seed, "unseen", one.problem.id))
        near = other_inputs(one.problem, draw, UNSEEN + INPUTS)
        if texts := [text for text in near if text not in one.inputs]:
            others[one.problem.id] = replace(one, inputs=tuple(texts[:UNSEEN]))
    calls = [(one.problem, text) for one in others.values() for text in one.inputs]
    executions = iter(run_calls(calls, executor))
    return {
        name: replace(one, executions=tuple(islice(executions, len(one.inputs))))
        for name, one in others.items()
    }


def unseen_differences(
    unseen: Mapping[str, Checked], variants: Mapping[str, Variant], executor: Executor
) -> dict[str, str]:
    """Returns by id how each applied one of `variants` differs in words from its program on the
    inputs of `unseen` (the result of `on_unseen`); empty text without a difference. Other variants,
    and those of problems not in `unseen`, are left out."""
    both = {name: variants[name] for name in unseen}
    applied = {name: one for name, one in both.items() if one.status == "applied"}
    return _differences(applied, unseen, executor)


def _differences(
    candidates: Mapping[str, Perturbed | Variant],
    checked: Mapping[str, Checked],
    executor: Executor,
) -> dict[str, str]:
    """Returns by id how each candidate differs, in words, from its vanilla program in `checked` on
    the inputs there, or why it has no such inputs; empty text where it does not differ.

    A candidate with the same syntax tree, of a program that does not read its own text, differs on
    no input; it is run on the problem's own input alone.
    """
    found: dict[str, str] = {}
    calls: dict[str, list[tuple[Problem, str]]] = {}
    for name, candidate in candidates.items():
        before, after = checked[name].problem, candidate.problem
        try:
            inputs = checked[name].inputs[
                : 1 if _differs_in_comments(before, after) else None
            ]
            calls[name] = [(after, _moved(before, after, text)) for text in inputs]
        except UNREADABLE as error:
            found[name] = reason_of(error)
    executions = iter(
        run_calls([call for own in calls.values() for call in own], executor)
    )
    for name, own in calls.items():
        found[name] = ""
        for (_, text), first in zip(own, checked[name].executions, strict=False):
            second = next(executions)
            if not (found[name] or _same(first, second)):
                found[name] = f"on {text:.60}: {_told(first)} became {_told(second)}"
    return found


def _differs_in_comments(before: Problem, after: Problem) -> bool:
    """Whether two Python problems have the same call and programs that differ in comments and
    layout alone and do not read their own text; False for other languages."""
    if before.language != "python" or before.call != after.call:
        return False
    return not program_of(before).refusal("MCC") and vanilla(after).code == before.code


def _moved(before: Problem, after: Problem, arguments: str) -> str:
    """Returns the argument text `arguments`, an input of the vanilla problem `before`, as an input
    of the perturbed problem `after`, whose keywords may have other names."""
    if arguments == before.arguments:
        return after.arguments
    if before.arguments == after.arguments:
        return arguments
    nodes = argument_nodes(call_of(replace(before, arguments=arguments)))
    return with_values(after, [ast.unparse(node) for node in nodes])


def _told(execution: Execution) -> str:
    returned = execution.outcome is Ending.RETURNED
    shown = shown_value(execution.value)[:60]
    return shown if returned else f"{execution.outcome} {execution.detail:.60}"


# --- wrong values for hints -----------------------------------------------------------------------------------------


def _wrong_values(
    problems: Sequence[Checked],
    executor: Executor,
    seed: int,
    task: Task,
    written_hints: Mapping[str, str] | None,
) -> dict[str, str]:
    """Returns by the problem's id a wrong output or, if `task` is `input`, an input that gives
    another output or, failing that, raises; empty or missing where none is found. `written_hints`
    (values by id) replaces the kit's own candidates."""
    if task == "output":
        return {
            one.problem.id: _wrong_output(one.problem, seed, written_hints)
            for one in problems
        }
    tried: list[Checked] = []
    calls: list[tuple[Problem, str]] = []
    for one in problems:
        problem, name = one.problem, one.problem.id
        if written_hints is None:
            draw = Draw(rng(seed, "wrong input", name))
            texts = [*other_inputs(problem, draw, WRONG_INPUTS), *_misfits(problem)]
        else:
            problem = from_stranger(problem)
            texts = [written_hints[name]] if name in written_hints else []
        tried += [one] * len(texts)
        calls += [(problem, text) for text in texts]
    found: dict[str, str] = {}
    raising: dict[str, str] = {}
    for one, (problem, text), run in zip(
        tried, calls, run_calls(calls, executor), strict=True
    ):
        if run.outcome is Ending.RAISED:
            raising.setdefault(problem.id, text)
        elif run.outcome is Ending.RETURNED and not same_value(
            run.value, one.executions[0].value
        ):
            found.setdefault(problem.id, text)
    return raising | found


def _misfits(problem: Problem) -> Iterator[str]:
    """Yields inputs that do not fit, for functions that give the same output for every fitting
    input: arguments swapped, or of other types (CodeCrash, appendix B.3, tells its model to do
    that). Yields nothing where an argument is no plain data."""
    try:
        values = argument_values(problem)
    except UNREADABLE:
        return
    for changed in (values[::-1], [None] * len(values), [0] * len(values)):
        if not same_value(changed, values):
            yield with_values(
                problem, [literal_text(value, problem.language) for value in changed]
            )


def _wrong_output(
    problem: Problem, seed: int, written_hints: Mapping[str, str] | None
) -> str:
    value, draw = (
        parse_literal(problem.output).value,
        Draw(rng(seed, "wrong output", problem.id)),
    )
    with suppress(*UNREADABLE):
        if written_hints is not None:
            text = written_hints.get(problem.id, "")
            return "" if same_value(parse_literal(text).value, value) else text
        for _ in range(WRONG_INPUTS):
            other = other_value(copy.deepcopy(value), draw)
            if not same_value(other, value):
                return literal_text(other, problem.language)
    return ""
