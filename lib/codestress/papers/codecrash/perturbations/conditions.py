"""RTF: conditions of if, elif and while rewritten by templates (CodeCrash, appendix B.1.2)."""

from __future__ import annotations

import ast

from codestress.generation.scopes import FunctionNode, parameters
from codestress.papers.codecrash.perturbations.edits import Perturbed, Site, parse, written
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem

BOTH = (
    "(_ := ({cond},)[0])",
    "(lambda: {cond})()",
    "({cond}) == ({para} == {para})",
    "({cond}) != ({para} != {para})",
    "bool(-~({cond})) == ({cond})",
)
"""Templates 1 to 5, of comparisons and boolean constants alike."""
COMPARISON = (*BOTH, "bool(int({cond}))")
CONSTANT = (*BOTH, "eval(str({cond}))")
GENERAL = ("not not ({cond})", "({cond}) or False", "({cond}) and True", "(_ := ({cond},)[0])")
HARMLESS = frozenset("len abs min max sum ord chr int str bool float any all sorted isinstance range set list".split())  # noqa: SIM905
"""Functions that may be called twice."""
HARMLESS_METHODS = frozenset(
    """
    count index find startswith endswith isalpha isdigit isupper islower isalnum isspace upper lower strip split join
    get keys values items replace
    """.split()  # noqa: SIM905
)


def reformat_conditions(problem: Problem, draw: Draw) -> Perturbed:
    """Rewrites every condition by a template drawn for it; `{para}` is a parameter of the function around it, or True
    or False.

    A template that would change the meaning is not drawn: template 5 evaluates the condition twice, template 2 hides it
    in a lambda, `_ :=` overwrites a variable that the program reads.
    """
    tree, call = parse(problem)
    reads_underscore = any(
        (isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Global | ast.Nonlocal) and "_" in node.names)
        for node in ast.walk(tree)
    )
    sites = []
    for node, named in _conditions(tree, []):
        chosen = draw.choice(_templates(node.test, reads_underscore))
        text = chosen.format(cond=ast.unparse(node.test), para=draw.choice([*named, "True", "False"]))
        sites.append(Site(node.test.lineno, "condition", f"{ast.unparse(node.test)} → {text}"))
        node.test = ast.parse(f"({text})", mode="eval").body
    return Perturbed(written(problem, tree, call), tuple(sites)) if sites else Perturbed(problem)


def _conditions(node: ast.AST, named: list[str]) -> list[tuple[ast.If | ast.While, list[str]]]:
    """The if and while statements below a node, in the order of the text, with the parameters that they see."""
    found = []
    for child in ast.iter_child_nodes(node):
        inner = [one.arg for one in parameters(child)] if isinstance(child, FunctionNode) else named
        if isinstance(child, ast.If | ast.While):
            found.append((child, named))
        if isinstance(child, ast.ClassDef):
            for part in child.body:  # a lambda does not see a class body's names
                if not isinstance(part, ast.If | ast.While):
                    found += _conditions(ast.Module([part], []), named)
            continue
        found += _conditions(child, inner)
    return found


def _templates(condition: ast.expr, reads_underscore: bool) -> list[str]:
    """The templates that keep the meaning of this condition."""
    templates: tuple[str, ...] = GENERAL
    if isinstance(condition, ast.Compare):
        templates = COMPARISON
    elif isinstance(condition, ast.Constant) and isinstance(condition.value, bool):
        templates = CONSTANT
    parts = list(ast.walk(condition))
    bound_to_frame = any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        or (isinstance(part, ast.Name) and part.id in ("super", "locals", "vars", "dir", "__class__"))
        for part in parts
    )
    twice = all(_harmless(part) for part in parts) and not bound_to_frame
    return [
        template
        for template in templates
        if not (reads_underscore and "_ :=" in template)
        and not (bound_to_frame and "lambda" in template)
        and not (not twice and template.count("{cond}") > 1)
    ]


def _harmless(node: ast.AST) -> bool:
    """Whether evaluating the node twice is the same as once, as far as its text tells."""
    if not isinstance(node, ast.Call):
        return True
    if isinstance(node.func, ast.Name):
        return node.func.id in HARMLESS
    return isinstance(node.func, ast.Attribute) and node.func.attr in HARMLESS_METHODS
