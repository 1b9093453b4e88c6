"""Fault Localizability: the paper's own numbers, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from codestress.papers.faultloc.results.conditions import QUARTERS
from codestress.report.claims import Claim
from codestress.report.published import published_models, published_numbers
from codestress.types import LANGUAGE_NAMES


def published_heat() -> pd.DataFrame:
    """The paper's Figure 9: row, column, share."""
    numbers = published_numbers("faultloc/fig09") or {"values": {}}
    names = {"BooleanLogic": "IncorrectBooleanLogic"}
    rows = [
        (names.get(fault, fault), QUARTERS[place], share)
        for fault, shares in numbers["values"].items()
        for place, share in enumerate(shares)
    ]
    return pd.DataFrame(rows, columns=["row", "column", "share"])


def localization_claims(artefact: str, table: pd.DataFrame, sources: Sequence[str]) -> list[Claim]:
    """Table II's cells beside the regenerated ones, on the paper's programs and models; cells that disagree with the
    paper's own Figure 7 say so."""
    numbers = published_numbers("faultloc/tab02")
    if numbers is None:
        return []
    names = published_models("faultloc")
    own = set(sources) <= {"alpaca", "codesearchnet"}
    index = table.set_index(["model", "language", "fault"]) if "fault" in table else pd.DataFrame()
    flagged = {(one["language"], one["fault"], one["model"]): one["implied_by_fig7"] for one in numbers["flagged"]}
    claims = []
    for language, faults in numbers["values"].items():
        for fault, values in faults.items():
            of = numbers["denominators"][language][fault]
            for label, value in zip(numbers["columns"], values, strict=True):
                model = names[label]
                statement = f"Table II: {label}, {LANGUAGE_NAMES[language]}, {fault}: localized of {of:,}"
                if (language, fault, label) in flagged:
                    statement += f" (Figure 7 implies {flagged[language, fault, label]:.2f})"
                key = (model, language, fault)
                if not own or key not in index.index:
                    basis = f"needs the answers of {model} on the paper's programs"
                    claims.append(Claim(artefact, statement, value, "%", basis=basis))
                    continue
                found = index.loc[key]
                interval = (100 * found["kept_low"], 100 * found["kept_high"])
                told = f"{found['kept']} tasks that a model localizes"
                claims.append(Claim(artefact, statement, value, "%", 100 * found["share_kept"], *interval, told))
    return claims


def stated_claims(artefact: str, numbers: Mapping[str, tuple[float, float, float, str]]) -> list[Claim]:
    """Claims of the text for an artefact (params/published): `numbers` has what was regenerated for some of them, by
    their key: value, low, high, basis."""
    claims = []
    for stated in (published_numbers(artefact) or {}).get("claims", []):
        found = numbers.get(stated["key"])
        if found is None:
            basis = "needs the paper's programs and models"
            cannot = stated.get("cannot", "")
            claims.append(
                Claim(artefact, stated["statement"], stated["value"], stated["unit"], basis=basis, cannot=cannot)
            )
        else:
            value, low, high, basis = found
            claims.append(
                Claim(artefact, stated["statement"], stated["value"], stated["unit"], value, low, high, basis)
            )
    return claims


def own_numbers(artefact: str) -> dict[str, tuple[float, float, float, str]]:
    """What Table II itself says to a claim of the text on it, for `stated_claims`; nothing is run."""
    numbers = published_numbers("faultloc/tab02")
    if artefact != "faultloc/tab02" or numbers is None:
        return {}
    cells = {language: pd.DataFrame(faults) for language, faults in numbers["values"].items()}
    counts = {language: pd.Series(of) for language, of in numbers["denominators"].items()}
    together = sum(cells[language] * counts[language] for language in cells) / sum(counts.values())
    told = ", ".join(f"{LANGUAGE_NAMES[language]} {_best_on_misplaced_return(cells[language])}" for language in cells)
    best = _best_on_misplaced_return(together)
    return {
        "best on MisplacedReturn": (best, best, best, f"its own cells, the tasks of both languages together ({told})")
    }


def _best_on_misplaced_return(shares: pd.DataFrame) -> int:
    """Models (rows) whose largest share is that of MisplacedReturn."""
    return int((shares.idxmax(axis=1) == "MisplacedReturn").sum())


def published_spm_bars() -> pd.DataFrame:
    """The paper's Figure 6: label (mutation), condition (model), share."""
    values = (published_numbers("faultloc/fig06") or {"values": {}})["values"]
    rows = [(spm, model, share / 100) for model, shares in values.items() for spm, share in shares.items()]
    return pd.DataFrame(rows, columns=["label", "condition", "share"])


def published_panels(show: str) -> dict[str, pd.DataFrame]:
    """The paper's own bars for a figure, as a panel of `share_bars`: Figure 6 as means over models and (for Figure 7,
    whose third series is no accuracy) over mutations; Figures 10 and 11; Table II as means over models."""
    if show in ("spms", "models"):
        by = {"spms": "label", "models": "condition"}[show]
        means = published_spm_bars().groupby(by, sort=False)["share"].mean()
        values = {str(name): share for name, share in means.items()}
        title = "published (Figure 6), mean over " + {"spms": "models", "models": "mutations"}[show]
    elif show in ("categories", "versions"):
        name = {"categories": "fig10", "versions": "fig11"}[show]
        numbers = (published_numbers(f"faultloc/{name}") or {"values": {}})["values"]
        values = {key: share / 100 for key, share in numbers.items()}
        title = "published (whether before or after mutations is not said)"
    else:
        return {
            f"published (Table II), {LANGUAGE_NAMES[language]}, mean over models": _bars(
                {fault: float(np.mean(shares)) / 100 for fault, shares in faults.items()}
            )
            for language, faults in (published_numbers("faultloc/tab02") or {"values": {}})["values"].items()
        }
    return {title: _bars(values)}


def _bars(values: Mapping[str, float]) -> pd.DataFrame:
    shares = list(values.values())
    unknown = [np.nan] * len(shares)
    return pd.DataFrame(
        {"label": list(values), "condition": "published", "share": shares, "low": unknown, "high": unknown}
    )


def published_strengths() -> pd.DataFrame:
    """The paper's Figure 8, means over models and mutations: points of `strength_points`' form, in panels of their
    own."""
    numbers = published_numbers("faultloc/fig08") or {"means": {}, "strengths": []}
    rows = [
        ("published", f"published, {LANGUAGE_NAMES[language]}, all mutations", strength, share, share, share)
        for language, shares in numbers["means"].items()
        for strength, share in zip(numbers["strengths"], shares, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "panel", "density", "value", "low", "high"])


def published_sizes() -> pd.DataFrame:
    """The paper's Figure 5: source, lines, programs."""
    numbers = published_numbers("faultloc/fig05")
    if numbers is None:
        return pd.DataFrame(columns=["source", "lines", "programs"])
    rows = [
        (f"published, {LANGUAGE_NAMES[language]}", f"{label} lines", count)
        for language in ("python", "java")
        for label, count in zip(numbers["bins"], numbers[language], strict=True)
    ]
    return pd.DataFrame(rows, columns=["source", "lines", "programs"])
