"""Expressions by type: text of Python for a `str`, `int`, `bool`, `ints`, `strs` or `dict` from what is in scope.

`ints` and `strs` are lists of integers and of texts, `dict` maps texts to integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from codestress.problems.generated.drawing import Draw

CHARACTERS = ("a", "e", "i", "o", "n", "s", "r", " ", "-", ",")
ELEMENT = {"str": "str", "ints": "int", "strs": "str", "dict": "str"}
"""Type of what iterating gives."""
PREDICATES = ("isalpha", "isdigit", "islower", "isupper", "isalnum", "isspace", "istitle")


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

    def character(self) -> str:
        """A text to look for: mostly a literal, else a name."""
        return (self.draw.chance(0.25) and self.name("str")) or repr(self.draw.choice(CHARACTERS))

    def small(self) -> str:
        """A small integer: mostly a literal, else a name."""
        return (self.draw.chance(0.35) and self.name("int")) or str(self.draw.integer(1, 3))

    def of(self, kind: str, depth: int = 1) -> str:
        """An expression of a type; with a depth of 0 a name or a literal."""
        if depth > 0 and self.draw.chance(0.85):
            written = {
                "str": self.text,
                "int": self.integer,
                "bool": self.condition,
                "ints": self.integers,
                "strs": self.texts,
                "dict": self.dictionary,
            }[kind](depth - 1)
            if written is not None:
                return written
        return self.name(kind) or self.literal(kind)

    def literal(self, kind: str) -> str:
        draw = self.draw
        if kind == "str":
            return repr(draw.choice([*CHARACTERS, draw.word()]))
        if kind == "int":
            return str(draw.integer(0, 5))
        if kind == "bool":
            return draw.choice(["True", "False"])
        return {"ints": "[]", "strs": "[]", "dict": "{}"}[kind]

    def text(self, depth: int) -> str | None:
        draw = self.draw
        options = []
        if self.scope.of("str"):
            options += [
                (7, lambda: f"{self.subject(depth)}.{self.plain_method()}()"),
                (6, lambda: f"{self.subject(depth)}.replace({self.character()}, {self.character()})"),
                (5, lambda: f"{self.name('str')}{self.slice()}"),
                (5, lambda: f"{self.name('str')} + {self.of('str', depth)}"),
                (2, lambda: f"{self.name('str')}.{draw.choice(['ljust', 'rjust', 'center', 'zfill'])}({self.width()})"),
                (3, lambda: f"{self.name('str')}.{draw.choice(['strip', 'lstrip', 'rstrip'])}({self.character()})"),
                (2, lambda: f"''.join(sorted({self.name('str')}))"),
                (2, lambda: f"{self.name('str')}.split({self.character()})[{draw.choice(['0', '-1'])}]"),
                (2, lambda: f"{self.name('str')}.partition({self.character()})[{draw.choice(['0', '2'])}]"),
                (1, lambda: f"{self.name('str')} * {self.small()}"),
                (1, lambda: f"{self.name('str')}.remove{draw.choice(['prefix', 'suffix'])}({self.character()})"),
            ]
        if self.scope.of("strs"):
            options += [
                (8, lambda: f"{self.joint()}.join({self.name('strs')})"),
                (1, lambda: f"{self.name('strs')}[{draw.choice(['0', '-1'])}]"),
            ]
        if self.scope.of("int"):
            options.append((1, lambda: f"str({self.of('int', depth)})"))
        return draw.weighted(options)() if options else None

    def subject(self, depth: int) -> str:
        """What a method is called on."""
        if depth > 0 and self.draw.chance(0.3):
            return f"{self.name('str')}.{self.plain_method()}()"
        return str(self.name("str"))

    def plain_method(self) -> str:
        return self.draw.weighted(
            [(4, "lower"), (4, "upper"), (3, "strip"), (2, "swapcase"), (2, "capitalize"), (2, "title")]
        )

    def width(self) -> str:
        return (self.draw.chance(0.3) and self.name("int")) or str(self.draw.integer(8, 20))

    def joint(self) -> str:
        return repr(self.draw.weighted([(5, ""), (4, " "), (1, ","), (1, "-")]))

    def slice(self) -> str:
        draw = self.draw
        return draw.weighted(
            [
                (4, "[::-1]"),
                (3, f"[{self.small()}:]"),
                (3, f"[:{self.small()}]"),
                (1, f"[:-{draw.integer(1, 3)}]"),
                (1, f"[{draw.integer(0, 2)}::2]"),
                (1, f"[{draw.integer(0, 2)}:{draw.integer(3, 6)}]"),
            ]
        )

    def integer(self, depth: int) -> str | None:
        draw = self.draw
        options = []
        sized = ("str", "ints", "strs", "dict")
        if self.scope.of(*sized):
            options.append((5, lambda: f"len({self.name(*sized)})"))
        if self.scope.of("str"):
            options += [
                (5, lambda: f"{self.name('str')}.count({self.character()})"),
                (4, lambda: f"{self.name('str')}.{draw.choice(['find', 'rfind', 'index'])}({self.character()})"),
                (1, lambda: f"len({self.name('str')}.split())"),
            ]
        if self.scope.of("ints"):
            options += [
                (3, lambda: f"{draw.choice(['sum', 'max', 'min'])}({self.name('ints')})"),
                (3, lambda: f"{self.name('ints')}.{draw.choice(['count', 'index'])}({self.of('int', 0)})"),
                (3, lambda: f"{self.name('ints')}[{draw.choice(['0', '-1', '1', '-2'])}]"),
            ]
        if self.scope.of("dict"):
            options += [
                (3, lambda: f"{self.name('dict')}.get({self.of('str', 0)}, {draw.integer(0, 3)})"),
                (1, lambda: f"sum({self.name('dict')}.values())"),
            ]
        if self.scope.of("int"):
            options += [
                (4, lambda: f"{self.name('int')} {draw.choice(['+', '-', '*'])} {self.of('int', depth)}"),
                (2, lambda: f"{self.name('int')} {draw.choice(['%', '//'])} {draw.integer(2, 5)}"),
                (1, lambda: f"{draw.choice(['max', 'min'])}({self.name('int')}, {self.of('int', 0)})"),
            ]
        return draw.weighted(options)() if options else None

    def condition(self, depth: int) -> str | None:
        draw = self.draw
        compare = ["==", "!=", "<", ">", "<=", ">="]
        options = []
        if self.scope.of("str"):
            options += [
                (5, lambda: f"{self.name('str')}.{draw.choice(PREDICATES)}()"),
                (4, lambda: f"{self.name('str')}.{draw.choice(['startswith', 'endswith'])}({self.character()})"),
                (4, lambda: f"{self.character()} {draw.choice(['in', 'in', 'not in'])} {self.name('str')}"),
                (1, lambda: f"{self.name('str')} == {self.name('str')}[::-1]"),
            ]
        if self.scope.of("strs"):
            options.append((2, lambda: f"{self.of('str', 0)} {draw.choice(['in', 'not in'])} {self.name('strs')}"))
        if self.scope.of("ints"):
            options.append((2, lambda: f"{self.of('int', 0)} {draw.choice(['in', 'not in'])} {self.name('ints')}"))
        if self.scope.of("dict"):
            options.append((2, lambda: f"{self.of('str', 0)} {draw.choice(['in', 'not in'])} {self.name('dict')}"))
        if self.scope.of("int"):
            options += [
                (4, lambda: f"{self.name('int')} {draw.choice(compare)} {self.of('int', 0)}"),
                (3, lambda: f"{self.name('int')} % {draw.integer(2, 3)} {draw.choice(['==', '!='])} 0"),
            ]
        if self.scope.of("str", "ints", "strs", "dict"):
            options.append(
                (2, lambda: f"len({self.name('str', 'ints', 'strs', 'dict')}) {draw.choice(compare)} {self.small()}")
            )
        if not options:
            return None
        first = draw.weighted(options)()
        if depth > 0 and draw.chance(0.1):
            return f"{first} {draw.choice(['and', 'or'])} {draw.weighted(options)()}"
        return first

    def integers(self, depth: int) -> str | None:
        draw = self.draw
        options = []
        if self.scope.of("ints"):
            options += [
                (3, lambda: f"{self.name('ints')}{self.slice()}"),
                (2, lambda: f"sorted({self.name('ints')}{draw.choice(['', '', ', reverse=True'])})"),
                (2, lambda: f"{self.name('ints')} + {self.of('ints', 0)}"),
                (2, lambda: f"[n {draw.choice(['+', '-', '*'])} {self.small()} for n in {self.name('ints')}]"),
                (2, lambda: f"[n for n in {self.name('ints')} if {self.about('n', 'int')}]"),
            ]
        if self.scope.of("strs"):
            options.append((2, lambda: f"[len(w) for w in {self.name('strs')}]"))
        if self.scope.of("dict"):
            options.append((2, lambda: f"list({self.name('dict')}.values())"))
        if self.scope.of("int") and depth >= 0:
            options.append((1, lambda: f"list(range({self.name('int')}))"))
        return draw.weighted(options)() if options else None

    def texts(self, depth: int) -> str | None:
        draw = self.draw
        options = []
        if self.scope.of("str"):
            options += [
                (4, lambda: f"{self.name('str')}.split({draw.choice(['', self.character()])})"),
                (4, lambda: f"list({self.subject(depth)})"),
                (1, lambda: f"[c for c in {self.name('str')} if {self.about('c', 'str')}]"),
            ]
        if self.scope.of("strs"):
            options += [
                (3, lambda: f"{self.name('strs')}{self.slice()}"),
                (2, lambda: f"sorted({self.name('strs')}{draw.choice(['', ', key=len', ', reverse=True'])})"),
                (2, lambda: f"[w.{self.plain_method()}() for w in {self.name('strs')}]"),
                (2, lambda: f"[w for w in {self.name('strs')} if {self.about('w', 'str')}]"),
                (1, lambda: f"{self.name('strs')} + {self.of('strs', 0)}"),
            ]
        if self.scope.of("dict"):
            options.append((2, lambda: f"{draw.choice(['list', 'sorted'])}({self.name('dict')})"))
        return draw.weighted(options)() if options else None

    def dictionary(self, _depth: int) -> str | None:
        options: list[tuple[float, Callable[[], str]]] = []
        if self.scope.of("strs"):
            options.append((1, lambda: f"dict.fromkeys({self.name('strs')}, {self.of('int', 0)})"))
            if self.scope.of("ints"):
                options.append((3, lambda: f"dict(zip({self.name('strs')}, {self.name('ints')}))"))
        if self.scope.of("str"):
            options.append((0.3, lambda: f"dict.fromkeys({self.name('str')}, {self.of('int', 0)})"))
        if self.scope.of("dict"):
            options.append((2, lambda: f"{self.name('dict')}.copy()"))
        return self.draw.weighted(options)() if options else None

    def about(self, name: str, kind: str) -> str:
        """A condition on one name."""
        inner = Expressions(self.draw, Scope({name: kind}))
        return inner.condition(0) or "True"
