"""Writes an artefact's files: figure (PDF, PNG, SVG with alt text), table (CSV, Markdown, LaTeX),
data, answers, manifest.

Equal inputs give equal bytes: the files have no dates, and a fixed salt makes the ids in the SVG.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, shorten

import pandas as pd
from fontTools.subset import Options
from IPython.display import Image
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from codestress.errors import DataError
from codestress.inference.registry import find_models, load_registry
from codestress.inference.results import Results, hardly_read
from codestress.parameters import Facts
from codestress.paths import FILES, OUTPUTS
from codestress.program_counts import count_rows, programs_so_far
from codestress.prompts import prompt_hash
from codestress.report.alt_text import description, table_in_words, worded
from codestress.report.answers_page import write_answers
from codestress.report.letters import make_readable
from codestress.report.marks import marked
from codestress.report.protocol import stamp
from codestress.report.published import published_numbers, version_of, without_numbers
from codestress.report.style import NOTE, add_note
from codestress.scoring.frames import answers_frame
from codestress.types import NotRun

READERS = "simulated readers (not models)"
NOTE_CHARACTERS = 19
"""Maximum number of characters of a figure's footnote, for each inch of its width."""
OTHERS = "; …"
SIMULATED_NOTE = "simulated readers, not language models"


def publish(
    given: Facts,
    *,
    figure: Figure,
    title: str,
    table: pd.DataFrame,
    data: pd.DataFrame,
    results: Results | None = None,
    prompts: Sequence[str] = (),
    extra_tables: dict[str, pd.DataFrame] | None = None,
    answers: pd.DataFrame | None = None,
) -> Image:
    """Writes all files of an artefact (a figure or table of a paper) into the build's folder, or
    below outputs/lab where a person runs the notebook; returns the picture, for the notebook to
    show.

    `title` says what is seen, with its numbers, and stands above the figure. `table` is for readers;
    title and table make the figure's alternative text. `data` has the plotted numbers, one row
    each. `results` are the run's; None where nobody is asked.
    `prompts` are names of prompt files, whose hashes go into the manifest. `extra_tables`, by name,
    are written as NAME.csv and NAME.md. `answers` are those that the figure counts (None:
    `answers_frame(results)`), needed where its cells name columns that the notebook added. A column
    `cell`, from marks to answers, is not saved.

    A figure says in the picture where it shows simulated readers, and which of the paper's numbers
    are missing. The function prints whether `given`, the run's parameters, is the paper's protocol.
    Raises `DataError` for a table without columns, before it writes any file.
    """
    artefact, rule, protocol = given.artefact, given.rule, stamp(given)
    if results is None:
        results = Results.of_nobody(
            find_models(given.models, load_registry(), artefact)
        )
    alt = table_in_words(_without_cells(table))
    tables = {"table": with_not_run(table, results.not_run)} | (extra_tables or {})
    for name, frame in tables.items():
        tables[name] = _without_cells(frame)
        if tables[name].columns.empty:
            fault = f"{artefact}: {name}.csv would have no columns"
            raise DataError(f"{fault}; name them where the table has no rows")
    # The folder that a build prepared, or outputs/lab/ when a person runs the notebook.
    folder = Path(os.environ.get("CODESTRESS_STAGING") or OUTPUTS / "lab" / artefact)
    folder.mkdir(parents=True, exist_ok=True)
    _name_readers(figure, results)
    changed = os.environ.get("CODESTRESS_CHANGED", "")
    title = _unless_unread(worded(title), results, rule)
    alt = _add_words(figure, artefact, title, alt, results, changed)
    saved = _save_figure(figure, folder, artefact, alt)
    if answers is None:
        answers = answers_frame(results)
    spots = write_answers(
        folder, artefact, results, rule, marked(figure, saved), alt, answers
    )
    places = [
        [*(round(1000 * side) for side in box), cell.name, str(cell)]
        for box, cell in spots
    ]
    text = json.dumps(places, separators=(",", ":"))
    (folder / "spots.json").write_text(f"{text}\n", encoding="utf-8")
    _without_cells(data).to_parquet(folder / "data.parquet", index=False)
    answer_rows(results).to_parquet(folder / "answers.parquet", index=False)
    _write_tables(folder, tables)
    named = {"artefact": artefact, "alt": alt, "rule": rule, "protocol": protocol}
    manifest = named | _manifest(artefact, results, rule, list(tables), prompts)
    (folder / "manifest.json").write_text(
        json.dumps(manifest, indent=1) + "\n", encoding="utf-8"
    )
    print(f"{protocol}\nchanged: {changed}" if changed else protocol)
    return Image(
        folder / "figure.png", width=round(100 * figure.get_figwidth()), alt=alt
    )


def _write_tables(folder: Path, tables: dict[str, pd.DataFrame]) -> None:
    """Writes each of `tables` into `folder` as NAME.csv and NAME.md, by its name, and the table
    with the name `table` also as table.tex."""
    for name, frame in tables.items():
        frame.to_csv(
            folder / f"{name}.csv",
            index=False,
            float_format="%.6g",
            lineterminator="\n",
        )
        (folder / f"{name}.md").write_text(markdown_table(frame), encoding="utf-8")
    (folder / "table.tex").write_text(latex_table(tables["table"]), encoding="utf-8")


def _add_words(
    figure: Figure, artefact: str, title: str, alt: str, results: Results, changed: str
) -> str:
    """Writes `title` above the figure, and below it one line of notes: on simulated readers, the
    words `changed` on the command line, parts not run, the chart's own notes, missing numbers.
    Returns the picture's alternative text: the notes, title and `alt`, cut as `description`
    cuts."""
    width, height = figure.get_size_inches()
    simulated = [entry.name for entry in results.models if entry.simulated]
    without = list(filter(None, [without_numbers(artefact)]))
    left_out = [f"{part.label}: not run here" for part in results.not_run]
    own = [text for text in figure.texts if text.get_gid() == NOTE]
    for text in own:
        text.remove()
    later = [text.get_text() for text in own] + without
    notes, first = [*left_out, *later], left_out
    if changed:
        notes = [f"changed: {changed}", *notes]
        first = [*first, f"Changed: {changed}"]
    if simulated and results.answers:
        drawn = any("sim-" in text.get_text() for text in figure.findobj(Text))
        notes = [f"{'sim-…: ' if drawn else 'Asked: '}{SIMULATED_NOTE}", *notes]
        first = [f"{', '.join(simulated)}: {READERS}", *first]
    if notes:
        add_note(figure, one_line(notes, round(NOTE_CHARACTERS * width)))
    headline = fill(title, round(12 * width), break_on_hyphens=False)
    figure.text(
        0.005, 1 + 0.1 / height, headline, va="bottom", fontsize=10, parse_math=False
    )
    # What a picture's reader must not miss stands first, since the end may be cut.
    return description([*first, title, alt, *later])


def one_line(notes: Sequence[str], most: int) -> str:
    """Returns the first of `notes` that fit together into `most` characters, divided by
    semicolons; an ellipsis stands for the others. A first note that is too long by itself ends
    after a word."""
    line = shorten(notes[0], most, placeholder=" …")
    for number, note in enumerate(notes[1:], start=1):
        longer = f"{line}; {note}"
        last = number == len(notes) - 1
        if len(longer) + (0 if last else len(OTHERS)) > most:
            return line + OTHERS
        line = longer
    return line


def _manifest(
    artefact: str,
    results: Results,
    rule: str,
    tables: list[str],
    prompts: Sequence[str],
) -> dict[str, object]:
    """Returns the facts of an artefact's manifest that come from its results and files: models,
    prompts, counts of answers under the scoring rule `rule`, the names `tables`, and files."""
    written = {f"{name}.{suffix}" for name in tables for suffix in ("csv", "md")}
    return {
        "simulated": [entry.name for entry in results.models if entry.simulated],
        "tables": tables,
        "models": [
            entry.model_dump(exclude_defaults=True) | {"key_revision": entry.identity}
            for entry in results.models
        ],
        "version": version_of(artefact.partition("/")[0]),
        "published": (published_numbers(artefact) or {"provenance": None})[
            "provenance"
        ],
        "prompts": {name: prompt_hash(name) for name in prompts},
        **_run(results, rule),
        "not_run": {one.label: one.why for one in results.not_run},
        "programs": {"in the notebook": count_rows(programs_so_far())},
        "files": sorted({*FILES, *written, "notebook.ipynb", "notebook.html"}),
    }


def _without_cells(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="cell", errors="ignore")


def _unless_unread(title: str, results: Results, rule: str) -> str:
    """Returns `title` unchanged, or, where hardly an answer of a model could be read under the
    scoring rule `rule`, after a sentence that says so; the sentences alone where this is so of all
    models. Simulated readers do not count."""
    counts = results.counts(rule) if results.answers else {}
    real = [
        entry.name
        for entry in results.models
        if entry.name in counts and not entry.simulated
    ]
    few = {model: words for model in real if (words := hardly_read(counts[model]))}
    sentences = [
        f"No number of {model} counts: {words}" for model, words in few.items()
    ]
    return ". ".join(
        sentences if few and len(few) == len(counts) else [*sentences, title]
    )


def _name_readers(figure: Figure, results: Results) -> None:
    """Renames panels and legends that begin with "regenerated" to name the simulated readers, where
    such take part: they are no models, and regenerate nothing that a paper measured on models."""
    if not any(entry.simulated for entry in results.models):
        return
    real = [entry.name for entry in results.models if not entry.simulated]
    words = f"{', '.join(real)}, and {READERS}" if real else READERS
    for ax in figure.axes:
        # Not set_title, which would put titles back onto legends below them.
        for text in ax.findobj(Text):
            if isinstance(text, Text) and text.get_text().startswith("regenerated"):
                text.set_text(re.sub("^regenerated( here)?", words, text.get_text()))


def answer_rows(results: Results) -> pd.DataFrame:
    """Returns a table with a row for each answer of `results`, for further computation: model,
    problem, sample, factors, outcome and score under every scoring rule, and keys in the store.

    Texts and times are left out, so that equal answers give equal bytes.
    """
    frame = answers_frame(results)
    frame = frame.drop(columns=["seconds", "attempts", "simulated"], errors="ignore")
    frame = frame[[name for name in frame if not name.startswith("detail_")]]
    texts = frame.select_dtypes(object)
    mixed = [name for name in texts if texts[name].map(type).nunique() > 1]
    return frame.astype(dict.fromkeys(mixed, str))


def with_not_run(table: pd.DataFrame, left: tuple[NotRun, ...]) -> pd.DataFrame:
    """Returns `table` with an added row for each part of the run in `left`, those left out, and the
    added column `not_run`, the reason there and empty elsewhere; unchanged where `left` is
    empty."""
    if not left:
        return table
    rows = [{part.factor: part.value} if part.factor in table else {} for part in left]
    reasons = [f"{part.label}: not run here: {part.why}" for part in left]
    added = pd.DataFrame(rows).assign(not_run=reasons)
    return pd.concat([table.assign(not_run=""), added], ignore_index=True)


def _run(results: Results, rule: str) -> dict[str, object]:
    """Returns a run's facts for the manifest: counts of each outcome under the scoring rule `rule`
    and under every other (all sum to the number of trials), tokens, time, and a hash of all
    requests."""
    answers = results.answers
    rules = sorted(answers[0].scores) if answers else []
    usages = [answer.usage for answer in answers]
    return {
        "asked": len(answers),
        "counts": results.counts(rule),
        "not_asked": results.not_asked,
        "reasons": results.reasons(rule),
        "counts_by_rule": {name: results.counts(name) for name in rules},
        "new_requests": results.asked,
        "answers_after_retry": sum(answer.attempts > 1 for answer in answers),
        "answered_by": results.answered_by(),
        "tokens": {
            "prompt": sum(usage.prompt_tokens or 0 for usage in usages),
            "completion": sum(usage.completion_tokens or 0 for usage in usages),
            "counted_by": "the server's usage; a simulated reader counts 4 characters as a token",
        },
        "model_seconds": round(sum(answer.seconds for answer in answers), 3),
        "requests_sha256": results.requests_sha256(),
    }


LAYOUT_TABLES = ("GSUB", "GPOS", "GDEF", "BASE", "kern")
"""Tables of a font for the layout of glyphs, which is settled before a figure is saved. Without
them a PDF takes half the time."""


def _save_figure(figure: Figure, folder: Path, title: str, alt: str) -> Bbox:
    """Saves a figure in `folder` as figure.svg, figure.pdf and figure.png, with `title` and the
    alternative text `alt` in the files; returns the part of the figure that was saved, in
    inches."""
    make_readable(figure)
    if figure.axes and (engine := figure.get_layout_engine()):
        engine.execute(figure)
    dropped = [*Options._drop_tables_default, *LAYOUT_TABLES]
    Options._drop_tables_default = list(dict.fromkeys(dropped))
    figure.set_layout_engine("none")  # laid out and measured once, not for each format
    for (
        legend
    ) in figure.legends:  # stay where they are, though more than the figure is saved
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    box = _whole(figure)
    path = folder / "figure.svg"
    figure.savefig(path, bbox_inches=box, metadata={"Title": title, "Date": None})
    about = {"Title": title, "Subject": alt}
    undated = dict.fromkeys(("CreationDate", "ModDate", "Producer"))
    described = {"Title": title, "Description": alt, "Software": None}
    with rc_context({"figure.constrained_layout.use": False}):
        # With one, though it does nothing, each format is drawn twice.
        figure.set_layout_engine(None)
        figure.savefig(folder / "figure.pdf", bbox_inches=box, metadata=about | undated)
        figure.savefig(folder / "figure.png", bbox_inches=box, metadata=described)
    words = f'<title id="title">{html.escape(title)}</title><desc id="alt">{html.escape(alt)}</desc>'
    named = f' role="img" aria-labelledby="title alt">{words}'
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<svg\b([^>]*)>", lambda tag: f"<svg{tag[1]}{named}", text, count=1)
    path.write_text(text, encoding="utf-8")
    return box


def _whole(figure: Figure) -> Bbox:
    """Returns the part of `figure` to save, in inches: its own width, more only where a text stands
    over, and the height of all that is drawn."""
    drawn = figure.get_tightbbox().padded(0.08)
    left, right = min(0.0, drawn.x0 + 0.08), max(figure.get_figwidth(), drawn.x1 - 0.08)
    return Bbox([[left, drawn.y0], [right, drawn.y1]])


def _cell(value: object) -> str:
    if isinstance(value, float) and value == value:
        return (
            f"{value:.1e}"
            if 0 < abs(value) < 0.001
            else f"{value:.3f}".rstrip("0").rstrip(".")
        )
    return "" if value is None or isinstance(value, float) else str(value)


def markdown_table(frame: pd.DataFrame) -> str:
    """Returns the table `frame` as text in GitHub-flavoured Markdown; numbers have at most three
    decimals (`1.2e-04` below 0.001), missing values are empty."""
    rows = [list(map(str, frame.columns)), ["---"] * len(frame.columns)]
    for row in frame.itertuples(index=False):
        rows.append([_cell(value).replace("|", "\\|") for value in row])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def latex_table(frame: pd.DataFrame) -> str:
    """Returns the table `frame` as text in LaTeX with booktabs; numbers have at most three decimals
    (`1.2e-04` below 0.001), missing values are empty."""
    return str(frame.to_latex(index=False, escape=True, na_rep="", float_format=_cell))
