"""Build a prompt: any artefact, any of its trials, with what differs from another trial marked."""

from __future__ import annotations

import difflib
from html import escape

import ipywidgets as widgets

from codestress.explore.controls import (
    Questions,
    artefact_chooser,
    chosen_values,
    control,
    factors_of,
    follow,
    nearest_trial,
    on_change,
    opened,
    parameter_controls,
    pre,
    showing,
    side_by_side,
    with_values,
)
from codestress.types import CHARACTERS_PER_TOKEN, Prompt

MARK = "<mark style='border-left: 3px solid #0072B2; padding-left: 4px'>"


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
