"""The report of a profile: a card for each paper, every figure with its numbers, the claims ledger, what was run: one
page.

Pictures lie beside it; nothing is fetched from elsewhere, and search and filter need no server.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from markupsafe import Markup
from pydantic import Field, TypeAdapter

from codestress.errors import DataError
from codestress.fitting.verdicts import Verdict
from codestress.paths import MINE, OUTPUTS, shown, write_whole
from codestress.report.checked import kept, read_manifest
from codestress.report.claims import read_ledger
from codestress.report.notebook_page import page_environment, resource
from codestress.report.summary import INSTRUMENTS, SIGNS, all_claims, did, fronts, judged, leaderboards, not_run

SPOTS = TypeAdapter(list[tuple[int, int, int, int, Annotated[str, Field(pattern=r"^c\d+$")]]])


def gallery(profile: str) -> Path:
    """Writes outputs/PROFILE/index.html from what lies in the folder; returns its path."""
    root = OUTPUTS / profile
    folders, failed = _folders(root, "manifest.json"), _folders(OUTPUTS / "failed" / profile, "error.txt")
    files = {name: folder / "claims.csv" for name, folder in folders.items()}
    ledgers = {name: read_ledger(path) for name, path in files.items() if path.is_file()}
    cards = [_card(name, folder, name in failed, len(ledgers.get(name, ()))) for name, folder in folders.items()]
    claims = all_claims([rows.assign(artefact=name) for name, rows in ledgers.items()])
    papers = sorted({card["paper"] for card in cards})
    mine = {} if profile == MINE else _folders(OUTPUTS / MINE, "manifest.json")
    models = _models(cards)
    answered = sum(
        (Counter(counts) for card in cards for counts in card["manifest"]["counts"].values()), Counter[str]()
    )
    first = fronts(papers, list(folders), claims)
    page = page_environment().from_string(resource("gallery.html")).render(
        profile=profile,
        cards=cards,
        papers=papers,
        fronts=first,
        titles={one["paper"]: one["title"] for one in first},
        did=did(len(cards), len(papers), sum(card["manifest"]["asked"] for card in cards), models),
        kinds=INSTRUMENTS,
        readers=any(model["engine"] == "simulated" for model in models),
        by_paper=pd.crosstab(claims["artefact"].str.split("/").str[0], claims["verdict"]).to_dict("index"),
        failures={name: (folder / "error.txt").read_text(encoding="utf-8").strip() for name, folder in failed.items()},
        models=models,
        answered=dict(answered.most_common()),
        boards=leaderboards({card["name"]: card["manifest"] for card in cards}),
        ledger=claims.fillna({"basis": "", "deviates": "", "undecided": ""}).to_dict("records"),
        verdicts=claims["verdict"].value_counts().to_dict(),
        judged=judged(claims),
        not_run=not_run(claims),
        style=Markup(resource("page.css")),
        script=Markup(resource("page.js")),
        number=_number,
        signs=SIGNS,
        mine={name: read_manifest(folder) for name, folder in mine.items()},
        experiments=int(claims["verdict"].isin(list(Verdict)).sum()),
    )  # fmt: skip
    path = root / "index.html"
    write_whole(path, page)
    return path


def _folders(root: Path, file: str) -> dict[str, Path]:
    """The folders that have such a file, by PAPER/ARTEFACT."""
    return {str(path.parent.relative_to(root)): path.parent for path in sorted(root.glob(f"*/*/{file}"))}


def _card(name: str, folder: Path, failed: bool, claims: int) -> dict[str, Any]:
    """What the page shows of an artefact; `failed`: a later build of it did, and what is shown is older; `claims`: its
    rows in the ledger."""
    manifest = read_manifest(folder)
    tables = {
        table: rows for table in manifest["tables"] if table != "claims" and (rows := _table(folder / f"{table}.csv"))
    }
    own = {"name": name, "paper": name.split("/")[0], "manifest": manifest, "failed": failed, "claims": claims}
    leads = {"spots": _spots(folder / "spots.json"), "answers": (folder / "answers.html").is_file()}
    return {**own, **leads, "tables": tables}


def _spots(path: Path) -> str:
    """Places in a picture and what they lead to, as JSON; `DataError` where a file is something else."""
    if not path.is_file():
        return "[]"
    try:
        return json.dumps(SPOTS.validate_json(path.read_bytes()), separators=(",", ":"))
    except ValueError as error:
        raise DataError(f"{shown(path)}: has no places: {error}; build it again with --force") from None


def _models(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every model that answered, once: what the registry says of it, what servers said, in how many figures."""
    found: dict[str, dict[str, Any]] = {}
    for card in cards:
        for model in card["manifest"]["models"]:
            row = found.setdefault(model["name"], {**model, "figures": 0, "answered_by": []})
            row["figures"] += 1
            said = card["manifest"]["answered_by"].get(model["name"], [])
            row["answered_by"] = sorted({*row["answered_by"], *said})
    return list(found.values())


def _number(value: object) -> str:
    """A number for a table: at most three decimals, nothing for a missing one."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def _numbers(cells: list[str]) -> list[float]:
    """nan where nothing stands; none of a column with a word in it, as `1_2` is one."""
    try:
        return [float(cell.replace("_", " ") or "nan") for cell in cells]
    except ValueError:
        return []


@kept
def _table(path: Path) -> Markup:
    """A table for the page, empty without rows; columns in which nothing ever happened (all counts zero) are left out
    and named. Without pandas, which needs as long for hundreds of small tables as all else does."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names, *lines = csv.reader(file, strict=True)
            columns = {name: cells for name, *cells in zip(names, *lines, strict=True)} if lines else {}
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"{shown(path)}: cannot be read: {error}; build it again with --force") from None
    told, idle = {}, []
    for name, cells in columns.items():
        numbers = _numbers(cells)
        if {*numbers} == {0.0} and name not in ("d", "accuracy", "low", "high"):
            idle.append(name)
        else:
            whole = all(cell.isdecimal() for cell in cells)
            told[name] = cells if whole or not numbers else [_number(one) for one in numbers]
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in told)
    rows = [f"<tr><td>{'</td><td>'.join(map(escape, row))}</td></tr>" for row in zip(*told.values(), strict=True)]
    note = f"<p class='note'>zero throughout: {escape(', '.join(idle))}</p>" if idle else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return Markup(f"<div class='scroll'>{table}</div>{note}" if rows or idle else "")
