"""Tables 1 to 3 beside the paper's numbers, and answers under each rule of reading."""

import numpy as np
import pandas as pd
import pytest

from codestress.artefact_files import read_artefact
from codestress.inference.registry import load_registry
from codestress.papers.semtrace import charts
from codestress.papers.semtrace.results import tables
from told import names


def test_published_accuracies_stand_in_the_rows_of_the_same_models() -> None:
    none = pd.DataFrame(columns=["label", "condition", "cell"])
    printed = tables.beside_published(none, "semtrace/tab02", 0.95)
    assert printed["condition"].nunique() == 4
    ours = printed[printed["label"] == "gemma-3-12b"].drop(columns="from")
    ours = ours.assign(accuracy=[0.5, 0.4, 0.6, 0.8], low=0.3, high=0.9)
    both = tables.beside_published(ours, "semtrace/tab02", 0.95)
    assert both["from"].value_counts().to_dict() == {"the paper": 36, "here": 4}
    inputs, outputs = charts.baseline_dots(both).axes
    labels = [label.get_text() for label in inputs.get_yticklabels()]
    assert labels[0] == "gemma-3-12b"
    assert len(labels) == printed["label"].nunique() == 9
    for ax, plain, keyed in ((inputs, 50, 60), (outputs, 40, 80)):
        points = {
            bars.get_label(): bars.lines[0].get_xydata() for bars in ax.containers
        }
        assert points["without keys"][0, 0] == pytest.approx(plain)
        assert points["with keys"][0, 0] == pytest.approx(keyed)
        assert sorted(np.rint(points["published with keys"][:, 1])) == [*range(9)]


def test_licences_stand_beside_those_of_table_3_and_count_once() -> None:
    registry = load_registry()
    models = read_artefact("semtrace/tab03").parameters["models"]
    table = tables.licences([registry[name] for name in models])
    assert len(table) == len(models) + 2  # data sets
    rows = table.set_index("name")[["licence", "table_3"]]
    llama = ["Llama 3.1 Community License", "Llama3.3"]
    assert rows.loc["llama-3.1-8b"].tolist() == llama
    assert rows.loc["cruxeval", "table_3"] == "MIT License"
    assert sum("MIT" in kind for kind in tables.licence_kinds(table)) == 1


def test_contexts_longer_than_a_models_rope_base_supports_are_seen() -> None:
    assert tables.smallest_rope_base(30_810) == pytest.approx(861_000, abs=500)
    entry = load_registry()["codestral-22b-v0.1"]
    row = tables.architectures([entry], 30_810).iloc[0]
    assert row["smallest_base"] < row["rope_base"]


def test_the_rules_of_reading_are_compared_on_the_same_answers() -> None:
    frames = {}
    for rule, values in (("first_fence", (1.0, 1.0)), ("first_line", (1.0, 0.0))):
        frames[rule] = pd.DataFrame({"problem": ["a", "b"], "value_strict": values})
        frames[rule] = frames[rule].assign(model="m", task="input_prediction")
    [row] = tables.shares_by_reading(frames).to_dict("records")
    assert (row["n"], row["differ"]) == (2, 0.5)
    assert (row["first_fence"], row["first_line"]) == (1, 0.5)


def test_a_title_counts_the_models_for_which_semtrace_is_harder() -> None:
    none = pd.DataFrame(columns=["label", "condition", "cell", "p_value"])
    baselines = tables.beside_published(none, "semtrace/tab01", 0.95)
    names(tables.headline(baselines, none), "SemTrace is harder", "of 10 published")
    keyed = tables.beside_published(none, "semtrace/tab02", 0.95)
    names(tables.headline(keyed, none), "none of 0")
