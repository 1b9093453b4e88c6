"""One question of an artefact: build its prompt, ask it, look through its answers, one condition beside another."""

from __future__ import annotations

import difflib
from dataclasses import replace
from html import escape

import ipywidgets as widgets

from codestress.explore.controls import (
    Questions,
    artefact_chooser,
    chosen_values,
    control,
    dropdown,
    factors_of,
    follow,
    nearest_trial,
    on_change,
    opened,
    paragraph,
    parameter_controls,
    pre,
    showing,
    side_by_side,
    values_by_name,
    with_values,
)
from codestress.inference.registry import load_registry
from codestress.inference.run import Answer, Results, run, stored_responses
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.explain import answers_of
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Scalar, Trial, Trials

MARK = "<mark style='border-left: 3px solid #0072B2; padding-left: 4px'>"
ALL = "all"
MOST = 500
"""Answers in the list."""


def prompt_html(prompt: Prompt, beside: Prompt | None = None) -> str:
    """All messages of a prompt, and its counts; lines that `beside` lacks are marked, by a bar and a background."""
    characters = prompt.characters + len(prompt.prefill)
    before = [line for message in beside.messages for line in message.content.split("\n")] if beside else []
    parts, changed = [], 0
    for message in prompt.messages:
        lines = message.content.split("\n")
        new = _new_lines(before, lines) if beside else set()
        changed += len(new)
        body = "\n".join(f"{MARK}{escape(line)}</mark>" if n in new else escape(line) for n, line in enumerate(lines))
        parts.append(f"<strong>{escape(message.role)}</strong>{pre(body)}")
    if prompt.prefill:
        parts.append(f"<strong>assistant, begun</strong>{pre(escape(prompt.prefill))}")
    count = f"{characters:,} characters, about {characters // CHARACTERS_PER_TOKEN:,} tokens at 4 characters each"
    differs = f"; {changed} lines that the other prompt lacks" if beside else ""
    sampling = prompt.sampling
    return (
        f"<p>{count}{differs}; temperature {sampling.temperature:g}, answers of at most {sampling.max_tokens:,} tokens"
        "</p>" + "".join(parts)
    )


def _new_lines(before: list[str], lines: list[str]) -> set[int]:
    blocks = difflib.SequenceMatcher(None, before, lines, autojunk=False).get_matching_blocks()
    old = {n for block in blocks for n in range(block.b, block.b + block.size)}
    return {n for n, line in enumerate(lines) if n not in old and line.strip()}


def prompt_explorer(artefact: str = "origin/fig04", profile: str = "demo") -> widgets.Widget:
    """Choose an artefact, its parameters and a trial; see the prompt as a model gets it."""
    chooser = artefact_chooser(artefact)
    compare = control(widgets.Checkbox, "mark what the first trial lacks", value=True)
    knobs, shown = widgets.VBox(), widgets.HTML()
    apply = widgets.Button(description="apply parameters", tooltip="makes the trials anew")

    def draw() -> None:
        if questions.children:
            showing(shown, rendered)()

    questions = Questions(draw)

    def choose() -> str:
        knobs.children = tuple(parameter_controls(opened(chooser.value, profile)).values())
        return made()

    def made() -> str:
        values = chosen_values({one.description: one for one in knobs.children})
        trials = with_values(opened(chooser.value, profile), values).trials()
        if not trials.items:
            questions.children = ()
            return "<p role='note'>Nothing is asked for this one: its numbers are facts.</p>"
        questions.of(trials)
        return rendered()

    def rendered() -> str:
        trials = questions.trials
        first = {name: one.options[0][1] for name, one in questions.controls.items()}
        trial = trials.items[questions.index]
        other = trials.items[nearest_trial(trials, {**first, "problem": trial.problem})]
        beside = trials.render(other) if compare.value and other is not trial else None
        factors = ", ".join(f"{name} = {value}" for name, value in factors_of(trial).items())
        return f"<p>{escape(factors)}</p>" + prompt_html(trials.render(trial), beside)

    on_change([compare], draw)
    apply.on_click(showing(shown, made))
    follow(chooser, [knobs, questions], shown, choose)
    parameters = widgets.Accordion(children=[widgets.VBox([knobs, apply])], titles=("parameters",))
    return side_by_side([chooser, questions, compare, parameters], [shown])


def built(name: str, profile: str = "demo") -> tuple[Artefact, Results]:
    """An artefact with its answers from the store; `IncompleteError` says what to build first."""
    artefact = opened(name, profile)
    return artefact, answers_of(artefact)


def answer_html(trials: Trials, answer: Answer) -> str:
    """The verdict, what was read, what came, and what was asked."""
    prompt = trials.of(answer.model).render(answer.trial).messages[-1].content
    score = answer.scores["strict"]
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


def _text(answer: Answer) -> str:
    """As it is stored; empty where nothing came."""
    found = stored_responses([answer.key]).get(answer.key)
    return found.text if found else ""


def _known(answer: Answer) -> dict[str, Scalar]:
    trial = answer.trial
    return {"model": answer.model, "problem": trial.problem, "sample": trial.sample, **trial.factors}


def answer_browser(artefact: str = "codecrash/tab01", profile: str = "demo") -> widgets.Widget:
    """Filter an artefact's answers, and see one beside its counterpart, vanilla beside perturbed for instance."""
    chooser = artefact_chooser(artefact, asking=True)
    options, panes = widgets.VBox(), widgets.HTML()

    def listed() -> str:
        found, results = built(chooser.value, profile)
        trials, answers = found.trials(), results.answers
        rows = [{**_known(answer), "outcome": answer.scores["strict"].outcome.value} for answer in answers]
        columns = values_by_name(rows)
        filters = {
            name: dropdown(name, [(ALL, ALL), *((str(value), value) for value in values)])
            for name, values in columns.items()
            if 1 < len(values) <= MOST and name != "sample"
        }
        names = [name for name in filters if name != "outcome"]
        factors = [name for name in names if name in trials.items[0].factors]
        pairs = [(f"{name} = {value}", (name, value)) for name in factors for value in columns[name]]
        beside, chosen = dropdown("beside", [("nothing", ()), *pairs]), control(widgets.Select, "", rows=10)

        def line(number: int) -> str:
            told = ", ".join(str(rows[number][name]) for name in names if name in rows[number])
            return f"{rows[number]['outcome']}: {told}, {answers[number].trial.sample + 1}"

        def fill() -> None:
            """Lists the answers that pass the filters, each by its outcome and what tells answers apart."""
            wanted = {name: one.value for name, one in filters.items() if one.value != ALL}
            passing = [number for number, row in enumerate(rows) if wanted.items() <= row.items()]
            chosen.description = f"{len(passing):,} answers"
            chosen.options = [(line(number), number) for number in passing[:MOST]]
            chosen.value = passing[0] if passing else None

        def shown() -> str:
            """The chosen answer, and before it that to the same question with another value of one factor; other
            factors as near as can be."""
            if chosen.value is None:
                return paragraph("No answer has all of that.")
            wanted = _known(answers[chosen.value]) | dict([beside.value] if beside.value else [])
            must = {name: wanted[name] for name in ("model", "problem", *beside.value[:1])}.items()
            same = [n for n, row in enumerate(rows) if beside.value and n != chosen.value and must <= row.items()]
            nearest = sorted(same, key=lambda n: -len(wanted.items() & rows[n].items()))[:1]
            columns = "".join(
                f"<div style='flex: 1 1 20rem; min-width: 0'>{answer_html(trials, answers[n])}</div>"
                for n in (*nearest, chosen.value)
            )
            return f"<div style='display: flex; flex-wrap: wrap; gap: 1rem'>{columns}</div>"

        if "incorrect" in columns["outcome"] and "outcome" in filters:
            filters["outcome"].value = "incorrect"
        fill()
        on_change(list(filters.values()), fill)
        on_change([chosen, beside], showing(panes, shown))
        options.children = (*filters.values(), beside, chosen)
        return shown()

    follow(chooser, [options], panes, listed)
    return side_by_side([chooser, options], [panes])


def ask(name: str, model: str, index: int = 0, profile: str = "demo") -> tuple[Trial, Answer, str]:
    """Asks one model one of an artefact's questions, stored like any other: the trial, the judged answer, its text."""
    trials = opened(name, profile, (model,)).trials().of(model)
    [answer] = run(replace(trials, items=[trials.items[index]], own={}), [model], failures="count").answers
    return answer.trial, answer, _text(answer)


def ask_panel(artefact: str = "semtrace/fig03", profile: str = "demo") -> widgets.Widget:
    """Ask any registered model a question of any artefact: the verdict, what was read, the raw answer, the prompt."""
    registry = load_registry()
    chooser, model = artefact_chooser(artefact, asking=True), dropdown("model", registry)
    button = widgets.Button(description="ask", button_style="primary", tooltip="a real model costs what it costs")
    shown = widgets.HTML()

    def wait() -> None:
        shown.value = paragraph("Press ask.")

    questions = Questions(wait)

    def choose() -> str:
        found = opened(chooser.value, profile)
        questions.of(found.trials())
        model.value = found.models[0].name
        wait()
        return answered() if registry[model.value].local else shown.value

    def answered() -> str:
        _, answer, _ = ask(chooser.value, model.value, questions.index, profile)
        return answer_html(questions.trials, answer)

    button.on_click(showing(shown, answered))
    on_change([model], wait)
    follow(chooser, [questions], shown, choose)
    return side_by_side([chooser, model, questions, button], [shown])
