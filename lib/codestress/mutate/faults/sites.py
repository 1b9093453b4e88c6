"""Sites of four kinds of fault (Fault Localizability, Table I): every place where a fault can be
made, as an edit of the text.

An edit replaces characters inside one line, or inserts one line. So the faulty line is known
exactly, and undoing the edit restores the program byte for byte. The kit decides the points that
the paper leaves open:

- OffByOne: in Python the stop of each `range(…)` in the iterable of a loop or a comprehension, by
  one up or down, whatever stands around it (`zip`, `enumerate`, `reversed`, a slice); in Python
  and Java `<` against `<=`, `>`
  against `>=` in the condition of a loop. The bounds of a slice are no loop's range.
- MisplacedReturn: an inserted return before a statement of a function (Python), or at the end of a
  block of a loop or a condition (both languages; elsewhere in Java the compiler rejects the
  statements behind the return), unless the function returns the same there anyway.
- IncorrectBooleanLogic: one `and` against `or`, one `&&` against `||`.
- OperatorSwap: one of + - * / for another of them, where no operand is a text or a list.

No fault is made in code that may never run (`python_flow.py`, `java_flow.py`), nor where a rule of
`python_faults.py` or `java_faults.py` refuses it.
"""

from codestress.types import Language

from .fault_site import FaultSite
from .java_faults import java_faults
from .python_faults import python_faults
from .trees import NotNeutral


def fault_sites(code: str, language: Language) -> list[FaultSite]:
    """Returns all faults that can be made in a Python or Java program, each as an edit with its
    kind and line, in the order of the text; empty if the program does not parse. Raises
    `ValueError` for JavaScript."""
    if language == "javascript":
        raise ValueError(
            "faults are made in Python and Java programs, not in JavaScript"
        )
    faults = python_faults if language == "python" else java_faults
    try:
        sites = set(faults(code))
    except NotNeutral:
        return []
    return sorted(sites, key=lambda site: (site.start, site.kind, site.text))
