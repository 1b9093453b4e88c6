"""What may be done to a Python program without changing what it computes: decided from names, scopes and effects.

Each function gives a doubt, in words that are counted, or nothing. A doubt is no proof of a difference: it is said
where the program's text does not show that there is none.
"""

from __future__ import annotations

import ast
import math
import re
from functools import lru_cache

from codestress.generation.scopes import FunctionNode, Names, names_of, reads_message
from codestress.papers.codecrash.perturbations.edits import said
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
"""What makes numbers of more than 4,300 digits, as powers and shifts do: they cannot be printed."""
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
TEMPLATES = ("bool", "int", "eval", "str", "range", "print", "iter")
"""Builtins that templates call."""
DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp | ast.JoinedStr


class Known:
    """What a problem's program and its call tell about names and values in it. Each text is a doubt, or empty."""

    def __init__(self, problem: Problem) -> None:
        tree = ast.parse(f"{problem.code}\n{problem.function}({problem.arguments}\n)")
        names = names_of(tree)
        every = list(ast.walk(tree))
        builtin = {one.name for one in names.occurrences if names.binding(one) is None}
        imports = [node for node in every if isinstance(node, ast.ImportFrom)]
        modules = {alias.name.split(".")[0] for node in every if isinstance(node, ast.Import) for alias in node.names}
        modules |= {(node.module or "").split(".")[0] for node in imports}
        attributes = {node.attr for node in every if isinstance(node, ast.Attribute)}
        attributes |= {alias.name for node in imports for alias in node.names}
        texts = [node.value for node in every if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        words = {word for text in texts for word in re.findall(r"\w+", text)}
        finders = builtin & {"getattr", "setattr"} | attributes & {"attrgetter", "methodcaller"}
        spelled = words if finders else {word for word in words if word.startswith("_")}
        classes = [node for node in every if isinstance(node, ast.ClassDef)]
        self.methods = {one.name for node in classes for one in node.body if isinstance(one, FunctionNode)}
        in_classes = [one for node in classes for one in ast.walk(node) if isinstance(one, ast.Name)]
        dunders = self.methods | attributes | words | {one.id for one in in_classes if isinstance(one.ctx, ast.Store)}
        dunders |= {"__missing__"} & {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
        special = {word for word in dunders if DUNDER.fullmatch(word)} - PLAIN_DUNDERS - OWN_NAMES
        strange = modules - KNOWN_MODULES - NAN_MODULES - READERS - NAMESPACE_MODULES
        strange_values = said("special methods", special) or said("values of other modules", strange)
        seen = builtin | attributes | modules
        self.bound = {name for scope in names.scopes for name in scope.bound}
        self.namespace = said(
            "names are found by their texts",
            builtin & NAMESPACES | modules & NAMESPACE_MODULES | attributes & {"modules"} | spelled & NAMESPACES,
        )
        self.reader = said("the program reads its own text", (seen | spelled) & READERS)
        self.renaming = said("parameters' names are data", attributes & {"get_type_hints"})
        self.renaming = self.renaming or _renaming(every, names, builtin, spelled)
        # a value that may be unequal to itself, or a comparison that may be no bool
        self.equality = strange_values or _nan(problem.arguments, every, builtin | attributes, modules, texts)
        # evaluating a condition twice may differ from once, whatever the condition
        computed = seen & {"property", "cached_property", "defaultdict"}
        self.twice = strange_values or said("attributes that are computed", computed)
        self.lifetime = said("values that are missed", (seen | special) & LIFETIMES)
        self.stdout = said("stdout is looked at", (seen | spelled) & STDOUT | self.bound & {"print"})
        self.docstring = said("a docstring is looked at", (seen | spelled) & {"__doc__"})
        self.depth = said("the depth of recursion is looked at", seen & DEPTH)
        self.unbound = said("unbound names are expected", seen & UNBOUND)
        # printing a parameter may do something
        grows = seen & LONG_NUMBERS or any(isinstance(node, ast.Pow | ast.LShift) for node in every)
        self.printing = strange_values or ("numbers too long to print" if grows else "")
        # names that may be unbound again
        self.deleted = {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
        self.deleted |= {node.name for node in every if isinstance(node, ast.ExceptHandler) and node.name}
        # names that only ever stand for lists, texts and the like
        self.containers = set[str]()
        self.containers = self._containers(tree, names, problem.function)

    def whole_doubt(self, perturbation: str) -> str:
        """Why a perturbation should not be made on the program at all."""
        if perturbation in ("REN", "PSC-ALL"):
            return self.namespace or self.reader or self.renaming
        return self.reader or (self.stdout or self.docstring if perturbation == "MPS" else "")

    def condition_doubt(self, text: str, template: str, para: str) -> str:
        """Whether a condition rewritten by a template may be another."""
        condition = ast.parse(f"({text})", mode="eval").body
        uses_para = "{para}" in template and para not in ("True", "False")
        needs_bool = isinstance(condition, ast.Compare) and any(one in template for one in ("==", "!=", "int("))
        no_bool = self.equality if self.equality.startswith(("special", "values")) else ""
        return (
            self.reader
            or self._rebound(template)
            or (self.namespace if "_ :=" in template or "lambda" in template else "")
            or (self.depth if "lambda" in template else "")
            or (self.equality if uses_para else no_bool if needs_bool else "")
            or (f"a parameter that may be unbound: {para}" if uses_para and para in self.deleted else "")
            or (self.effect(condition) if template.count("{cond}") > 1 else "")
        )

    def garbage_doubt(self, text: str, false: str, para: str) -> str:
        """Whether a snippet that uses a parameter, and a false condition if there is one in it, may do something."""
        uses_para = para not in ("True", "False") and "def " not in text
        why = self.global_doubt()
        if uses_para:
            why = why or (f"a parameter that may be unbound: {para}" if para in self.deleted else self.lifetime)
        if why := why or self._rebound(text):
            return why
        if uses_para and ("==" in false or "!=" in false):
            return self.equality
        return self.stdout or (self.printing if uses_para and "print" in false else "") if "print(" in text else ""

    def global_doubt(self) -> str:
        """Whether a global that nobody reads may be seen."""
        return self.namespace or self.reader or self.unbound

    def _rebound(self, text: str) -> str:
        bound = [name for name in TEMPLATES if f"{name}(" in text and name in self.bound]
        return f"a builtin that the program binds: {bound[0]}" if bound else ""

    # --- values

    def effect(self, value: ast.expr) -> str:
        """Why working an expression out twice may differ from once."""
        return self.twice or next((why for part in ast.walk(value) if (why := self._impure(part))), "")

    def _impure(self, node: ast.AST) -> str:
        """The same of a part of an expression."""
        match node:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return "a condition with an effect"
            case ast.Compare() if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
                if not all(map(self._lasts, node.comparators)):
                    return "membership in what may be an iterator"
            case ast.comprehension() if not self._lasts(node.iter):
                return "a loop over what may be an iterator"
            case ast.Call(ast.Name(name)) if name in PURE_OF_CONTAINERS - self.bound:
                if len(node.args) == 1 and not self._lasts(node.args[0]):
                    return "a call on what may be an iterator"
            case ast.Call(ast.Name(name)) if name in PURE_CALLS - self.bound:
                pass
            case ast.Call(ast.Attribute(attr=name)) if name in PURE_METHODS - self.methods:
                pass
            case ast.Call():
                return "a call in a condition"
        return ""

    def _lasts(self, node: ast.expr) -> bool:
        """Whether an expression can be gone through twice; a generator is made anew each time, from what is looked at
        on its own."""
        return isinstance(node, ast.GeneratorExp) or self._container(node)

    def _container(self, node: ast.AST | None) -> bool:
        """Whether an expression is a list, a text or the like."""
        match node:
            case ast.Constant(value):
                return isinstance(value, str | bytes)
            case ast.Call(ast.Name(name)):
                return name in MAKE_CONTAINERS - self.bound
            case ast.Name(name) | ast.Subscript(ast.Name(name), ast.Slice()):
                return name in self.containers
        return isinstance(node, DISPLAYS)

    def _containers(self, tree: ast.Module, names: Names, function: str) -> set[str]:
        """Names that are bound, wherever they are, to lists, texts and the like alone: as parameters of the called
        function, where nobody else calls it, and by assignments."""
        good = set[int]()
        defined = [node.args for node in tree.body if isinstance(node, FunctionNode) and node.name == function]
        mentions = sum(isinstance(node, ast.Name) and node.id == function for node in ast.walk(tree))
        match tree.body[-1]:
            case ast.Expr(ast.Call(_, arguments, keywords)) if len(defined) == mentions == 1:
                placed = [*defined[0].posonlyargs, *defined[0].args]
                given = dict(zip([one.arg for one in placed], arguments, strict=False))
                given |= {one.arg: one.value for one in keywords if one.arg is not None}
                every = (*placed, *defined[0].kwonlyargs)
                good = {id(one) for one in every if self._container(given.get(one.arg))}
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets, value) if self._container(value):
                    good |= {id(target) for target in targets}
                case ast.AnnAssign(target, _, value) if self._container(value):
                    good.add(id(target))
                case ast.AugAssign(target):
                    good.add(id(target))
        binding = [one for one in names.occurrences if not isinstance(getattr(one.node, "ctx", None), ast.Load)]
        others = {one.name for one in binding if id(one.node) not in good}
        imported = {name for scope in names.scopes for name, kinds in scope.bound.items() if "import" in kinds}
        return {one.name for one in binding} - others - imported


known = lru_cache(maxsize=4096)(Known)


def _renaming(every: list[ast.AST], names: Names, builtin: set[str], spelled: set[str]) -> str:
    """Why renaming may be seen in ways that have nothing to do with namespaces."""
    attributes = [node for node in every if isinstance(node, ast.Attribute)]
    owners = {id(node): getattr(node.value, "attr", f"{_called(node.value)}()") for node in attributes}
    own = {node.attr for node in attributes if owners[id(node)] not in ("type()", "__class__")}  # classes keep theirs
    functions = {name for scope in names.scopes for name, kinds in scope.bound.items() if "function" in kinds}

    def is_function(node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in functions

    for node in every:
        match node:
            case ast.alias("*"):
                return "a star import"
            case ast.Call(_, given, keywords):
                # keywords of `dict`, and of methods of a text written out, are data
                data = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)
                data = data or (_called(node) == "dict" and "dict" in builtin)
                if any(one.arg is None for one in keywords) and not data:
                    return "keywords that are not written out"
                if _called(node) in ("getattr", "hasattr", "setattr", "delattr"):
                    fixed = len(given) > 1 and isinstance(given[1], ast.Constant)
                    if not fixed and not (given and isinstance(given[0], ast.Name) and given[0].id == "self"):
                        return "attributes that are found by their texts"
                if _called(node) in ("str", "repr", "ascii", "format", "print") and any(map(is_function, given)):
                    return "a function's name is written"
            case ast.FormattedValue(value) if is_function(value):
                return "a function's name is written"
            case ast.ExceptHandler() if reads_message(node):
                return "the message of an exception that names things"
        if getattr(node, "type_params", None):
            return "type parameters"
    mangled = [name for scope in names.scopes for name in scope.bound if name[:1] == "_" and "__" in name[1:-2]]
    return said("a function's own name is read", (own | spelled) & OWN_NAMES) or said("a mangled name", mangled)


def _called(node: ast.AST) -> str:
    """The name that a call calls; empty where it calls something else, or is none."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _nan(arguments: str, every: list[ast.AST], seen: set[str], modules: set[str], texts: list[str]) -> str:
    """Where a value that is unequal to itself may come from."""
    for node in ast.walk(ast.parse(f"f({arguments}\n)")):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            return "NaN among the inputs"
    for node in every:
        match node:
            case ast.Constant(float() as value) if not math.isfinite(value):
                return "NaN from infinity"
            case ast.Call(ast.Name("float" | "complex"), [] | [ast.Constant(int()), *_]):
                pass
            case ast.Call(ast.Name("float" | "complex")):
                return "NaN from float()"
    return said("NaN", (seen & NAN) | (modules & NAN_MODULES) | {"nan" for text in texts if text.lower() == "nan"})
