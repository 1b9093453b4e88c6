"""A probe of a model's abilities, by its server's own data and a handful of requests, so that no
study discovers a gap midway.

A model that a URL names becomes a registry row, made from the server's list of models (an
OpenAI-compatible API); builds keep such rows in outputs/models.yaml, which the registry reads
beside params/models.yaml. The store keeps the responses to a probe like any others, under keys
with the row's revision.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tqdm import tqdm

from codestress.errors import EngineError, ParameterError
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.dialects import adapted
from codestress.inference.engines.openai import fault_of_address, key_in
from codestress.inference.engines.secrets import Secret
from codestress.inference.network import (
    AROUND,
    PAUSE_S,
    Patience,
    base_of,
    connection,
    remedy_of,
    sent_on,
    through,
)
from codestress.inference.opening import open_engine
from codestress.inference.registry import (
    REGISTRY,
    SERVED,
    ModelEntry,
    keep,
    load_registry,
)
from codestress.inference.requests import as_sent
from codestress.inference.servers import server_of
from codestress.inference.store import Store
from codestress.literals import counted, parse_json
from codestress.paths import ROOT, STORE, shown, whole
from codestress.types import Message, Prompt, Request, Response, Sampling
from codestress.validation import nearest

LOOK_S = 2.0
"""Seconds in which a server on loopback must list its models."""
ANSWER_S = 10.0
"""Seconds in which any other server must list its models."""
MOST_BYTES = 4_000_000
"""Largest list of models that is read from a server, in bytes."""
CONTEXT_FIELDS = ("max_model_len", "context_length", "n_ctx")
"""Fields in which servers give the context in tokens that they accept; the context of a model's
training is not among them."""
KINDS = (
    *(
        "type",
        "model_type",
        "task",
        "pipeline_tag",
        "mode",
        "kind",
        "capabilities",
        "endpoints",
    ),
    *(
        "model_ability",
        "labels",
        "modality",
        "output_modalities",
        "supported_output_modalities",
        "tasks",
    ),
    *(
        "supported_endpoint_types",
        "supported_generation_methods",
        "supportedGenerationMethods",
    ),
)
"""Fields in which servers say what a model does: with a word, a list of words, or a mapping of
words to true and false or to texts; also within the mappings `INNER`."""
INNER = ("architecture", "model_info")
"""Fields that hold fields of `KINDS` in a mapping of their own."""
WRITES = re.compile(
    r"(?<!\S)(text|language|code|generate\w*)(?!\S)|chat|complet|llm|vlm|text.?(to|2).?text|text.generation",
    re.IGNORECASE,
)
"""Words of a model that writes text; they count before those of `ELSE`."""
ELSE = re.compile(
    r"embed|rerank|cross-encoder|colbert|similarity|feature.extraction|speech|audio|whisper|transcri|moderat|guard|"
    r"shieldgemma|dall-?e|stable.?diffusion|image|video|classif|fill.mask|"
    r"(?<![a-z])(e5|bge|gte|gtr|minilm|mpnet|paraphrase|sentence|voyage|x?tts|asr|elevenlabs|musicgen|sdxl|sd3|flux|"
    r"kandinsky|ideogram|seedream|seedance|[ti]2v|sora|veo|kokoro|parakeet|realtime|clip|siglip|ocr)(?![a-z])",
    re.IGNORECASE,
)
"""Words, and parts of names, of a model that does something else."""
MOST_AT_ONCE = 64
"""Maximum number of requests that a probe sends at the same time."""
LONGEST_NAME = 80
"""Largest number of characters in the name of a row that is made from a URL or a function."""
USUAL = re.compile(r"http://[\w.-]+:\d+/v1|https://[\w.-]*[a-z]/v1", re.ASCII)
"""Pattern of addresses that their host and port identify: http with a port, https without one, and
the path /v1."""


def served_at(url: str, model_id: str, key_env: str, who: str) -> ModelEntry:
    """Returns a registry row, which is not saved, for a model at the OpenAI-compatible server
    `url`: the model with the id `model_id`, or, where this is empty, the server's only model.

    `key_env` names the environment variable with the key (empty: none); `who` begins the error
    messages. Raises `ParameterError` for a bad URL, or where the server does not offer the model
    or, with an empty `model_id`, not exactly one; `EngineError` where no server answers or the
    variable has no key.
    """
    text, *query = re.split("[?#]", url.strip(AROUND), maxsplit=1)
    secret = re.search("key|token|secret|auth", "".join(query), re.I)
    if fault := fault_of_address(url if secret else text, "KEY_ENV (--key-env)"):
        raise ParameterError(f"{who}: the URL {fault}")
    base_url, offered = _found(base_of(url), key_in(key_env, f"{who} {url}"), model_id)
    if base_url != url.rstrip("/"):
        tqdm.write(f"{who}: the server is asked at {base_url}", sys.stderr)
    served = {
        name: offer.context
        for name, offer in offered.items()
        if offer.writes or model_id
    }
    if not model_id and len(served) != 1:
        names = (
            "\n".join(f"  ID={name}" for name in served)
            or "  none; with ID=… no list is needed"
        )
        others = len(offered) - len(served)
        besides = (
            f"\nand {counted(others, 'model')} that write no text" if others else ""
        )
        raise ParameterError(
            f"{who} {url}: the server offers {len(served)} models; say which:\n{names}{besides}"
        )
    if model_id and served and model_id not in served:
        raise ParameterError(
            f"{who} {url}: the server offers no {model_id!r}{nearest(model_id, served)}"
        )
    chosen = model_id or next(iter(served))
    where = urlsplit(base_url)
    port = f"-{where.port}" if where.port else ""
    text = f"{chosen}@{where.hostname}{port}{where.path.removesuffix('/v1')}"
    usual = bool(USUAL.fullmatch(base_url))
    return ModelEntry(
        name=row_name(text, f"{chosen} at {base_url}", usual=usual),
        engine="openai",
        id=chosen,
        # Another server's model of the same name is another model.
        revision=f"at {base_url}",
        context=served.get(chosen),
        settings={"base_url": base_url, "key_env": key_env, "prefill": "vllm"},
        archive=None,
    )


class NoList(EngineError):
    """Raised where a server answers, but has no list of models at an address."""


def _found(base: str, key: str, model_id: str) -> tuple[str, dict[str, Offer]]:
    """Returns a server's address and the models that it offers, as a pair: `base`, or, unless this
    names a version, the same with /v1, whichever has a list of models. Without any list the models
    are unknown: none, where `model_id` names the model; else `NoList`."""
    path, faults = urlsplit(base).path, list[NoList]()
    places = (
        [base]
        if re.search(r"/v\d", path)
        else sorted([base, f"{base}/v1"], reverse=not path)
    )
    for place in places:
        try:
            return place, models_of(place, key, ANSWER_S, wait=True)
        except NoList as fault:
            faults.append(fault)
    if not model_id:
        raise faults[0]
    return places[0], {}


def row_name(text: str, exact: str, *, usual: bool) -> str:
    """Returns a registry row's name made from `text`, for folders and figures.

    `exact` identifies the model. The name is `text` unchanged if `usual` says that `text`
    identifies the model as well, and if it has no character that a folder's name may lack. Any
    other name ends with a hash of `exact`, so that two models never share a name.
    """
    name = re.sub(r"[^\w.@-]+", "-", text).strip("-.")
    if name.startswith("sim-"):  # the names of simulated readers
        name = f"served-{name}"
    if usual and name == text and len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.blake2b(exact.encode(), digest_size=4).hexdigest()
    return f"{name[: LONGEST_NAME - 9]}-{digest}"


def begins(entry: ModelEntry) -> bool:
    """Whether the registry row `entry` says that its server continues an answer that a request
    begins: by a setting `prefill` other than "none", or the setting `endpoint: completions`."""
    return (
        entry.settings.get("prefill", "none") != "none"
        or entry.settings.get("endpoint") == "completions"
    )


def checked(entry: ModelEntry) -> ModelEntry:
    """Tries the model of the registry row `entry` with one short request and returns the row,
    adapted to the dialect in which its server answers; where the server does not continue a begun
    answer, a copy with the setting `prefill` "none", tried again.

    Raises `EngineError` where the model does not answer.
    """
    fault, entry = run_coroutine(_tried(entry, "One, two," if begins(entry) else ""))
    if not fault:
        return entry
    entry = entry.model_copy(update={"settings": {**entry.settings, "prefill": "none"}})
    return run_coroutine(_tried(entry, ""))[1]


class Offer(NamedTuple):
    """A model as its server's list describes it: its context in tokens (None where unknown), and
    whether it writes text, unlike a model for embeddings, ranking, speech, images or moderation."""

    context: int | None
    writes: bool


def as_found(entry: ModelEntry, known: ModelEntry | None) -> ModelEntry:
    """Returns `known`, the registry row that an earlier command line saved, with the settings that
    its try of the model found. Returns `entry`, the row of this command line, where `known` is None
    or names another model, revision, address or key's variable."""
    if known is None or known.settings.get("key_env") != entry.settings["key_env"]:
        return entry
    return known if (known.id, known.revision) == (entry.id, entry.revision) else entry


def models_of(
    base_url: str, key: str, timeout_s: float, *, wait: bool = False
) -> dict[str, Offer]:
    """Returns the models that the server at the address `base_url` offers (`Offer`), by their ids.

    `key` is sent unless it is empty; `wait` says whether a server that loads its model is waited
    for. Raises `EngineError` where no server answers within `timeout_s` seconds or it refuses, and
    `NoList` where it has no list of models.
    """
    url, patience, shown = f"{base_url}/models", Patience(base_url), Secret(key).shown
    while True:
        try:
            status, content, location = _fetched(url, key, timeout_s)
        except Exception as error:  # whatever the client's libraries raise
            if isinstance(error, EngineError):
                raise EngineError(f"{base_url}: {error}") from None
            fault = (
                f"no server answers ({shown(str(error))}); start it, or correct the URL"
            )
            raise EngineError(
                f"{base_url}{through(url)}: {fault}{remedy_of(error)}"
            ) from None
        words = shown(content.decode("utf-8", "replace"))
        if not (wait and patience.asks_again(status, words)):
            break
        time.sleep(PAUSE_S)
    if location:
        raise EngineError(f"{url}: status {status}: {shown(sent_on(url, location))}")
    if status in (401, 403) and not key:
        raise EngineError(
            f"{url}: status {status}; name the key's variable by KEY_ENV=…"
        )
    if status != 200:
        remedy = "the URL of most ends in /v1; with ID=… no list is needed"
        raise NoList(f"{url}{through(url)}: status {status}: {words[:100]}; {remedy}")
    try:
        rows = map(_row, _rows(parse_json(content)))
        return {row["id"]: Offer(_context(row), _writes(row)) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NoList(
            f"{url}: is no list of models; the URL of most servers ends in /v1"
        ) from None


def _rows(body: Any) -> Any:
    """Returns the entries of the list of models `body`: a bare one, or in the field `data` or
    `models`, where null stands for none."""
    if isinstance(body, list):
        return body
    known = [body[name] for name in ("data", "models") if name in body]
    if not known:
        raise KeyError("data")
    return next(filter(None, known), [])


def _row(row: Any) -> dict[str, Any]:
    """Returns the entry `row` of a list of models, which may be a name alone, with its id."""
    row = {"id": row} if isinstance(row, str) else row
    return {**row, "id": str(row.get("id") or row.get("name") or row["model"])}


def _fetched(url: str, key: str, timeout_s: float) -> tuple[int, bytes, str]:
    """Returns the HTTP status and the body of the reply to a GET of `url`, with `key` unless it is
    empty, and the address to which it redirects; raises an HTTP error of `httpx2` where the reply
    takes longer than `timeout_s` seconds or is larger than a list of models can need."""
    import httpx2

    headers = {"Accept-Encoding": "identity"} | (
        {"Authorization": f"Bearer {key}"} if key else {}
    )
    until, content = time.monotonic() + timeout_s, b""
    options = {"timeout": timeout_s, "follow_redirects": False, **connection(url)}
    with httpx2.stream("GET", url, headers=headers, **options) as reply:
        for part in reply.iter_raw():
            content += part
            if len(content) > MOST_BYTES or time.monotonic() > until:
                raise httpx2.ReadTimeout("its reply does not end")
        to = reply.headers.get("location", "") if reply.is_redirect else ""
        return reply.status_code, content, to


def _context(row: Any) -> int | None:
    for place in (row, row.get("meta") or {}):
        for name in CONTEXT_FIELDS:
            if (
                isinstance(place, dict)
                and type(place.get(name)) is int
                and place[name] > 0
            ):
                return int(place[name])
    return None


def _writes(row: Any) -> bool:
    """Whether the model of `row`, an entry of a server's list, writes text: by the words of the
    fields `KINDS`, and by its id where these say nothing."""
    fields = row
    for name in INNER:
        inner = row.get(name)
        fields = fields | inner if isinstance(inner, dict) else fields
    values = list[Any]()
    for name in KINDS:
        value = fields.get(name)
        if isinstance(value, dict):
            texts = [text for text in value.values() if isinstance(text, str)]
            value = [*(word for word, has in value.items() if has is True), *texts]
        values += value if isinstance(value, list) else [value]
    # As in text+image->text, the result stands last. A hyphen keeps "Text Embeddings" from being text.
    words = " ".join("-".join(str(value).split("->")[-1].split()) for value in values)
    return bool(WRITES.search(words)) or not ELSE.search(f"{words} {row['id']}")


def name_of(model: str, model_id: str, key_env: str, *, ask: bool) -> str:
    """Returns the name of the registry row for `model`, given by name, by URL or as
    FILE.py:FUNCTION; a plain name is returned unchanged and unchecked.

    Rows made from a URL or a function are written to the file `SERVED`; for a URL, `model_id` and
    `key_env` are those of `served_at`. With `ask` a short request tries the model first. Raises
    `ParameterError` for a bad URL or id and where another model's row has the name, and
    `EngineError` where the server or, with `ask`, the model does not answer.
    """
    rows = load_registry(SERVED) if SERVED.is_file() else {}
    called = ""
    try:
        if "://" in model:
            entry = served_at(model, model_id, key_env, "--models")
            entry = as_found(entry, rows.get(entry.name))
        elif ".py:" in model:
            entry = function_in(model)
            called = f"\nIt is called as {entry.id}{CALLED}"
        else:
            return model
        other = load_registry().get(entry.name, entry)
        if _place(other) != _place(entry):
            raise ParameterError(
                f"{model}: its name {entry.name} is that of {' at '.join(_place(other))}, in {shown(SERVED)} or "
                f"{shown(REGISTRY)}; rename that row, or remove it"
            )
        entry = checked(entry) if ask else entry
    except EngineError as error:
        place = urlsplit(model).netloc or model
        names = [name for name, row in rows.items() if place in " ".join(_place(row))]
        known = (
            f"\nTo use its answers without it: MODELS={' or '.join(names)}"
            if names
            else ""
        )
        raise EngineError(f"{error}{called}{known}") from None
    keep(entry)
    return entry.name


def _place(entry: ModelEntry) -> tuple[str, str]:
    """Returns the id of the registry row `entry`, and the address or function that answers for
    it."""
    place = entry.settings.get("base_url") or entry.settings.get("function")
    return entry.id, str(place)


CALLED = (
    "(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), "
    "messages being dictionaries of role and content, and returns the answer's text."
)
"""End of a sentence that begins with a function's name: how the kit calls the function."""


def function_in(text: str) -> ModelEntry:
    """Returns a registry row, which is not saved, for the Python function that `text` names as
    FILE.py:FUNCTION, with the file relative to the folder where this process runs."""
    typed, _, name = text.rpartition(":")
    path = whole(typed)
    return ModelEntry(
        name=row_name(
            f"{name}@{path.stem}", f"{path}:{name}", usual=path.parent == ROOT
        ),
        engine="function",
        id=name,
        settings={"function": f"{path}:{name}"},
        archive=None,
    )


@dataclass(frozen=True)
class Ability:
    """One ability of a model that was tried: its `what` names it, its `can` says whether the model
    has it, and its `detail` says in words how it showed."""

    what: str
    can: bool
    detail: str


Ask = Callable[..., Awaitable[Response]]
"""A function that sends one request and returns its response. It takes the request's text, a begun
answer, the number of the sample, whether to ask `anew` what the store answers, and further fields
of `Sampling`."""


@asynccontextmanager
async def asking(entry: ModelEntry) -> AsyncIterator[tuple[Ask, int]]:
    """Context that yields a pair: a function (of the type `Ask`) that sends the model of the
    registry row `entry` one request within the environment's budget, and the number of requests
    that the engine takes at once. A response is kept in the store, and a stored one of the same
    server is returned unless the function gets `anew`.

    The function raises `EngineError` where no response comes, and `BudgetReached` at a limit.
    """
    budget = Budget.from_environment()
    budget.check(entry)
    engine, store = open_engine(entry), Store(STORE)
    server = server_of(entry)

    async def ask(
        text: str,
        prefill: str = "",
        sample: int = 0,
        anew: bool = False,
        opening: tuple[Message, ...] = (),
        **sampling: Any,
    ) -> Response:
        messages = (*opening, Message("user", text))
        prompt = Prompt(messages, Sampling(**{"max_tokens": 64, **sampling}), prefill)
        request = as_sent(Request(entry.id, entry.identity, prompt, sample), entry)
        # An answer is begun in another way, or by another server, than the stored one.
        if not anew and (begins(entry) or not prefill):
            stored = store.get([request.key]).get(request.key)
            if stored is not None and stored.server == server:
                return stored
        seconds = None if budget.until is None else budget.until - time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                response = await budget.answer(engine, entry, request)
        except TimeoutError:
            raise EngineError(
                f"{entry.name}: a short question has no answer within the minutes"
            ) from None
        except RequestFailed as failure:
            raise EngineError(f"{failure}") from None
        response = replace(response, server=response.server or server)
        request = as_sent(request, adapted(entry, response.dialects))
        store.put(request.key, entry.name, response)
        return response

    try:
        yield ask, engine.concurrency
    finally:
        await engine.close()
        store.close()


async def _tried(entry: ModelEntry, prefill: str) -> tuple[str, ModelEntry]:
    """Returns the reason why the model of the registry row `entry` does not continue the begun
    answer `prefill` (empty where it does or where `prefill` is empty), and the row, adapted to the
    dialect in which the server answered. One short request, with a system message, is sent;
    `EngineError` where it is not answered for another reason."""
    opening = Message("system", "Answer in few words.")
    async with asking(entry) as (ask, _):
        try:
            answer = await ask(
                "Count from 1 to 3.", prefill, opening=(opening,), max_tokens=16
            )
        except EngineError as error:
            if prefill and "cannot continue a begun answer" in str(error):
                return str(error).split("begins one: ")[1].split(".\n")[0], entry
            raise
    return "", adapted(entry, answer.dialects)


async def probe(entry: ModelEntry) -> AsyncIterator[Ability]:
    """Yields, one by one, the abilities (`Ability`) that the studies need of the model of the
    registry row `entry`, each after trying it, also those that it lacks. Raises `EngineError` where
    a request is not answered."""
    async with asking(entry) as (ask, concurrency):
        question = "What is 17 + 25? Answer with the number alone."
        first = await ask(question)
        detail = f"{first.text.strip()[:60]!r} in {first.seconds:.2f} s"
        yield Ability("answers", not first.refused, detail)
        detail = "a model that cannot add will not read programs"
        yield Ability("knows a sum", "42" in first.text, detail)
        again = await ask(question, sample=1)
        same = again.text == first.text
        detail = "" if same else f"{again.text.strip()[:60]!r}"
        yield Ability("says the same again at temperature 0", same, detail)
        by = first.answered_by
        yield Ability(
            "says which model it is", bool(by), by or "manifests cannot name it"
        )
        counts = zip(
            ("prompt", "answer", "reasoning", "cached"),
            astuple(first.usage),
            strict=True,
        )
        detail = ", ".join(
            f"{name} {count}" for name, count in counts if count is not None
        )
        detail = detail or "budgets in tokens and dollars cannot hold"
        yield Ability("reports tokens", first.usage.prompt_tokens is not None, detail)
        short = await ask("Count from 1 to 100, separated by commas.", max_tokens=8)
        ending = short.finish_reason
        detail = f"{ending}: {short.text.strip()[:60]!r}"
        yield Ability("is cut off where max_tokens says", ending == "length", detail)
        stopped = await ask("Count from 1 to 20, separated by commas.", stop=("7",))
        detail = f"{stopped.text.strip()[-60:]!r}"
        yield Ability("stops at a stop sequence", "8" not in stopped.text, detail)
        # At once, as builds ask.
        four = [
            ask("Name a random animal.", temperature=1.0, sample=n) for n in range(4)
        ]
        texts = {answer.text for answer in await asyncio.gather(*four)}
        detail = f"{len(texts)} different answers of 4"
        yield Ability("samples at temperature 1", len(texts) > 1, detail)
        yield await _continues(ask, question)
        yield await _answers_together(ask, min(concurrency, MOST_AT_ONCE))


async def _continues(ask: Ask, question: str) -> Ability:
    """Tries, by the function `ask`, whether the model continues an answer that is begun for it, and
    returns this ability; the model lacks it where `ask` raises `EngineError`. `question` asks for
    17 + 25."""
    try:
        begun = await ask(question, prefill="The answer is 4")
    except EngineError as error:  # the engine's own check, which every build makes
        return Ability("continues a begun answer", False, str(error).split("\n")[-1])
    sense = (
        "" if begun.text.lstrip().startswith("2") else ", which is not how 42 goes on"
    )
    return Ability(
        "continues a begun answer", True, f"{begun.text.strip()[:60]!r}{sense}"
    )


async def _answers_together(ask: Ask, many: int) -> Ability:
    """Sends `many` requests at the same time by the function `ask`, and returns the server's
    ability to answer them; the server lacks it where one of them fails."""
    questions = (
        ask(f"What is {number} + {number}?", anew=True) for number in range(many)
    )
    answers = await asyncio.gather(*questions, return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    remedy = "the row's settings.concurrency says how many builds ask at once"
    detail = f"{failed[0]}; {remedy}" if failed else ""
    return Ability(
        f"answers {many} questions at once, as builds ask", not failed, detail
    )
