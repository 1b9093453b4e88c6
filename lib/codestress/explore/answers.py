"""Look through answers by outcome, model and factor: the prompt beside the answer, one condition beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import ipywidgets as widgets

from codestress.explore.controls import (
    LABELS,
    WIDE,
    artefact_chooser,
    dropdown,
    factor_controls,
    nearest_trial,
    on_change,
    paragraph,
    pre,
    side_by_side,
    told,
    values_by_name,
)
from codestress.inference.registry import load_registry
from codestress.inference.run import Answer, Results, run, stored_responses
from codestress.pipeline.artefacts import Artefact, Overrides, resolve
from codestress.pipeline.explain import answers_of
from codestress.types import Scalar, Trial, Trials

ALL = "all"
MOST = 500
"""Answers in the list."""


def built(name: str, profile: str = "demo", models: Sequence[str] = ()) -> tuple[Artefact, Results]:
    """An artefact with its answers from the store; `IncompleteError` says what to build first."""
    [artefact] = resolve([name], profile, Overrides(tuple(models)), load_registry())
    return artefact, answers_of(artefact)


def answer_html(trials: Trials, answer: Answer, rule: str) -> str:
    """The verdict, what was read, what came, and what was asked."""
    prompt = trials.of(answer.model).render(answer.trial).messages[-1].content
    score = answer.scores[rule]
    others = {name: other.outcome.value for name, other in answer.scores.items() if other.outcome != score.outcome}
    also = "".join(f"; by the rule {name}: {outcome}" for name, outcome in others.items())
    factors = ", ".join(f"{name} = {value}" for name, value in _known(answer).items())
    return (
        f"<p><strong style='font-size: 1.3em'>{escape(score.outcome.value)}</strong>{escape(also)}<br>"
        f"read: <code>{escape(score.detail or 'nothing')}</code></p>"
        f"<strong>answer</strong>{pre(escape(_text(answer) or answer.error or 'nothing'))}"
        f"<details><summary>prompt, {len(prompt):,} characters</summary>{pre(escape(prompt))}</details>"
        f"<p>{escape(factors)}<br>by {escape(answer.answered_by or 'nobody')}, key {answer.key[:12]}</p>"
    )


def main_rule(trials: Trials) -> str:
    """The rule whose verdict counts: strict, where answers are judged so."""
    return "strict" if "strict" in trials.judges else next(iter(trials.judges))


def _text(answer: Answer) -> str:
    """As it is stored; empty where nothing came."""
    found = stored_responses([answer.key]).get(answer.key)
    return found.text if found else ""


def _known(answer: Answer) -> dict[str, Scalar]:
    trial = answer.trial
    return {"model": answer.model, "problem": trial.problem, "sample": trial.sample, **trial.factors}


def select(answers: Sequence[Answer], rule: str, wanted: Mapping[str, Scalar], outcome: str = ALL) -> list[Answer]:
    """The answers with these factors (`all`: whatever they are) and this outcome."""
    return [
        answer
        for answer in answers
        if outcome in (ALL, answer.scores[rule].outcome.value)
        and all(value == ALL or _known(answer).get(name) == value for name, value in wanted.items())
    ]


def counterpart(answers: Sequence[Answer], answer: Answer, factor: str, value: Scalar) -> Answer | None:
    """The answer to the same question with another value of one factor; other factors as near as can be."""
    wanted = {**_known(answer), factor: value}
    same = [
        a for a in answers if all(_known(a)[n] == wanted[n] for n in ("model", "problem", factor)) and a is not answer
    ]
    return max(same, key=lambda a: sum(_known(a).get(n) == v for n, v in wanted.items()), default=None)


def answer_browser(artefact: str = "codecrash/tab01", profile: str = "demo") -> widgets.Widget:
    """Filter an artefact's answers, and see one beside its counterpart, vanilla beside perturbed for instance."""
    chooser = artefact_chooser(artefact, asking=True)
    options, panes = widgets.VBox(), widgets.HTML()

    def choose() -> None:
        options.children = ()
        panes.value = paragraph("reading the answers …")
        panes.value = told(opened)

    def opened() -> str:
        browser = _Browser(*built(chooser.value, profile), panes)
        options.children = (*browser.filters.values(), browser.beside, browser.chosen)
        return browser.shown()

    on_change([chooser], choose)
    choose()
    return side_by_side([chooser, options], [panes])


class _Browser:
    """The answers of one artefact: filters, the list, and what is shown of those chosen."""

    def __init__(self, artefact: Artefact, results: Results, panes: widgets.HTML) -> None:
        self.answers, self.trials = results.answers, artefact.trials()
        self.rule = main_rule(self.trials)
        self.rows: list[Answer] = []
        columns = values_by_name(
            {**_known(answer), "outcome": answer.scores[self.rule].outcome.value} for answer in self.answers
        )
        self.filters = {
            name: dropdown(name, [(ALL, ALL), *((str(v), v) for v in values)])
            for name, values in columns.items()
            if 1 < len(values) <= MOST and name != "sample"
        }
        pairs = [
            (f"{name} = {value}", (name, value))
            for name in self.filters
            if name in self.trials.items[0].factors
            for value in columns[name]
        ]
        self.beside = dropdown("beside", [("nothing", ()), *pairs])
        self.chosen = widgets.Select(rows=10, layout=WIDE, style=LABELS)
        if "incorrect" in columns.get("outcome", ()) and "outcome" in self.filters:
            self.filters["outcome"].value = "incorrect"
        self.fill()
        on_change(list(self.filters.values()), self.fill)
        on_change([self.chosen, self.beside], lambda: setattr(panes, "value", told(self.shown)))

    def fill(self) -> None:
        """Lists the answers that pass the filters."""
        wanted = {name: control.value for name, control in self.filters.items() if name != "outcome"}
        outcome = self.filters["outcome"].value if "outcome" in self.filters else ALL
        self.rows = select(self.answers, self.rule, wanted, outcome)
        self.chosen.description = f"{len(self.rows):,} answers"
        self.chosen.options = [
            (_line(answer, self.rule, list(self.filters)), n) for n, answer in enumerate(self.rows[:MOST])
        ]
        self.chosen.value = 0 if self.rows else None

    def shown(self) -> str:
        """The chosen answer, and its counterpart before it."""
        if self.chosen.value is None:
            return paragraph("No answer has all of that.")
        answer = self.rows[self.chosen.value]
        other = counterpart(self.answers, answer, *self.beside.value) if self.beside.value else None
        columns = "".join(
            f"<div style='flex: 1 1 20rem; min-width: 0'>{answer_html(self.trials, one, self.rule)}</div>"
            for one in (other, answer)
            if one is not None
        )
        return f"<div style='display: flex; flex-wrap: wrap; gap: 1rem'>{columns}</div>"


def _line(answer: Answer, rule: str, names: Sequence[str]) -> str:
    """The answer in the list: its outcome, and the factors that tell answers apart."""
    known = _known(answer)
    factors = [str(known[name]) for name in names if name in known]
    return f"{answer.scores[rule].outcome.value}: {', '.join(factors)}, {answer.trial.sample + 1}"


def ask(name: str, model: str, index: int = 0, profile: str = "demo") -> tuple[Trial, Answer, str]:
    """Asks one model one of an artefact's questions, stored like any other: the trial, the judged answer, its text."""
    [artefact] = resolve([name], profile, Overrides((model,)), load_registry())
    trials = artefact.trials().of(model)
    [answer] = run(replace(trials, items=[trials.items[index]], own={}), [model], failures="count").answers
    return answer.trial, answer, _text(answer)


def ask_panel(artefact: str = "semtrace/fig03", profile: str = "demo") -> widgets.Widget:
    """Ask any registered model a question of any artefact: the verdict, what was read, the raw answer, the prompt."""
    registry = load_registry()
    chooser = artefact_chooser(artefact, asking=True)
    model = dropdown("model", registry)
    button = widgets.Button(description="ask", button_style="primary", tooltip="a real model costs what it costs")
    factors, shown = widgets.VBox(), widgets.HTML()
    state: dict[str, Any] = {}

    def choose() -> None:
        def listed() -> str:
            [found] = resolve([chooser.value], profile, Overrides(), registry)
            state["trials"] = found.trials()
            state["controls"] = factor_controls(state["trials"])
            factors.children = tuple(state["controls"].values())
            for name, control in state["controls"].items():
                on_change([control], partial(touch, name))
            model.value = found.models[0].name
            touch("problem")
            return answered() if registry[model.value].local else shown.value

        shown.value = told(listed)

    def touch(name: str) -> None:
        wanted = {name: control.value for name, control in state["controls"].items()}
        state["index"] = nearest_trial(state["trials"], wanted, name)
        shown.value = paragraph("Press ask.")

    def answered() -> str:
        _, answer, _ = ask(chooser.value, model.value, state["index"], profile)
        return answer_html(state["trials"], answer, main_rule(state["trials"]))

    button.on_click(lambda _button: setattr(shown, "value", told(answered)))
    on_change([chooser], choose)
    on_change([model], lambda: setattr(shown, "value", paragraph("Press ask.")))
    choose()
    return side_by_side([chooser, model, factors, button], [shown])
