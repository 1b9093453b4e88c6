"""Names of the faults and the mutations, for tables and figures too, which make none."""

from typing import Literal, get_args

Kind = Literal["OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap"]
"""Kind of fault."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Spm = Literal[
    "comments",
    "names",
    "dead_code",
    "functions",
    "comments+names",
    "comments+names+dead_code",
]
SPMS: tuple[Spm, ...] = get_args(Spm)
"""The four semantic-preserving mutations (SPMs) and two compositions of them.

A composition is applied from the right: dead code, then names, then comments.
"""
Control = Literal["unchanged", "blank_line"]
CONTROLS: tuple[Control, ...] = get_args(Control)
"""Controls, which keep the program's meaning and give no misleading text: the same
question asked again (`unchanged`), and the program with one more blank line.

Accuracy lost under a control is noise, which the paper counts as loss.
"""
