"""A corpus of programs that once got a variant which computes something else, or that are made like those.

Each has the input that is asked about, inputs that validation need not see, and what makes it hard.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    """A program whose function is f."""

    why: str
    code: str
    asked: str
    others: tuple[str, ...]


def _parsed(text: str) -> list[Hostile]:
    found = []
    for part in text.strip().split("\n=== ")[0:]:
        head, _, code = part.removeprefix("=== ").partition("\n")
        why, _, inputs = head.partition(" | ")
        asked, *others = inputs.split(" ; ")
        found.append(Hostile(why, code.rstrip("\n"), asked, tuple(others)))
    return found


PYTHON = _parsed(
    r"""
=== the text of a class in a function | 1 ; 200
def make():
    class Box:
        pass
    return str(Box)
def f(n):
    return make() if n > 100 else n
=== the texts of functions in a tuple | 1 ; 200
def double(n):
    return 2 * n
def f(n):
    if n > 100:
        return [str(one).split()[1] for one in (double, f)]
    return n
=== an annotation that is looked up by its text | 1 ; 200
import functools
number = int
def f(n):
    if n > 100:
        show = functools.singledispatch(lambda value: "other")
        @show.register
        def _(value: "number"):
            return "number"
        return show(n)
    return n
=== an object that counts how often it is tested | 1 ; 0
class Counted:
    def __init__(self, n):
        self.n = n
        self.tests = 0
    def __bool__(self):
        self.tests += 1
        return self.n > 0
def f(n):
    counted = Counted(n)
    while counted and counted.n > 1:
        counted.n -= 1
    return counted.tests
=== a list in a list that grows | 3 ; 2000
def depth(nest):
    steps = 0
    while nest:
        nest = nest[0]
        steps += 1
    return steps
def f(n):
    nest = []
    for _ in range(n):
        nest = [nest]
    return depth(nest)
=== a number that a product makes large | 3 ; 2000
from functools import reduce
def size(number, n):
    if number > 5:
        return number.bit_length() + n
    return n
def f(n):
    return size(reduce(lambda a, b: a * b, range(1, n)), 1)
=== a number that its digits in base two make large | 3 ; 15000
def size(number, n):
    if number > 5:
        return number.bit_length() + n
    return n
def f(n):
    return size(int("1" * n, 2), 1)
=== a call by a dictionary of names, on a path of its own | 1 ; 200 ; 1000
def g(alpha):
    return alpha + 1
def f(n):
    if n > 100:
        return g(**{"alpha": n})
    return n
=== keywords that are forwarded | 1 ; 200
def g(alpha, beta=0):
    return alpha - beta
def h(**named):
    return g(**named)
def f(n):
    if n > 100:
        return h(alpha=n, beta=2)
    return n
=== a keyword that a positional parameter leaves to the others | 1 ; 99
def g(alpha, /, **named):
    return alpha, named
def f(n):
    if n > 50:
        return g(n, alpha=2)
    return n
=== one of two definitions collects keywords | 1 ; 99
def f(n):
    if n > 50:
        def g(**named):
            return sorted(named)
    else:
        def g(alpha):
            return alpha
    return g(alpha=n)
=== a decorator that looks at keywords | 1 ; 99
def first(inner):
    def outer(**named):
        return named.get("alpha", 0) + 1
    return outer
@first
def g(alpha):
    return alpha
def f(n):
    return g(alpha=n) if n > 50 else n
=== a keyword-only parameter, called through a dictionary | 1 ; 77
def g(*, alpha=3):
    return alpha * 2
def f(n):
    named = {"alpha": n}
    return g(**named) if n > 50 else g()
=== names seen by locals() | 1 ; 99
def f(n):
    total = n * 2
    if n > 50:
        return sorted(locals())
    return total
=== names seen by vars() | 1 ; 99
def f(n):
    total = n * 2
    if n > 50:
        return sorted(vars())
    return total
=== an expression evaluated from a text | 1 ; 99
def f(n):
    total = n * 2
    if n > 50:
        return eval("total + n")
    return total
=== statements executed from a text | 1 ; 99
def f(n):
    total = [n]
    if n > 50:
        exec("total.append(n)")
    return total
=== a function found among globals() | 1 ; 99
def helper(n):
    return n + 7
def f(n):
    if n > 50:
        return globals()["helper"](n)
    return n
=== how many globals there are | 1 ; 99
def f(n):
    if n > 50:
        return len([k for k in globals() if not k.startswith("__")])
    return n
=== a function's own name | 1 ; 99
def helper(n):
    return n
def f(n):
    if n > 50:
        return helper.__name__
    return n
=== a function's own name by getattr | 1 ; 99
def helper(n):
    return n
def f(n):
    if n > 50:
        return getattr(helper, "__name__")
    return n
=== a function's name in its text | 1 ; 99
def helper(n):
    return n
def f(n):
    if n > 50:
        return str(helper).split()[1]
    return n
=== the message of a NameError | 1 ; 99
def f(n):
    try:
        if n > 50:
            del n
        return n
    except NameError as error:
        return str(error)
=== the message of a TypeError names a function | 1 ; 99
def helper(a, b):
    return a + b
def f(n):
    try:
        return helper(n) if n > 50 else n
    except TypeError as error:
        return str(error)
=== parameters counted in the code object | 1 ; 99
def f(n):
    other = n
    if n > 50:
        return f.__code__.co_varnames
    return other
=== an iterator that a condition consumes | [1, 2, 3], 9 ; [1, 2, 3], 2 ; [3, 1, 2], 1 ; [5, 5, 5], 5
def f(items, c):
    it = iter(items)
    if c not in it:
        return "none"
    return list(it)
=== a condition that consumes an iterator in a loop | [1, 2, 3], 9 ; [4, 2, 4, 2, 1], 2 ; [1, 9, 9], 9
def f(items, c):
    it = iter(items)
    hits = 0
    while c in it:
        hits += 1
    return hits
=== a get that takes away | [3, 2, 1] ; [5, 4, 3, 2, 1] ; [1, 1, 1]
class Box:
    def __init__(self, items):
        self.items = items
    def get(self):
        return self.items.pop() if self.items else 0
def f(items):
    box = Box(list(items))
    n = 0
    while box.get() > 0:
        n += 1
    return n
=== a sum over a map that is used up | [1, 2] ; [3, 4, 5] ; [50, 60]
def f(items):
    doubled = map(lambda x: 2 * x, items)
    if sum(doubled) > 10:
        return "big"
    return "small"
=== a generator that any() uses up | [1, 2, 3] ; [0, 7, 0, 9] ; [9]
def f(items):
    large = (x > 5 for x in items)
    if any(large) == True:
        return sum(large)
    return -1
=== NaN as a parameter | 1.5 ; float("nan") ; 2.5
def f(x):
    if x > 1:
        return "more"
    if x < 1:
        return "less"
    return "other"
=== NaN made inside | 1 ; 60
def g(v):
    if v > 3:
        return 1
    return 0
def f(n):
    return g(float("nan")) if n > 50 else g(n)
=== infinity less infinity | 1 ; 60
import math
def g(v):
    if v < 3:
        return 1
    return 0
def f(n):
    top = math.inf
    return g(top - top) if n > 50 else g(n)
=== an __eq__ that gives no bool | 1 ; 5 ; 60
class Odd:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return [self.n] if self.n > 3 else []
def f(n):
    if Odd(n) == 3:
        return "same"
    return "other"
=== an __eq__ that counts | 1 ; 4
class Seen:
    count = 0
    def __eq__(self, other):
        Seen.count += 1
        return True
def f(n):
    Seen.count = 0
    one = Seen()
    for _ in range(n):
        if one == 3:
            pass
    return Seen.count
=== a parameter whose __eq__ says no | 1 ; 60
class Never:
    def __eq__(self, other):
        return False
    def __ne__(self, other):
        return True
def g(v, k):
    if k > 1:
        return "a"
    return "b"
def f(n):
    return g(Never(), n) if n > 50 else g(n, n)
=== a __bool__ that counts | 2 ; 6
class Flag:
    def __init__(self):
        self.n = 0
    def __bool__(self):
        self.n += 1
        return True
def f(n):
    flag = Flag()
    for _ in range(n):
        if flag:
            pass
    return flag.n
=== a module's i read in a comprehension | 2 ; 5
i = 10
def f(n):
    total = n
    total += 1
    return [i + k for k in range(n)]
=== a module's i read in an inner generator | 2 ; 5
i = 3
def f(n):
    total = n
    values = sum(i * k for k in range(n))
    return total + values
=== a parameter that is deleted | 2 ; 80
def f(n, m=1):
    total = n
    if n > 50:
        del m
        total += 1
    total += 2
    return total
=== a name taken away by except | 2 ; 80
def f(n, e=4):
    total = n
    try:
        if n > 50:
            raise ValueError
    except ValueError as e:
        total += 1
    total += 2
    if total > 60:
        return total
    return 0
=== prints where stdout is looked at | 2 ; 80
import io
from contextlib import redirect_stdout
def show(n):
    print(n)
    return n
def f(n):
    out = io.StringIO()
    if n > 50:
        with redirect_stdout(out):
            show(n)
    return out.getvalue()
=== sys.stdout replaced | 2 ; 80
import io, sys
def g(n):
    total = n
    if total > 3:
        total += 1
    return total
def f(n):
    if n < 50:
        return g(n)
    kept, sys.stdout = sys.stdout, io.StringIO()
    try:
        g(n)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = kept
=== a print of one's own | 2 ; 80
lines = []
def print(*values):
    lines.append(values)
def f(n):
    lines.clear()
    total = n
    if n > 50:
        total += 1
    return total, len(lines)
=== a range of one's own | 2 ; 80
def range(n):
    return [n, n]
def f(n):
    total = n
    if n > 50:
        total += 1
    for k in range(3):
        total += k
    return total
=== bool and int of one's own | 2 ; 80
def int(x):
    return 0
def bool(x):
    return not x
def f(n):
    if n > 50:
        return "big"
    if n < 0:
        return "negative"
    return "small"
=== a generator whose parameter is rebound | 3 ; 6
def g(n):
    total = n
    while n > 0:
        yield total
        n -= 1
    yield -1
def f(n):
    return list(g(n))
=== gettext's underscore | 3 ; 60
def _(text):
    return text.upper()
def f(n):
    if n > 50:
        return _("many")
    return _("few")
=== a defaultdict whose length is looked at | [1] ; [1, 2, 0] ; [0, 0]
from collections import defaultdict
def f(items):
    seen = defaultdict(int)
    n = 0
    for x in items:
        if seen[x] == len(seen) - 1:
            n += 1
    return n
=== next in a condition | [1, 2, 3] ; [5, 1, 5, 1] ; [9, 9]
def f(items):
    it = iter(items)
    n = 0
    while next(it, 0) > 0:
        n += 1
    return n
=== pop in a condition | [1, 2, 3] ; [0, 5, 1, 5, 1] ; [9, 9]
def f(items):
    stack = list(items)
    n = 0
    while stack and stack.pop() > 0:
        n += 1
    return n
=== a walrus in a condition | [1, 2, 3] ; [0, 5, 1, 5, 1] ; [9, 9]
def f(items):
    stack = list(items)
    n = 0
    while (top := len(stack)) > 1:
        stack.pop()
        n += top
    return n
=== a property that counts | 3 ; 70
class Meter:
    def __init__(self):
        self.n = 0
    @property
    def value(self):
        self.n += 1
        return self.n
def f(n):
    meter = Meter()
    while meter.value < n:
        pass
    return meter.n
=== the source itself is read | 1 ; 70
import inspect
def f(n):
    if n > 50:
        return len(inspect.getsource(f).split())
    return n
=== a stack frame's line | 1 ; 70
import sys
def f(n):
    if n > 50:
        return sys._getframe().f_lineno
    return n
=== the line of a traceback | 1 ; 70
def f(n):
    total = n
    try:
        return 1 // (n - 70)
    except ZeroDivisionError as error:
        return error.__traceback__.tb_lineno
=== star imports | 1 ; 70
pi = 3
from math import *
def f(n):
    if n > 50:
        return round(pi, 3)
    return n
=== a wrapped function called by keywords | 1 ; 70
import functools
def twice(inner):
    @functools.wraps(inner)
    def outer(*args, **named):
        return inner(*args, **named) * 2
    return outer
@twice
def g(alpha, beta=1):
    return alpha + beta
def f(n):
    if n > 50:
        return g(n, beta=5)
    return g(n)
=== partial by keyword | 1 ; 70
from functools import partial
def g(alpha, beta=1):
    return alpha - beta
def f(n):
    if n > 50:
        return partial(g, beta=5)(alpha=n)
    return g(n)
=== an alias called by keyword | 1 ; 70
def g(alpha, beta=1):
    return alpha - beta
def f(n):
    h = g
    if n > 50:
        return h(beta=n, alpha=3)
    return g(n)
=== a method called by keyword | 1 ; 70
class A:
    def go(self, alpha, beta=1):
        return alpha - beta
def f(n):
    if n > 50:
        return A().go(beta=n, alpha=3)
    return n
=== a class made from a dictionary | 1 ; 70
class A:
    def __init__(self, alpha=1, beta=2):
        self.value = alpha - beta
def f(n):
    given = {"alpha": n} if n > 50 else {}
    return A(**given).value
=== an attribute beside a parameter | 1 ; 70
class A:
    def __init__(self, alpha):
        self.alpha = alpha
def f(n):
    a = A(n)
    return getattr(a, "alpha") if n > 50 else a.alpha
=== numbers too long to print | 1 ; 70
def g(n):
    total = 10 ** (n * 100)
    n = total
    if n > 5:
        n = 2
    return n
def f(n):
    return g(n)
=== a weak reference | 1 ; 70
import gc
import weakref
class Node:
    pass
def hold(node):
    watch = weakref.ref(node)
    keep = [node]
    del node
    keep.clear()
    gc.collect()
    return watch
def f(n):
    watch = hold(Node())
    return watch() is None if n > 50 else n
=== a __repr__ that counts | 1 ; 70
class Shown:
    count = 0
    def __repr__(self):
        Shown.count += 1
        return "shown"
def g(one, n):
    total = n
    if total > 1:
        total += 1
    return total
def f(n):
    Shown.count = 0
    g(Shown(), n)
    return Shown.count
=== a class body that reads the module's name | 1 ; 70
x = 5
class A:
    x = x + 1
    if x > 3:
        _kept = x
    names = [k for k in list(vars()) if not k.startswith("__")]
def f(n):
    return A.names if n > 50 else A.x
=== a parameter seen by an inner function after it was deleted | 1 ; 70
def f(n, m=2):
    def inner():
        nonlocal m
        if n > 50:
            del m
        return 1
    total = inner()
    total += 1
    if total > 100:
        return 0
    return total
=== a sorted() of its own | [3, 1] ; [5, 4, 3]
def sorted(items):
    items.pop()
    return items
def f(items):
    items = list(items)
    n = 0
    while sorted(items) != []:
        n += 1
    return n
=== an enumeration whose body has a condition | 1 ; 70
import enum
class Kind(enum.Enum):
    A = 1
    for B in (2,):
        if B > 1:
            C = 3
def f(n):
    return [one.name for one in Kind] if n > 50 else Kind.A.value
=== a docstring that is looked at | 1 ; 70
def g(n):
    "only this"
def f(n):
    g(n)
    return g.__doc__ if n > 50 else n
=== keyword arguments' names are data | 1 ; 70
def g(**named):
    return sorted(named)
def f(n):
    alpha = n
    return g(alpha=alpha, beta=2) if n > 50 else n
=== names in a format text | 1 ; 70
def f(n):
    total = n + 1
    return "{total}".format(**locals()) if n > 50 else str(total)
=== a function stored by its name | 1 ; 70
TABLE = {}
def keep(inner):
    TABLE[inner.__name__] = inner
    return inner
@keep
def plus(n):
    return n + 1
def f(n):
    return TABLE["plus"](n) if n > 50 else n
=== a set whose equality is by members | {1, 2} ; {3} ; set()
def f(items):
    if items > {1}:
        return "over"
    if items == set():
        return "empty"
    return "other"
=== a chained comparison | 3 ; 70 ; -4
def f(n):
    if 0 < n < 10:
        return "digit"
    elif n == 70 or n is None:
        return "seventy"
    return "other"
=== a filter that is used up | [1, 2, 3] ; [7, 8, 9, 7] ; [0]
def f(items):
    odd = filter(lambda x: x % 2, items)
    if 7 in odd:
        return list(odd)
    return []
=== an object that a helper is given, which consumes it | [1, 2, 3] ; [7, 8, 9, 7] ; [8]
def helper(stream, c):
    if c in stream:
        return sum(stream)
    return -1
def f(items):
    return helper(iter(items), 8)
=== zip in a condition | "ab", "ab" ; "ab", "ba" ; "xyz", "xyy"
def f(a, b):
    pairs = zip(a, b)
    if all(x == y for x, y in pairs) == True:
        return len(list(pairs))
    return list(pairs)
=== a class body's own name before it is bound, as a default | 1 ; 70
def f(n):
    class Kept:
        try:
            n = n
        except NameError:
            n = 0
    return Kept.n
=== a class's name where a subclass reads it | 1 ; 70
class A:
    k = 1
class B(A):
    k = A.k + 1
def f(k):
    return B.k + k
=== a star that takes the rest | [1, 2] ; [3, 4, 5]
def f(items):
    first, *items = items
    if items:
        return first, items
    return None
=== a lambda that sees a loop's variable | 2 ; 5
def f(n):
    made = [lambda: i for i in range(n)]
    if len(made) > 3:
        return [one() for one in made]
    i = 7
    return [one() + i for one in made]
=== an exception group's message | 1 ; 70
def g(alpha):
    return alpha
def f(n):
    try:
        return g() if n > 50 else n
    except Exception as error:
        return f"{error}"
=== a loop's else, and names that loops leave | [1] ; [] ; [5, 9]
def f(items):
    i = -1
    for i, item in enumerate(items):
        if item > 8:
            break
    else:
        i = i - 100
    return i
=== a string annotation and a type's own hints | 1 ; 70
from typing import get_type_hints
def g(alpha: "int") -> "str":
    return str(alpha)
def f(n):
    return sorted(get_type_hints(g)) if n > 50 else n
=== a signature that is looked at | 1 ; 70
from inspect import signature
def g(alpha, beta=2):
    return alpha + beta
def f(n):
    return len(signature(g).parameters) if n < 50 else str(signature(g))
=== a named tuple's fields by keyword | 1 ; 70
from collections import namedtuple
Pair = namedtuple("Pair", ["alpha", "beta"])
def f(alpha):
    beta = alpha * 2
    return Pair(alpha=alpha, beta=beta)._asdict() if alpha > 50 else alpha
=== a data class made by its fields' names | 1 ; 70
from dataclasses import dataclass, replace
@dataclass
class Pair:
    alpha: int
    beta: int = 0
def f(alpha):
    one = Pair(alpha)
    return replace(one, beta=alpha).beta if alpha > 50 else one.alpha
=== a function that is defined as a global | 3 ; 60
def f(n):
    global g
    def g(alpha):
        return alpha + n
    return g(alpha=n)
=== a list made of what is left of an iterator | 3 ; 60
def f(n):
    left = iter([n, 1])
    if [*left] == [n, 1]:
        return 1
    return 2
=== a builtin of templates that counts its calls | 3 ; 60
def isinstance(value, kind, calls=[]):
    calls.append(kind)
    return len(calls) < 2
def f(n):
    if isinstance(n, int) == True:
        return 1
    return 2
=== a name that a class mangles | 3 ; 60
_A__alpha = 5
class A:
    def g(self):
        return __alpha
def f(n):
    return A().g() + n
=== a class without a class statement | 3 ; 0
def f(n):
    made = type("C", (), {"__eq__": lambda own, other: False, "__ne__": lambda own, other: True})
    def g(value, k):
        if k > 1:
            return 1
        return 2
    return g(made(), n)
=== frames that are found by texts | 3 ; 60
import sys
def f(n):
    frame = getattr(sys, "_getframe")()
    return len(getattr(frame, "f_locals")) + n
=== a value that tells when it goes | 3 ; 60
class Value:
    gone = []
    def __del__(self):
        Value.gone.append(1)
def f(n):
    def g(value):
        value = None
        return len(Value.gone)
    Value.gone.clear()
    return g(Value()) + n
=== the message of an exception of a kind that a variable holds | 1 ; 99
KINDS = (TypeError, KeyError)
def g(alpha, beta):
    return alpha
def f(n):
    try:
        return g(n) if n > 50 else n
    except KINDS as error:
        return str(error)
=== the message of an exception behind another | 1 ; 99
def g(alpha, beta):
    return alpha
def f(n):
    try:
        try:
            return g(n) if n > 50 else n
        except TypeError:
            raise ValueError("no")
    except ValueError as error:
        return str(error.__context__)
=== the message of an exception that a context sees | 1 ; 99
class Seen:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        self.told = str(error)
        return True
def g(alpha, beta):
    return alpha
def f(n):
    with Seen() as seen:
        return g(n) if n > 50 else n
    return seen.told
=== the messages of exceptions in a group | 1 ; 99
import asyncio
def g(alpha, beta):
    return alpha
async def one(n):
    return g(n) if n > 50 else n
async def each(n):
    async with asyncio.TaskGroup() as tasks:
        made = tasks.create_task(one(n))
    return made.result()
def f(n):
    told = []
    try:
        told.append(asyncio.run(each(n)))
    except* TypeError as group:
        told.extend(str(error) for error in group.exceptions)
    return told
=== the line of a generator's code | 1 ; 99
def g(alpha):
    yield alpha
def f(n):
    made = g(n)
    return made.gi_code.co_firstlineno if n > 50 else next(made)
=== a print of the program's own, put in place by a text | 1 ; 99
def f(n):
    told = []
    if n > 50:
        globals()["print"] = told.append
    for k in range(3):
        n += k
    return n, len(told)
=== a name of garbage that is unbound again | 1 ; 99
def f(n):
    for _ in range(n - 50):
        pass
    if n < 50:
        n += 1
    try:
        del _
    except Exception:
        return -1
    return n
=== a condition that recurs | 5 ; 700
def f(n):
    if n == 0:
        return 0
    if f(n - 1) >= 0:
        return n
=== a number too long to be printed | 5 ; 9000
def g(n, made):
    while n > 0:
        made *= 5
        n -= 1
    return made % 1000
def f(n):
    return g(n, 1)
=== keywords with the names that variables get | 1 ; 99
def f(n):
    def g(alpha, **named):
        return alpha, sorted(named.items())
    return g(n, Var_1=1, Var_2=2)
=== the text of a generator cut down to its name | 1 ; 99
def steps(n):
    yield n
def f(n):
    made = steps(n)
    return str(made)[18:19] if n > 50 else next(made)
=== the text of a generator that a helper takes apart | 1 ; 99
def steps(n):
    yield n
def told(value):
    return repr(value).split()[2]
def f(n):
    return told(steps(n)) if n > 50 else n
=== the text of a coroutine | 1 ; 99
async def later(n):
    return n
def f(n):
    made = later(n)
    word = f"{made}".split()[2]
    made.close()
    return word if n > 50 else n
=== the text of a generator, by a percent sign | 1 ; 99
def steps(n):
    yield n
def f(n):
    return ("%s" % steps(n)).split()[2] if n > 50 else n
=== the text of a generator expression, which names its function | 1 ; 99
def helper(n):
    return (n for _ in range(n))
def f(n):
    return "{}".format(helper(n)).split(".")[0][-6:] if n > 50 else n
=== the text of a function by another name | 1 ; 99
def helper(n):
    return n
def f(n):
    other = helper
    return str(other).split()[1] if n > 50 else other(n)
=== the text of a lambda, which names its function | 1 ; 99
def helper(n):
    made = lambda: n
    return str(made).split(".")[0][10:]
def f(n):
    return helper(n) if n > 50 else n
=== a generator that tells when it is dropped | 1 ; 99
def steps(told):
    try:
        yield 1
    finally:
        told.append("over")
def f(n):
    told = []
    for _ in [steps(told)]:
        next(iter([_]))
    return told
=== a generator that is held by a name that nobody reads | 1 ; 99
def steps(told):
    try:
        told.append("on")
        yield 1
    finally:
        told.append("over")
def f(n):
    told = []
    made = steps(told)
    next(made)
    _, made = made, n
    if n > 50:
        made += 1
    if made > 50:
        made += 1
    return made, list(told)
=== a generator that a condition makes | 1 ; 99
class Told:
    def __init__(self, told):
        self.told = told
    def __enter__(self):
        return self
    def __exit__(self, *given):
        self.told.append("over")
def steps(told):
    with Told(told):
        yield 1
def begun(told):
    made = steps(told)
    next(made)
    return made
def f(n):
    told = []
    if begun(told):
        n += 1
    return n, list(told)
=== a generator that a parameter lets go | 1 ; 99
def steps(told):
    try:
        yield 1
    finally:
        told.append("over")
def g(made, told):
    next(made)
    made = None
    return list(told)
def f(n):
    told = []
    return g(steps(told), told), n
=== Fibonacci by two variables and a third | 5 ; 1000
def g(n, a, b):
    while n > 0:
        c = a + b
        a = b
        b = c
        n -= 1
    return a % 1000
def f(n):
    return g(n, int("9" * 4200), 1)
=== Fibonacci by two sums in turn | 5 ; 1000
def g(n, a, b):
    for _ in range(n):
        a += b
        b += a
    return a % 1000
def f(n):
    return g(n, int("9" * 4200), 1)
=== Fibonacci by what was before | 5 ; 1000
def g(n, a, b):
    for _ in range(n):
        kept = a
        a = b
        b = kept + b
    return a % 1000
def f(n):
    return g(n, int("9" * 4200), 1)
=== a number that a call makes larger | 5 ; 16
def g(n, a):
    if n == 0:
        return a % 1000
    return g(n - 1, a * a)
def f(n):
    return g(n, 3)
=== half a character by a format | 1 ; 55357
def g(word):
    return len(word)
def f(n):
    return g(f"{n:c}")
=== half a character by a format that is given | 1 ; 55357
def g(word):
    return len(word)
def f(n):
    return g(format(n, "c")) + g("{:>3c}".format(n))
=== half a character by a format that is wide | 1 ; 55357
def g(word):
    return len(word)
def f(n):
    kind = "c"
    return g(f"{n:{kind}}") + g("{:{}}".format(n, kind)) + g("%-3c" % n) + g("%*c" % (2, n))
=== half a character by a table | 1 ; 55357
def g(word):
    return len(word)
def f(n):
    return g("A".translate({65: n}))
"""
)
JAVASCRIPT = _parsed(
    r"""
=== a name that is written with an escape | 5 ; 60
function f(n) {
  let \u0061b = n;
  if (n > 50) {
    return ab + 1;
  }
  return n;
}
=== a function's name by Reflect | 5 ; 60
function alpha() { return 1; }
function f(n) {
  if (n > 50) {
    return Reflect.get(alpha, "na" + "me");
  }
  return alpha();
}
=== a getter that counts | 1 ; 60
const o = { n: 0, get next() { this.n += 1; return this.n; } };
function f(n) {
  if (o.next > 1 || n > 50) {
    return o.next;
  }
  return o.n;
}
=== valueOf that counts | 1 ; 60
function f(n) {
  let calls = 0;
  const o = { valueOf() { calls += 1; return n; } };
  if (o > 50) {
    return calls;
  }
  return -calls;
}
=== toString that says what it is | 1 ; 60
function f(n) {
  const o = { toString() { return "o" + n; } };
  if (`${o}` === "o60") {
    return o + "!";
  }
  return String(o);
}
=== a proxy that sees what is asked | 1 ; 60
function f(n) {
  const seen = [];
  const p = new Proxy({}, { get(o, k) { seen.push(k); return n; }, has() { seen.push("has"); return n > 50; } });
  if ("x" in p) {
    seen.push(p.y);
  }
  return seen.join();
}
=== arguments that follow a parameter | 1 ; 60
function g(n) {
  arguments[0] = NaN;
  if (n > 3) {
    return 1;
  }
  return n === n;
}
function f(n) {
  if (n > 50) {
    return g(n);
  }
  return n;
}
=== eval | 1 ; 60
function f(n) {
  const total = n * 2;
  if (n > 50) {
    return eval("total + n");
  }
  return total;
}
=== a function made from a text by another way | 1 ; 60
function helper(n) {
  return n;
}
function f(n) {
  if (n > 50) {
    return f.constructor("return typeof helper")();
  }
  return helper(n);
}
=== with | 1 ; 60
function f(n) {
  const total = 5;
  with ({ total: n }) {
    if (n > 50) {
      return total;
    }
  }
  return n;
}
=== defaults in patterns that see one another | 1 ; 60
function g({ a, b = a + 1, ...rest } = {}, [c = b] = []) {
  if (b > 50) {
    return [b, c, rest];
  }
  return c;
}
function f(n) {
  return g({ a: n, n });
}
=== a generator | 3 ; 60
function* g(n) {
  while (n > 0) {
    yield n;
    n -= 20;
  }
}
function f(n) {
  return [...g(n)];
}
=== an iterator of its own | 3 ; 60
class Steps {
  constructor(n) {
    this.n = n;
  }
  *[Symbol.iterator]() {
    if (this.n > 50) {
      yield 1;
    }
    yield this.n;
  }
}
function f(n) {
  return Array.from(new Steps(n));
}
=== labels | 3 ; 60
function f(n) {
  let total = 0;
  outer: for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (j > i) {
        continue outer;
      }
      total += j;
    }
  }
  return total;
}
=== closures in loops, var and let | 3 ; 60
function f(n) {
  const made = [];
  for (var i = 0; i < 2; i++) {
    for (let j = 0; j < 2; j++) {
      made.push(() => i * 10 + j);
    }
  }
  return made.map((one) => one() + n);
}
=== a name before its time | 3 ; 60
function f(n) {
  try {
    if (n > 50) {
      return typeof late;
    }
  } catch (error) {
    return error.name;
  }
  let late = n;
  return late;
}
=== a function that hides another in a block | 3 ; 60
function g() {
  return 1;
}
function f(n) {
  if (n > 50) {
    function g() {
      return 2;
    }
  }
  return typeof g === "function" ? g() : 0;
}
=== NaN and minus zero | 3 ; 60 ; 0
function g(v) {
  if (v === v) {
    return Object.is(v, -0);
  }
  return "NaN";
}
function f(n) {
  return [g(0 / n), g(-0 * n), g(n > 50 ? NaN : n)];
}
=== a function's name, written in ways | 3 ; 60
const helper = (alpha) => alpha;
function f(n) {
  const all = [helper, f];
  if (n > 50) {
    return all.map((one) => one.name).join();
  }
  return all.length;
}
=== a function's name, taken apart | 3 ; 60
function helper(alpha) {
  return alpha;
}
function f(n) {
  const { name, length } = helper;
  return n > 50 ? name : length;
}
=== a function's text | 3 ; 60
function helper(alpha) {
  if (alpha > 2) {
    return 1;
  }
  return alpha;
}
function f(n) {
  return n > 50 ? helper.toString().length : `${helper}`.length > 5;
}
=== a function's length | 3 ; 60
function helper(alpha, beta = 1, ...rest) {
  return alpha;
}
function f(n) {
  return helper.length + n;
}
=== a parameter with the name of a global's | 3 ; 60
function g() {
  return typeof escape === "function" ? escape("a b") : "none";
}
function f(escape) {
  return escape > 50 ? g() : escape;
}
=== a name that is free elsewhere | 3 ; 60
function g() {
  return typeof n;
}
function f(n) {
  return n > 50 ? g() : n;
}
=== a global that a function makes | 3 ; 60
function g(k) {
  total = k;
}
function f(n) {
  g(n);
  const had = typeof total;
  return had === "number" ? total : had;
}
=== the message of a TypeError | 3 ; 60
function f(n) {
  try {
    return n > 50 ? n.gone.far : n;
  } catch (error) {
    return `${error}`;
  }
}
=== what is thrown is handed on | 3 ; 60
function told(e) {
  return e.toString();
}
function f(value) {
  try {
    return value > 50 ? value() : value;
  } catch (error) {
    return told(error);
  }
}
=== this is the global object | 3 ; 60
function g() {
  return this === undefined ? 0 : typeof this.n;
}
function f(n) {
  return n > 50 ? g() : n;
}
=== a directive | 3 ; 60
function g() {
  "use strict";
  return this === undefined;
}
function f(n) {
  return n > 50 ? g() : n;
}
=== no semicolons | 3 ; 60
function f(n) {
  let total = n
  const pair = [total, 1]
  ;[total] = pair
  if (n > 50) total++
  else total--
  return total
}
=== texts of several lines | 3 ; 60
function f(n) {
  let text = `a
    ${n > 50 ? "b" : "c"} // no comment
  d`; text += n;
  return text;
}
=== a condition that holds a function with conditions | 3 ; 60
function f(n) {
  if ([1, 70].some((x) => {
    if (x > n) {
      return true;
    }
    return false;
  })) {
    return 1;
  }
  return 2;
}
=== a condition that assigns | 3 ; 60
function f(n) {
  let m;
  while ((m = n - 20) > 0) {
    n = m;
  }
  return [n, m];
}
=== private names and static blocks | 3 ; 60
class Counter {
  static made = 0;
  static {
    if (Counter.made === 0) {
      Counter.made = 5;
    }
  }
  #n;
  constructor(n) {
    this.#n = n;
  }
  has(other) {
    return #n in other;
  }
}
function f(n) {
  const c = new Counter(n);
  return [c.has(c), c.has({}), Counter.made, n > 50];
}
=== a shadow in a block, not set yet | 3 ; 60
function f(word) {
  {
    const was = 1;
    if (was > 0) {
      let word = 5;
      return word;
    }
  }
  return word;
}
=== a switch whose cases share names | 3 ; 60
function f(n) {
  switch (true) {
    case n > 50: {
      const k = n;
      return k;
    }
    default:
      const k = -n;
      if (k < 0) {
        return k;
      }
  }
  return 0;
}
=== a tagged text that keeps its pieces | 3 ; 60
function tag(parts, ...values) {
  return parts.raw.join("|") + values.length;
}
function f(n) {
  if (n > 50) {
    return tag`a${n}\n`;
  }
  return tag`${n}`;
}
=== keys that are names | 3 ; 60
function f(n) {
  const total = n * 2;
  const made = { n, total, f() { return n; }, ["x" + n]: 1 };
  return Object.keys(made).join() + JSON.stringify({ n, total });
}
=== optional chains and nullish | 3 ; 60
function f(n) {
  const o = n > 50 ? { p: { q: n } } : null;
  if (o?.p?.q ?? false) {
    return o.p.q;
  }
  return o ?? "none";
}
=== a sorted list and its comparer | [3, 1, 2] ; [] ; [10, 9, 1]
function compare(a, b) {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
function f(items) {
  const was = items.sort(compare);
  return was === items ? items.concat(was.length) : 0;
}
=== dates, regular expressions and their state | 3 ; 60
function f(n) {
  const word = /a/g;
  let count = 0;
  while (word.test("aXa")) {
    count += word.lastIndex;
  }
  return count + n;
}
=== a function's text by another name | 3 ; 60
function f(n) {
  const g = () => 1;
  const h = g;
  return String(h) + n;
}
=== a name that is given later | 3 ; 60
function f(n) {
  let g;
  g = function () { return 1; };
  return g.name + n;
}
=== a class that is named by its variable | 3 ; 60
function f(n) {
  const G = class { };
  return G.name + n;
}
=== a console of its own | 3 ; 60
function f(n) {
  const console = { n: 0, log() { this.n += 1; } };
  if (n > 50) {
    n += 1;
  }
  console.log(n);
  return console.n;
}
=== a function inside, whose parameter nobody knows before it | 3 ; 60
function f(n) {
  if (n > 50) {
    function h(k) {
      return k + 1;
    }
    return h(n);
  }
  return n;
}
=== a function that a default names | 3 ; 60
function g(k, h = () => k) {
  return h.name + h();
}
function f(n) {
  return n > 50 ? g(n) : n;
}
=== a function's text that a helper makes | 3 ; 60
function told(g) {
  return g.toString().length;
}
function helper(alpha) {
  if (alpha > 2) {
    return 1;
  }
  return alpha;
}
function f(n) {
  return n > 50 ? told(helper) : helper(n);
}
=== names like those of the rules | 3 ; 60
function f(caught) {
  let directive = caught > 50 ? 1 : 2;
  let called = directive + 1;
  return [caught, directive, called];
}
=== arguments that are looked at behind a name | 3 ; 60
function g() {
  return arguments.length > 1 ? arguments[1] : 0;
}
function f(n) {
  return n > 50 ? g(1, n) : g(n);
}
=== the text of a function that a list of names keeps | 3 ; 60
const table = {
  one: (alpha) => {
    if (alpha > 2) {
      return 1;
    }
    return alpha;
  },
};
function f(n) {
  return n > 50 ? String(table.one).length : table.one(n);
}
=== the text of a function that a function makes | 3 ; 60
function made() {
  return function (alpha) {
    if (alpha > 2) {
      return 1;
    }
    return alpha;
  };
}
function f(n) {
  const g = made();
  return n > 50 ? `${g}`.length : g(n);
}
=== the text of a function that is added to a text | 3 ; 60
function told(g) {
  return ("" + g).length;
}
function helper(alpha) {
  if (alpha > 2) {
    return 1;
  }
  return alpha;
}
function f(n) {
  return n > 50 ? told(helper) : helper(n);
}
=== the text of a class | 3 ; 60
class A {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  }
}
function f(n) {
  return n > 50 ? String(A).length : new A().take(n);
}
=== the text of a class that is added to a text | 3 ; 60
class A {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  }
}
function f(n) {
  return n > 50 ? (A + "").length : new A().take(n);
}
=== the text of a class, by its method | 3 ; 60
class A {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  }
}
function f(n) {
  return n > 50 ? A.toString().length : new A().take(n);
}
=== the text of the class of an object | 3 ; 60
class A {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  }
}
function f(n) {
  const B = class extends A { more(k) { if (k > 2) { return 1; } return k; } };
  return n > 50 ? `${B}`.length : new B().more(n);
}
=== the text of a method | 3 ; 60
const table = {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  },
};
function f(n) {
  return n > 50 ? `${table.take}`.length : table.take(n);
}
=== the text of a method that is added to a text | 3 ; 60
class A {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  }
}
function f(n) {
  const a = new A();
  return n > 50 ? ("text: " + a.take).length : a.take(n);
}
=== the text of a method with a written key | 3 ; 60
const table = {
  take(n) {
    if (n > 2) {
      return 1;
    }
    return n;
  },
};
function f(n) {
  const { take } = table;
  return n > 50 ? String(table["take"]).length + String(take).length : table.take(n);
}
=== the texts of functions that are joined | 3 ; 60
function f(n) {
  const all = [(k) => {
    if (k > 2) {
      return 1;
    }
    return k;
  }];
  return n > 50 ? all.join().length : all[0](n);
}
=== the texts of functions in a template | 3 ; 60
function f(n) {
  const all = [(k) => {
    if (k > 2) {
      return 1;
    }
    return k;
  }];
  return n > 50 ? `${all}`.length + (all + "!").length : all[0](n);
}
=== the text of a function that lengthens a text | 3 ; 60
function f(n) {
  const table = { one: (k) => {
    if (k > 2) {
      return 1;
    }
    return k;
  } };
  let text = "text";
  text += table.one;
  return n > 50 ? text.length : table.one(n);
}
=== the text of a function that is a key | 3 ; 60
function f(n) {
  const table = { one: (k) => {
    if (k > 2) {
      return 1;
    }
    return k;
  } };
  const seen = {};
  seen[table.one] = n;
  return n > 50 ? Object.keys(seen)[0].length : table.one(n);
}
"""
)
