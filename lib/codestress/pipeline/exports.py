"""Artefacts written as tasks for another harness, inspect_ai, and the way back from an
item of such a task to the trial that it asks.

The module `inspect_task` has the tasks' solver and scorer, and needs inspect_ai. This
module works without inspect_ai.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from codestress import __version__
from codestress.errors import ParameterError
from codestress.inference.engines.base import conversation
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import Step, request_of
from codestress.paths import write_whole
from codestress.types import Trials

from .artefacts import Artefact, resolve
from .variants import typed

TEMPLATE = Path(__file__).with_name("inspect_task.txt")
"""Path of the template of a task file, a text with placeholders."""


def write_inspect_task(artefact: Artefact, folder: Path) -> tuple[Path, int]:
    """Write `artefact` as an inspect_ai task into `folder`: a Python file, and beside
    it a data set in JSON Lines with an item for each trial.

    Return the path of the Python file and the number of items. If the artefact has no
    trials, the number is 0 and nothing is written.

    The items are the trials of the artefact's first model. An item has the messages,
    with a begun answer as the last message if the prompt has one. An item's metadata
    has the trial's problem and factors, and under `codestress` the data that `item_of`
    needs.
    """
    name = re.sub(r"\W+", "_", artefact.label)
    path = folder / f"{name}.py"
    lines = [json.dumps(item, ensure_ascii=False) for item in _items(artefact)]
    if lines:
        write_whole(path.with_suffix(".jsonl"), "\n".join(lines) + "\n")
        task = Template(TEMPLATE.read_text("utf-8")).substitute(
            name=name,
            label=artefact.label,
            title=artefact.file.title,
            version=__version__,
        )
        write_whole(path, task)
    return path, len(lines)


def _items(artefact: Artefact) -> Iterator[dict[str, Any]]:
    study = artefact.name, artefact.profile, *typed(artefact.changed)
    trials, entry = _trials(*study)
    for index, trial in enumerate(trials.items):
        prompt = request_of(trials, trial, entry).prompt
        kit = {"study": study, "index": index, "prompt": prompt.digest}
        yield {
            "id": index + 1,
            "input": conversation(prompt, prompt.prefill),
            "metadata": {"problem": trial.problem, **trial.factors, "codestress": kit},
        }


@cache
def _trials(
    name: str, profile: str, models: tuple[str, ...], settings: tuple[str, ...]
) -> tuple[Trials, ModelEntry]:
    """Return the trials of an artefact's first model, and the model's registry row.

    The arguments are the artefact's name, its profile, and the changed models and
    settings.
    """
    [artefact] = resolve([name], profile, models, settings)
    entry = artefact.models[0]
    return artefact.trials().of(entry.name), entry


def item_of(metadata: Mapping[str, Any]) -> tuple[Trials, ModelEntry, Step]:
    """Return the trial that an exported item with `metadata` asks: the trials to which
    it belongs, the registry row of the model, and the trial's first request.

    Raises `ParameterError` if the kit now asks another question than when the item was
    written.
    """
    kit = metadata["codestress"]
    name, profile, models, settings = kit["study"]
    trials, entry = _trials(name, profile, tuple(models), tuple(settings))
    index = kit["index"]
    if index < len(trials.items):
        request = request_of(trials, trials.items[index], entry)
        if request.prompt.digest == kit["prompt"]:
            return trials, entry, Step(index, request)
    raise ParameterError(
        f"an item of {name} is no question of this kit: its code, parameters or packages changed; "
        "write it again with `codestress export inspect`"
    )
