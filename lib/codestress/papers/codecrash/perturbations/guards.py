"""What may be done to a Python program without changing what it computes: decided from names, scopes and effects.

Each function gives a doubt, in words that are counted, or nothing. A doubt is no proof of a difference: it is said
where the program's text does not show that there is none.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from codestress.generation.scopes import FunctionNode, Names, names_of, reads_message
from codestress.problems.program import Problem

NAMESPACES = frozenset("locals vars globals eval exec compile dir __import__ __builtins__ breakpoint help".split())  # noqa: SIM905
"""Builtins that find names by their texts."""
NAMESPACE_MODULES = frozenset("importlib builtins __main__ pickle marshal shelve unittest typing_extensions".split())  # noqa: SIM905
READERS = frozenset(
    """
    inspect traceback linecache dis ast tokenize symtable trace pdb bdb logging warnings tracemalloc _getframe exc_info
    settrace setprofile __traceback__ __code__ __file__ __loader__ gi_frame cr_frame tb_lineno tb_frame f_lineno
    f_locals f_back co_varnames co_names __globals__ __closure__ cell_contents with_traceback
    """.split()  # noqa: SIM905
)
"""Modules and attributes that read a program's own text or frames."""
OWN_NAMES = frozenset("__name__ __qualname__ __defaults__ __kwdefaults__ __annotations__ __signature__".split())  # noqa: SIM905
KNOWN_MODULES = frozenset(
    """
    __future__ abc array bisect calendar collections contextlib copy dataclasses datetime enum fractions functools heapq
    html io itertools json keyword math operator os posixpath ntpath queue random re stat string struct sys textwrap
    time typing types unicodedata urllib uuid base64 binascii hashlib zlib statistics colorsys difflib fnmatch shlex
    quopri bz2 codecs numbers secrets pprint
    """.split()  # noqa: SIM905
)
"""Modules whose values compare as bool does, but for NaN."""
PLAIN_DUNDERS = frozenset(
    "__init__ __post_init__ __enter__ __exit__ __call__ __slots__ __doc__ __class__ __version__ __all__".split()  # noqa: SIM905
)
"""Special methods that neither comparing, nor printing, nor looking something up calls."""
NAN = frozenset("nan inf NAN NaN INFINITY nanj infj fsum".split())  # noqa: SIM905
NAN_MODULES = frozenset("decimal statistics struct array json cmath colorsys numbers".split())  # noqa: SIM905
LIFETIMES = frozenset("gc weakref getrefcount __del__ finalize".split())  # noqa: SIM905
STDOUT = frozenset("stdout __stdout__ redirect_stdout fileno dup2 subprocess".split())  # noqa: SIM905
DEPTH = frozenset("RecursionError RuntimeError setrecursionlimit getrecursionlimit".split())  # noqa: SIM905
LONG_NUMBERS = frozenset("factorial perm comb prod pow".split())  # noqa: SIM905
UNBOUND = frozenset("NameError UnboundLocalError".split())  # noqa: SIM905
PURE_CALLS = frozenset("len abs ord chr int str bool float isinstance".split())  # noqa: SIM905
PURE_OF_CONTAINERS = frozenset("min max sum any all sorted set list tuple".split())  # noqa: SIM905
PURE_METHODS = frozenset(
    """
    count index find rfind startswith endswith isalpha isdigit isupper islower isalnum isspace upper lower strip lstrip
    rstrip split join get keys values items replace title
    """.split()  # noqa: SIM905
)
MAKE_CONTAINERS = frozenset("list tuple set dict str sorted range frozenset".split())  # noqa: SIM905
DUNDER = re.compile(r"__\w+__")
DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp | ast.JoinedStr


@dataclass(frozen=True)
class Known:
    """What a program's text tells about names and values in it. Each text is a doubt, or empty."""

    namespace: str = ""
    """Names that are found by their texts."""
    reader: str = ""
    """The program reads its own text or frames."""
    renaming: str = ""
    """Why renaming may be seen."""
    equality: str = ""
    """Why a value may be unequal to itself, or a comparison no bool."""
    twice: str = ""
    """Why evaluating a condition twice may differ from once, whatever the condition."""
    lifetime: str = ""
    stdout: str = ""
    docstring: str = ""
    depth: str = ""
    unbound: str = ""
    printing: str = ""
    """Why printing a parameter may do something."""
    builtins: frozenset[str] = frozenset()
    """Builtins that the program binds itself."""
    deleted: frozenset[str] = frozenset()
    """Names that may be unbound again."""
    containers: frozenset[str] = frozenset()
    """Names that only ever stand for lists, texts and the like."""
    methods: frozenset[str] = field(default=frozenset())
    """Names of functions in classes."""


def known(problem: Problem) -> Known:
    """What is known about a problem's program and its call."""
    return _known(problem.code, problem.function, problem.arguments)


@lru_cache(maxsize=4096)
def _known(code: str, function: str, arguments: str) -> Known:
    tree = ast.parse(f"{code}\n{function}({arguments}\n)")
    names = names_of(tree)
    builtin = {one.name for one in names.occurrences if names.binding(one) is None}
    modules, attributes, texts = set[str](), set[str](), list[str]()
    dunders, methods = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {part for alias in node.names for part in alias.name.split(".")[:1]}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").split(".")[0])
            attributes |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.ClassDef):
            methods |= {one.name for one in node.body if isinstance(one, FunctionNode)}
            dunders |= {one.name for one in node.body if isinstance(one, FunctionNode)}
            dunders |= {
                one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            }
            dunders |= {"__missing__"} & {base.id for base in node.bases if isinstance(base, ast.Name)}
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    finders = builtin & {"getattr", "setattr"} | attributes & {"attrgetter", "methodcaller"}
    spelled = words if finders else {word for word in words if word.startswith("_")}
    dunders |= attributes | words
    special = {word for word in dunders if DUNDER.fullmatch(word)} - PLAIN_DUNDERS - OWN_NAMES
    bound = {name for scope in names.scopes for name in scope.bound}
    seen = builtin | attributes | modules
    strange = sorted(modules - KNOWN_MODULES - NAN_MODULES - READERS - NAMESPACE_MODULES)
    found_by_text = builtin & NAMESPACES | modules & NAMESPACE_MODULES | attributes & {"modules"} | spelled & NAMESPACES
    strange_values = _said("special methods", special) or _said("values of other modules", strange)
    return Known(
        namespace=_said("names are found by their texts", found_by_text),
        reader=_said("the program reads its own text", (seen | spelled) & READERS),
        renaming=_said("parameters' names are data", attributes & {"get_type_hints"})
        or _renaming(tree, names, builtin, spelled),
        equality=strange_values or _nan(tree, arguments, builtin | attributes, modules, texts),
        twice=strange_values
        or _said("attributes that are computed", seen & {"property", "cached_property", "defaultdict"}),
        lifetime=_said("values that are missed", (seen | special) & LIFETIMES),
        stdout=_said("stdout is looked at", (seen | spelled) & STDOUT | bound & {"print"}),
        docstring=_said("a docstring is looked at", (seen | spelled) & {"__doc__"}),
        depth=_said("the depth of recursion is looked at", seen & DEPTH),
        unbound=_said("unbound names are expected", seen & UNBOUND),
        printing=strange_values or _long_numbers(tree, seen),
        builtins=frozenset(bound),
        deleted=frozenset(_deleted(tree)),
        containers=frozenset(_containers(tree, names, problem_function=function)),
        methods=frozenset(methods),
    )


def _said(why: str, found: set[str] | list[str]) -> str:
    return f"{why}: {min(found)}" if found else ""


def renaming_doubt(facts: Known) -> str:
    return facts.namespace or facts.reader or facts.renaming


def comment_doubt(facts: Known) -> str:
    return facts.reader


def printing_doubt(facts: Known) -> str:
    """Of a statement that prints a text."""
    return facts.reader or facts.stdout or facts.docstring


def condition_doubt(facts: Known, condition: ast.expr, template: str, para: str) -> str:
    """Whether a condition rewritten by a template may be another."""
    uses_para = "{para}" in template and para not in ("True", "False")
    needs_bool = "==" in template or "!=" in template or "int(" in template
    if facts.reader:
        return facts.reader
    for builtin in ("bool", "int", "eval", "str"):
        if f"{builtin}(" in template and builtin in facts.builtins:
            return f"a builtin that the program binds: {builtin}"
    if ("_ :=" in template or "lambda" in template) and facts.namespace:
        return facts.namespace
    if "lambda" in template and facts.depth:
        return facts.depth
    if (
        (uses_para or needs_bool)
        and isinstance(condition, ast.Compare)
        and facts.equality.startswith(("special", "values"))
    ):
        return facts.equality
    if uses_para and facts.equality:
        return facts.equality
    if uses_para and para in facts.deleted:
        return f"a parameter that may be unbound: {para}"
    if template.count("{cond}") > 1:
        return effect(facts, condition)
    return ""


def effect(facts: Known, value: ast.expr) -> str:
    """Why working an expression out twice may differ from once."""
    return facts.twice or next((why for part in ast.walk(value) if (why := _impure(part, facts))), "")


def garbage_doubt(facts: Known, text: str, false: str, para: str) -> str:
    """Whether a snippet that uses a parameter may do something."""
    if why := facts.namespace or facts.reader or facts.unbound:
        return why
    uses_para = para not in ("True", "False") and "def " not in text
    if uses_para and para in facts.deleted:
        return f"a parameter that may be unbound: {para}"
    if uses_para and facts.lifetime:
        return facts.lifetime
    for builtin in ("range", "print", "iter", "int"):
        if f"{builtin}(" in text and builtin in facts.builtins:
            return f"a builtin that the program binds: {builtin}"
    if false in text and uses_para:
        if "==" in false or "!=" in false:
            return facts.equality
        if "print" in false:
            return facts.stdout or facts.printing
    return facts.stdout if "print(" in text else ""


def global_doubt(facts: Known) -> str:
    """Whether a global that nobody reads may be seen."""
    return facts.namespace or facts.reader or facts.unbound


# --- names ----------------------------------------------------------------------------------------------------------


def _renaming(tree: ast.Module, names: Names, builtin: set[str], spelled: set[str]) -> str:
    """Why renaming may be seen in ways that have nothing to do with namespaces."""
    typed = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _of_type(node.value)}
    own = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in OWN_NAMES and id(node) not in typed
    }
    functions = {name for scope in names.scopes for name, kinds in scope.bound.items() if "function" in kinds}
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name == "*":
            return "a star import"
        if getattr(node, "type_params", None):
            return "type parameters"
        if isinstance(node, ast.Call):
            if any(one.arg is None for one in node.keywords) and not _takes_any_keyword(node, builtin):
                return "keywords that are not written out"
            if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr", "setattr", "delattr"):
                fixed = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
                if not fixed and not (node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == "self"):
                    return "attributes that are found by their texts"
            written = isinstance(node.func, ast.Name) and node.func.id in ("str", "repr", "ascii", "format", "print")
            if written and any(isinstance(one, ast.Name) and one.id in functions for one in node.args):
                return "a function's name is written"
        if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name) and node.value.id in functions:
            return "a function's name is written"
        if isinstance(node, ast.ExceptHandler) and reads_message(node):
            return "the message of an exception that names things"
    mangled = sorted(name for scope in names.scopes for name in scope.bound if name[:1] == "_" and "__" in name[1:-2])
    return _said("a function's own name is read", own | spelled & OWN_NAMES) or _said("a mangled name", mangled)


def _of_type(node: ast.expr) -> bool:
    """`type(x)`, `x.__class__`: classes keep their names."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _takes_any_keyword(call: ast.Call, builtin: set[str]) -> bool:
    """`dict(**x)` and methods of a text written out, whose keywords are data."""
    if isinstance(call.func, ast.Name):
        return call.func.id == "dict" and "dict" in builtin
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant)


def _deleted(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


# --- values ---------------------------------------------------------------------------------------------------------


def _nan(tree: ast.Module, arguments: str, seen: set[str], modules: set[str], texts: list[str]) -> str:
    """Where a value that is unequal to itself may come from."""
    given = ast.parse(f"f({arguments}\n)")
    if any(isinstance(node, ast.Constant) and isinstance(node.value, float | complex) for node in ast.walk(given)):
        return "NaN among the inputs"
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and not math.isfinite(node.value):
            return "NaN from infinity"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "complex"):
            whole = not node.args or (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int))
            if not whole:
                return "NaN from float()"
    return _said("NaN", (seen & NAN) | (modules & NAN_MODULES) | {"nan" for text in texts if text.lower() == "nan"})


def _long_numbers(tree: ast.Module, seen: set[str]) -> str:
    """Numbers of more than 4,300 digits cannot be printed."""
    grows = any(isinstance(node, ast.Pow | ast.LShift) for node in ast.walk(tree))
    return "numbers too long to print" if grows or seen & LONG_NUMBERS else ""


def _impure(node: ast.AST, facts: Known) -> str:
    """Why evaluating a part of an expression twice may differ from once."""
    match node:
        case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return "a condition with an effect"
        case ast.Compare() if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            if not all(_container(one, facts) for one in node.comparators):
                return "membership in what may be an iterator"
        case ast.comprehension() if not _container(node.iter, facts):
            return "a loop over what may be an iterator"
        case ast.Call(func=ast.Name(id=name)):
            if name in facts.builtins or name not in PURE_CALLS | PURE_OF_CONTAINERS:
                return "a call in a condition"
            if name in PURE_OF_CONTAINERS and len(node.args) == 1 and not _container(node.args[0], facts):
                return "a call on what may be an iterator"
        case ast.Call(func=ast.Attribute(attr=name)):
            if name not in PURE_METHODS or name in facts.methods:
                return "a call in a condition"
        case ast.Call():
            return "a call in a condition"
    return ""


def _container(node: ast.expr, facts: Known) -> bool:
    """Whether an expression is a list, a text or the like, that can be gone through twice."""
    if isinstance(node, ast.Name):
        return node.id in facts.containers
    if isinstance(node, ast.GeneratorExp):
        return True  # made anew each time, from what is looked at on its own
    return _makes_container(node, facts.builtins, facts.containers)


def _makes_container(node: ast.AST, bound: frozenset[str] | set[str], containers: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in MAKE_CONTAINERS and node.func.id not in bound
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name):
        return node.value.id in containers
    return isinstance(node, DISPLAYS)


def _containers(tree: ast.Module, names: Names, *, problem_function: str) -> set[str]:
    """Names that are bound, wherever they are, to lists, texts and the like alone."""
    bound = {name for scope in names.scopes for name in scope.bound}
    good = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _makes_container(node.value, bound, frozenset()):
            good |= {id(target) for target in node.targets}
        elif (
            isinstance(node, ast.AnnAssign) and node.value and _makes_container(node.value, bound, frozenset())
        ) or isinstance(node, ast.AugAssign):
            good.add(id(node.target))
    good |= {id(one) for one in _container_parameters(tree, problem_function)}
    found, others = set[str](), set[str]()
    for one in names.occurrences:
        if isinstance(one.node, ast.Name) and isinstance(one.node.ctx, ast.Load):
            continue
        (found if id(one.node) in good else others).add(one.name)
    imported = {name for scope in names.scopes for name, kinds in scope.bound.items() if "import" in kinds}
    return found - others - imported


def _container_parameters(tree: ast.Module, function: str) -> list[ast.arg]:
    """Parameters of the called function whose arguments are lists, texts and the like, where nobody else calls it."""
    call = tree.body[-1]
    defined = [node for node in tree.body if isinstance(node, FunctionNode) and node.name == function]
    mentions = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == function]
    if not (isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)) or len(defined) != 1 or len(mentions) != 1:
        return []
    given = dict(
        zip([one.arg for one in (*defined[0].args.posonlyargs, *defined[0].args.args)], call.value.args, strict=False)
    )
    given |= {one.arg: one.value for one in call.value.keywords if one.arg is not None}
    every = (*defined[0].args.posonlyargs, *defined[0].args.args, *defined[0].args.kwonlyargs)
    return [one for one in every if one.arg in given and _makes_container(given[one.arg], set(), frozenset())]
