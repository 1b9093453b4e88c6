"""All sites of the four kinds of fault (Fault Localizability, Table I), as edits of the
text.

An edit replaces characters inside one line, or inserts one line. So the faulty line is
known exactly, and undoing the edit restores the program byte for byte. The kit decides
the points that the paper leaves open:

- OffByOne: in Python, the stop of a `range(…)` in the iterable of a loop or a
  comprehension is one larger or one smaller, whatever surrounds the `range` (`zip`,
  `enumerate`, `reversed`, a slice). In Python and Java, `<` and `<=` are exchanged in
  the condition of a loop, and so are `>` and `>=`. The bounds of a slice stay, since
  they are not the range of a loop.
- MisplacedReturn: a return is inserted before a statement of a function (Python), or at
  the end of a block of a loop or a condition (Python and Java), unless the function
  returns the same there anyway. Elsewhere in Java, the compiler rejects the statements
  behind the return.
- IncorrectBooleanLogic: `and` and `or` are exchanged once, or `&&` and `||`.
- OperatorSwap: one of + - * / is replaced with another, if no operand is a text or a
  list.

No fault is made in code that may never run (`python_flow.py`, `java_flow.py`), or if a
rule of `python_faults.py` or `java_faults.py` refuses it.
"""

from codestress.types import Language

from .fault_site import FaultSite
from .java_faults import java_faults
from .python_faults import python_faults
from .trees import NotNeutral


def fault_sites(code: str, language: Language) -> list[FaultSite]:
    """Return all faults that can be made in a Python or Java program, in the order of
    the text.

    Each fault is an edit with its kind and line. The list is empty if the program does
    not parse. Raises `ValueError` for JavaScript.
    """
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
