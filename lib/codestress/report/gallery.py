"""The report of a profile: what was run, the claims ledger, a leaderboard, every figure with its numbers: one page.

Pictures lie beside it; nothing is fetched from elsewhere, and search and filter need no server.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from codestress.fitting.verdicts import Verdict
from codestress.paths import OUTPUTS
from codestress.report.checked import read_manifest, read_table
from codestress.report.claims import read_ledger
from codestress.report.leaderboard import leaderboards
from codestress.report.ledger_page import SIGNS, all_claims, judged, not_run
from codestress.report.notebook_page import page_environment, resource


@dataclass(frozen=True)
class Card:
    """One artefact on the gallery page."""

    name: str
    manifest: dict[str, Any]
    tables: dict[str, Markup]
    """Name of each table to its HTML."""
    failed: bool
    """A later build of it failed; what is shown is older."""


def gallery(profile: str) -> Path:
    """Writes outputs/PROFILE/index.html from what lies in the folder; returns its path."""
    root = OUTPUTS / profile
    folders = sorted(path.parent for path in root.glob("*/*/manifest.json"))
    cards = [_card(root, folder) for folder in folders]
    ledgers = [folder / "claims.csv" for folder in folders if (folder / "claims.csv").is_file()]
    claims = all_claims([read_ledger(path) for path in ledgers])
    failures = {
        str(path.parent.relative_to(OUTPUTS / "failed" / profile)): path.read_text(encoding="utf-8").strip()
        for path in sorted((OUTPUTS / "failed" / profile).glob("*/*/error.txt"))
    }
    page = (
        page_environment()
        .from_string(resource("gallery.html"))
        .render(
            profile=profile,
            cards=cards,
            papers=sorted({card.name.split("/")[0] for card in cards}),
            failures=failures,
            models=_models(cards),
            answered=_answered(cards),
            boards=leaderboards({card.name: card.manifest for card in cards}),
            ledger=claims.fillna({"basis": "", "deviates": "", "undecided": ""}).to_dict("records"),
            verdicts=claims["verdict"].value_counts().to_dict(),
            judged=judged(claims),
            not_run=not_run(claims),
            style=Markup(resource("page.css")),
            script=Markup(resource("page.js")),
            number=_number,
            signs=SIGNS,
            experiments=int(claims["verdict"].isin(list(Verdict)).sum()),
        )
    )
    root.mkdir(parents=True, exist_ok=True)
    path = root / "index.html"
    part = path.with_suffix(".part")
    part.write_text(page, encoding="utf-8")
    part.replace(path)
    return path


def _card(root: Path, folder: Path) -> Card:
    artefact = str(folder.relative_to(root))
    manifest = read_manifest(folder)
    tables = {
        name: _html_table(frame)
        for name in manifest["tables"]
        if name != "claims" and len(frame := read_table(folder / f"{name}.csv"))
    }
    failed = (OUTPUTS / "failed" / root.name / artefact / "error.txt").is_file()
    return Card(artefact, manifest, tables, failed)


def _models(cards: list[Card]) -> list[dict[str, Any]]:
    """Every model that answered, once: what the registry says of it, what servers said, in how many figures."""
    found: dict[str, dict[str, Any]] = {}
    for card in cards:
        for model in card.manifest["models"]:
            row = found.setdefault(model["name"], {**model, "figures": 0, "answered_by": []})
            row["figures"] += 1
            said = card.manifest["answered_by"].get(model["name"], [])
            row["answered_by"] = sorted({*row["answered_by"], *said})
    return list(found.values())


def _answered(cards: list[Card]) -> dict[str, int]:
    """Answers by reason over all artefacts; a question that two artefacts share counts in both."""
    total = Counter[str]()
    for card in cards:
        for counts in card.manifest["counts"].values():
            total.update(counts)
    return {reason: count for reason, count in total.most_common() if count}


def _number(value: object) -> str:
    """A number for a table: at most three decimals, nothing for a missing one."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def _html_table(frame: pd.DataFrame) -> Markup:
    """A table for the page; columns in which nothing ever happened (all counts zero) are left out and named."""
    numeric = frame.select_dtypes("number")
    idle = [c for c in numeric.columns if c not in ("d", "accuracy", "low", "high") and (numeric[c] == 0).all()]
    shown = frame.drop(columns=idle)
    head = Markup("").join(Markup("<th>{}</th>").format(str(c).replace("_", " ")) for c in shown.columns)
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_number(v)) for v in row))
        for row in shown.itertuples(index=False)
    )
    note = Markup("<p class='note'>zero throughout: {}</p>").format(", ".join(idle)) if idle else Markup("")
    return Markup("<div class='scroll'><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>{}").format(
        head, rows, note
    )
