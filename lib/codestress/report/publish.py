"""Write an artefact's files: figure, tables, data, answers and manifest.

Equal inputs give equal bytes.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from IPython.display import Image
from matplotlib.figure import Figure

from codestress.inference.registry import find_models, load_registry
from codestress.inference.results import Results
from codestress.parameters import Facts
from codestress.paths import OUTPUTS
from codestress.program_counts import count_rows, programs_so_far
from codestress.prompts import prompt_hash

from .answers_page import write_answers
from .caption import add_words
from .figure_files import save_figure
from .marks import marked
from .protocol import stamp
from .published import version_of
from .tables import with_not_run, without_cells, write_tables


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
    """Write all files of an artefact, in the build's folder or below outputs/lab, and return the picture.

    `given` has the run's parameters. `title` says in words and numbers what the figure shows, and stands above the
    figure. The figure's words also name simulated readers and missing numbers of the paper. `table` is for readers;
    title and table make the alternative text. `data` has the plotted numbers, one row each. `results` are the run's
    results (None: no model is asked). `prompts` are names of prompt files, whose hashes go into the manifest.
    `extra_tables`, a dict from name to table, are written as NAME.csv and NAME.md. `answers` are the answers that the
    figure counts (None: `results.answers`). This argument is needed if the figure's cells (groups of answers) name
    columns that the notebook added. The column `cell` of tables and data, which leads from marks to answers, is not
    saved. The relation of the run to the paper's protocol is printed. Raises `DataError` if a table has no columns.
    """
    if results is None:
        models = find_models(given.models, load_registry(), given.artefact)
        results = Results(pd.DataFrame(), models)
    tables = {"table": with_not_run(table, results.not_run), **(extra_tables or {})}
    folder = _folder(given.artefact)
    write_tables(folder, tables)
    without_cells(data).to_parquet(folder / "data.parquet", index=False)
    answer_rows(results).to_parquet(folder / "answers.parquet", index=False)
    alt = add_words(figure, given, title, without_cells(table), results)
    marks = marked(figure, save_figure(figure, folder, given.artefact, alt))
    write_answers(folder, given.artefact, results, given.rule, marks, alt, answers)
    _write_manifest(folder, given, results, alt, list(tables), prompts)
    print(stamp(given))
    if changed := os.environ.get("CODESTRESS_CHANGED"):
        print(f"changed: {changed}")
    width = round(100 * figure.get_figwidth())
    return Image(folder / "figure.png", width=width, alt=alt)


def _folder(artefact: str) -> Path:
    """Return the folder that a build prepared, or a folder in outputs/lab/ if a person
    runs the notebook."""
    folder = Path(os.environ.get("CODESTRESS_STAGING") or OUTPUTS / "lab" / artefact)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def answer_rows(results: Results) -> pd.DataFrame:
    """Return a table with a row for each answer of `results`, for further computation.

    The columns are the model, problem, sample, factors, outcome and score under every
    scoring rule, and keys in the store. Texts and times are left out, so that equal
    answers give equal bytes.
    """
    columns = "seconds|attempts|simulated|answered_by|error|trial"
    frame = results.answers.filter(regex=f"^(?!detail_|({columns})$)")
    # A column of a Parquet file has one type.
    texts = frame.loc[:, frame.dtypes == "object"]
    mixed = [name for name in texts if texts[name].map(type).nunique() > 1]
    return frame.astype(dict.fromkeys(mixed, str))


def _write_manifest(
    folder: Path,
    given: Facts,
    results: Results,
    alt: str,
    tables: list[str],
    prompts: Sequence[str],
) -> None:
    """Write the entries of an artefact's manifest that the notebook knows; a build
    completes the manifest."""
    models = []
    for entry in results.models:
        row = entry.model_dump(exclude_defaults=True)
        models.append({**row, "key_revision": entry.identity})
    manifest = {
        "artefact": given.artefact,
        "alt": alt,
        "rule": given.rule,
        "protocol": stamp(given),
        "simulated": [entry.name for entry in results.models if entry.simulated],
        "tables": tables,
        "models": models,
        "version": version_of(given.artefact),
        "prompts": {name: prompt_hash(name) for name in prompts},
        **_asked(results, given.rule),
        "not_run": {part.label: part.why for part in results.not_run},
        "programs": {"in the notebook": count_rows(programs_so_far())},
    }
    text = json.dumps(manifest, indent=1) + "\n"
    (folder / "manifest.json").write_text(text, "utf-8")


def _asked(results: Results, rule: str) -> dict[str, object]:
    """Return a run's facts for the manifest: counts, tokens, time, and a hash of all
    requests.

    The counts are of each outcome under the scoring rule `rule`, and sum to the number
    of trials.
    """
    tokens = {
        "prompt": int(results.column("prompt_tokens").sum()),
        "completion": int(results.column("completion_tokens").sum()),
        "counted_by": "the server's usage; a simulated reader counts 4 characters as a token",
    }
    return {
        "asked": len(results.answers),
        "counts": results.counts(rule),
        "not_asked": results.not_asked,
        "reasons": results.reasons(rule),
        "answered_by": results.answered_by(),
        "tokens": tokens,
        "model_seconds": round(float(results.column("seconds").sum()), 3),
        "requests_sha256": results.requests_sha256(),
    }
