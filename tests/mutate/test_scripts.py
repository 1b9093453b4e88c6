"""First lines, variables and line ends of programs stay what they are when perturbed."""

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Checked
from codestress.mutate.perturbations.messages import Trace, hint
from codestress.mutate.perturbations.variants import Variant, draw_variant
from codestress.problems.program import Problem
from codestress.seeding import rng


def drawn(problem: Problem, perturbation: str, seed: int = 0) -> Variant:
    checked = Checked(problem, (), (), Trace())
    return draw_variant(checked, perturbation, Draw(rng(seed, perturbation)), density=1)


def test_nothing_is_put_before_the_line_that_names_an_interpreter() -> None:
    code = "#!/usr/bin/env node\nfunction f(n) {\n  return n + 1;\n}\n"
    problem = Problem("p", code, "f", "3", "4", "javascript")
    for perturbation in ("GBC", "PSC-ALL"):
        assert drawn(problem, perturbation).status == "refused"
    assert drawn(problem, "REN").problem.code.startswith("#!/usr/bin/env node\n")


def test_a_variable_named_this_is_no_keyword_in_python() -> None:
    problem = Problem("p", "def f(this):\n    return this + 1", "f", "3", "4")
    comments = ""
    for seed in range(40):
        for site in drawn(problem, "NCC", seed).sites:
            comments += f"{site.text}\n"
    assert "English" in comments
    assert "This" not in comments


def test_lines_end_as_those_of_the_script_do() -> None:
    code = "function f(n) {\r\n  if (n > 1) {\r\n    return n;\r\n  }\r\n  return 1;\r\n}\r\n"
    problem = Problem("p", code, "f", "3", "3", "javascript")
    for perturbation in ("RTF", "GBC", "PSC-ALL", "MCC", "MPS", "NCC", "BLANK"):
        variant = drawn(problem, perturbation).problem.code
        assert variant != code
        assert variant.count("\r") == variant.count("\r\n") == variant.count("\n")
    hinted = hint(problem, "4", "output").problem.code
    assert hinted.count("\n  // The return value is 4\r\n") == 1
