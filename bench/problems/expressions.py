"""Python expressions by type, as text: a `str`, `int`, `bool`, `ints`, `strs` or `dict` from the
names in scope.

`ints` and `strs` are lists of integers and of texts, `dict` maps texts to integers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from values import GRAMMAR, Values

CHARACTERS = ("a", "e", "i", "o", "n", "s", "r", " ", "-", ",")
ELEMENT = {"str": "str", "ints": "int", "strs": "str", "dict": "str"}
"""Type of a container's elements when it is iterated."""
LITERALS = {"ints": "[]", "strs": "[]", "dict": "{}"}
FORMS: str = GRAMMAR["forms"]
"""Rows of the grammar: result type, weight, types that must be in scope, and form.

Placeholders in a form: `{int}`, a name of that type (`{str/ints}`: of either type); `{int 0}`, an
expression of that depth (d: the form's own depth); `{int about n}`, a condition on a name; `{a|b}`,
one of the alternatives; `{2..5}`, an integer; other words refer to `SOMETIMES` and to `weighted` in
grammar.yaml.
"""
SOMETIMES = {
    "character": (0.25, "str", f"{{{'|'.join(map(repr, CHARACTERS))}}}"),
    "small": (0.35, "int", "{1..3}"),
    "width": (0.3, "int", "{8..20}"),
}
"""Placeholders for a text to look for, a small integer and a width: probability of a name in scope,
the name's type, and the form otherwise."""
TABLE = [
    (kind, float(weight), needs.split(), form)
    for kind, weight, needs, form in re.findall(
        r"^(\w+) (\S+) (.+?): (.+)$", FORMS, re.MULTILINE
    )
]
PLACE = re.compile(r"{(.+?)}")


@dataclass
class Scope:
    """Variables in scope: their types by name, and the names that expressions have read so far."""

    names: dict[str, str]
    read: set[str] = field(default_factory=set)

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.names.items() if kind in kinds]


class Expressions:
    """Writer of random expressions from the names in a `Scope`, which records there every name that
    an expression reads."""

    def __init__(self, draw: Values, scope: Scope) -> None:
        self.draw = draw
        self.scope = scope

    def name(self, *kinds: str) -> str | None:
        """Name in scope of one of the types `kinds`, most often one not read yet; it then counts as
        read. None without such a name."""
        known = self.scope.of(*kinds)
        if not known:
            return None
        fresh = [name for name in known if name not in self.scope.read]
        chosen = self.draw.choice(fresh if fresh and self.draw.chance(0.8) else known)
        self.scope.read.add(chosen)
        return chosen

    def of(self, kind: str, depth: int = 1) -> str:
        """Text of an expression of the type `kind`, nested up to `depth`; at depth 0, and now and
        then else, a name in scope or a literal."""
        written = (
            self.form(kind, depth - 1) if depth > 0 and self.draw.chance(0.85) else None
        )
        return written or self.name(kind) or self.literal(kind)

    def literal(self, kind: str) -> str:
        if kind == "str":
            return repr(self.draw.choice([*CHARACTERS, self.draw.word()]))
        if kind == "int":
            return str(self.draw.integer(0, 5))
        return self.draw.choice(["True", "False"]) if kind == "bool" else LITERALS[kind]

    def form(self, kind: str, depth: int) -> str | None:
        """Text of an expression of the type `kind`, made from a row of the grammar (`TABLE`) for
        which all needed types are in scope; its parts have at most `depth`. None without such a
        row."""
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
        """Text of the grammar's `form` with its placeholders filled, from left to right, by
        expressions of at most `depth`."""
        return PLACE.sub(lambda place: self.place(place[1], depth), form)

    def place(self, what: str, depth: int) -> str:
        if "|" in what:
            return self.draw.choice(what.split("|"))
        if ".." in what:
            low, high = map(int, what.split(".."))
            return str(self.draw.integer(low, high))
        if what in SOMETIMES:
            chance, kind, form = SOMETIMES[what]
            return (self.draw.chance(chance) and self.name(kind)) or self.filled(
                form, 0
            )
        if what in GRAMMAR["weighted"]:
            return self.draw.weighted(
                [
                    (weight, self.filled(form, 0))
                    for weight, form in GRAMMAR["weighted"][what]
                ]
            )
        match what.split():
            case [kind, "about", name]:
                return (
                    Expressions(self.draw, Scope({name: kind})).form("bool", 0)
                    or "True"
                )
            case [kind, inner]:
                return self.of(kind, depth if inner == "d" else int(inner))
            case ["subject"]:  # what a method is called on
                nested = depth > 0 and self.draw.chance(0.3)
                return self.filled(
                    "{str}.{plain_method}()" if nested else "{str}", depth
                )
        return str(self.name(*what.split("/")))
