"""Look through answers by outcome, model and factor: the prompt beside the answer, one condition beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import ipywidgets as widgets

from codestress.explore.controls import LABELS, WIDE, dropdown, on_change, pre, told, values_by_name
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
    """What was asked, what came, what was read out of it, and the verdict."""
    prompt = trials.of(answer.model).render(answer.trial).messages[-1].content
    score = answer.scores[rule]
    factors = ", ".join(f"{name} = {value}" for name, value in _known(answer).items())
    return (
        f"<p><strong>{escape(score.outcome.value)}</strong> ({rule}); read: <code>{escape(score.detail or 'nothing')}"
        f"</code><br>{escape(factors)}<br>by {escape(answer.answered_by or 'nobody')}, key {answer.key}</p>"
        f"<details><summary>prompt, {len(prompt):,} characters</summary>{pre(escape(prompt))}</details>"
        f"<strong>answer</strong>{pre(escape(_text(answer) or answer.error or 'nothing'))}"
    )


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
    """Filter answers, and see one beside its counterpart, vanilla beside perturbed for instance."""
    found, results = built(artefact, profile)
    trials = found.trials()
    rule = "strict" if "strict" in trials.judges else next(iter(trials.judges))
    columns = values_by_name(
        {**_known(answer), "outcome": answer.scores[rule].outcome.value} for answer in results.answers
    )
    filters = {
        name: dropdown(name, [(ALL, ALL), *((str(v), v) for v in values)])
        for name, values in columns.items()
        if 1 < len(values) <= MOST and name not in ("sample",)
    }
    pairs = [
        (f"{name} = {value}", (name, value))
        for name in filters
        if name in trials.items[0].factors
        for value in columns[name]
    ]
    beside = dropdown("beside", [("nothing", None), *pairs])
    chosen = widgets.Select(rows=10, layout=widgets.Layout(width="auto"), description="answers")
    panes = widgets.HTML()

    def fill() -> None:
        wanted = {name: control.value for name, control in filters.items() if name != "outcome"}
        outcome = filters["outcome"].value if "outcome" in filters else ALL
        rows = select(results.answers, rule, wanted, outcome)
        chosen.rows_found = rows
        chosen.options = [(_line(answer, rule, list(filters)), n) for n, answer in enumerate(rows[:MOST])]
        chosen.value = 0 if rows else None
        chosen.description = f"{len(rows):,}"
        draw()

    def draw() -> None:
        panes.value = told(shown)

    def shown() -> str:
        if chosen.value is None:
            return "<p role='note'>No answer has all of that.</p>"
        answer = chosen.rows_found[chosen.value]
        shown_answers = [answer]
        if beside.value is not None:
            other = counterpart(results.answers, answer, *beside.value)
            shown_answers = [other, answer] if other is not None else [answer]
        columns = "".join(
            f"<div style='flex: 1 1 20rem; min-width: 0'>{answer_html(trials, one, rule)}</div>"
            for one in shown_answers
        )
        return f"<div style='display: flex; flex-wrap: wrap; gap: 1rem'>{columns}</div>"

    on_change(list(filters.values()), fill)
    on_change([chosen, beside], draw)
    fill()
    return widgets.VBox([*filters.values(), beside, chosen, panes])


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
    """Ask any registered model a question of an artefact: raw answer, what was read out of it, verdict, outcome."""
    registry = load_registry()
    [found] = resolve([artefact], profile, Overrides(), registry)
    trials = found.trials()
    model = dropdown("model", registry, value=found.models[0].name)
    last = len(trials.items) - 1
    number = widgets.BoundedIntText(
        value=0, min=0, max=last, description=f"question 0 to {last}", layout=WIDE, style=LABELS
    )
    button = widgets.Button(description="ask", tooltip="a real model costs what it costs")
    shown = widgets.HTML()

    def answered() -> str:
        _, answer, _ = ask(artefact, model.value, number.value, profile)
        return "".join(answer_html(trials, answer, rule) for rule in answer.scores)

    def act(_button: object = None) -> None:
        shown.value = told(answered)

    button.on_click(act)
    if registry[model.value].local:
        act()
    return widgets.VBox([model, number, button, shown])
