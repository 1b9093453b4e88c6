"""The report of a profile on one page: a card for each paper, every figure with its numbers, the
claims ledger, and the runs.

Pictures lie beside the page; nothing is fetched from elsewhere, and search and filter need no
server.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import pandas as pd
from markupsafe import Markup
from pydantic import Field, TypeAdapter

from codestress import __version__
from codestress.fitting.verdicts import Verdict
from codestress.literals import counted
from codestress.paths import MINE, OUTPUTS, visible, write_whole
from codestress.report.checked import damaged, kept, read_manifest
from codestress.report.claims import EVIDENCE, read_ledger
from codestress.report.model_table import board, models_by_task, write_board
from codestress.report.notebook_page import page_environment, resource
from codestress.report.summary import (
    INSTRUMENTS,
    SIGNS,
    added,
    all_claims,
    did,
    folded,
    fronts,
    judged,
    shortfalls,
    waiting,
)

Anchor = Annotated[str, Field(pattern=r"^(c\d+|published)$")]
SPOTS = TypeAdapter(
    list[tuple[int, int, int, int, Anchor, str] | tuple[int, int, int, int, Anchor]]
)
"""Places in a picture: left, top, width and height in thousandths, the anchor on the page of
answers, and its words, which earlier versions did not write."""


def gallery(profile: str) -> Path:
    """Writes the report of a profile, outputs/PROFILE/index.html, from the artefacts in the
    profile's folder; returns the page's path. Raises `DataError` for a faulty file of an
    artefact."""
    root = OUTPUTS / profile
    folders = _folders(root, "manifest.json")
    failed = _folders(OUTPUTS / "failed" / profile, "error.txt")
    files = {name: folder / "claims.csv" for name, folder in folders.items()}
    ledgers = {
        name: read_ledger(path) for name, path in files.items() if path.is_file()
    }
    cards = [
        _card(name, folder, name in failed, len(ledgers.get(name, ())))
        for name, folder in folders.items()
    ]
    claims = all_claims([rows.assign(artefact=name) for name, rows in ledgers.items()])
    papers = sorted({card["paper"] for card in cards})
    mine = {} if profile == MINE else _folders(OUTPUTS / MINE, "manifest.json")
    models = _models(cards)
    manifests = [card["manifest"] for card in cards]
    table = models_by_task({card["name"]: card["manifest"] for card in cards})
    shown = board(table, {card["name"]: card["manifest"]["title"] for card in cards})
    write_board(table, shown, root)
    answered = sum(added(manifests, "counts").values(), Counter[str]())
    claims = claims.fillna(
        dict.fromkeys(("basis", "readings", "deviates", "undecided"), "")
    )
    stated = claims[claims["evidence"] != "finding"]
    first = fronts(papers, list(folders), stated)
    page = page_environment().from_string(resource("gallery.html")).render(
        profile=profile,
        cards=cards,
        papers=papers,
        fronts=first,
        simulated=[card["name"] for card in cards if card["manifest"]["simulated"]],
        titles={one["paper"]: f"{one['title']}, {one['version']}" for one in first},
        did=did(len(cards), len(papers), sum(card["manifest"]["asked"] for card in cards), models),
        shortfalls=shortfalls(manifests),
        counted=counted,
        kinds=INSTRUMENTS,
        readers=any(model["engine"] == "simulated" for model in models),
        by_paper=pd.crosstab(stated["artefact"].str.split("/").str[0], stated["verdict"]).to_dict("index"),
        failures={name: (folder / "error.txt").read_text(encoding="utf-8").strip() for name, folder in failed.items()},
        models=models,
        answered=dict(answered.most_common()),
        board=shown,
        ledger=claims[~waiting(claims)].to_dict("records"),
        folds=folded(claims),
        verdicts=stated["verdict"].value_counts().to_dict(),
        evidence=list(claims["evidence"].unique()),
        findings=len(claims) - len(stated),
        judged=judged(stated),
        style=Markup(resource("page.css")),
        script=Markup(resource("page.js")),
        number=_number,
        signs=SIGNS,
        urlencode=urlencode,
        version=__version__,
        mine={name: read_manifest(folder) for name, folder in mine.items()},
        experiments=int((claims["verdict"].isin(list(Verdict)) & claims["evidence"].isin(EVIDENCE)).sum()),
    )  # fmt: skip
    path = root / "index.html"
    write_whole(path, page)
    return path


def _folders(root: Path, file: str) -> dict[str, Path]:
    """Returns the folders two levels below `root` that contain a file with the name `file`, by
    PAPER/ARTEFACT."""
    return {
        str(path.parent.relative_to(root)): path.parent
        for path in visible(root, f"*/*/{file}")
    }


def _card(name: str, folder: Path, failed: bool, claims: int) -> dict[str, Any]:
    """Returns the data of the artefact `name` for the page: its manifest, its tables as HTML, the
    places in its picture that open answers, and whether it has a page of answers.

    `failed`: a later build failed, so that the data are older; `claims`: number of the artefact's
    rows in the ledger. Raises `DataError` for a faulty file.
    """
    manifest = read_manifest(folder)
    tables = {
        table: rows
        for table in manifest["tables"]
        if table != "claims" and (rows := _table(folder / f"{table}.csv"))
    }
    return {
        "name": name,
        "paper": name.split("/")[0],
        "manifest": manifest,
        "failed": failed,
        "claims": claims,
        "spots": _spots(folder / "spots.json"),
        "answers": (folder / "answers.html").is_file(),
        "tables": tables,
    }


def _spots(path: Path) -> str:
    """Returns the places in a picture and their cells (spots.json) as JSON text, `[]` without a
    file; raises `DataError` where the file has another form."""
    if not path.is_file():
        return "[]"
    try:
        return json.dumps(SPOTS.validate_json(path.read_bytes()), separators=(",", ":"))
    except ValueError as error:
        raise damaged(path, f"has no places: {error}") from None


def _models(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns every model of the cards once, as the manifests describe it, with two entries:
    `answered_by`, the model names that servers gave, and `figures`, the number of cards that it is
    in."""
    rows: dict[str, dict[str, Any]] = {}
    for card in cards:
        manifest = card["manifest"]
        for model in manifest["models"]:
            name = model["name"]
            row = rows.setdefault(name, {**model, "figures": 0, "answered_by": []})
            row["figures"] += 1
            servers = manifest["answered_by"].get(name, [])
            row["answered_by"] = sorted({*row["answered_by"], *servers})
    return list(rows.values())


def _number(value: object) -> str:
    """Returns `value` as text for a table: a float with at most three decimals, empty for nan;
    anything else as `str` writes it."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def _numbers(cells: list[str]) -> list[float]:
    """Returns a column's cells, which are texts, as numbers, an empty cell as nan; an empty list
    for a column with a cell that is no number, such as `1_2`."""
    try:
        return [float(cell.replace("_", " ") or "nan") for cell in cells]
    except ValueError:
        return []


@kept
def _table(path: Path) -> Markup:
    """Returns the CSV table in the file `path` as HTML for the page, empty without rows; columns
    that are zero throughout are left out and named below, except `d`, `accuracy`, `low` and `high`.
    Raises `DataError` for a faulty file.

    Pandas is not used, because it needs as long for hundreds of small tables as the rest of the
    report.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names, *lines = csv.reader(file, strict=True)
            columns = {name: cells for name, *cells in zip(names, *lines, strict=True)}
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, f"cannot be read: {error}") from None
    if not lines:
        return Markup("")
    shown, idle = {}, []
    for name, cells in columns.items():
        numbers = _numbers(cells)
        if {*numbers} == {0.0} and name not in ("d", "accuracy", "low", "high"):
            idle.append(name)
        else:
            whole = all(cell.isdecimal() for cell in cells)
            shown[name] = cells if whole or not numbers else list(map(_number, numbers))
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in shown)
    rows = [
        f"<tr><td>{'</td><td>'.join(map(escape, row))}</td></tr>"
        for row in zip(*shown.values(), strict=True)
    ]
    note = (
        f"<p class='note'>zero throughout: {escape(', '.join(idle))}</p>"
        if idle
        else ""
    )
    table = (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    return Markup(f"<div class='scroll'>{table}</div>{note}")
