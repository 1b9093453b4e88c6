"""Widgets that control the parameters of an artefact and the factors of its trials (the
experimental conditions of each trial)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from threading import Timer
from typing import Any

import ipywidgets as widgets
import pandas as pd
import yaml
from IPython import get_ipython
from IPython.display import clear_output, display

from codestress.artefact_files import artefact_names, read_artefact
from codestress.errors import CodestressError
from codestress.inference.results import NOTHING
from codestress.parameters import Asked
from codestress.pipeline.artefacts import Artefact, load_study, resolve
from codestress.types import Scalar, Trial, Trials

ACROSS = 32
"""Number of characters in a line of a text field, which has as many lines as its value
needs."""
FACTORS = (
    "^(?!(outcome|value|detail|unresolved)_|(simulated|finish_reason|prompt_tokens"
    "|completion_tokens|seconds|attempts|key|earlier|answered_by|error|trial)$)"
)
"""Pattern of the columns of answers that are model, problem, sample or a factor."""
WORKING = "<p role='status'><progress></progress> working …</p>"


def control(
    kind: type[widgets.Widget], description: str, **more: Any
) -> widgets.Widget:
    """Return a widget of the class `kind`, as wide as its column, labelled
    `description`. `more` are further keyword arguments of the class."""
    layout = widgets.Layout(width="auto")
    style = {"description_width": "7rem"}
    return kind(description=description, layout=layout, style=style, **more)


def dropdown(description: str, options: Iterable[Any], **more: Any) -> widgets.Dropdown:
    """Return a dropdown list labelled `description`. Each of `options` is a value, or a
    pair (shown text, value); `more` are further keyword arguments of the widget."""
    return control(widgets.Dropdown, description, options=list(options), **more)


def artefact_chooser(value: str) -> widgets.Dropdown:
    """Return a dropdown list of all artefacts (figures and tables) that ask models,
    with their titles. The artefact with the name `value` is selected."""
    options = []
    for name in artefact_names():
        file = read_artefact(name)
        if issubclass(load_study(file.study, name), Asked):
            options.append((f"{name}  {file.title}", name))
    return dropdown("artefact", options, value=value)


def side_by_side(
    controls: Sequence[widgets.Widget], views: Sequence[widgets.Widget]
) -> widgets.Box:
    """Return a box with two groups of widgets, `controls` and the `views` that they
    change: side by side on wide screens, controls above the views on a phone."""
    columns = []
    for children, flex in ((controls, "1 1 300px"), (views, "3 1 520px")):
        layout = widgets.Layout(flex=flex, min_width="0", overflow="visible")
        columns.append(widgets.VBox(children, layout=layout))
    columns[0].layout.max_width = "420px"
    return widgets.Box(
        columns,
        layout=widgets.Layout(
            flex_flow="row wrap", grid_gap="8px 24px", overflow="visible"
        ),
    )


def parameter_controls(artefact: Artefact) -> list[widgets.Widget]:
    """Return a control for each parameter of `artefact` but the parameter `artefact`,
    labelled with its name and set to its value.

    A control is a list of the values that the parameter's schema allows, or a text
    field. Both have YAML, as after `--set` on the command line.
    """
    fields = artefact.parameters.model_json_schema()["properties"]
    controls = []
    for name, value in artefact.parameters.model_dump(exclude={"artefact"}).items():
        text = _yaml(value)
        about = {"value": text, "tooltip": fields[name].get("description", "")}
        allowed = fields[name].get("enum")
        if isinstance(value, bool):
            allowed = [False, True]
        if allowed:
            box = dropdown(name, map(_yaml, allowed), **about)
        else:
            rows = 1 + len(text) // ACROSS
            box = control(widgets.Textarea, name, rows=rows, **about)
        controls.append(box)
    return controls


def settings_in(controls: Iterable[widgets.Widget]) -> tuple[str, ...]:
    """Return PARAMETER=VALUE, with the value as YAML, for each of `controls`, which
    `parameter_controls` made."""
    return tuple(f"{box.description}={box.value}" for box in controls)


def _yaml(value: Any) -> str:
    """Return `value` as YAML on one line of any length."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).split("\n")[0]


def opened(
    name: str,
    profile: str,
    models: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
) -> Artefact:
    """Return the artefact `name` with the settings of the profile `profile`, resolved
    as on the command line.

    `models` and `settings` (PARAMETER=VALUE), if any, replace the profile's. Raises
    `ParameterError` for a wrong setting.
    """
    [artefact] = resolve([name], profile, models, settings)
    return artefact


def factors_of(trial: Trial) -> dict[str, Scalar]:
    """Return a dict with the problem of `trial`, under the name `problem`, and its
    factors by name."""
    return {"problem": trial.problem, **trial.factors}


def factor_table(rows: pd.DataFrame | Sequence[Mapping[str, Scalar]]) -> pd.DataFrame:
    """Return `rows`, a table or dictionaries from a factor's name to its value, as a
    table with a column for each factor; `none` stands for a factor that a row lacks."""
    table = pd.DataFrame(rows, dtype=object)
    return table.where(table.notna(), "none")


def nearest_trial(
    table: pd.DataFrame, wanted: Mapping[str, Scalar], first: str = "problem"
) -> int:
    """Return the index of the row of `table` (`factor_table`) that agrees best with the
    values in `wanted` (a mapping from name to value).

    Agreement on the factor `first` counts most, then agreement on the problem, then the
    number of other factors that agree. Of equally good rows, the first is returned.
    """
    weights = {"problem": len(wanted), first: 2 * len(wanted)}
    agreement = pd.Series(0, table.index)
    for name, value in wanted.items():
        agreement += weights.get(name, 1) * (table[name] == value)
    return int(agreement.idxmax())


class Questions(widgets.VBox):  # type: ignore[misc]
    """Widget with a list of values for the problem and each factor in which trials
    differ, which select one trial. `touched` is called when a person changes a control.

    There are no controls until `of` is called.
    """

    def __init__(self, touched: Callable[[], None]) -> None:
        super().__init__()
        self.touched = touched
        self.trials = NOTHING

    def of(self, trials: Trials) -> None:
        """Replace the controls with those for the problem and the factors of `trials`.
        Do nothing if the controls are for the same `Trials` object already."""
        if trials is self.trials:
            return
        self.trials = trials
        self.table = factor_table([*map(factors_of, trials.items)])
        self.controls = {}
        for name, values in self.table.items():
            if values.nunique() > 1:
                self.controls[name] = dropdown(name, values.unique())
        self._choose("problem")
        for name, box in self.controls.items():
            on_change([box], partial(self._touch, name))
        self.children = tuple(self.controls.values())

    def _touch(self, name: str) -> None:
        if not self.settling:
            self._choose(name)
            self.touched()

    def _choose(self, first: str) -> None:
        """Select the trial that agrees best with the controls, above all on the factor
        `first`, and set all controls to this trial's values.

        So the controls always describe the selected trial's prompt.
        """
        wanted = {name: box.value for name, box in self.controls.items()}
        self.index = nearest_trial(self.table, wanted, first)
        """Index of the selected trial among the trials given to `of`."""
        self.settling = True
        for name, box in self.controls.items():
            box.value = self.table[name][self.index]
        self.settling = False


def on_change(controls: Sequence[widgets.Widget], act: Callable[[], None]) -> None:
    """Call `act` from now on whenever any of `controls` changes its value."""
    for box in controls:
        box.observe(lambda _change: act(), names="value")


def showing(pane: widgets.HTML, act: Callable[[], str]) -> Callable[..., None]:
    """Return a function that calls `act` and shows the returned HTML in `pane`.

    If `act` raises `CodestressError` or `yaml.YAMLError`, `pane` shows the error's
    message as a paragraph. If `act` takes more than a second, `pane` shows a progress
    bar until it returns.
    """

    def show(*_: object) -> None:
        slow = Timer(1, setattr, (pane, "value", WORKING))
        slow.daemon = True
        slow.start()
        try:
            result = act()
        except (CodestressError, yaml.YAMLError) as error:
            result = paragraph(str(error), role="alert")
        finally:
            slow.cancel()
            slow.join()
        pane.value = result

    return show


def explorer(
    chooser: widgets.Dropdown,
    box: widgets.Box,
    pane: widgets.HTML,
    act: Callable[[], str],
    *more: widgets.Widget,
) -> widgets.Box:
    """Return the controls `chooser`, `box` and `more` beside `pane`.

    Now and whenever another artefact is selected in `chooser`, `box` is emptied, and
    `pane` shows the HTML that `act` returns. Errors are shown as by `showing`.
    """

    def choose() -> None:
        box.children = ()
        pane.value = WORKING
        showing(pane, act)()

    on_change([chooser], choose)
    if get_ipython() is None:
        choose()
    else:
        # Show `pane` alone: the whole widget is shown only when it is complete.
        display(pane)
        choose()
        clear_output(wait=True)
    return side_by_side([chooser, box, *more], [pane])


def paragraph(text: str, role: str = "note") -> str:
    return f"<p role='{role}' style='white-space: pre-wrap; overflow-wrap: anywhere'>{escape(text)}</p>"
