"""Models that are named by a URL or a Python function: the server's list of models, and
the registry row that is made from it.

Builds keep such rows in outputs/models.yaml, which the registry reads beside
params/models.yaml.
"""

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from codestress.errors import EngineError, ParameterError
from codestress.literals import counted, parse_json
from codestress.paths import ROOT, whole
from codestress.types import hash_of
from codestress.validation import nearest, read_yaml

from .engines.openai import fault_of_address, key_in
from .engines.replies import REMEDIES, remedy_of, sent_on, value_at
from .network import (
    AROUND,
    PAUSE_S,
    Patience,
    Secret,
    base_of,
    connection,
    through,
)
from .progress import say
from .registry import ModelEntry

LOOK_S = 2.0
"""Seconds within which a server on loopback must list its models."""
ANSWER_S = 10.0
"""Seconds within which any other server must list its models."""
MOST_BYTES = 4_000_000
"""Largest list of models that is read from a server, in bytes."""
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


class Offer(NamedTuple):
    """A model as the server's list of models describes it.

    `context` is its context in tokens (None if unknown). `writes` is whether it writes
    text, unlike a model for embeddings, ranking, speech, images or moderation.
    """

    context: int | None
    writes: bool


class NoList(EngineError):
    """Raised if a server answers but has no list of models at an address."""


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
    text, *query = re.split("[?#]", url.strip(AROUND), maxsplit=1)
    has_secret = re.search("key|token|secret|auth", "".join(query), re.I)
    if fault := fault_of_address(url if has_secret else text, "KEY_ENV (--key-env)"):
        raise ParameterError(f"--models: the URL {fault}")
    key = key_in(key_env, who)
    base_url, offers = _find_list(base_of(url), key, model_id)
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
    return ModelEntry(
        name=row_name(name, f"{chosen} at {base_url}", usual=usual),
        engine="openai",
        id=chosen,
        # Another server's model of the same name is another model.
        revision=f"at {base_url}",
        context=offers.get(chosen, Offer(None, True)).context,
        settings={"base_url": base_url, "key_env": key_env, "prefill": "vllm"},
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
    lines.append(f"and {counted(len(offers) - len(names), 'model')} that write no text")
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
        places = [base]
    faults = []
    for place in places:
        try:
            return place, models_of(place, key, ANSWER_S, wait=True)
        except NoList as fault:
            faults.append(fault)
    if model_id:
        return places[0], {}
    raise faults[0]


def models_of(
    base_url: str, key: str, timeout_s: float, *, wait: bool = False
) -> dict[str, Offer]:
    """Return a dict from id to `Offer` for the models that the server at the address `base_url` offers.

    `key` is sent unless it is empty. With `wait`, a server that is loading its model is asked again. Raises
    `EngineError` if no server answers within `timeout_s` seconds, or if the server redirects the request or refuses
    one without a key. Raises `NoList` if the server has no list of models.
    """
    url = f"{base_url}/models"
    secret = Secret(key)
    headers = {"Accept-Encoding": "identity"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        options = {"timeout": timeout_s, "headers": headers, **connection(url)}
        patience = Patience(base_url, secret) if wait else None
        reply, content = _fetched(url, options, patience)
    except EngineError as error:
        raise EngineError(f"{base_url}: {error}") from None
    except Exception as error:  # whatever the client's libraries raise
        raise EngineError(
            f"{base_url}{through(url)}: no server answers ({secret.quote(str(error))}); "
            f"start it, or correct the URL{remedy_of(error)}"
        ) from None
    status = reply.status_code
    fault = f"{url}{through(url)}: status {status}"
    if reply.has_redirect_location:
        advice = sent_on(url, reply.headers["location"])
        raise EngineError(f"{fault}: {secret.quote(advice)}")
    if status in (401, 403) and not key:
        raise EngineError(f"{fault}; name the key's variable by KEY_ENV=…")
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        if status == 200:
            return _offers(parse_json(content))
    raise NoList(
        f"{fault}, and no list of models: {secret.quote(content)[:100]}; {REMEDIES['no list']}"
    )


def _fetched(
    url: str, options: dict[str, Any], patience: Patience | None
) -> tuple[Any, bytes]:
    """Return the reply to a GET of `url` with `options` of httpx2, and its body as it
    was sent.

    With `patience`, a server that is loading its model is asked again. Raises an HTTP
    error if the reply takes longer than the option `timeout`, in seconds, or is larger
    than `MOST_BYTES`.
    """
    import httpx2

    while True:
        until = time.monotonic() + options["timeout"]
        content = b""
        with httpx2.stream("GET", url, **options) as reply:
            for part in reply.iter_raw():
                content += part
                if len(content) > MOST_BYTES or time.monotonic() > until:
                    raise httpx2.ReadTimeout("its reply does not end")
        if patience is None or not patience.asks_again(reply.status_code, content):
            return reply, content
        time.sleep(PAUSE_S)


def _offers(body: Any) -> dict[str, Offer]:
    """Return a dict from name to `Offer` for the models in the list `body`: a bare
    list, or a mapping with the list in the field `data` or `models`.

    Null means an empty list. An entry may be a name alone; an entry whose name is
    missing or cannot be printed is left out. Raises `KeyError` if the body has no such
    field, or the list has entries but no usable name.
    """
    rows = body
    if not isinstance(body, list):
        if not body.keys() & {"data", "models"}:
            raise KeyError("data")
        rows = body.get("data") or body.get("models") or []
    offers = {}
    for row in rows:
        if isinstance(row, str):
            row = {"id": row}
        names = [value_at(row, field) for field in ("id", "name", "model")]
        name = str(next(filter(None, names), ""))
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
    fields = dict(row)
    for inner in WORDS["inner"]:
        if isinstance(row.get(inner), dict):
            fields.update(row[inner])
    values = []
    for field in WORDS["kinds"]:
        values += _words_in(fields.get(field))
    words = " ".join(values)
    if re.search("|".join(WORDS["writes"]), words, re.I):
        return True
    return not re.search("|".join(WORDS["others"]), f"{words} {name}", re.I)


def _words_in(value: Any) -> list[str]:
    """Return the words of a field's `value`.

    A list has its entries as words. A mapping has its text values, and the keys whose
    value is true. Any other value is one word.
    """
    if isinstance(value, dict):
        texts = [word if has is True else has for word, has in value.items()]
        value = [text for text in texts if isinstance(text, str)]
    words = []
    if not isinstance(value, list):
        value = [value]
    for word in value:
        # As in text+image->text, the result stands last.
        result = str(word).split("->")[-1]
        # A hyphen keeps "Text Embeddings" from being text.
        words.append("-".join(result.split()))
    return words


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
