"""Solver and scorer of the inspect_ai tasks that `codestress export inspect` writes.
Each item is asked and scored as in a build of the kit, by the same functions."""

from dataclasses import asdict, replace
from typing import Any

from inspect_ai.model import ModelOutput, get_model, messages_from_openai
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from codestress.inference.engines.base import conversation
from codestress.inference.requests import following
from codestress.types import FinishReason, Response

from .exports import item_of

REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
"""Dict from inspect_ai's name for the reason why a completion ended to the kit's name;
any other name stands for `stop`."""
EARLIER = "codestress_earlier"
"""Key, in the metadata of an item, of the responses to its earlier requests: a list of
pairs of text and reason why the response ended."""


@solver
def questions() -> Solver:
    """Return a solver that makes all requests of an item's trial, with the kit's own
    prompts and the study's sampling settings.

    The requests are the first request, a retry if the model refused and the study
    retries, and the follow-ups that the study makes from the responses. A larger
    `--max-tokens` of inspect_ai replaces the study's, for models that think before they
    answer.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        trials, entry, step = item_of(state.metadata)
        while True:
            prompt = step.request.prompt
            wanted = prompt.sampling
            turns: Any = conversation(prompt, prompt.prefill)
            state.messages = await messages_from_openai(turns)
            state = await generate(
                state,
                tool_calls="none",
                temperature=wanted.temperature,
                # Some servers refuse `top_p` together with a temperature.
                top_p=None if wanted.top_p == 1 else wanted.top_p,
                max_tokens=max(wanted.max_tokens, get_model().config.max_tokens or 0),
                stop_seqs=[*wanted.stop] or None,
            )
            pending = following(trials, entry, step, response_of(state.output))
            if pending is None:
                break
            step = pending
        state.metadata[EARLIER] = [
            [response.text, response.finish_reason] for _, response in step.earlier
        ]
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster="problem")]})
def judged() -> Scorer:
    """Return a scorer that applies all scoring rules of an item's study.

    The `value` of a score is a dict from rule to number (nan if the study skips the
    question). The `answer` is the text that the first rule read from the response. The
    `metadata` is a dict from rule to the kit's own score: outcome, value and the answer
    read.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        trials, _, first = item_of(state.metadata)
        earlier = tuple(
            Response(*response) for response in state.metadata.get(EARLIER, ())
        )
        response = replace(response_of(state.output), earlier=earlier)
        trial = trials.items[first.index]
        scores = {rule: judge(trial, response) for rule, judge in trials.judges.items()}
        return Score(
            value={rule: score.value for rule, score in scores.items()},
            answer=next(iter(scores.values())).detail,
            metadata={rule: asdict(score) for rule, score in scores.items()},
        )

    return score


def response_of(output: ModelOutput) -> Response:
    """Return the `Response` for a model's `output` in inspect_ai: the text without
    thoughts, and the reason why it ended."""
    reason = REASONS.get(output.stop_reason, "stop")
    content = output.message.content
    thought = isinstance(content, list) and any(
        part.type == "reasoning" for part in content
    )
    if thought and reason == "stop" and not output.completion.strip():
        reason = "reasoning"
    return Response(output.completion, reason)
