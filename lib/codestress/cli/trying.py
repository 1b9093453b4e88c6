"""Command `codestress try`: build the profile `try` on a model within minutes."""

import shlex
from collections.abc import Iterator

import click

from codestress.errors import EngineError, ParameterError
from codestress.pipeline.options import KEY_ENV, MODEL_ID, minutes_of, warn

from .artefacts import build

LOCAL_SERVERS = {
    "Ollama": ("http://localhost:11434/v1", "ollama serve"),
    "LM Studio": ("http://localhost:1234/v1", "lms server start"),
    "llama.cpp": ("http://localhost:8080/v1", "llama-server -m MODEL.gguf"),
    "vLLM": ("http://localhost:8000/v1", "vllm serve MODEL"),
}
"""Dict from the name of a server for models on this machine to a pair: its default
address, and the command that starts the server."""


@click.command("try")
@click.argument("models", default="", metavar="[NAME | URL | FILE.py:FUNCTION]")
@MODEL_ID
@KEY_ENV
@click.option(
    "--minutes",
    type=minutes_of,
    default=10.0,
    show_default=True,
    metavar="FLOAT",
    help="For the questions of all papers.",
)
@click.pass_context
def try_command(
    context: click.Context, models: str, model_id: str, key_env: str, minutes: float
) -> None:
    """Build the profile `try` on a model within some minutes: a few of the papers' main
    questions.

    NAME is a row of params/models.yaml, URL an OpenAI-compatible server
    (http://localhost:8000/v1), FUNCTION a function of yours that answers messages.
    Without a model, the servers on this machine and their models are listed. If the
    command is repeated, with more minutes for instance, it continues after the last
    answer.
    """
    if not models:
        for line in offers():
            click.echo(line)
        return
    if "://" not in models and (model_id or key_env):
        raise ParameterError(f"try {models}: --id and --key-env belong to a URL")
    warn(
        f"{minutes:g} min from now: a short question to {models}, then all questions; "
        "then the figures are drawn"
    )
    context.invoke(build, profile="try", **context.params)


def offers() -> Iterator[str]:
    """Yield lines of text: for each local server that answers, a command for each of
    its models that write text. If no server answers, the lines say how to start one."""
    from codestress.inference.served import LOOK_S, models_of

    silent = True
    for server, (url, _) in LOCAL_SERVERS.items():
        try:
            models = models_of(url, "", LOOK_S)
        except EngineError:
            continue
        silent = False
        writing = [name for name, offer in models.items() if offer.writes]
        yield f"{server} at {url}:{'' if writing else ' no model that writes text'}"
        for name in writing:
            yield f"  make try MODEL={url} ID={shlex.quote(name)}"
    if silent:
        yield "No server answers on this machine. Start one, or type `make try MODEL=nano`:"
        for server, (url, start) in LOCAL_SERVERS.items():
            yield f"  {server + ':':10} {start:30} then `make try MODEL={url}`"
