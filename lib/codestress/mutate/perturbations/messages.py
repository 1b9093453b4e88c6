"""Misleading messages and hints. MCC and MPS put misleading messages about the code into comments
or print statements (CodeCrash, appendix B.2). MHC puts a plausible but wrong value of the output,
or of the input, into a comment (appendix B.3).

Messages have eight kinds of place: functions, returns, while, for, conditions, assignments,
arithmetic assignments, and calls of sixteen methods of lists, sets, dictionaries and strings; 20
messages for each kind, 5 for each method. The paper's text prints four of its messages (Table 3).
The others are the kit's own (messages.yaml). A message at a return names a value that this
return never gives in the problem's call, found by running the call.

A message can be true: a loop that is said never to run may not run. So each message is compared
with a run of the problem's call.
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
from .neutral import neutral_text
from .programs import program_of, vanilla
from .python_sites import METHODS

Format = Literal["comment", "print", "neutral"]
"""Style of messages: comments, print statements, or neutral comments as long as the misleading ones
(neutral.py)."""
Truth = Literal["any", "false", "true", "undecidable"]
"""Truth, in a run of the problem's call, of the messages that may be inserted; `undecidable` where
the run does not show it."""
Claim = Literal["skipped", "kept", "unused", "value", "open"]
"""Claim of a message about its place (messages.yaml): the code is skipped, the value stays as it
was (`kept`), is unused, or is the named value; `open` for claims that no run on one input
decides."""
NAMED: Mapping[bool | None, Truth] = {False: "false", True: "true", None: "undecidable"}
"""Names of truths, as parameters give them."""


@dataclass(frozen=True)
class Trace:
    """Record of a run of the problem's call. Places for messages are numbered from 0, in the order
    of the text."""

    returned: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """Values that each return statement gave, as `repr` writes them, by the number of the return
    statement."""
    ran: frozenset[int] | None = None
    """Numbers of the places that the run reached: bodies of functions, loops and conditions, and
    statements; None without a run."""
    kept: Mapping[int, bool] = field(default_factory=dict)
    """Whether the value that an assignment or a called method may change stayed the same, by the
    number of the place."""


Wording = Literal["kit", "printed"]
"""Source of messages: the kit's own alone, or with the four that CodeCrash prints."""
Message = tuple[MessageSite, str, bool | None]
"""Place, text and truth of a message."""
Messages = dict[str, list[tuple[Claim, str]]]
"""Claim and text of each message, by kind of place; calls of a method are a kind with the method's
name."""


@cache
def messages(which: Wording = "kit") -> Messages:
    """Returns pairs of claim and text of all messages, by kind of place: the kit's own, of which
    `printed` replaces four by those that CodeCrash prints (Table 3)."""
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
    """Whether a message with the claim `claim` is true in the run that `trace` records; None where
    the run does not decide that, as always for the claim `open`. `kind` is the kind of the
    message's place, and `number` the place's number in the text's order, from 0."""
    if trace.ran is None or claim == "open":
        return None
    reached = number in (trace.kept if kind in METHODS else trace.ran)
    if claim == "kept" and reached:
        return trace.kept.get(number)
    if reached:
        return False if claim in ("skipped", "value") else None
    return None if kind in METHODS or claim == "value" else True


def traced(problem: Problem) -> Problem:
    """Returns the problem with tracing code in its program, and in place of its call a call that
    returns a record, from which `read_trace` makes a `Trace`."""
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
    """Returns the `Trace` from `value`, the record that the call of a problem returned by `traced`
    gave; `language` is the program's."""
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
    """Returns the problem with misleading messages, each at a place drawn with probability
    `density`; the result's `sites` lists them, and is empty where none was put.

    `style` is `comment`, `print`, or `neutral` (comments of equal length). Only messages from
    `messages(wording)` whose truth by `trace` is `truth` are put (all for `any`). The same draw at
    a higher density gives the same messages and more, and in every style the same places. A message
    at a return never names a value that the return gave.
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
    """Returns the messages that may stand at a place, each with its truth."""
    options = []
    for claim, message in messages(wording)[kind]:
        true = truth_of(claim, kind, number, trace)
        if truth in ("any", NAMED[true]):
            options.append((message, true))
    return options


def add_blank_line(problem: Problem) -> Perturbed:
    """Returns the problem with one blank line before the called function's body, as a control."""
    line = program_of(problem).body()[0]
    text = Lines(problem.code)
    start = text.starts[line - 1]
    code = edited(problem.code, [Edit(start, start, text.feed)])
    return Perturbed(replace(problem, code=code), (Site(line, "blank line", ""),))


def _with_messages(
    code: str, chosen: Sequence[Message], comment: str, printed: str
) -> str:
    """Returns the text `code` with the messages `chosen` as comments in the form `comment`, such as
    `# {}`; as statements in the form `printed` where `comment` is empty."""
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
    """Literal of a wrong value for a return statement: none of the values `returned` there (texts as
    `repr` writes them), and where possible of the type of one of them."""
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
    """Returns the problem with a comment that names the wrong `value`. For the task `output`, `#
    The return value is VALUE` stands behind the called function's only return, or on a new line
    after the body where there is no return or several. For the task `input`, `# The function call
    is NAME(VALUE)` stands behind the function's head."""
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
