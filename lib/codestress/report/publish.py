"""What an artefact leaves: figure (PDF, PNG, SVG with alt text), table (CSV, Markdown, LaTeX), data, answers, manifest.

The same inputs give the same bytes: no dates in the files, a fixed salt for the ids in the SVG.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import pandas as pd
from fontTools.subset import Options
from IPython.display import Image
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from codestress.errors import DataError
from codestress.generation.prompts import prompt_hash
from codestress.inference.run import Results
from codestress.parameters import Facts
from codestress.paths import FILES, OUTPUTS
from codestress.report.answers_page import write_answers
from codestress.report.drawn import drawn
from codestress.report.protocol import stamp
from codestress.report.published import published_numbers, without_numbers
from codestress.sandbox.executor import programs_run, ran
from codestress.scoring.frames import answers_frame
from codestress.types import NotRun

TRUTH_NOTE = "pale line, diamond: what is true of them, {known}; {held} of {intervals} intervals hold it"
READERS = "simulated readers (not models)"
SIMULATED_NOTE = "sim-…: simulated readers with known parameters, not language models"


def publish(
    given: Facts,
    *,
    figure: Figure,
    title: str,
    alt: str,
    table: pd.DataFrame,
    data: pd.DataFrame,
    results: Results,
    prompts: list[str],
    extra_tables: dict[str, pd.DataFrame] | None = None,
    spoken: Mapping[str, Mapping[Any, str]] | None = None,
) -> Image:
    """Writes everything that the artefact leaves and returns the picture, for the notebook to show.

    `title` says what is seen, with its numbers, and stands above the figure; `alt` says in words what it shows.
    `table` is what a person reads, `data` the plotted numbers, one row each. `prompts` names the prompt files whose
    hashes belong to these numbers. `extra_tables` are written as NAME.csv and NAME.md. `spoken` is what the figure
    calls values of factors, by which its bars find their answers. A figure with simulated readers says so in the
    picture, and what the paper does not publish as numbers. Printed: whether `given` is the paper's protocol. A table
    without a column is a `DataError`, before anything is written.
    """
    artefact, rule, protocol = given.artefact, given.rule, stamp(given)
    tables = {"table": with_not_run(table, results.not_run)} | (extra_tables or {})
    for name, frame in tables.items():
        if frame.columns.empty:
            raise DataError(f"{artefact}: {name}.csv would have no columns; name them where the table has no rows")
    # The folder that a build prepared, or outputs/lab/ when a person runs the notebook.
    folder = Path(os.environ.get("CODESTRESS_STAGING") or OUTPUTS / "lab" / artefact)
    folder.mkdir(parents=True, exist_ok=True)
    _name_readers(figure, results)
    width, height = figure.get_size_inches()
    simulated = [entry.name for entry in results.models if entry.simulated]
    changed = os.environ.get("CODESTRESS_CHANGED", "")
    held = coverage(data) if simulated else None
    told = [TRUTH_NOTE.format(**held, known=results.questions.known)] if held and results.questions else []
    told += [without] if (without := without_numbers(artefact)) else []
    told += [f"{one.label}: not run here" for one in results.not_run]
    notes = [SIMULATED_NOTE] if simulated and results.answers else []
    for number, note in enumerate([*notes, *told, *(wrap(f"changed: {changed}", 100) if changed else [])]):
        below = (-0.06 - 0.11 * number) / height
        figure.text(0.995, below, note, ha="right", va="top", fontsize=6.5, color="#555555")
    told += [f"Changed: {changed}"] if changed else []
    title = _worded(title)
    lines = wrap(title, round(13 * width), break_on_hyphens=False)
    figure.text(0.005, 1 + 0.1 / height, "\n".join(lines), va="bottom", fontsize=10, parse_math=False)
    alt = _worded(" ".join([f"{title}.", alt, *(f"{note}." for note in told)]))
    box = _save_figure(figure, folder, artefact, alt)
    spots = write_answers(folder, artefact, results, rule, drawn(figure, box), alt, spoken or {})
    places = [[*(round(1000 * one) for one in place), cell.name] for place, cell in spots]
    (folder / "spots.json").write_text(json.dumps(places, separators=(",", ":")) + "\n", encoding="utf-8")
    data.to_parquet(folder / "data.parquet", index=False)
    answer_rows(results).to_parquet(folder / "answers.parquet", index=False)
    for name, frame in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
        (folder / f"{name}.md").write_text(markdown_table(frame), encoding="utf-8")
    (folder / "table.tex").write_text(latex_table(tables["table"]), encoding="utf-8")
    manifest = {
        "artefact": artefact,
        "alt": alt,
        "rule": rule,
        "protocol": protocol,
        "simulated": simulated,
        "true_values": held,
        "tables": list(tables),
        "models": [
            entry.model_dump(exclude_defaults=True) | {"key_revision": entry.identity} for entry in results.models
        ],
        "published": (published_numbers(artefact) or {"provenance": None})["provenance"],
        "prompts": {name: prompt_hash(name) for name in prompts},
        **run_facts(results, rule),
        "not_run": {one.label: one.why for one in results.not_run},
        "programs": {"in the notebook": programs_run(ran())},
        "files": sorted(
            {*FILES, *(f"{n}.{s}" for n in tables for s in ("csv", "md")), "notebook.ipynb", "notebook.html"}
        ),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    print(f"{protocol}\nchanged: {changed}" if changed else protocol)
    return Image(folder / "figure.png", width=round(100 * width), alt=alt)


def _worded(text: str) -> str:
    """The text, with a number that is not known said so."""
    return re.sub(r"[+-]?\bnan\b( ?%)?", "(not known)", text)


def coverage(drawn: pd.DataFrame) -> dict[str, int] | None:
    """How many intervals of what is drawn hold what is `true` of an instrument; None where that is not known.

    True is what holds of the very questions that were asked, while the intervals allow for other problems too: they
    may hold it more often than their level says.
    """
    if not {"true", "low", "high"} <= {*drawn.columns}:
        return None
    known = drawn.dropna(subset=["true", "low", "high"])
    held = (known["low"] - 1e-9 <= known["true"]) & (known["true"] <= known["high"] + 1e-9)
    return {"held": int(held.sum()), "intervals": len(known)} if len(known) else None


def _name_readers(figure: Figure, results: Results) -> None:
    """No panel of readers that are no models says that it regenerates what a paper had of models."""
    if not any(entry.simulated for entry in results.models):
        return
    real = [entry.name for entry in results.models if not entry.simulated]
    words = ", and ".join([*([", ".join(real)] if real else []), READERS])
    for ax in figure.axes:
        for text in ax.findobj(Text):  # not set_title, which would put titles back onto legends below them
            if isinstance(text, Text) and text.get_text().startswith("regenerated"):
                text.set_text(re.sub("^regenerated( here)?", words, text.get_text()))


def answer_rows(results: Results) -> pd.DataFrame:
    """For others to compute with: a row for each answer, its model, problem, sample, factors, outcome and score under
    every rule, and keys in the store. No text, and nothing of when and how fast it came, so that the same answers give
    the same bytes."""
    frame = answers_frame(results)
    told = [name for name in frame if name.startswith("detail_")]
    frame = frame.drop(columns=[*told, *({"seconds", "attempts", "simulated"} & set(frame))])
    mixed = [name for name in frame if frame[name].dtype == object and frame[name].map(type).nunique() > 1]
    return frame.astype(dict.fromkeys(mixed, str))


def with_not_run(table: pd.DataFrame, left: tuple[NotRun, ...]) -> pd.DataFrame:
    """The table with a row for each part that was left out, and the reason in a column of its own."""
    if not left:
        return table
    rows = [{one.factor: one.value} if one.factor in table.columns else {} for one in left]
    told = [f"{one.label}: not run here: {one.why}" for one in left]
    return pd.concat([table.assign(not_run=""), pd.DataFrame(rows).assign(not_run=told)], ignore_index=True)


def run_facts(results: Results, rule: str) -> dict[str, object]:
    """For the manifest: counts of each reason (they add up to asked), tokens, time, and a hash of all requests."""
    answers = results.answers
    rules = sorted(answers[0].scores) if answers else []
    return {
        "asked": len(answers),
        "counts": results.counts(rule),
        "counts_by_rule": {name: results.counts(name) for name in rules},
        "new_requests": results.asked,
        "asked_again": {model: repeats._asdict() for model, repeats in results.repeats.items()},
        "answers_after_retry": sum(answer.attempts > 1 for answer in answers),
        "answered_by": results.answered_by(),
        "tokens": {
            "prompt": sum(answer.usage.prompt_tokens or 0 for answer in answers),
            "completion": sum(answer.usage.completion_tokens or 0 for answer in answers),
            "counted_by": "the server's usage; a simulated reader counts 4 characters as a token",
        },
        "model_seconds": round(sum(answer.seconds for answer in answers), 3),
        "requests_sha256": results.requests_sha256(),
    }


LAYOUT_TABLES = ("GSUB", "GPOS", "GDEF", "BASE", "kern")
"""Of a font: where its signs stand, which is settled before a figure is saved. Without, a PDF takes half the time."""


def _save_figure(figure: Figure, folder: Path, title: str, alt: str) -> Bbox:
    """Returns what part of the figure was saved, in inches."""
    if figure.axes and (engine := figure.get_layout_engine()):
        engine.execute(figure)
    Options._drop_tables_default = list(dict.fromkeys([*Options._drop_tables_default, *LAYOUT_TABLES]))
    margin = 0.08
    about = {"Title": title}
    figure.set_layout_engine("none")  # laid out and measured once, not for each format
    for legend in figure.legends:  # stay where they are, though more than the figure is saved
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    box = figure.get_tightbbox().padded(margin)
    figure.savefig(folder / "figure.svg", bbox_inches=box, metadata={**about, "Date": None})
    with rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # with one, though it does nothing, each format is drawn twice
        figure.savefig(
            folder / "figure.pdf",
            bbox_inches=box,
            metadata={**about, "Subject": alt, "CreationDate": None, "ModDate": None, "Producer": None},
        )
        figure.savefig(folder / "figure.png", bbox_inches=box, metadata={**about, "Description": alt, "Software": None})
    path = folder / "figure.svg"
    text = path.read_text(encoding="utf-8")
    named = f'<title id="title">{html.escape(title)}</title><desc id="alt">{html.escape(alt)}</desc>'
    told = f' role="img" aria-labelledby="title alt">{named}'
    text = re.sub(r"<svg\b([^>]*)>", lambda tag: f"<svg{tag[1]}{told}", text, count=1)
    path.write_text(text, encoding="utf-8")
    return box


def _cell(value: object) -> str:
    if isinstance(value, float) and value == value:
        return f"{value:.1e}" if 0 < abs(value) < 0.001 else f"{value:.3f}".rstrip("0").rstrip(".")
    return "" if value is None or isinstance(value, float) else str(value)


def markdown_table(frame: pd.DataFrame) -> str:
    """A GitHub-flavoured Markdown table; numbers with three decimals."""
    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    rows += [[_cell(value).replace("|", "\\|") for value in row] for row in frame.itertuples(index=False)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def latex_table(frame: pd.DataFrame) -> str:
    """A booktabs table; numbers with three decimals."""
    return str(frame.to_latex(index=False, escape=True, na_rep="", float_format=_cell))
