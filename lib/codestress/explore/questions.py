"""Widgets for single trials of an artefact: the prompt, a new request, the responses,
and two conditions side by side."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from codestress.inference.registry import load_registry
from codestress.inference.results import NOTHING, Results
from codestress.inference.run import run
from codestress.pipeline.explain import answers_of, explained
from codestress.report.notebook_page import page_environment
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Scalar

from .controls import (
    FACTORS,
    Questions,
    artefact_chooser,
    control,
    dropdown,
    explorer,
    factor_table,
    factors_of,
    nearest_trial,
    on_change,
    opened,
    paragraph,
    parameter_controls,
    settings_in,
    showing,
)

ALL = "all"
WRAPPED = "<style>select[size] option { white-space: normal; overflow-wrap: anywhere }</style>"
MOST = 500
"""Largest number of answers in the list, and of values in a filter."""


def prompt_html(
    prompt: Prompt,
    beside: Prompt | None = None,
    factors: Mapping[str, Scalar] | None = None,
) -> str:
    """Return the messages of `prompt` as HTML, below its `factors` by name, with counts
    of characters and tokens.

    If another prompt is passed as `beside`, a bar and a background mark the lines that
    `beside` lacks.
    """
    lines, before = map(_lines, (prompt, beside or prompt))
    new = {line for line in lines if line.strip()}.difference(before)
    changed = sum(line in new for line in lines) if beside else None
    size = prompt.characters + len(prompt.prefill)
    tokens = size // CHARACTERS_PER_TOKEN
    return str(_views().prompt_view(prompt, new, factors, size, tokens, changed))


def _lines(prompt: Prompt) -> list[str]:
    """Return the lines of all messages of `prompt`."""
    texts = [message.content for message in prompt.messages]
    return "\n".join(texts).split("\n")


@cache
def _views() -> Any:
    """Return the macros of views.html, which render prompts and answers as HTML and
    escape all text."""
    text = Path(__file__).with_name("views.html").read_text("utf-8")
    return page_environment().from_string(text).module


def prompt_explorer(artefact: str, profile: str) -> widgets.Widget:
    """Return a widget that shows the prompt of a selected trial of a selected artefact,
    as a model gets it, with parameters that can be changed.

    Lines that the baseline's prompt lacks are marked. The baseline is the trial of the
    same problem with the first value of each factor. The widget begins with `artefact`,
    with the settings of `profile`.
    """
    chooser = artefact_chooser(artefact)
    knobs = widgets.VBox()
    pane = widgets.HTML()
    apply = widgets.Button(description="apply parameters", tooltip="makes new trials")

    def choose() -> str:
        knobs.children = tuple(parameter_controls(opened(chooser.value, profile)))
        return renew()

    def renew() -> str:
        settings = settings_in(knobs.children)
        questions.of(opened(chooser.value, profile, settings=settings).trials())
        return rendered()

    def rendered() -> str:
        trials = questions.trials
        first = {name: box.options[0] for name, box in questions.controls.items()}
        trial = trials.items[questions.index]
        wanted = {**first, "problem": trial.problem}
        baseline = trials.items[nearest_trial(questions.table, wanted)]
        beside = trials.render(baseline) if baseline is not trial else None
        return prompt_html(trials.render(trial), beside, factors_of(trial))

    questions = Questions(showing(pane, rendered))
    apply.on_click(showing(pane, renew))
    parameters = widgets.Accordion(
        children=[widgets.VBox([knobs, apply])], titles=("parameters",)
    )
    return explorer(chooser, questions, pane, choose, parameters)


def built(name: str, profile: str) -> Results:
    """Return the scored responses of the artefact `name`, with the settings of the
    profile `profile`, from the store. Raises `IncompleteError`, which says what to
    build first, if a response is missing."""
    return answers_of(opened(name, profile))


def answer_html(results: Results, number: int) -> str:
    """Return the answer in row `number` (from 0) of `results` as HTML: outcome under
    the strict rule, extracted answer, completion, last message of the prompt, and
    factors."""
    answer = results.answers.iloc[number].to_dict()
    return str(_views().answer_view(explained(results, answer, "strict")))


class _Answers:
    """Stored answers of one artefact with their factors and strict outcomes, and the
    controls that filter and list them.

    The selected answer is shown in `pane`, on request beside its counterpart
    (`counterpart`). Raises `IncompleteError` when created if a response is missing.
    """

    def __init__(self, artefact: str, profile: str, pane: widgets.HTML) -> None:
        self.results = built(artefact, profile)
        answers = self.results.answers
        self.known = factor_table(answers.filter(regex=FACTORS))
        self.table = self.known.assign(outcome=answers["outcome_strict"])
        self.filters = {}
        pairs: list[tuple[str, tuple[Scalar, ...]]] = [("nothing", ())]
        for name, values in self.table.items():
            if not 1 < values.nunique() <= MOST or name == "sample":
                continue
            self.filters[name] = dropdown(name, [ALL, *values.unique()])
            if name not in ("model", "problem", "outcome"):
                for value in values.unique():
                    pairs.append((f"{name} = {value}", (name, value)))
        factors = [name for name in self.filters if name != "outcome"]
        self.lines = []
        for row in self.table.to_dict("records"):
            values = ", ".join(str(row[name]) for name in factors)
            self.lines.append(f"{row['outcome']}: {values}, {row['sample'] + 1}")
        self.beside = dropdown("beside", pairs)
        self.chosen = control(widgets.Select, "", rows=10)
        # The same height if its lines wrap.
        self.chosen.layout.height = "14rem"
        outcome = self.filters.get("outcome", self.chosen)
        if "incorrect" in outcome.options:
            outcome.value = "incorrect"
        self.fill()
        on_change([*self.filters.values()], self.fill)
        on_change([self.chosen, self.beside], showing(pane, self.html))
        wrapped = widgets.HTML(WRAPPED, layout=widgets.Layout(display="none"))
        self.children = (wrapped, *self.filters.values(), self.beside, self.chosen)

    def passing(self, wanted: Mapping[str, Scalar]) -> list[int]:
        """Return the indices of the answers that have all values in `wanted`, a mapping
        from name to value."""
        table = self.table
        for name, value in wanted.items():
            table = table[table[name] == value]
        return list(table.index)

    def counterpart(self, number: int, factor: str, value: Scalar) -> list[int]:
        """Return a list with the index of the counterpart of answer `number`.

        The counterpart is the same model's answer to the same sample of the same
        problem, but with the value `value` of `factor`.

        Of several such answers, it is the one that agrees on the most other factors.
        So an answer with the value is its own counterpart. The list is empty if there
        is none.
        """
        answer = self.known.loc[number]
        same = self.passing({**answer[["model", "problem", "sample"]], factor: value})
        agreement = self.known.loc[same].eq(answer).sum(axis=1)
        return list(agreement.sort_values(ascending=False, kind="stable").index[:1])

    def fill(self) -> None:
        """List the answers that pass all filters, and select the first."""
        wanted = {
            name: box.value for name, box in self.filters.items() if box.value != ALL
        }
        passing = self.passing(wanted)
        lines = [(self.lines[number], number) for number in passing[:MOST]]
        self.chosen.description = f"{len(passing):,} answers"
        self.chosen.options = lines
        if passing:
            self.chosen.index = 0

    def html(self) -> str:
        """Return the selected answer as HTML, beside its counterpart if the control
        `beside` asks for one: columns, which stack on a narrow page."""
        number = self.chosen.value
        if number is None:
            return paragraph("No answer passes all filters.")
        numbers = [number]
        note = ""
        if self.beside.value:
            factor, value = self.beside.value
            numbers = self.counterpart(number, factor, value) + numbers
            if len(numbers) == 1:
                note = paragraph(f"No counterpart has {factor} = {value}.")
        views = [answer_html(self.results, each) for each in dict.fromkeys(numbers)]
        return note + str(_views().columns(views))


def answer_browser(artefact: str, profile: str) -> widgets.Widget:
    """Return a widget that filters a selected artefact's answers and shows a selected
    one, on request beside its counterpart (perturbed beside vanilla).

    The widget begins with `artefact`, with the settings of `profile`.
    """
    chooser = artefact_chooser(artefact)
    options = widgets.VBox()
    pane = widgets.HTML()

    def renew() -> str:
        answers = _Answers(chooser.value, profile, pane)
        options.children = answers.children
        return answers.html()

    return explorer(chooser, options, pane, renew)


def ask(name: str, model: str, index: int, profile: str) -> Results:
    """Send trial number `index` (from 0) of the artefact `name` to the model `model`,
    and return the results of this trial alone. The settings are those of `profile`.

    The response is stored. If the store has it already, nothing is sent.
    """
    trials = opened(name, profile, (model,)).trials().of(model)
    trials = replace(trials, items=[trials.items[index]], own={})
    return run(trials, [model], failures="count")


def ask_panel(artefact: str, profile: str) -> widgets.Widget:
    """Return a widget that sends a selected trial of any artefact to any registered
    model and shows outcome, extracted answer, completion and prompt.

    A request is sent when the button is pressed, or at once if the artefact's own model
    is selected and runs locally. The widget begins with `artefact`, with the settings
    of `profile`.
    """
    registry = load_registry()
    chooser, model = artefact_chooser(artefact), dropdown("model", registry)
    tip = "requests to real models may cost money"
    button = widgets.Button(description="ask", button_style="primary", tooltip=tip)
    pane = widgets.HTML()

    def wait() -> None:
        pane.value = paragraph("Press ask.")

    questions = Questions(wait)
    trials = NOTHING

    def turn() -> None:
        questions.of(trials.of(model.value))
        wait()

    def choose() -> str:
        nonlocal trials
        choice = opened(chooser.value, profile)
        trials = choice.trials()
        model.value = choice.models[0].name
        turn()
        return answered() if registry[model.value].local else pane.value

    def answered() -> str:
        results = ask(chooser.value, model.value, questions.index, profile)
        return answer_html(results, 0)

    button.on_click(showing(pane, answered))
    on_change([model], turn)
    return explorer(chooser, questions, pane, choose, model, button)
