"""Statements and whole functions, built by type from the names in scope, so that later statements
use earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from expressions import ELEMENT, LITERALS, Expressions, Scope
from values import GRAMMAR, Values

LOCALS, LOOPED = GRAMMAR["locals"], GRAMMAR["looped"]


def indented(lines: Sequence[str]) -> list[str]:
    """Lines of a block: the given `lines`, each indented by four spaces."""
    return [f"    {line}" for line in lines]


class Writer(Expressions):
    """Writer of a function `f` whose parameters, statements and result fit together by type; the
    function may still fail when run."""

    def __init__(self, draw: Values) -> None:
        super().__init__(draw, Scope({}))
        self.results: list[str] = []
        """Local variables that statements have built up; the function most likely returns one of
        them."""

    def function(self) -> tuple[str, list[str]]:
        """Pair of the source text of a random function `f` and the types of its parameters in
        order."""
        draw = self.draw
        count = draw.weighted([(0.22, 1), (0.56, 2), (0.22, 3)])
        kinds = [draw.weighted(GRAMMAR["parameter_types"])]
        kinds += [draw.weighted(GRAMMAR["more_types"]) for _ in range(count - 1)]
        for kind in kinds:
            self.new(kind, GRAMMAR["parameters"])
        parameters = list(self.scope.names)
        result = draw.weighted(GRAMMAR["result_types"])
        target = draw.weighted(GRAMMAR["lines"])
        body: list[str] = []
        for _ in range(3 * target):  # a statement that does not fit the scope is none
            if len(body) + 2 < target:
                body += self.statement(result, target - 2 - len(body))
        body += self.ending(result)
        lines = [f"def f({', '.join(parameters)}):", *indented(body)]
        return "\n".join(lines), kinds

    def new(self, kind: str, pool: Mapping[str, Sequence[str]]) -> str:
        """Unused name for a variable of the type `kind`, added to the scope: from the names of this
        type in `pool` or, when all are in use, the first of them with a number."""
        free = [name for name in pool[kind] if name not in self.scope.names]
        name = (
            self.draw.choice(free)
            if free
            else f"{pool[kind][0]}{len(self.scope.names)}"
        )
        self.scope.names[name] = kind
        return name

    def ending(self, result: str) -> list[str]:
        if result == "tuple":
            kinds = [
                kind
                for kind in ("str", "int", "ints", "strs", "dict")
                if self.scope.of(kind)
            ]
            parts = [self.of(self.draw.choice(kinds), 1) for _ in range(2)]
            return [f"return {', '.join(parts)}"]
        built = [name for name in self.results if self.scope.names[name] == result]
        if built and self.draw.chance(0.75):
            self.scope.read.add(built[-1])
            return [f"return {built[-1]}"]
        return [f"return {self.of(result, 2)}"]

    def statement(self, result: str, room: int) -> list[str]:
        options = [(2.0, self.assignment), (1.6, self.change)]
        if room >= 2:
            options += [(1.5, self.guard)]
        if room >= 3:
            options += [
                (6.0, lambda: self.loop(result, room)),
                (2.5, self.while_loop),
                (0.8, self.branch),
            ]
        return self.draw.weighted(options)()

    def assignment(self) -> list[str]:
        """Line that assigns a value to a new local variable, or a new value of the same type to a
        known name; no line when the value drawn is unsuitable."""
        kind = self.draw.weighted(
            [(4, "str"), (3, "strs"), (2, "ints"), (2, "int"), (0.7, "dict")]
        )
        written = self.of(kind, 2)
        same = self.scope.of(kind)
        if same and self.draw.chance(0.4):
            name = self.draw.choice(same)
            if written == name:
                return []
            self.scope.read.discard(name)
            return [f"{name} = {written}"]
        if written in self.scope.names or not any(
            name in written for name in self.scope.names
        ):
            return []
        return [f"{self.built(self.new(kind, LOCALS))} = {written}"]

    def built(self, name: str) -> str:
        self.results.append(name)
        return name

    def change(self) -> list[str]:
        """Lines that change a list or a dictionary in place; an assignment when none is in
        scope."""
        draw = self.draw
        name = self.name("ints", "strs", "dict")
        if name is None:
            return self.assignment()
        kind = self.scope.names[name]
        self.scope.read.discard(name)
        self.built(name)
        if kind == "dict":
            key = self.of("str", 0)
            return draw.weighted(
                [
                    (3, [f"{name}[{key}] = {self.of('int', 1)}"]),
                    (1, [f"{name}.pop({key}, None)"]),
                    (1, [f"{name}.setdefault({key}, {self.of('int', 0)})"]),
                    (1, [f"{name}.update({{{key}: {self.of('int', 0)}}})"]),
                ]
            )
        element = self.of(ELEMENT[kind], 1)
        return draw.weighted(
            [
                (4, [f"{name}.append({element})"]),
                (2, [f"{name}.insert({draw.integer(0, 2)}, {element})"]),
                (2, [f"{name}.reverse()"]),
                (2, [f"{name}.sort()"]),
                (2, [f"{name}.pop({draw.choice(['', '0'])})"]),
                (1, [f"{name}.extend({self.of(kind, 1)})"]),
                (1, [f"if {element} in {name}:", f"    {name}.remove({element})"]),
            ]
        )

    def guard(self) -> list[str]:
        """Lines of an assignment under a condition; none when nothing suitable was drawn."""
        test = self.of("bool", 2)
        if test in ("True", "False"):
            return []
        built = bool(self.results) and self.draw.chance(0.4)
        names = self.results if built else self.scope.of("str", "ints", "strs", "int")
        if not names:
            return []
        name = self.draw.choice(names)
        written = self.of(self.scope.names[name], 1)
        if not built:
            self.scope.read.discard(name)
        return (
            [f"if {test}:", f"    {name} = {written}"]
            if built or written != name
            else []
        )

    def branch(self) -> list[str]:
        """Lines of an if and else that give a new local variable one of two values; none when the
        condition is constant or the values are equal."""
        test = self.of("bool", 1)
        kind = self.draw.weighted([(3, "str"), (2, "int"), (1, "strs"), (1, "ints")])
        first, second = self.of(kind, 1), self.of(kind, 1)
        if test in ("True", "False") or first == second:
            return []
        name = self.built(self.new(kind, LOCALS))
        return [
            f"if {test}:",
            f"    {name} = {first}",
            "else:",
            f"    {name} = {second}",
        ]

    def loop(self, result: str, room: int) -> list[str]:
        """Lines of a for loop that builds up a new variable over the elements of a name in scope,
        at most `room` of them; none without such a name. The variable often has the type
        `result`."""
        draw = self.draw
        over = self.name("str", "ints", "strs", "dict")
        if over is None:
            return []
        wanted = result if result in LOCALS and result != "bool" else "int"
        kind = (
            wanted if draw.chance(0.75) else draw.choice(["strs", "int", "str", "ints"])
        )
        start = {"str": "''", "int": "0", **LITERALS}[kind]
        name = self.built(self.new(kind, LOCALS))
        outer = dict(self.scope.names)
        head = self.head(over)
        inner = self.step(name, kind)
        if room >= 4 and draw.chance(0.6):
            test = self.about_loop(outer)
            block = [f"if {test}:", *indented(inner)]
            other = self.step(name, kind)
            if room >= 5 and draw.chance(0.5) and other != inner:
                block += ["else:", *indented(other)]
            inner = block
        self.scope.names = outer
        return [f"{name} = {start}", head, *indented(inner)]

    def head(self, over: str) -> str:
        """First line of a for loop over the name `over`, which is in scope; its loop variables are
        added to the scope."""
        draw = self.draw
        kind = self.scope.names[over]
        element = ELEMENT[kind]
        style = draw.weighted([(6, "plain"), (2, "index"), (1, "enumerate")])
        if kind == "dict":
            key = self.new("str", {"str": ("key", "k", "name")})
            value = self.new("int", {"int": ("value", "v", "val")})
            return f"for {key}, {value} in {over}.items():"
        if style == "index":
            index = self.new("int", {"int": ("i", "j")})
            part = f"{over}[{index}]"
            self.scope.names[part] = element
            return f"for {index} in range(len({over})):"
        bound = self.new(element, {element: LOOPED[kind]})
        if style == "enumerate":
            index = self.new("int", {"int": ("i", "j")})
            return f"for {index}, {bound} in enumerate({over}):"
        return f"for {bound} in {over}:"

    def step(self, name: str, kind: str) -> list[str]:
        """Lines in a loop that extend the variable `name` of the type `kind` by an expression of
        other names in scope, such as the loop variables."""
        self.scope.names.pop(name)
        element = self.of(ELEMENT.get(kind, kind), 1)
        if kind == "dict":
            value = self.draw.choice(
                [f"{name}.get({element}, 0) + 1", self.of("int", 1)]
            )
            line = f"{name}[{element}] = {value}"
        elif kind in ("ints", "strs"):
            change = self.draw.weighted([(8, "append("), (1, "insert(0, ")])
            line = f"{name}.{change}{element})"
        elif kind == "int":
            line = f"{name} += {self.draw.choice(['1', element])}"
        else:
            line = self.draw.weighted(
                [(5, f"{name} += {element}"), (1, f"{name} = {element} + {name}")]
            )
        self.scope.names[name] = kind
        return [line]

    def about_loop(self, outer: dict[str, str]) -> str:
        """Text of a condition on the loop variables, and at times on other names in scope; `True`
        when no condition fits. `outer` has the names in scope before the loop, with their types."""
        bound = {
            name: kind for name, kind in self.scope.names.items() if name not in outer
        }
        for name, kind in outer.items():
            if kind in ("str", "int") and self.draw.chance(0.3):
                bound[name] = kind
        inner = Expressions(self.draw, Scope(bound))
        test = inner.form("bool", 1) or "True"
        self.scope.read |= inner.scope.read & set(outer)
        return test

    def while_loop(self) -> list[str]:
        """Lines of a while loop that shortens a list or a text, with or without a counter; none
        when neither is in scope."""
        draw = self.draw
        name = self.name("ints", "strs", "str")
        if name is None:
            return []
        kind = self.scope.names[name]
        test = f"len({name}) > {self.place('small', 0)}"
        if draw.chance(0.4) and kind == "str":
            test = f"{name}.{draw.choice(['startswith', 'endswith'])}({self.place('character', 0)})"
        cut = "[1:]" if draw.chance(0.5) else "[:-1]"
        line = (
            f"{name} = {name}{cut}"
            if kind == "str"
            else f"{name}.pop({draw.choice(['', '0'])})"
        )
        self.scope.read.discard(name)
        self.built(name)
        if draw.chance(0.5):
            total = self.built(self.new("int", LOCALS))
            return [
                f"{total} = 0",
                f"while {test}:",
                f"    {line}",
                f"    {total} += 1",
            ]
        return [f"while {test}:", f"    {line}"]
