"""Statements and whole functions: built by type, each on what the scope holds, so that later ones use earlier ones."""

from __future__ import annotations

from codestress.problems.generated.drawing import Draw
from codestress.problems.generated.expressions import ELEMENT, Expressions, Scope

PARAMETERS = {
    "str": ("text", "s", "string", "value", "line", "word", "char"),
    "int": ("n", "k", "num", "size", "limit", "x"),
    "ints": ("nums", "numbers", "array", "lst", "values"),
    "strs": ("words", "items", "names", "tokens", "strings"),
    "dict": ("d", "dic", "mapping", "counts", "table"),
}
LOCALS = {
    "str": ("result", "new_text", "out", "res", "ans"),
    "int": ("count", "total", "a", "m", "idx"),
    "bool": ("flag", "found"),
    "ints": ("output", "new_nums", "res", "seen"),
    "strs": ("parts", "ls", "new_list", "letters"),
    "dict": ("freq", "new_dict", "lookup"),
}
LOOPED = {"str": ("c", "ch", "char", "letter"), "int": ("n", "num", "x", "v"), "strs": ("word", "w", "item")}
PARAMETER_TYPES = [(9, "str"), (4, "ints"), (2.2, "strs"), (1.6, "dict")]
MORE_TYPES = [(5, "str"), (6, "int"), (1.5, "ints"), (1, "strs"), (0.7, "dict")]
RESULT_TYPES = [(52, "str"), (13, "ints"), (11, "strs"), (13, "int"), (4, "dict"), (16, "bool"), (1.5, "tuple")]
LINES = [(0.1, 2), (0.08, 3), (0.13, 4), (0.16, 5), (0.16, 6), (0.15, 7), (0.1, 8), (0.07, 9), (0.04, 10), (0.02, 11)]
"""How many lines a function aims at; loops may overshoot."""


class Writer(Expressions):
    """Writes a function `f` whose parameters, statements and result fit together by type; not yet known to run."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw, Scope({}))
        self.results: list[str] = []
        """Locals that statements have built up: what a function most likely returns."""

    def function(self) -> tuple[str, list[str]]:
        """Its text, and the types of its parameters in order."""
        draw = self.draw
        count = draw.weighted([(0.22, 1), (0.56, 2), (0.22, 3)])
        kinds = [draw.weighted(PARAMETER_TYPES), *(draw.weighted(MORE_TYPES) for _ in range(count - 1))]
        for kind in kinds:
            self.new(kind, PARAMETERS)
        parameters = list(self.scope.names)
        result = draw.weighted(RESULT_TYPES)
        target = draw.weighted(LINES)
        body: list[str] = []
        for _ in range(3 * target):  # a statement that does not fit the scope is none
            if len(body) + 2 < target:
                body += self.statement(result, target - 2 - len(body))
        body += self.ending(result)
        lines = [f"def f({', '.join(parameters)}):", *(f"    {line}" for line in body)]
        return "\n".join(lines), kinds

    def new(self, kind: str, pool: dict[str, tuple[str, ...]]) -> str:
        """A name that is not taken yet, put in scope."""
        free = [name for name in pool[kind] if name not in self.scope.names]
        name = self.draw.choice(free) if free else f"{pool[kind][0]}{len(self.scope.names)}"
        self.scope.names[name] = kind
        return name

    def ending(self, result: str) -> list[str]:
        if result == "tuple":
            kinds = [kind for kind in ("str", "int", "ints", "strs", "dict") if self.scope.of(kind)]
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
            options += [(6.0, lambda: self.loop(result, room)), (2.5, self.while_loop), (0.8, self.branch)]
        return self.draw.weighted(options)()

    def assignment(self) -> list[str]:
        """A new local, or a parameter given a new value of its type."""
        kind = self.draw.weighted([(4, "str"), (3, "strs"), (2, "ints"), (2, "int"), (0.7, "dict")])
        written = self.of(kind, 2)
        same = self.scope.of(kind)
        if same and self.draw.chance(0.4):
            name = self.draw.choice(same)
            if written == name:
                return []
            self.scope.read.discard(name)
            return [f"{name} = {written}"]
        if written in self.scope.names or not any(name in written for name in self.scope.names):
            return []
        return [f"{self.built(self.new(kind, LOCALS))} = {written}"]

    def built(self, name: str) -> str:
        self.results.append(name)
        return name

    def change(self) -> list[str]:
        """A statement that changes a list or a dictionary in place."""
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
        """An early return, or an assignment under a condition."""
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
        return [f"if {test}:", f"    {name} = {written}"] if built or written != name else []

    def branch(self) -> list[str]:
        """A local that gets one of two values."""
        test = self.of("bool", 1)
        kind = self.draw.weighted([(3, "str"), (2, "int"), (1, "strs"), (1, "ints")])
        first, second = self.of(kind, 1), self.of(kind, 1)
        if test in ("True", "False") or first == second:
            return []
        name = self.built(self.new(kind, LOCALS))
        return [f"if {test}:", f"    {name} = {first}", "else:", f"    {name} = {second}"]

    def loop(self, result: str, room: int) -> list[str]:
        """Builds a result up over the elements of something."""
        draw = self.draw
        over = self.name("str", "ints", "strs", "dict")
        if over is None:
            return []
        wanted = result if result in LOCALS and result != "bool" else "int"
        kind = wanted if draw.chance(0.75) else draw.choice(["strs", "int", "str", "ints"])
        start = {"str": "''", "int": "0", "ints": "[]", "strs": "[]", "dict": "{}"}[kind]
        name = self.built(self.new(kind, LOCALS))
        outer = dict(self.scope.names)
        head = self.head(over)
        inner = self.step(name, kind)
        if room >= 4 and draw.chance(0.6):
            test = self.about_loop(outer)
            block = [f"if {test}:", *(f"    {line}" for line in inner)]
            other = self.step(name, kind)
            if room >= 5 and draw.chance(0.5) and other != inner:
                block += ["else:", *(f"    {line}" for line in other)]
            inner = block
        self.scope.names = outer
        return [f"{name} = {start}", head, *(f"    {line}" for line in inner)]

    def head(self, over: str) -> str:
        """The line of a for loop; what it binds is put in scope."""
        draw = self.draw
        kind = self.scope.names[over]
        element = ELEMENT[kind]
        pool = {"str": LOOPED["strs"] if kind == "strs" else LOOPED["str"], "int": LOOPED["int"]}
        style = draw.weighted([(6, "plain"), (2, "index"), (1, "enumerate")])
        if kind == "dict":
            key, value = self.new("str", {"str": ("key", "k", "name")}), self.new("int", {"int": ("value", "v", "val")})
            return f"for {key}, {value} in {over}.items():"
        if style == "index":
            index = self.new("int", {"int": ("i", "j")})
            part = f"{over}[{index}]"
            self.scope.names[part] = element
            return f"for {index} in range(len({over})):"
        bound = self.new(element, pool)
        if style == "enumerate":
            index = self.new("int", {"int": ("i", "j")})
            return f"for {index}, {bound} in enumerate({over}):"
        return f"for {bound} in {over}:"

    def step(self, name: str, kind: str) -> list[str]:
        """One step of building `name` up; reads what the loop binds, not what is built."""
        self.scope.names.pop(name)
        element = self.of({"ints": "int", "strs": "str", "dict": "str"}.get(kind, kind), 1)
        if kind == "dict":
            value = self.draw.choice([f"{name}.get({element}, 0) + 1", self.of("int", 1)])
            line = f"{name}[{element}] = {value}"
        elif kind in ("ints", "strs"):
            line = f"{name}.{self.draw.weighted([(8, 'append({})'), (1, 'insert(0, {})')]).format(element)}"
        elif kind == "int":
            line = f"{name} += {self.draw.choice(['1', element])}"
        else:
            line = self.draw.weighted([(5, f"{name} += {element}"), (1, f"{name} = {element} + {name}")])
        self.scope.names[name] = kind
        return [line]

    def about_loop(self, outer: dict[str, str]) -> str:
        """A condition on what the loop binds."""
        bound = {name: kind for name, kind in self.scope.names.items() if name not in outer}
        others = {name: kind for name, kind in outer.items() if kind in ("str", "int") and self.draw.chance(0.3)}
        inner = Expressions(self.draw, Scope({**bound, **others}))
        test = inner.form("bool", 1) or "True"
        self.scope.read |= inner.scope.read & set(outer)
        return test

    def while_loop(self) -> list[str]:
        """A loop that shortens a list or a text, or counts through it."""
        draw = self.draw
        name = self.name("ints", "strs", "str")
        if name is None:
            return []
        kind = self.scope.names[name]
        test = f"len({name}) > {self.place('small', 0)}"
        if draw.chance(0.4) and kind == "str":
            test = f"{name}.{draw.choice(['startswith', 'endswith'])}({self.place('character', 0)})"
        cut = "[1:]" if draw.chance(0.5) else "[:-1]"
        line = f"{name} = {name}{cut}" if kind == "str" else f"{name}.pop({draw.choice(['', '0'])})"
        self.scope.read.discard(name)
        self.built(name)
        if draw.chance(0.5):
            total = self.built(self.new("int", LOCALS))
            return [f"{total} = 0", f"while {test}:", f"    {line}", f"    {total} += 1"]
        return [f"while {test}:", f"    {line}"]
