"""Responses behind a figure: the prompt, the completion, the extracted answer, the
outcome and its reason."""

from collections.abc import Iterator, Mapping
from typing import Any

from codestress.artefact_files import PROFILES
from codestress.errors import IncompleteError
from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.inference.store import stored_responses
from codestress.paths import STORE, shown

from .artefacts import Artefact
from .plan import factors_of, matches


def answers_of(artefact: Artefact, *, some: bool = False) -> Results:
    """Return the scored responses (`Results`) to all trials of `artefact`, from the
    store, without new requests.

    Raises `IncompleteError` if a response is missing. If `some` is true, missing
    responses are allowed, and the results have the stored responses.
    """
    try:
        trials = artefact.trials()
        budget = Budget(requests=0, until=0.0 if some else None)
        asked = ask(trials, artefact.model_names, failures="count", budget=budget)
        return score(trials, asked)
    except BudgetReached:
        profile = shown(PROFILES / f"{artefact.profile}.yaml")
        raise IncompleteError(
            f"{artefact.label}: some of its questions in {profile} have no answer in {shown(STORE)}; "
            f"build it first: {artefact.command}"
        ) from None


def explain(
    results: Results,
    rule: str,
    where: Mapping[str, str],
    outcome: str = "",
) -> Iterator[dict[str, Any]]:
    """Yield a dict for each answer in `results` (a scored response, or a failed
    request) to a trial whose factors have the values in `where`.

    Keys of the dict: `factors`; `verdicts` (dict from scoring rule to outcome, such as
    `correct`); `extracted` (the answer that the scoring rule `rule` extracted, or a
    note on what was missing); `key`; `answered_by`; `text` (empty without a response);
    `error` (the reason why there is no response); `prompt` (the last message of the
    request).

    With `outcome`, only answers with this outcome under `rule` are yielded. Raises
    `ParameterError` if `where` names an unknown factor.
    """
    for answer in results.answers.to_dict("records"):
        model, trial = answer["model"], results.trial_of(answer)
        if outcome in ("", answer[f"outcome_{rule}"]) and matches(trial, model, where):
            yield explained(results, answer, rule)


def explained(results: Results, answer: Mapping[str, Any], rule: str) -> dict[str, Any]:
    """Return the dict of `explain` for `answer`, a row of `results.answers`."""
    key = answer["key"]
    stored = stored_responses([key, *answer["earlier"]])
    return {
        "factors": factors_of(results.trial_of(answer), answer["model"]),
        "verdicts": {
            name: answer[f"outcome_{name}"] for name in results.questions.judges
        },
        "extracted": answer[f"detail_{rule}"],
        "key": key,
        "answered_by": answer["answered_by"],
        "text": stored[key].text if key in stored else "",
        "prompt": results.prompt_of(answer, stored).messages[-1].content,
        "error": answer["error"],
    }
