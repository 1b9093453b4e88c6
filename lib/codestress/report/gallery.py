"""The report of a profile on one page: a card for each paper, every figure with its
numbers, the claims ledger, and the runs.

Pictures lie beside the page. Nothing is fetched from elsewhere, and search and filter
need no server.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from codestress import __version__
from codestress.fitting.verdicts import Verdict
from codestress.literals import counted
from codestress.paths import OUTPUTS, visible, write_whole

from .cards import all_claims, folded, fronts, judged, waiting
from .checked import read_manifest, read_table, seal
from .claims import EVIDENCE, SIGNS, read_ledger
from .model_table import board, models_by_task, write_board
from .notebook_page import render, resource
from .summary import INSTRUMENTS, added, did, shortfalls
from .tables import cell_text


def gallery(profile: str) -> Path:
    """Write the report of a profile, outputs/PROFILE/index.html, and return the page's
    path.

    The report is made from the artefacts in the profile's folder. Raises `DataError` if
    a file of an artefact is faulty.
    """
    root = OUTPUTS / profile
    ledgers = {}
    cards = []
    for name, folder in _folders(root, "manifest.json").items():
        if (folder / "claims.csv").is_file():
            ledgers[name] = read_ledger(folder / "claims.csv")
        cards.append(_card(name, folder))
    manifests = {card["name"]: card["manifest"] for card in cards}
    errors = {}
    for name, folder in _folders(OUTPUTS / "failed" / profile, "error.txt").items():
        errors[name] = (folder / "error.txt").read_text("utf-8")
    table = models_by_task(manifests)
    write_board(table, root)
    papers = sorted({card["paper"] for card in cards})
    page = render(
        "gallery.html",
        profile=profile,
        version=__version__,
        script=Markup(resource("page.js")),
        counted=counted,
        number=cell_text,
        cards=cards,
        papers=papers,
        failures=errors,
        board=board(table),
        **_answers(list(manifests.values()), len(papers)),
        **_ledger(ledgers, papers, list(manifests)),
    )
    path = root / "index.html"
    write_whole(path, page + seal(profile, page))
    return path


def _answers(manifests: list[dict[str, Any]], papers: int) -> dict[str, Any]:
    """Return the content of the page about the answers of all artefacts, and about the
    models that answered.

    `papers` is the number of papers.
    """
    models = _models(manifests)
    answers = sum(manifest["asked"] for manifest in manifests)
    outcomes = sum(added(manifests, "counts").values(), Counter[str]())
    return {
        "models": models,
        "kinds": INSTRUMENTS,
        "did": did(len(manifests), papers, answers, models),
        "shortfalls": shortfalls(manifests),
        "answered": dict(outcomes.most_common()),
    }


def _ledger(
    ledgers: Mapping[str, pd.DataFrame], papers: list[str], built: list[str]
) -> dict[str, Any]:
    """Return the content of the page about the numbers in `ledgers`, a dict from
    artefact to ledger.

    `papers` and `built` have the names of the build's papers and artefacts.
    """
    named = [rows.assign(artefact=name) for name, rows in ledgers.items()]
    texts = dict.fromkeys(("basis", "readings", "deviates", "undecided"), "")
    claims = all_claims(named).fillna(texts)
    stated = claims[claims["evidence"] != "finding"]
    first = fronts(papers, built, stated)
    titles = {
        front["paper"]: f"{front['title']}, {front['version']}" for front in first
    }
    paper = stated["artefact"].str.split("/").str[0]
    verdict = claims["verdict"].isin(list(Verdict))
    experiments = verdict & claims["evidence"].isin(EVIDENCE)
    return {
        "ledgers": ledgers,
        "fronts": first,
        "titles": titles,
        "ledger": claims[~waiting(claims)].to_dict("records"),
        "folds": folded(claims),
        "verdicts": stated["verdict"].unique(),
        "by_paper": pd.crosstab(paper, stated["verdict"]).to_dict("index"),
        "evidence": claims["evidence"].unique(),
        "findings": len(claims) - len(stated),
        "experiments": experiments.sum(),
        "judged": judged(stated),
        "signs": SIGNS,
    }


def _folders(root: Path, file: str) -> dict[str, Path]:
    """Return a dict from PAPER/ARTEFACT to the folder, for each folder two levels below
    `root` that has a file named `file`."""
    folders = [path.parent for path in visible(root, f"*/*/{file}")]
    return {str(folder.relative_to(root)): folder for folder in folders}


def _card(name: str, folder: Path) -> dict[str, Any]:
    """Return the data of the artefact `name` for the page: its manifest, its tables as
    lists of rows, and the places in its picture that open answers.

    Raises `DataError` if a file is faulty.
    """
    manifest = read_manifest(folder)
    tables = {}
    for table in manifest["tables"]:
        if table != "claims":
            tables[table] = _table(folder / f"{table}.csv")
    spots = folder / "spots.json"
    return {
        "name": name,
        "paper": folder.parent.name,
        "manifest": manifest,
        "spots": spots.read_text("utf-8") if spots.is_file() else "[]",
        "tables": tables,
    }


def _models(manifests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return every model of the manifests once, described as in the first manifest that
    has the model.

    Two entries are added: `answered_by`, the model names that servers returned, and
    `figures`, the number of manifests that have the model.
    """
    rows: dict[str, dict[str, Any]] = {}
    for manifest in manifests:
        for model in manifest["models"]:
            name = model["name"]
            row = rows.setdefault(name, {**model, "figures": 0, "answered_by": set()})
            row["figures"] += 1
            row["answered_by"].update(manifest["answered_by"].get(name, []))
    return list(rows.values())


def _table(path: Path) -> list[list[str]]:
    """Return the lines of the CSV table in the file `path`, with the columns' names
    first and numbers as `cell_text` writes them.

    Raises `DataError` if the file is faulty.
    """
    table = read_table(path).fillna("").map(_shown_cell)
    return [list(table), *table.to_numpy().tolist()]


def _shown_cell(cell: str) -> str:
    return cell_text(float(cell)) if re.fullmatch(r"-?\d+\.\d+", cell) else cell
