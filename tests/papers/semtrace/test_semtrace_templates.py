"""Prompts of Sense and Sensitivity to the letter (Figures 11 to 14)."""

import re
from itertools import product

import pytest
from small_study import SMALL, TASKS, trials_of

from codestress.errors import ParameterError
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.studies import Templates, rendered_templates
from codestress.types import Prompt, Trials
from told import names, refused

INPUT = (
    "You are given a number of Python functions and an assertion containing an output of one of the functions. "
    "Find any input such that executing that function on the input leads to the given output. There may be "
    "multiple answers, but you should only output one."
)
OUTPUT = (
    "You are given a number of Python functions and an assertion containing an input to one of the functions. "
    "Complete the assertion with a literal (no unsimplified expressions, no function calls) containing the "
    "output when executing the provided code on the given input, even if the function is incorrect or "
    "incomplete. Do NOT output any extra information."
)
RETRIEVAL = (
    "Each line in the code block {where} starts with a random key. I'm looking for a {target} in the code "
    "snippet {where}. Can you help me find it?"
)
TARGETS = {
    "function_retrieval": "function starting at key `{first}` and ending at key `{last}`",
    "line_retrieval": "line with key `{key}`",
}
PREFILLS = {
    "input_prediction": "Sure! Here is the corresponding input:\n\n```python\nassert {output} == f(",
    "output_prediction": "Sure! Here is the corresponding output:\n\n```python\nassert f({arguments}) ==",
    "function_retrieval": "Sure! Here is the full function starting at key `{first}` and ending at key `{last}`:\n\n"
    "```python",
    "line_retrieval": "Sure! Here is the line with key {key}:\n\n```python",
}


def prediction(words: str, assertion: str) -> str:
    """Return a template of a prediction: the query stands before and behind the code."""
    assertion = f"[ASSERTION]\n{assertion}\n[/ASSERTION]"
    code = "[FUNCTIONS]\n{code}\n[/FUNCTIONS]"
    return "\n\n".join([words, assertion, code, assertion, words])


def template(task: str) -> str:
    if task == "input_prediction":
        return prediction(INPUT, "assert {output} == f(??)")
    if task == "output_prediction":
        return prediction(OUTPUT, "assert f({arguments}) == ??")
    before = RETRIEVAL.format(where="below", target=TARGETS[task])
    behind = RETRIEVAL.format(where="above", target=TARGETS[task])
    return before + "\n\n```python\n{code}\n```\n\n" + behind


@pytest.mark.parametrize("task", TASKS)
def test_the_four_templates_are_the_papers_to_the_letter(task: str) -> None:
    trials = trials_of(tasks=[task], n_problems=1, distractors=[0], qac=[True, False])
    prompt, without_query = map(trials.render, trials.items)
    message = prompt.messages[0].content
    [problem] = problems_of("generated", 1, 0).values()
    values = {"output": problem.output, "arguments": problem.arguments}
    code = problem.code
    if keys := re.findall(r"^([0-9a-f]{6}) ", message, re.MULTILINE):
        lines = zip(keys, code.split("\n"), strict=True)
        code = "\n".join(f"{key} {line}" for key, line in lines)
        asked_for = re.findall(r"`([0-9a-f]{6})`", message)[-1]
        assert asked_for in keys
        values |= {"first": keys[0], "last": keys[-1], "key": asked_for}
    assert message == template(task).format(code=code, **values)
    assert prompt.prefill == PREFILLS[task].format(**values)
    behind = without_query.messages[0].content
    assert message.endswith(behind)
    assert behind.startswith(("[FUNCTIONS]", "```python"))


def output_prompt(trials: Trials) -> Prompt:
    """Return the first prompt that asks for an output."""
    for trial in trials.items:
        if trial.factors["task"] == "output_prediction":
            return trials.render(trial)
    raise AssertionError("no output is asked for")


def test_contexts_can_be_matched_by_number_or_by_length() -> None:
    lengths = []
    for matched in ("count", "tokens"):
        prompt = output_prompt(trials_of(distractors=[8], matched=matched))
        lengths.append(len(prompt.messages[0].content))
    by_count, by_tokens = lengths
    assert abs(by_tokens - 8 * 200 * 4) < 2500
    assert by_count < by_tokens
    many = {"distractors": [1000], "matched": "tokens", "distractor_tokens": 1000}
    with refused(ParameterError, "distractors", "1000", "installed"):
        output_prompt(trials_of(**many))


def test_a_model_without_prefill_is_told_how_its_answer_begins() -> None:
    prefilled, worded = (
        output_prompt(trials_of()),
        output_prompt(trials_of(prefill="user")),
    )
    request = "Begin your answer with exactly this, and complete it:"
    message = f"{prefilled.messages[0].content}\n\n{request}\n\n{prefilled.prefill}"
    assert (worded.messages[0].content, worded.prefill) == (message, "")


def test_templates_are_rendered_on_one_problem_for_each_number_of_distractors() -> None:
    values = {"problems": "generated", "problem": 2, "distractors": [0, 4]}
    for name in ("artefact", "models", "distractor_source", "matched"):
        values[name] = SMALL[name]
    prompts = rendered_templates(Templates.model_validate(values))
    cells = [(task, count) for task, count, _ in prompts]
    assert cells == [*product(TASKS, (0, 4))]
    code = problems_of("generated", 3, 0)["generated_2"].code
    names(prompts[0][2].messages[0].content, code)
