"""MCC, MPS and MHC: messages that lie about the code, as comments or as print statements (CodeCrash, appendix B.2),
and a plausible but wrong value of the output, or of the input, as a comment (appendix B.3).

Eight kinds of place: functions, returns, while, for, conditions, assignments, arithmetic assignments, and calls of
sixteen methods of lists, sets, dictionaries and strings. The messages are the kit's own (messages.yaml): 20 for each
kind, 5 for each method. A message at a return names a value; it is one that this return never gives in the problem's
call, found by running it.

Messages can be true: a loop that is said never to run may not run. Each is held against a run of the problem's call.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from codestress.literals import NotLiteral, parse_literal
from codestress.papers.codecrash.perturbations.edits import MessageSite, Perturbed, Site
from codestress.papers.codecrash.perturbations.programs import program_of, vanilla
from codestress.papers.codecrash.perturbations.tracing import METHODS
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, literal_text
from codestress.scoring.predictions import Task
from codestress.types import Language

Format = Literal["comment", "print"]
Truth = Literal["any", "false", "true", "undecidable"]
"""Which messages are drawn from."""
Claim = Literal["skipped", "kept", "unused", "value", "open"]
"""What a message says (messages.yaml)."""
USELESS: Mapping[str, Sequence[str]] = {
    "bool": ("False", "True"),
    "int": ("0", "-1", "1"),
    "float": ("0.0", "-1.0"),
    "str": ("''", "' '", "'None'"),
    "list": ("[]", "[0]", "[None]"),
    "tuple": ("()", "(0,)"),
    "dict": ("{}", "{0: 0}"),
    "set": ("set()", "{0}"),
}
"""Values that a return may be said to give, by the type of what it gives, best first."""
NAMED: Mapping[bool | None, Truth] = {True: "true", False: "false", None: "undecidable"}
ANY = ("None", "0", "''")
"""For other types, and for returns that are not reached."""


@dataclass(frozen=True)
class Trace:
    """What happened in the problem's call. Sites are numbered in the order of the text."""

    returned: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """What each return statement gave, by its number in the text, as `repr` writes it."""
    ran: frozenset[int] | None = None
    """Sites that were reached: bodies of functions, loops and conditions, and statements; None: it was not traced."""
    kept: Mapping[int, bool] = field(default_factory=dict)
    """Of assignments and of methods that were called: whether what they may change was the same before and after."""
    idle: frozenset[int] = frozenset()
    """Sites that do nothing but keep a value, or drop it, which nothing looked at again (Python)."""


@cache
def messages() -> dict[str, list[tuple[Claim, str]]]:
    """All messages by kind; those of methods under the methods' names."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "messages.yaml").read_text(encoding="utf-8"))
    by_kind: dict[str, list[dict[Claim, str]]] = content.pop("methods") | content
    return {kind: [one for message in found for one in message.items()] for kind, found in by_kind.items()}


def truth_of(claim: Claim, kind: str, number: int, trace: Trace) -> bool | None:
    """Whether what is said of a site is true of the traced call; None where the trace does not decide it."""
    if trace.ran is None or claim == "open":
        return None
    reached = number in (trace.kept if kind in METHODS else trace.ran)
    if claim == "unused" and number in trace.idle:
        return True
    if claim == "kept" and reached:
        return trace.kept.get(number)
    if reached:
        return False if claim in ("skipped", "value") else None
    return None if kind in METHODS or claim == "value" else True


def traced(problem: Problem) -> Problem:
    """Its call gives what `read_trace` reads."""
    program = program_of(problem)
    notes = [(site, f"{number}, {site.kind!r}") for number, site in enumerate(program.message_sites())]
    return program_of(replace(problem, code=_with_messages(problem.code, notes, "", program.noted))).traced()


def read_trace(value: Any, language: Language) -> Trace:
    """What the call of a traced problem gave."""
    read: Callable[[str], str] = (lambda text: repr(json.loads(text))) if language == "javascript" else str
    returned = {int(number): frozenset(map(read, texts)) for number, texts in value["returns"].items()}
    idle = frozenset(map(int, value.get("idle", ())))
    return Trace(returned, frozenset(map(int, value["ran"])), dict(value["kept"]), idle)


def insert_messages(
    problem: Problem, draw: Draw, *, style: Format, density: float, trace: Trace, truth: Truth = "any"
) -> Perturbed:
    """Puts a message at each site with probability `density`, where there is one of that truth.

    The same draw at a higher density has the same messages and more. A message at a return never names what it gave.
    """
    program, chosen, sites = program_of(problem), [], []
    for number, site in enumerate(program.message_sites()):
        wanted = draw.chance(density)  # every site draws, so that a higher density only adds to a lower one
        known = {claim: truth_of(claim, site.kind, number, trace) for claim, _ in messages()[site.kind]}
        options = [one for one in messages()[site.kind] if truth in ("any", NAMED[known[one[0]]])]
        if not options:
            continue
        claim, message = draw.choice(options)
        if wanted:
            value = parse_literal(useless_value(trace.returned.get(site.ordinal, frozenset()))).value
            text = message.replace("{value}", literal_text(value, problem.language))
            chosen.append((site, text))
            sites.append(Site(site.line, site.kind, text, known[claim]))
    if not chosen:
        return Perturbed(problem)
    code = _with_messages(problem.code, chosen, program.comment if style == "comment" else "", program.printed)
    changed = replace(problem, code=code)
    return Perturbed(vanilla(changed) if style == "print" else changed, tuple(sites))


def add_blank_line(problem: Problem) -> Perturbed:
    """One blank line before the function's body: a change that says nothing, as a control."""
    line = program_of(problem).body()[0]
    lines = problem.code.split("\n")
    changed = replace(problem, code="\n".join([*lines[: line - 1], "", *lines[line - 1 :]]))
    return Perturbed(changed, (Site(line, "blank line", ""),))


def _with_messages(code: str, chosen: Sequence[tuple[MessageSite, str]], comment: str, printed: str) -> str:
    """The program with its messages: as comments where `comment` says how they are written, else printed."""
    before, behind = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for site, text in chosen:
        if comment and site.kind not in ("while", "for"):
            behind[site.line].append(text)
        else:
            line = site.line if comment else site.print_line
            before[line].append(" " * site.print_indent + (comment or printed).format(text))
    lines = []
    for number, whole in enumerate(code.split("\n"), start=1):
        lines += before[number]
        lines.append(f"{whole}    {comment.format(' '.join(behind[number]))}" if behind[number] else whole)
    return "\n".join(lines)


def useless_value(seen: frozenset[str]) -> str:
    """A value of the type of those seen that is none of them; of other types when there is none."""
    values = []
    for text in seen:
        with suppress(NotLiteral):
            values.append(parse_literal(text).value)
    kinds = dict.fromkeys(type(value).__name__ for value in sorted(values, key=repr))
    candidates = [text for kind in kinds for text in USELESS.get(kind, ())] + [*ANY, "-1"]
    return next(text for text in candidates if text not in seen and parse_literal(text).value not in values)


def hint(problem: Problem, value: str, task: Task) -> Perturbed:
    """Of the output, `# The return value is VALUE` behind the function's only return, or on a new line after its last
    one where there is none or several; of the input, `# The function call is f(VALUE)` behind the function's head."""
    program = program_of(problem)
    returns, (first, last, indent) = program.returns(), program.body()
    if task == "input":
        line, between, text = first - 1, "  ", f"The function call is {problem.function}({value})"
    else:
        line, between = (returns[0], "  ") if len(returns) == 1 else (last, "\n" + " " * indent)
        text = f"The return value is {value}"
    lines = problem.code.split("\n")
    lines[line - 1] += between + program.comment.format(text)
    return Perturbed(replace(problem, code="\n".join(lines)), (Site(line, "hint", text, truth=False),))
