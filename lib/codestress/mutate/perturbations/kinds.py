"""Names of the perturbations, for tables and figures too, which make no variants."""

from itertools import product
from typing import Literal

Truth = Literal["any", "false", "true", "undecidable"]
"""Truth, in a run of the problem's call, of the messages that may be inserted;
`undecidable` if the run does not show it."""
PAPERS = ("VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC")
"""Conditions of CodeCrash: unchanged program (VAN); renamed names (REN); rewritten
conditions (RTF); garbage code (GBC); REN, RTF and GBC together (PSC-ALL); misleading
comments (MCC), prints (MPS) and hints (MHC)."""
CONTROLS = ("AGAIN", "BLANK")
"""Controls, which keep the program's meaning: the same question asked again (AGAIN),
and the program with one more blank line (BLANK)."""
NEUTRAL = "NCC"
"""Name of the control of MCC: neutral comments, as long as the misleading ones, at the
same places, made by the same draws."""
MESSAGES = ("MCC", "MPS", NEUTRAL)
"""Perturbations that put messages into a program, to which a density applies:
misleading comments, misleading prints, neutral comments."""
DECIDED: tuple[Truth, ...] = ("false", "true", "undecidable")
TAGGED = {
    f"{name}-{truth.upper()}": (name, truth)
    for name, truth in product(("MCC", "MPS"), DECIDED)
}
"""Dict from the name of a perturbation with messages of one truth alone, such as
`MCC-FALSE`, to the pair of perturbation and truth."""
PERTURBATIONS = (*PAPERS, *CONTROLS, NEUTRAL, *TAGGED)
"""Names of all perturbations of the kit."""
