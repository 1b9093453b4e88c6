"""Words on a figure: its title, its footnote, and its alternative text."""

import os
import re
from collections.abc import Mapping, Sequence
from textwrap import fill, shorten

import pandas as pd
from matplotlib.figure import Figure

from codestress.inference.results import Results, hardly_read
from codestress.literals import counted
from codestress.parameters import Facts

from .letters import reword
from .published import without_numbers
from .style import NOTE, add_note
from .tables import number_text

READERS = "simulated readers (not models)"
SIMULATED_NOTE = "simulated readers, not language models"
TITLE_CHARACTERS = 12
"""Maximum number of characters of a line of the title, for each inch of the figure's
width."""
NOTE_CHARACTERS = 21
"""Maximum number of characters of a figure's footnote, for each inch of the figure's
width."""
LONGEST_ALT = 500
"""Maximum number of characters of a picture's alternative text."""
LONGEST_LABEL = 24
"""Maximum number of characters of a line of a model's name in a figure."""
REST = " … The rest is in the table."
VALUES = 3
"""Maximum number of different texts of a column that are listed, each cut to 30
characters."""
UNKNOWN = "(not known)"


def add_words(
    figure: Figure,
    given: Facts,
    title: str,
    table: pd.DataFrame,
    results: Results,
) -> str:
    """Write `title` above the figure and a line of notes below it, name simulated
    readers in its panels, and return the figure's alternative text.

    The title follows a sentence on each model of which hardly an answer could be read
    by the scoring rule. The notes name simulated readers, changes of the command line,
    parts that were not run, the chart's own notes, and missing numbers of the paper. A
    long line is cut after a note. The alternative text has the readers, the title, the
    other notes and `table` in words, cut as in `description`.
    """
    simulated = [entry.name for entry in results.models if entry.simulated]
    if simulated:
        name_readers(figure, results)
    title = _title(worded(title), results, given.rule)
    title = with_short_names(figure, title, results)
    changed = os.environ.get("CODESTRESS_CHANGED")
    notes = [f"changed: {changed}"] if changed else []
    notes += [f"{part.label}: not run here" for part in results.not_run]
    for text in list(figure.texts):
        if text.get_gid() == NOTE:
            text.remove()
            notes.append(text.get_text())
    if missing := without_numbers(given.artefact):
        notes.append(missing)
    sentences = [title, *notes, table_in_words(table)]
    if simulated and len(results.answers):
        notes.insert(0, f"sim-…: {SIMULATED_NOTE}")
        sentences.insert(0, f"{', '.join(simulated)}: {READERS}")
    if notes:
        most = round(NOTE_CHARACTERS * figure.get_figwidth())
        add_note(figure, one_line(notes, most))
    write_title(figure, title)
    return description(sentences)


def write_title(figure: Figure, title: str) -> None:
    """Write `title` above the figure. No line ends with a number, so that a number's
    unit stays beside it."""
    width, height = figure.get_size_inches()
    joined = re.sub(r"(?<=\d) ", "\N{NO-BREAK SPACE}", title)
    lines = fill(joined, round(TITLE_CHARACTERS * width), break_on_hyphens=False)
    above = 1 + 0.1 / height
    figure.text(0.005, above, lines, va="bottom", fontsize=10, parse_math=False)


def _title(title: str, results: Results, rule: str) -> str:
    """Return `title` after a sentence on the models of which hardly an answer could be
    read under the scoring rule `rule`, if there are any.

    If all models are such models, the title is left out. Simulated readers do not
    count.
    """
    counts = results.counts(rule)
    unread = {}
    for entry in results.models:
        if not entry.simulated and (why := hardly_read(counts[entry.name])):
            unread[entry.name] = why
    if not unread:
        return title
    who, why = f"{len(unread)} models", "too few of their answers could be read"
    if len(unread) == 1:
        [(who, why)] = unread.items()
    warning = f"No number of {who} counts: {why}"
    return warning if len(unread) == len(counts) else f"{warning}. {title}"


def one_line(notes: Sequence[str], most: int) -> str:
    """Return the first of `notes` that fit together into about `most` characters, with
    an ellipsis in place of the rest.

    If not all notes fit, the note on simulated readers is shortened. A first note that
    is too long by itself is cut.
    """
    if len("; ".join(notes)) > most:
        notes = [note.replace(SIMULATED_NOTE, "simulated readers") for note in notes]
    line = notes[0]
    for note in notes[1:]:
        if len(f"{line}; {note}") > most:
            line += "; …"
            break
        line += f"; {note}"
    return line if len(line) < most + 4 else f"{line[:most]}…"


def with_short_names(figure: Figure, title: str, results: Results) -> str:
    """Replace the long names of the models of `results` by short ones in `figure`;
    return `title` with the same replacements."""
    names = short_names(results)
    if names:
        reword(figure, lambda text: renamed(text.get_text(), names))
        title = renamed(title, names).replace("\n", "")
    return title


def short_names(results: Results) -> dict[str, str]:
    """Return a dict from each name MODEL@SERVER in `results` that is too long for a
    figure to MODEL, in lines of about `LONGEST_LABEL` characters.

    The dict is empty if two models would share a short name.
    """
    names = {}
    for entry in results.models:
        model, at, _ = entry.name.rpartition("@")
        if at and len(entry.name) > LONGEST_LABEL:
            names[entry.name] = fill(model, LONGEST_LABEL)
    return names if len({*names.values()}) == len(names) else {}


def renamed(words: str, names: Mapping[str, str]) -> str:
    """Return `words` with each key of `names` replaced by its value."""
    for name, short in names.items():
        words = words.replace(name, short)
    return words


def name_readers(figure: Figure, results: Results) -> None:
    """Rename panels and legends that begin with "regenerated", so that they name the
    simulated readers.

    Simulated readers are not models, and regenerate nothing that a paper measured.
    """
    real = [entry.name for entry in results.models if not entry.simulated]
    words = f"{', '.join(real)}, and {READERS}" if real else READERS
    begun = re.compile("^regenerated( here)?")
    reword(figure, lambda text: begun.sub(words, text.get_text()))


def table_in_words(table: pd.DataFrame) -> str:
    """Return the number of rows of `table`, and the texts or the range of each column.

    A range has at most three decimals. A column without values is "(not known)".
    """
    columns = []
    for name, values in table.items():
        columns.append(f"{str(name).replace('_', ' ')} {_column(values)}")
    return f"Table of {counted(len(table), 'row')}: {'; '.join(columns)}"


def _column(values: pd.Series) -> str:
    known = values.dropna()
    if known.empty:
        return UNKNOWN
    if known.dtype.kind in "iuf":
        low, high = map(number_text, (known.min(), known.max()))
        return low if low == high else f"{low} to {high}"
    texts = list(known.astype(str).unique())
    listed = []
    for text in texts[:VALUES]:
        listed.append(shorten(text, 30, placeholder=" …") or "none")
    if len(texts) > VALUES:
        listed.append(f"{len(texts) - VALUES} more")
    return ", ".join(listed)


def worded(text: str) -> str:
    """Return `text` with each nan, its sign and its per cent sign replaced by "(not
    known)"."""
    return re.sub(r"[+-]?\bnan\b( ?%)?", UNKNOWN, text)


def description(sentences: Sequence[str]) -> str:
    """Return `sentences`, joined, as alternative text of at most `LONGEST_ALT`
    characters.

    A longer text ends after a word, and says that the rest is in the table.
    """
    ended = [worded(sentence).rstrip(".") + "." for sentence in sentences]
    return shorten(" ".join(ended), LONGEST_ALT, placeholder=REST)
