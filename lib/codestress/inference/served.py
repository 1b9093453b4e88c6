"""Models that are named by a URL or a Python function: the server's list of models, the
registry row that is made from it, and the probe, a short question at a run's start.

Builds keep such rows in outputs/models.yaml, which the registry reads beside
params/models.yaml. The store keeps the response to the probe like any other, under a
key with the row's revision.
"""

import json
import re
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from codestress.errors import EngineError, ParameterError
from codestress.literals import counted, parse_json
from codestress.paths import ROOT, STORE, shown, whole
from codestress.types import Message, Prompt, Sampling, Trial, Trials, hash_of
from codestress.validation import nearest, read_yaml

from .ask import ask_each
from .budget import Budget, BudgetReached
from .coroutines import run_coroutine
from .engines.openai import Settings, key_in
from .engines.replies import REMEDIES, value_at
from .network import base_of, through
from .progress import Progress, say
from .registry import (
    REGISTRY,
    SERVED,
    ModelEntry,
    find_models,
    keep,
    load_registry,
)
from .store import Store

LOOK_S = 2.0
"""Seconds within which a server on loopback must list its models."""
ANSWER_S = 10.0
"""Seconds within which any other server must list its models."""
WORDS: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
"""Names of fields in servers' lists, and regular expressions for the words in these
fields.

The keys of this dict say which property of a model the fields and words describe
(served.yaml).
"""
LONGEST_NAME = 80
"""Maximum number of characters in the name of a row that is made from a URL or a
function."""
USUAL = re.compile(r"http://[\w.-]+:\d+/v1|https://[\w.-]*[a-z]/v1", re.ASCII)
"""Pattern of addresses that their host and port identify: http with a port, or https
without a port, and the path /v1."""


CALLED = (
    "(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), "
    "messages being dictionaries of role and content, and returns the answer's text."
)
"""End of a sentence that begins with a function's name: how the kit calls the function.
"""
QUESTION = (
    Message("system", "Answer in few words."),
    Message("user", "Count from 1 to 3."),
)


class Offer(NamedTuple):
    """A model as the server's list of models describes it.

    `context` is its context in tokens (None if unknown). `writes` is whether it writes
    text, unlike a model for embeddings, ranking, speech, images or moderation.
    """

    context: int | None
    writes: bool


class NoList(EngineError):
    """Raised if a server answers but has no list of models at an address."""


def name_of(model: str, model_id: str, key_env: str, *, ask: bool) -> str:
    """Return the name of the registry row for `model`: a name, a URL, or a function as FILE.py:FUNCTION.

    A row made from a URL or a function is written to the file `SERVED`; for a URL, `model_id` and `key_env` go to
    `served_at`. With `ask`, a short request tries the model first. Raises `ParameterError` for a name without a
    row, for a bad URL or id, and if another model has the new row's name. Raises `EngineError` if the server does not
    answer. With `ask`, raises `EngineError` if the model does not answer, and `BudgetReached` at a limit.
    """
    rows = load_registry()
    if ".py:" in model and "://" not in model:
        entry = function_in(model)
    elif re.search(r"://|^\[|:\d+(/|$)", model) and model not in rows:
        # An address, which some type without http://: the message says so.
        entry = served_at(model, model_id, key_env)
    else:
        find_models([model], rows, "--models")
        return model
    known = rows.get(entry.name, entry)
    place = _place(known)
    if known.id != entry.id or place != _place(entry):
        raise ParameterError(
            f"{model}: its name {entry.name} is that of {known.id} at {place} in "
            f"{shown(SERVED)} or {shown(REGISTRY)}; rename that row, or remove it"
        )
    same_key = known.settings.get("key_env") == entry.settings.get("key_env")
    if same_key and known.revision == entry.revision:
        entry = known  # with what an earlier try of the model found
    try:
        if ask:
            entry = checked(entry)
    except EngineError as error:
        if entry.engine != "function":
            raise
        raise EngineError(f"{error}\nIt is called as {entry.id}{CALLED}") from None
    keep(entry)
    return entry.name


def _place(entry: ModelEntry) -> object:
    """Return the address or the function that answers for the registry row `entry`."""
    return entry.settings.get("base_url") or entry.settings.get("function")


def checked(entry: ModelEntry) -> ModelEntry:
    """Return the registry row `entry`, adapted to the dialect in which its server
    answers one short request with a system message. The request is sent unless the
    store has its response.

    Raises `EngineError` if the request fails, and `BudgetReached` if a limit stops it.
    """
    prompt = Prompt(QUESTION, Sampling(max_tokens=16))
    trials = Trials([Trial("probe", {})], lambda _: prompt, {})
    progress = Progress(1, "probe", silent=True)
    budget = Budget.from_environment()
    with Store(STORE) as store:
        asking = ask_each(trials, [entry], store, progress, budget, False)
        asked = run_coroutine(asking)
    [[reply]] = asked.replies
    if reply.failure:
        raise EngineError(str(reply.failure))
    if reply.left_out:
        raise BudgetReached(f"{entry.name}: no answer yet: {reply.left_out}")
    return asked.models[0]


def served_at(url: str, model_id: str, key_env: str) -> ModelEntry:
    """Return a registry row, which is not saved, for a model at the OpenAI-compatible
    server `url`.

    The model has the id `model_id`; if `model_id` is empty, the model is the server's
    only one that writes text. `key_env` names the environment variable with the key
    (empty: no key).

    Raises `ParameterError` for a bad URL, if the server does not offer the model, or if
    `model_id` is empty and the server does not offer exactly one such model. Raises
    `EngineError` if no server answers or the variable has no key.
    """
    who = f"--models {url}"
    try:
        base = base_of(url)
    except ValueError as fault:
        raise ParameterError(f"--models: the URL {fault}") from None
    base_url, offers = _find_list(base, key_in(key_env, who), model_id)
    if base_url != url.rstrip("/"):
        say(f"--models: the server is asked at {base_url}")
    chosen = model_id or _only_model(offers, who)
    if (offers and chosen not in offers) or not chosen.isprintable():
        raise ParameterError(
            f"{who}: the server offers no {chosen!r}{nearest(chosen, offers)}"
        )
    where = urlsplit(base_url)
    port = f"-{where.port}" if where.port else ""
    name = f"{chosen}@{where.hostname}{port}{where.path.removesuffix('/v1')}"
    usual = bool(USUAL.fullmatch(base_url))
    settings = {"base_url": base_url, "key_env": key_env, "prefill": "vllm"}
    # Another server's model of the same name is another model.
    revision = f"at {base_url}"
    return ModelEntry(
        name=row_name(name, f"{chosen} {revision}", usual=usual),
        engine="openai",
        id=chosen,
        revision=revision,
        context=offers.get(chosen, Offer(None, True)).context,
        settings=settings,
    )


def _only_model(offers: dict[str, Offer], who: str) -> str:
    """Return the id of the only model in `offers` that writes text.

    Raises `ParameterError`, whose message begins with `who`, if there is no such model
    or more than one.
    """
    names = [name for name, offer in offers.items() if offer.writes]
    if len(names) == 1:
        return names[0]
    lines = [f"{who}: the server offers {len(names)} models; say which:"]
    choices = [f"  ID={name}" for name in names]
    lines += choices or ["  none; with ID=… no list is needed"]
    others = counted(len(offers) - len(names), "model")
    lines.append(f"and {others} that write no text")
    raise ParameterError("\n".join(lines))


def _find_list(base: str, key: str, model_id: str) -> tuple[str, dict[str, Offer]]:
    """Return a pair: a server's address, and the models that it offers.

    The address is `base` or `base` with /v1 added, whichever has a list of models; an
    address with a version stays as it is. If there is no list, the models are empty if
    `model_id` names a model; otherwise `NoList` is raised.
    """
    path = urlsplit(base).path
    places = [base, f"{base}/v1"]
    if not path:
        places.reverse()
    if re.search(r"/v\d", path):
        places.pop()
    for place in places:
        with suppress(NoList):
            return place, models_of(place, key, ANSWER_S)
    offers = {} if model_id else models_of(places[0], key, ANSWER_S)  # raises again
    return places[0], offers


def models_of(base_url: str, key: str, timeout_s: float) -> dict[str, Offer]:
    """Return a dict from id to `Offer` for the models that the server at the address
    `base_url` offers.

    `key` is sent unless it is empty. Raises `EngineError` if no server answers within
    `timeout_s` seconds, or if the server redirects the request or refuses one without a
    key. Raises `NoList` if the server has no list of models.
    """
    # OpenAI's library takes a second to import.
    from .engines.openai_client import Client

    settings = Settings(base_url=base_url, timeout_s=timeout_s)
    client = Client(base_url, settings, key)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = client.build_request("GET", f"{base_url}/models", headers=headers)

    async def reply_of() -> Any:
        async with aclosing(client):
            return await client.send(request)

    try:
        reply = run_coroutine(reply_of())
    except Exception as error:  # whatever the client's libraries raise
        raise EngineError(str(client.failure(error))) from None
    status = reply.status_code
    fault = f"{base_url}/models{through(base_url)}: status {status}"
    if advice := client.redirect_of(reply):
        raise EngineError(f"{fault}: {advice}")
    if status in (401, 403) and not key:
        raise EngineError(f"{fault}; name the key's variable by KEY_ENV=…")
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        if status == 200:
            return _offers(parse_json(reply.content))
    words = client.secret.quote(reply.text)[:100]
    raise NoList(f"{fault}, and no list of models: {words}; {REMEDIES['no list']}")


def _offers(body: Any) -> dict[str, Offer]:
    """Return a dict from name to `Offer` for the models in the list `body`: a bare
    list, or a mapping with the list in the field `data`.

    Null means an empty list. An entry whose id is missing or cannot be printed is left
    out. Raises `KeyError` if the body has no such field, or the list has entries but no
    usable id.
    """
    rows = body if isinstance(body, list) else body["data"]
    offers = {}
    for row in rows or []:
        name = str(value_at(row, "id") or "")
        if name.strip() and name.isprintable():
            offers[name] = Offer(_context(row), _writes(name, row))
    if rows and not offers:
        raise KeyError("id")
    return offers


def _context(row: dict[str, Any]) -> int | None:
    for place in (row, row.get("meta")):
        for name in WORDS["context"]:
            context = value_at(place, name)
            if type(context) is int and context > 0:
                return context
    return None


def _writes(name: str, row: dict[str, Any]) -> bool:
    """Return whether the model `name`, which a server's list describes with `row`,
    writes text.

    The words of the row's fields decide; if the words say nothing, the name decides.
    """
    values = []
    for place in (row, *map(row.get, WORDS["inner"])):
        values += [value_at(place, field) for field in WORDS["kinds"]]
    # A word that is false says what a model does not do, and as in text->image the
    # result stands last.
    words = re.sub(r'"[^"]*": false|"[^"]*->', '"', json.dumps(values))
    writes, others = "|".join(WORDS["writes"]), "|".join(WORDS["others"])
    if re.search(writes, words, re.I):
        return True
    return not re.search(others, f"{words} {name}", re.I)


def function_in(text: str) -> ModelEntry:
    """Return a registry row, which is not saved, for the Python function that `text`
    names as FILE.py:FUNCTION.

    FILE is relative to the folder in which this process runs. Raises `ParameterError`
    if `text` does not name a function.
    """
    typed, _, name = text.rpartition(":")
    if not name.isidentifier():
        raise ParameterError(
            f"{text}: {name!r} is no function's name; type FILE.py:FUNCTION, without parentheses"
        )
    path = whole(typed)
    function = f"{path}:{name}"
    usual = path.parent == ROOT
    return ModelEntry(
        name=row_name(f"{name}@{path.stem}", function, usual=usual),
        engine="function",
        id=name,
        settings={"function": function},
    )


def row_name(text: str, exact: str, *, usual: bool) -> str:
    """Return a registry row's name made from `text`, suitable for the names of folders
    and for figures.

    `exact` identifies the model. The name is `text` unchanged if `usual` says that
    `text` identifies the model as well, and if every character may be part of a
    folder's name. Any other name ends with a hash of `exact`, so that two models never
    share a name.
    """
    name = re.sub(r"[^\w.@-]+", "-", text).strip("-.")
    if name.startswith("sim-"):  # the names of simulated readers
        name = f"served-{name}"
    if usual and name == text and len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{hash_of(exact, 4)}"
