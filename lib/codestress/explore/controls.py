"""Controls: widgets from the schemas of parameters, and from the factors of trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import ipywidgets as widgets
import yaml

from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.parameters import Asked
from codestress.pipeline.artefacts import Artefact, Overrides, artefact_names, load_study, read_artefact, resolve
from codestress.types import Scalar, Trial, Trials


def control(kind: type[widgets.Widget], description: str, **more: Any) -> widgets.Widget:
    """A control as wide as its column, with room for its name."""
    how = {"layout": widgets.Layout(width="auto"), "style": {"description_width": "7rem"}}
    return kind(description=description, **how, **more)


def dropdown(description: str, options: Iterable[Any], **more: Any) -> widgets.Dropdown:
    """A list to choose from."""
    return control(widgets.Dropdown, description, options=list(options), **more)


def artefact_chooser(value: str, *, asking: bool = False) -> widgets.Dropdown:
    """All artefacts with their titles; `asking`: those that ask models."""
    files = {name: read_artefact(name) for name in artefact_names()}
    options = [
        (f"{name}  {file.title}", name)
        for name, file in files.items()
        if not asking or issubclass(load_study(file.study, name).parameters, Asked)
    ]
    return dropdown("artefact", options, value=value)


def side_by_side(controls: Sequence[widgets.Widget], shown: Sequence[widgets.Widget]) -> widgets.Box:
    """Controls first: beside what they change where there is room, above it on a phone."""
    sizes = (("1 1 300px", "420px"), ("3 1 520px", "100%"))
    columns = [
        widgets.VBox(children, layout=widgets.Layout(flex=flex, max_width=most, min_width="0", overflow="visible"))
        for children, (flex, most) in zip((controls, shown), sizes, strict=True)
    ]
    return widgets.Box(columns, layout=widgets.Layout(flex_flow="row wrap", grid_gap="8px 24px", overflow="visible"))


def parameter_controls(artefact: Artefact) -> dict[str, widgets.Widget]:
    """A control for each parameter of an artefact, with its value, from the schema that checks it."""
    values = artefact.parameters.model_dump()
    fields = artefact.study.parameters.model_json_schema()["properties"]
    return {name: _control(name, field, values[name]) for name, field in fields.items() if name != "artefact"}


def _control(name: str, field: Mapping[str, Any], value: Any) -> widgets.Widget:
    told = field.get("description", "")
    if field.get("type") == "boolean":
        return control(widgets.Checkbox, name, tooltip=told, value=value)
    if options := _options(field):
        return dropdown(name, options, tooltip=told, value=value)
    if options := _options(field.get("items", {})):
        return control(widgets.SelectMultiple, name, tooltip=told, options=options, value=tuple(value), rows=4)
    # As YAML, as behind `--set`: what it may be is the schema's to say.
    return control(widgets.Text, name, tooltip=told, value=in_one_line(value))


def _options(field: Mapping[str, Any]) -> list[Any]:
    return list(field.get("enum", [field["const"]] if "const" in field else []))


def in_one_line(value: Any) -> str:
    """YAML that is not wrapped, however long the list."""
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).split("\n")[0]


def chosen_values(controls: Mapping[str, widgets.Widget]) -> dict[str, Any]:
    """What the controls say, as the schema wants it."""
    readers: dict[type, Callable[[Any], Any]] = {widgets.Text: yaml.safe_load, widgets.SelectMultiple: list}
    return {name: readers.get(type(one), lambda value: value)(one.value) for name, one in controls.items()}


def opened(name: str, profile: str, models: tuple[str, ...] = (), settings: tuple[str, ...] = ()) -> Artefact:
    """An artefact as on the command line, with these models and parameters in place of its own."""
    [artefact] = resolve([name], profile, Overrides(models, settings), load_registry())
    return artefact


def with_values(artefact: Artefact, values: Mapping[str, Any]) -> Artefact:
    """The artefact with other parameters, checked as those on the command line are."""
    settings = tuple(f"{name}={in_one_line(value)}" for name, value in values.items())
    return opened(artefact.name, artefact.profile, settings=settings)


def factors_of(trial: Trial) -> dict[str, Scalar]:
    """The problem, and what is asked of it."""
    return {"problem": trial.problem, **trial.factors}


def values_by_name(rows: Iterable[Mapping[str, Scalar]]) -> dict[str, list[Scalar]]:
    """The values of each factor, once each, in the order in which they occur."""
    found: dict[str, dict[Scalar, None]] = {}
    for row in rows:
        for name, value in row.items():
            found.setdefault(name, {})[value] = None
    return {name: list(values) for name, values in found.items()}


def factor_controls(trials: Trials) -> dict[str, widgets.Widget]:
    """A control for the problem, and for each factor with more than one value, in the order in which they occur."""
    controls: dict[str, widgets.Widget] = {}
    for name, options in values_by_name(map(factors_of, trials.items)).items():
        if len(options) > 1:
            numbers = {*map(type, options)} <= {int, float}
            kind = widgets.SelectionSlider if numbers and name != "problem" else widgets.Dropdown
            shown = options[:400]
            if numbers:
                shown.sort(key=float)  # type: ignore[arg-type]
            controls[name] = control(kind, name, options=[(str(value), value) for value in shown])
    return controls


def nearest_trial(trials: Trials, wanted: Mapping[str, Scalar], first: str = "problem") -> int:
    """The index of the trial that has the `first` of the wanted factors, then the problem, then most of the others."""
    weights = {"problem": len(wanted), first: 2 * len(wanted)}

    def agreement(index: int) -> int:
        known = factors_of(trials.items[index])
        return sum(weights.get(name, 1) * (known.get(name) == value) for name, value in wanted.items())

    return max(range(len(trials.items)), key=agreement)


class Questions(widgets.VBox):  # type: ignore[misc]
    """Controls for the factors of trials; `touched` is called when one of them has another value."""

    def __init__(self, touched: Callable[[], None]) -> None:
        super().__init__()
        self.touched = touched

    def of(self, trials: Trials) -> None:
        """Shows the controls of these trials."""
        self.trials, self.controls, self.last = trials, factor_controls(trials), "problem"
        for name, one in self.controls.items():
            on_change([one], partial(self._touch, name))
        self.children = tuple(self.controls.values())

    def _touch(self, name: str) -> None:
        self.last = name
        self.touched()

    @property
    def index(self) -> int:
        """Of the trial that the controls name."""
        return nearest_trial(self.trials, {name: one.value for name, one in self.controls.items()}, self.last)


def on_change(controls: Sequence[widgets.Widget], act: Callable[[], None]) -> None:
    """Acts when any of the controls has another value."""
    for one in controls:
        one.observe(lambda _change: act(), names="value")


def showing(pane: widgets.HTML, act: Callable[[], str]) -> Callable[..., None]:
    """Shows what an action writes; an error that a person can act on as a paragraph in its place."""

    def show(*_: object) -> None:
        try:
            pane.value = act()
        except (CodestressError, yaml.YAMLError) as error:
            pane.value = paragraph(f"{error}", role="alert")

    return show


def follow(chooser: widgets.Dropdown, boxes: Sequence[widgets.Box], pane: widgets.HTML, act: Callable[[], str]) -> None:
    """Empties the boxes and acts, now and whenever another artefact is chosen."""

    def choose() -> None:
        for box in boxes:
            box.children = ()
        pane.value = paragraph("reading …")
        showing(pane, act)()

    on_change([chooser], choose)
    choose()


def paragraph(text: str, role: str = "note") -> str:
    return f"<p role='{role}' style='white-space: pre-wrap'>{escape(text)}</p>"


def pre(text: str) -> str:
    """A block of text as it is, wrapped."""
    style = "font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.35; margin: .2rem 0"
    return f"<pre style='{style}'>{text}</pre>"
