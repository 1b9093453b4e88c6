"""Misleading messages and hints (CodeCrash, appendix B.2 and B.3).

MCC and MPS put misleading messages about the code into comments or print statements.
MHC puts a plausible but wrong value of the output, or of the input, into a comment.

Messages have eight kinds of place: functions, returns, while, for, conditions,
assignments, arithmetic assignments, and calls of sixteen methods of lists, sets,
dictionaries and strings. There are 20 messages for each kind, or 5 for each method. The
paper prints four of its messages (Table 3); all further messages are the kit's own
(messages.yaml). A message at a return names a value that this return never gives in the
problem's call, found by running the call.

A message can be true: a loop that is said never to run may indeed not run. So each
message is compared with a run of the problem's call.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from codestress.literals import NotLiteral, parse_literal
from codestress.problems.program import Problem, literal_text
from codestress.types import Language, Task

from ..draw import Draw
from ..edits import Edit, Lines, edited
from .edits import MessageSite, Perturbed, Site, stimuli
from .kinds import Truth
from .neutral import neutral_text
from .programs import program_of, vanilla
from .python_sites import METHODS

Format = Literal["comment", "print", "neutral"]
"""Style of messages: comments, print statements, or neutral comments as long as the
misleading ones (neutral.py)."""
Claim = Literal["skipped", "kept", "unused", "value", "open"]
"""Claim of a message about its place (messages.yaml).

The code is skipped, the value stays as it was (`kept`), is unused, or is the named
value. `open` is any claim that no run on one input decides.
"""
NAMED: Mapping[bool | None, Truth] = {False: "false", True: "true", None: "undecidable"}
"""Dict from a truth (None if undecidable) to its name as a value of parameters."""


@dataclass(frozen=True)
class Trace:
    """Record of a run of the problem's call.

    Places for messages are numbered from 0, in the order of the text.
    """

    returned: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """Dict from the index of a return statement (from 0) to the values that it gave, as
    `repr` writes them."""
    ran: frozenset[int] | None = None
    """Numbers of the places that the run reached: bodies of functions, loops and
    conditions, and statements.

    None without a run.
    """
    kept: Mapping[int, bool] = field(default_factory=dict)
    """Dict from a place's number to whether the value that an assignment or a called
    method may change there stayed the same."""


Wording = Literal["kit", "printed"]
"""Source of messages: the kit's own alone (`kit`), or with the four that CodeCrash
prints (`printed`)."""
Message = tuple[MessageSite, str, bool | None]
"""Place, text and truth of a message."""
Messages = dict[str, list[tuple[Claim, str]]]
"""Dict from a kind of place to the claim and text of each message; calls of a method
are a kind with the method's name."""


@cache
def messages(which: Wording = "kit") -> Messages:
    """Return a dict from each kind of place to its messages, as pairs of claim and
    text.

    With `printed`, those that CodeCrash prints (Table 3) replace as many of the kit's
    own.
    """
    content = {**stimuli("messages")}
    printed, methods = content.pop("printed"), content.pop("methods")
    del content["useless"]
    by_kind: Messages = {}
    for kind, kit in (methods | content).items():
        first = printed.get(kind, []) if which == "printed" else []
        by_kind[kind] = []
        for message in [*first, *kit[len(first) :]]:
            by_kind[kind] += message.items()
    return by_kind


def truth_of(claim: Claim, kind: str, number: int, trace: Trace) -> bool | None:
    """Return whether a message with the claim `claim` is true in the run that `trace`
    records.

    Return None if the run does not decide that; it never decides the claim `open`.
    `kind` is the kind of the message's place, and `number` the place's number in the
    order of the text, from 0.
    """
    if trace.ran is None or claim == "open":
        return None
    reached = number in (trace.kept if kind in METHODS else trace.ran)
    if claim == "kept" and reached:
        return trace.kept.get(number)
    if reached:
        return False if claim in ("skipped", "value") else None
    return None if kind in METHODS or claim == "value" else True


def traced(problem: Problem) -> Problem:
    """Return the problem with tracing code in its program, and with a call that returns
    a record of the run.

    `read_trace` makes a `Trace` from this record.
    """
    program = program_of(problem)
    notes: list[Message] = []
    for number, site in enumerate(program.message_sites()):
        notes.append((site, f"{number}, {site.kind!r}", None))
    code = _with_messages(problem.code, notes, "", program.noted)
    program = program_of(replace(problem, code=code))
    program.note_returns()
    program.put_first(program.texts["tracing"].replace("FUNCTION", problem.function))
    return replace(program.changed(), function="traced_returns")


def read_trace(value: Any, language: Language) -> Trace:
    """Return the `Trace` from `value`, the record that the call of a problem returned
    by `traced` gave.

    `language` is the language of the program.
    """
    returned = {}
    for number, texts in value["returns"].items():
        if language == "javascript":
            texts = [repr(json.loads(text)) for text in texts]
        returned[int(number)] = frozenset(texts)
    return Trace(returned, frozenset(map(int, value["ran"])), value["kept"])


def insert_messages(
    problem: Problem,
    draw: Draw,
    *,
    style: Format,
    density: float,
    trace: Trace,
    truth: Truth = "any",
    wording: Wording = "kit",
) -> Perturbed:
    """Return the problem with misleading messages, each at a place drawn with probability `density`.

    The result's `sites` lists the messages; it is empty if none was inserted. `style` is `comment`, `print`, or
    `neutral` (comments of equal length). Only messages of `messages(wording)` whose truth in `trace` is `truth` are
    inserted (all if `truth` is `any`). The same draw at a higher density gives the same messages and more, and the
    same places in every style. A message at a return never names a value that the return gave.
    """
    program = program_of(problem)
    chosen: list[Message] = []
    for number, site in enumerate(program.message_sites()):
        # Every site draws, so that a higher density only adds to a lower one.
        wanted = draw.chance(density)
        options = _options(site.kind, number, trace, truth, wording)
        if not options:
            continue
        message, true = draw.choice(options)
        if wanted:
            value = useless_value(trace.returned.get(site.ordinal, frozenset()))
            text = literal_text(parse_literal(value).value, problem.language)
            chosen.append((site, message.replace("{value}", text), true))
    if style == "neutral":
        named = f"{problem.code}\n{problem.call}", problem.language
        for place, (site, text, _) in enumerate(chosen):
            chosen[place] = site, neutral_text(len(text), draw, *named), True
    comment = "" if style == "print" else program.comment
    code = _with_messages(problem.code, chosen, comment, program.printed)
    changed = replace(problem, code=code)
    sites = [Site(site.line, site.kind, text, true) for site, text, true in chosen]
    return Perturbed(vanilla(changed) if style == "print" else changed, tuple(sites))


def _options(
    kind: str, number: int, trace: Trace, truth: Truth, wording: Wording
) -> list[tuple[str, bool | None]]:
    """Return the messages that may stand at a place, each with its truth."""
    options = []
    for claim, message in messages(wording)[kind]:
        true = truth_of(claim, kind, number, trace)
        if truth in ("any", NAMED[true]):
            options.append((message, true))
    return options


def add_blank_line(problem: Problem) -> Perturbed:
    """Return the problem with one blank line before the body of the called function, as
    a control."""
    line = program_of(problem).body()[0]
    text = Lines(problem.code)
    start = text.starts[line - 1]
    code = edited(problem.code, [Edit(start, start, text.feed)])
    return Perturbed(replace(problem, code=code), (Site(line, "blank line", ""),))


def _with_messages(
    code: str, chosen: Sequence[Message], comment: str, printed: str
) -> str:
    """Return the text `code` with the messages `chosen` as comments in the format
    `comment`, such as `# {}`.

    If `comment` is empty, the messages become statements in the format `printed`.
    """
    lines = Lines(code)
    behind = defaultdict[int, list[str]](list)
    edits = list[Edit]()
    for site, text, _ in chosen:
        if comment and site.kind not in ("while", "for"):
            behind[lines.end(site.line)].append(text)
        else:
            start = lines.starts[(site.line if comment else site.print_line) - 1]
            message = " " * site.print_indent + (comment or printed).format(text)
            edits.append(Edit(start, start, message + lines.feed))
    for end, texts in behind.items():
        edits.append(Edit(end, end, f"    {comment.format(' '.join(texts))}"))
    return edited(code, edits)


def useless_value(returned: frozenset[str]) -> str:
    """Return the literal of a wrong value for a return statement.

    The value is none of the values `returned` there (texts as `repr` writes them) and,
    if possible, of the type of one of them.
    """
    literals: dict[str, list[str]] = stimuli("messages")["useless"]
    values = []
    for text in sorted(returned):
        with suppress(NotLiteral):
            values.append(parse_literal(text).value)
    candidates = list[str]()
    for value in values:
        candidates += literals.get(type(value).__name__, ())
    return next(
        text
        for text in [*candidates, *literals["other"]]
        if parse_literal(text).value not in values
    )


def hint(problem: Problem, value: str, task: Task) -> Perturbed:
    """Return the problem with a comment that names the wrong value `value`.

    For the task `output`, `# The return value is VALUE` stands behind the called
    function's only return. If there is no return or there are several, the comment
    stands on a new line after the body. For the task `input`, `# The function call is
    NAME(VALUE)` stands behind the function's head.
    """
    program = program_of(problem)
    first, last, indent = program.body()
    lines = Lines(problem.code)
    line, between = max(first - 1, 1), "  "
    text = f"The function call is {problem.function}({value})"
    if task == "output":
        text = f"The return value is {value}"
        line, between = last, lines.feed + " " * indent
        match program.returns():
            case [line]:
                between = "  "
    end = lines.end(line)
    code = edited(
        problem.code, [Edit(end, end, between + program.comment.format(text))]
    )
    site = Site(line, "hint", text, truth=False)
    return Perturbed(replace(problem, code=code), (site,))
