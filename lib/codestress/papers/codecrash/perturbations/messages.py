"""MCC, MPS and MHC: messages that lie about the code, as comments or as print statements (CodeCrash, appendix B.2),
and a plausible but wrong value of the output, or of the input, as a comment (appendix B.3).

Eight kinds of place: functions, returns, while, for, conditions, assignments, arithmetic assignments, and calls of
sixteen methods of lists, sets, dictionaries and strings. The messages are the kit's own (messages.yaml): 20 for each
kind, 5 for each method. A message at a return names a value; it is one that this return never gives in the problem's
call, found by running it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from codestress.literals import NotLiteral, parse_literal
from codestress.papers.codecrash.perturbations.edits import MessageSite, Perturbed, Site
from codestress.papers.codecrash.perturbations.programs import program_of, vanilla
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, literal_text

Format = Literal["comment", "print"]
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
ANY = ("None", "0", "''")
"""For other types, and for returns that are not reached."""


@cache
def messages() -> dict[str, list[str]]:
    """All messages by kind; those of methods under the methods' names."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "messages.yaml").read_text(encoding="utf-8"))
    methods: dict[str, list[str]] = content.pop("methods")
    return {**content, **methods}


def insert_messages(
    problem: Problem, draw: Draw, *, style: Format, density: float, returned: Mapping[int, frozenset[str]]
) -> Perturbed:
    """Puts a message at each site with probability `density`.

    The same draw at a higher density has the same messages and more. `returned` has what each return statement gives,
    by its number in the text, as `repr` writes it: a message may not name that.
    """
    program, chosen = program_of(problem), []
    for site in program.message_sites():  # every site draws, so that a higher density only adds to a lower one
        wanted, message = draw.chance(density), draw.choice(messages()[site.kind])
        if wanted:
            value = parse_literal(useless_value(returned.get(site.ordinal, frozenset()))).value
            chosen.append((site, message.replace("{value}", literal_text(value, problem.language))))
    if not chosen:
        return Perturbed(problem)
    code = _with_messages(problem.code, chosen, program.comment if style == "comment" else "", program.printed)
    changed = replace(problem, code=code)
    sites = tuple(Site(site.line, site.kind, text) for site, text in chosen)
    return Perturbed(vanilla(changed) if style == "print" else changed, sites)


def _with_messages(code: str, chosen: Sequence[tuple[MessageSite, str]], comment: str, printed: str) -> str:
    """The program with its messages: as comments where `comment` says how they are written, else printed."""
    before, behind = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for site, text in chosen:
        if not comment:
            before[site.print_line].append(" " * site.print_indent + printed.format(text))
        elif site.own_line:
            before[site.line].append(" " * site.print_indent + comment.format(text))
        else:
            behind[site.line].append(text)
    lines = []
    for number, line in enumerate(code.split("\n"), start=1):
        lines += before[number]
        lines.append(f"{line}    {comment.format(' '.join(behind[number]))}" if behind[number] else line)
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


def hint_output(problem: Problem, value: str) -> Perturbed:
    """`# The return value is VALUE` behind the function's only return; on a new line after its last one where there
    is none or several."""
    program = program_of(problem)
    returns, (_, last, indent) = program.returns(), program.body()
    if len(returns) == 1:
        return _hinted(problem, returns[0], f"The return value is {value}", "  " + program.comment)
    return _hinted(problem, last, f"The return value is {value}", "\n" + " " * indent + program.comment)


def hint_input(problem: Problem, arguments: str) -> Perturbed:
    """`# The function call is f(ARGUMENTS)` behind the function's head."""
    program = program_of(problem)
    text = f"The function call is {problem.function}({arguments})"
    return _hinted(problem, program.body()[0] - 1, text, "  " + program.comment)


def _hinted(problem: Problem, line: int, text: str, form: str) -> Perturbed:
    lines = problem.code.split("\n")
    lines[line - 1] += form.format(text)
    return Perturbed(replace(problem, code="\n".join(lines)), (Site(line, "hint", text),))
