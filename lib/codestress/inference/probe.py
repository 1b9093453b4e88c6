"""The probe at a run's start: a short question to a model that a URL or a function
names.

The store keeps the response like any other, under a key with the row's revision.
"""

import re

from codestress.errors import EngineError, ParameterError
from codestress.paths import STORE, shown
from codestress.types import Message, Prompt, Sampling, Trial, Trials

from .ask import ask_each
from .budget import Budget, BudgetReached
from .coroutines import run_coroutine
from .progress import Progress
from .registry import (
    REGISTRY,
    SERVED,
    ModelEntry,
    find_models,
    keep,
    load_registry,
)
from .served import function_in, served_at
from .store import Store

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
    if (known.id, _place(known)) != (entry.id, _place(entry)):
        raise ParameterError(
            f"{model}: its name {entry.name} is that of {known.id} at {_place(known)} in "
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
