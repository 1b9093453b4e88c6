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
"""
)
