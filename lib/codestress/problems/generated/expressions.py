"""Expressions by type: text of Python for a `str`, `int`, `bool`, `ints`, `strs` or `dict` from what is in scope.

`ints` and `strs` are lists of integers and of texts, `dict` maps texts to integers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from codestress.problems.generated.drawing import Draw

CHARACTERS = ("a", "e", "i", "o", "n", "s", "r", " ", "-", ",")
ELEMENT = {"str": "str", "ints": "int", "strs": "str", "dict": "str"}
"""Type of what iterating gives."""
LITERALS = {"ints": "[]", "strs": "[]", "dict": "{}"}
FORMS = """
str 7 str: {subject}.{plain_method}()
str 6 str: {subject}.replace({character}, {character})
str 5 str: {str}{slice}
str 5 str: {str} + {str d}
str 2 str: {str}.{ljust|rjust|center|zfill}({width})
str 3 str: {str}.{strip|lstrip|rstrip}({character})
str 2 str: ''.join(sorted({str}))
str 2 str: {str}.split({character})[{0|-1}]
str 2 str: {str}.partition({character})[{0|2}]
str 1 str: {str} * {small}
str 1 str: {str}.remove{prefix|suffix}({character})
str 8 strs: {joint}.join({strs})
str 1 strs: {strs}[{0|-1}]
str 1 int: str({int d})
int 5 str/ints/strs/dict: len({str/ints/strs/dict})
int 5 str: {str}.count({character})
int 4 str: {str}.{find|rfind|index}({character})
int 1 str: len({str}.split())
int 3 ints: {sum|max|min}({ints})
int 3 ints: {ints}.{count|index}({int 0})
int 3 ints: {ints}[{0|-1|1|-2}]
int 3 dict: {dict}.get({str 0}, {0..3})
int 1 dict: sum({dict}.values())
int 4 int: {int} {+|-|*} {int d}
int 2 int: {int} {%|//} {2..5}
int 1 int: {max|min}({int}, {int 0})
bool 5 str: {str}.{isalpha|isdigit|islower|isupper|isalnum|isspace|istitle}()
bool 4 str: {str}.{startswith|endswith}({character})
bool 4 str: {character} {in|in|not in} {str}
bool 1 str: {str} == {str}[::-1]
bool 2 strs: {str 0} {in|not in} {strs}
bool 2 ints: {int 0} {in|not in} {ints}
bool 2 dict: {str 0} {in|not in} {dict}
bool 4 int: {int} {==|!=|<|>|<=|>=} {int 0}
bool 3 int: {int} % {2..3} {==|!=} 0
bool 2 str/ints/strs/dict: len({str/ints/strs/dict}) {==|!=|<|>|<=|>=} {small}
ints 3 ints: {ints}{slice}
ints 2 ints: sorted({ints}{||, reverse=True})
ints 2 ints: {ints} + {ints 0}
ints 2 ints: [n {+|-|*} {small} for n in {ints}]
ints 2 ints: [n for n in {ints} if {int about n}]
ints 2 strs: [len(w) for w in {strs}]
ints 2 dict: list({dict}.values())
ints 1 int: list(range({int}))
strs 4 str: {str}.split({separator})
strs 4 str: list({subject})
strs 1 str: [c for c in {str} if {str about c}]
strs 3 strs: {strs}{slice}
strs 2 strs: sorted({strs}{|, key=len|, reverse=True})
strs 2 strs: [w.{plain_method}() for w in {strs}]
strs 2 strs: [w for w in {strs} if {str about w}]
strs 1 strs: {strs} + {strs 0}
strs 2 dict: {list|sorted}({dict})
dict 1 strs: dict.fromkeys({strs}, {int 0})
dict 3 strs ints: dict(zip({strs}, {ints}))
dict 0.3 str: dict.fromkeys({str}, {int 0})
dict 2 dict: {dict}.copy()
"""
"""Of which type, how often, what must be in scope, and the form.

In its braces stand `{int}`, a name of that type (`{str/ints}`: of one of these); `{int 0}`, an expression of that depth
(d: the form's own); `{int about n}`, a condition on a name; `{a|b}`, one of them; `{2..5}`, an integer; else what the
tables below have.
"""
SOMETIMES = {
    "character": (0.25, "str", f"{{{'|'.join(map(repr, CHARACTERS))}}}"),
    "small": (0.35, "int", "{1..3}"),
    "width": (0.3, "int", "{8..20}"),
}
"""How often a name of which type, else what: a text to look for, a small integer, a width."""
WEIGHTED = {
    "plain_method": [(4, "lower"), (4, "upper"), (3, "strip"), (2, "swapcase"), (2, "capitalize"), (2, "title")],
    "separator": [(1, ""), (1, "{character}")],
    "joint": [(5, "''"), (4, "' '"), (1, "','"), (1, "'-'")],
    "slice": [
        *((4, "[::-1]"), (3, "[{small}:]"), (3, "[:{small}]"), (1, "[:-{1..3}]"), (1, "[{0..2}::2]")),
        (1, "[{0..2}:{3..6}]"),
    ],
}
TABLE = [
    (kind, float(weight), needs.split(), form)
    for kind, weight, needs, form in re.findall(r"^(\w+) (\S+) (.+?): (.+)$", FORMS, re.MULTILINE)
]
PLACE = re.compile(r"{(.+?)}")


@dataclass
class Scope:
    """Names with their types, and which of them have been read."""

    names: dict[str, str]
    read: set[str] = field(default_factory=set)

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.names.items() if kind in kinds]


class Expressions:
    """Writes expressions; every name that one reads is noted in the scope."""

    def __init__(self, draw: Draw, scope: Scope) -> None:
        self.draw = draw
        self.scope = scope

    def name(self, *kinds: str) -> str | None:
        """A name of one of these types, one not yet read where there is any."""
        known = self.scope.of(*kinds)
        if not known:
            return None
        fresh = [name for name in known if name not in self.scope.read]
        chosen = self.draw.choice(fresh if fresh and self.draw.chance(0.8) else known)
        self.scope.read.add(chosen)
        return chosen

    def of(self, kind: str, depth: int = 1) -> str:
        """An expression of a type; with a depth of 0 a name or a literal."""
        written = self.form(kind, depth - 1) if depth > 0 and self.draw.chance(0.85) else None
        return written or self.name(kind) or self.literal(kind)

    def literal(self, kind: str) -> str:
        if kind == "str":
            return repr(self.draw.choice([*CHARACTERS, self.draw.word()]))
        if kind == "int":
            return str(self.draw.integer(0, 5))
        return self.draw.choice(["True", "False"]) if kind == "bool" else LITERALS[kind]

    def form(self, kind: str, depth: int) -> str | None:
        """One of the forms of a type for which everything is in scope; None where there is none."""
        options = [
            (weight, form)
            for of, weight, needs, form in TABLE
            if of == kind and all(self.scope.of(*need.split("/")) for need in needs)
        ]
        if not options:
            return None
        written = self.filled(self.draw.weighted(options), depth)
        if kind == "bool" and depth > 0 and self.draw.chance(0.1):
            return f"{written} {self.draw.choice(['and', 'or'])} {self.filled(self.draw.weighted(options), depth)}"
        return written

    def filled(self, form: str, depth: int) -> str:
        """A form with its places filled, from left to right."""
        return PLACE.sub(lambda place: self.place(place[1], depth), form)

    def place(self, what: str, depth: int) -> str:
        if "|" in what:
            return self.draw.choice(what.split("|"))
        if ".." in what:
            low, high = map(int, what.split(".."))
            return str(self.draw.integer(low, high))
        if what in SOMETIMES:
            chance, kind, form = SOMETIMES[what]
            return (self.draw.chance(chance) and self.name(kind)) or self.filled(form, 0)
        if what in WEIGHTED:
            return self.draw.weighted([(weight, self.filled(form, 0)) for weight, form in WEIGHTED[what]])
        match what.split():
            case [kind, "about", name]:
                return Expressions(self.draw, Scope({name: kind})).form("bool", 0) or "True"
            case [kind, inner]:
                return self.of(kind, depth if inner == "d" else int(inner))
            case ["subject"]:  # what a method is called on
                nested = depth > 0 and self.draw.chance(0.3)
                return self.filled("{str}.{plain_method}()" if nested else "{str}", depth)
        return str(self.name(*what.split("/")))
