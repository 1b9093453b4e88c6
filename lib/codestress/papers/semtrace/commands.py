"""`codestress what-if`: accuracies of stored completions under each reading rule."""

from dataclasses import replace
from typing import get_args

import click

from codestress.errors import ParameterError
from codestress.pipeline.options import AS_JSON, Choice, on_artefact


@click.command("what-if")
@on_artefact
@AS_JSON
def what_if(choice: Choice, as_json: bool) -> None:
    """Score the predictions of a built artefact under each reading rule: the share
    correct, for each model and task.

    first_fence is appendix J's: the answer ends with the fence that the prompt opens.
    Nothing is asked, and no figure changes; --set reading=RULE builds a figure under
    another rule.
    """
    from codestress.pipeline.explain import answers_of
    from codestress.scoring.begun import ReadingRule

    from .results.tables import shares_by_reading

    chosen = choice.only()
    if "reading" not in type(chosen.parameters).model_fields:
        raise ParameterError(
            f"{chosen.name}: is no artefact with begun answers, as semtrace/tab01 and semtrace/fig01 are"
        )

    frames = {}
    for rule in get_args(ReadingRule):
        parameters = chosen.parameters.model_copy(update={"reading": rule})
        frames[rule] = answers_of(replace(chosen, parameters=parameters)).answers
    table = shares_by_reading(frames)
    if as_json:
        click.echo(table.to_json(orient="records", indent=1))
    else:
        click.echo(table.to_string(index=False, float_format="{:.1%}".format))


COMMANDS = (what_if,)
"""Commands that this paper adds to the console script."""
