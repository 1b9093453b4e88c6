"""`codestress try`: ten minutes from any model to its own page."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codestress.errors import ParameterError
from codestress.paths import OUTPUTS, STORE, shown

if TYPE_CHECKING:
    from codestress.tryout.subject import Subject

TRIED = OUTPUTS / "try"


@click.command("try")
@click.argument("model", default="", metavar="[NAME | URL | FILE.py:FUNCTION]")
@click.option("--id", "model_id", default="", help="Which model of a server that offers several.")
@click.option("--minutes", default=10.0, show_default=True, help="Again, or with more, it goes on where it ended.")
@click.option("--key-env", default="", metavar="NAME", help="Environment variable with the key of a URL's server.")
@click.option("--output", type=click.Path(path_type=Path), default=TRIED, help="Folder for the models' folders.")
def try_command(model: str, model_id: str, minutes: float, key_env: str, output: Path) -> None:
    """Asks a model some minutes of each paper's main experiment, and writes a page to send to a colleague.

    NAME is a row of params/models.yaml, URL an OpenAI-compatible server (http://localhost:8000/v1), FUNCTION one of
    yours that answers messages. Without any, it tells which servers on this machine offer what. BUDGET_USD,
    BUDGET_TOKENS and MAX_REQUESTS limit it, as everywhere.
    """
    from codestress.tryout.subject import LOCAL_SERVERS, at_url, function, on_loopback, registered

    if not model:
        found = list(on_loopback())
        for name, url, models in found:
            click.echo(f"{name} at {url} offers {len(models)} models:")
            for one, context in models.items():
                click.echo(
                    f"  make try MODEL={url} ID={shlex.quote(one)}{f'  # {context:,} tokens' if context else ''}"
                )
        if not found:
            click.echo("No server answers on this machine. Start one, or type `make try MODEL=nano`:")
            for name, (url, command) in LOCAL_SERVERS.items():
                click.echo(f"  {name + ':':10} {command:30} then `make try MODEL={url}`")
        return
    if not 0 < minutes <= 24 * 60:
        raise ParameterError(f"--minutes {minutes:g}: must be more than 0 and at most a day; for instance 10")
    is_url = "://" in model
    if not is_url and (model_id or key_env):
        raise ParameterError(
            f"try {model}: --id and --key-env belong to a URL; a row of params/models.yaml has its own"
        )
    if is_url:
        subject = at_url(model, model_id, key_env, minutes)
    elif ".py:" in model:
        path, _, name = model.rpartition(":")
        subject = function(Path(path), name)
    else:
        subject = registered(model, minutes)
    typed = f"MODEL={model}{f' ID={model_id}' if model_id else ''}{f' KEY_ENV={key_env}' if key_env else ''}"
    page = tried(subject, minutes, output.absolute(), typed, click.echo)
    click.echo(f"page: {shown(page)}")


def tried(
    subject: Subject, minutes: float, output: Path, typed: str, tell: Callable[[str], None], store: Path = STORE
) -> Path:
    """Samples, counts, and writes the page; returns it."""
    from codestress.inference.probe import write_registry
    from codestress.inference.registry import REGISTRY
    from codestress.inference.store import Store
    from codestress.rooms import offered_by
    from codestress.tryout.counts import counted
    from codestress.tryout.page import write_page
    from codestress.tryout.sampling import Part, sample

    entry, registry = subject.entry, REGISTRY
    folder = output / entry.name
    if entry.engine in ("openai", "function"):
        registry = folder / "models.yaml"
        write_registry([entry], registry)
    for one in subject.told:
        tell(f"{entry.name}: {one}")
    headlines = offered_by("headline", "HEADLINE")
    with Store(store):  # what cannot be read is told before anything is made or asked
        for headline in headlines.values():
            headline.published()
    parts, sizes = [], list[tuple[int, int]]()
    for paper, headline in headlines.items():
        study = offered_by("studies", "STUDIES")[paper][headline.study]
        values = {"artefact": f"{paper}/try", "models": [entry.name], **headline.parameters(subject.reach)}
        trials = study.trials(study.parameters.checked(values, "try"))
        parts.append(Part(paper, headline, trials, subject.reach.context, sizes))
    concurrency = int(entry.settings.get("concurrency", 16)) if not entry.local else 1
    sampled = sample(
        parts, entry, seconds=60 * minutes, store=store, registry=registry, concurrency=concurrency, tell=tell
    )
    return write_page(
        folder,
        subject,
        sampled,
        [counted(part) for part in parts],
        command=f"make try {typed} MINUTES={minutes:g}",
    )


_TRYING: set[str] = set()


def try_function(ask: Callable[..., str], minutes: float) -> Path:
    """`codestress.try_model`."""
    from codestress.tryout.subject import function

    name = getattr(ask, "__qualname__", "")
    path = inspect.getsourcefile(ask) if inspect.isfunction(ask) else None
    if path is None or not Path(path).is_file() or not name.isidentifier():
        raise ParameterError(
            f"try_model: {name or ask!r} is no function of a file: put `def ask(messages, **sampling): …` into a file, "
            "import it from there, and give it here"
        )
    if path in _TRYING:
        raise ParameterError(
            f"try_model: {path} is imported to find {name}, and calls try_model as it is imported; put the call under "
            '`if __name__ == "__main__":`'
        )
    _TRYING.add(path)
    try:
        return tried(function(Path(path), name), minutes, TRIED, f"MODEL={path}:{name}", click.echo)
    finally:
        _TRYING.remove(path)
