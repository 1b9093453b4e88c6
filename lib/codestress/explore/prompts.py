"""Build a prompt: any artefact, any of its trials, with what differs from another trial marked."""

from __future__ import annotations

import difflib
from functools import partial
from html import escape

import ipywidgets as widgets

from codestress.explore.controls import (
    LABELS,
    WIDE,
    artefact_chooser,
    chosen_values,
    factor_controls,
    factors_of,
    nearest_trial,
    on_change,
    parameter_controls,
    pre,
    side_by_side,
    told,
    with_values,
)
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Overrides, resolve
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Trials

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
    matcher = difflib.SequenceMatcher(None, before, lines, autojunk=False)
    return {
        n
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in ("insert", "replace")
        for n in range(start, end)
        if lines[n].strip()
    }


def prompt_explorer(artefact: str = "origin/fig04", profile: str = "demo") -> widgets.Widget:
    """Choose an artefact, its parameters and a trial; see the prompt as a model gets it."""
    registry = load_registry()
    chooser = artefact_chooser(artefact)
    compare = widgets.Checkbox(value=True, description="mark what the first trial lacks", layout=WIDE, style=LABELS)
    knobs, factors, shown = widgets.VBox(), widgets.VBox(), widgets.HTML()
    apply = widgets.Button(description="apply parameters", tooltip="makes the trials anew")
    state: dict[str, object] = {}

    def choose() -> None:
        [found] = resolve([chooser.value], profile, Overrides(), registry)
        controls = parameter_controls(found)
        state.update(artefact=found, parameters=controls)
        knobs.children = tuple(controls.values())
        make()

    def make() -> None:
        def trials() -> str:
            found = with_values(state["artefact"], chosen_values(state["parameters"]))  # type: ignore[arg-type]
            made = found.trials()
            if not made.items:
                factors.children = ()
                state.pop("trials", None)
                return "<p role='note'>Nothing is asked for this one: its numbers are facts.</p>"
            controls = factor_controls(made)
            state.update(trials=made, factors=controls)
            factors.children = tuple(controls.values())
            for name, control in controls.items():
                on_change([control], partial(draw, name))
            return rendered("problem")

        shown.value = told(trials)

    def rendered(last: str) -> str:
        trials, controls = state["trials"], state["factors"]
        assert isinstance(trials, Trials)
        assert isinstance(controls, dict)
        wanted = {name: control.value for name, control in controls.items()}
        first = {name: control.options[0][1] for name, control in controls.items()}
        trial = trials.items[nearest_trial(trials, wanted, last)]
        other = trials.items[nearest_trial(trials, {**first, "problem": trial.problem})]
        beside = trials.render(other) if compare.value and other is not trial else None
        told = ", ".join(f"{name} = {value}" for name, value in factors_of(trial).items())
        return f"<p>{escape(told)}</p>" + prompt_html(trials.render(trial), beside)

    def draw(last: str = "problem") -> None:
        if "trials" in state:
            shown.value = told(lambda: rendered(last))

    on_change([chooser], choose)
    on_change([compare], draw)
    apply.on_click(lambda _button: make())
    choose()
    parameters = widgets.Accordion(children=[widgets.VBox([knobs, apply])], titles=("parameters",))
    return side_by_side([chooser, factors, compare, parameters], [shown])
