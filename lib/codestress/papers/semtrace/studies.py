"""Studies of Sense and Sensitivity by name: what models recall of code, and what they
understand, in long contexts (semtrace). Studies that send no requests are defined here:
the prompts (appendix J) and the tables from the model registry (appendices F and G)."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from codestress.parameters import RecomputedByDraws, Seeded, Unjudged
from codestress.problems.problem_files import known_source
from codestress.types import Prompt

from .contexts import Distractors
from .line_removal import LineRemoval, Sensitivity
from .positions import Contexts, Counts, Matched, Positions, Questions, Recall, Task


class Templates(Unjudged, Seeded):
    """Parameters of appendix J: the prompts, rendered for the problem with the index
    `problem` and each number of `distractors` (unrelated functions), without requests.
    """

    problems: Annotated[str, known_source("generated", "cruxeval")] = "cruxeval"
    """Source of the problem: the paper's data set (cruxeval), or the kit's own
    (generated)."""
    problem: int = Field(0, ge=0)
    """Number of the problem, from 0."""
    distractors: Counts = [0, 20, 80]
    distractor_source: Distractors = "cosqa"
    """Source of the distractors, as for the figures."""
    matched: Matched = "tokens"
    """Measure by which distractors are matched, as for the figures."""


def rendered_templates(given: Templates) -> list[tuple[str, int, Prompt]]:
    """Return triples of task, number of distractors and prompt, for all four templates,
    on the problem with the index `given.problem`. The target stands in the middle of
    its distractors."""
    contexts = Contexts(
        **given.model_dump(include={"artefact", "models", "distractors"}),
        seed=given.seed,
        distractor_source=given.distractor_source,
        matched=given.matched,
        tasks=[*get_args(Task)],
        problems=[given.problems],
        n_problems=given.problem + 1,
        positions=3,
    )
    *_, last = contexts.trials()
    prompts = []
    for trial in contexts.trials():
        count = int(trial.factors["distractors"] or 0)
        # Without distractors there is one position.
        middle = min(count, 1)
        if trial.problem == last.problem and trial.factors["position"] == middle:
            task = str(trial.factors["task"])
            prompts.append((task, count, contexts.render(trial)))
    return prompts


class Registry(Unjudged):
    """Parameters of appendices F and G, tables from the model registry without
    requests: its `show` names the table (licences or architecture), its
    `longest_context` a context in tokens."""

    show: Literal["licences", "architecture"] = "licences"
    """Table to show."""
    longest_context: int = Field(30_810, ge=1000)
    """Tokens of the longest context (the paper: approximately 31k)."""


STUDIES = {
    "line_removal": LineRemoval,
    "sensitivity": Sensitivity,
    "published": RecomputedByDraws,
    "templates": Templates,
    "registry": Registry,
    "target_positions": Positions,
    "baselines": Questions,
    "recall": Recall,
}
"""Dict from name to schema of parameters. A file params/semtrace/*.yaml may name a
study as `study: semtrace.NAME`."""
