"""Checks of a response's server: the store records the server's address beside each
response, and responses of another server are refused.

No key depends on the address. A server may move, through the row's `base_url_env` or to
another port of this machine. A server that moved keeps its responses if the row names a
revision; without a revision nothing says that the model is the same.
"""

from functools import cache
from urllib.parse import urlsplit

from codestress.errors import EngineError

from .engines.base import own_settings
from .registry import ModelEntry, engine_module
from .store import Belongs

BY = " by "
"""Separator between an address and the environment variable that gave the address."""


def server_of(entry: ModelEntry) -> str:
    """Return the address of the server of the registry row `entry`; empty for a model
    without a server.

    If an environment variable gives the address, " by " and the variable's name follow
    it.
    """
    engine = entry.settings.get("worker", {}).get("engine", entry.engine)
    if engine not in ("openai", "openai_batch"):
        return ""
    module = engine_module(engine)
    settings = module.Settings.model_validate(own_settings(entry))
    address = _address(settings.address)
    return f"{address}{BY}{settings.base_url_env}" if settings.override else address


def belongs(entry: ModelEntry, archive: str = "") -> Belongs:
    """Return a check (see `store.Belongs`) that raises `EngineError` for a response
    from another server than the registry row `entry` names.

    The error message names `archive` as the place of the response, or the store if
    `archive` is empty. A response of an unknown server passes, and so does every
    response if the row has no server.

    If the row names a revision, the row's own responses pass after its server moved:
    through the row's `base_url_env`, or to another port of this machine.
    """
    now = server_of(entry)
    address, _, override = now.partition(BY)

    @cache
    def check(row: str, then: str) -> None:
        before, _, variable = then.partition(BY)
        if before in ("", address) or not address:
            return
        if row == entry.name and entry.revision:
            moves_by = own_settings(entry).get("base_url_env")
            if moves_by and moves_by in (variable, override):
                return
            old, new = urlsplit(before), urlsplit(address)
            # Another path of a gateway leads to another server.
            if old.hostname == new.hostname == "localhost" and old.path == new.path:
                return
        host = urlsplit(now).hostname or "elsewhere"
        raise EngineError(
            f"{entry.name}: answers to the same questions are in {archive or 'the store'} from another server: "
            f"{then} (row {row}); this row asks {now}.\n"
            f"Give {entry.name} a `revision` of its own in params/models.yaml, for instance revision: "
            f'"{entry.revision or entry.id}, {host}", have it ask {before}, or name another file in CODESTRESS_STORE.'
        )

    return check


def _address(base_url: str) -> str:
    """Return the address `base_url` in the spelling of `network.base_of`, with an
    explicit port, and with `localhost` for every loopback address.

    A text that is not an address is returned unchanged.
    """
    try:
        parts = urlsplit(base_url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:  # not an address: the engine will say so
        return base_url
    host = parts.hostname or ""
    if host in ("::1", "0.0.0.0") or host.startswith("127."):
        host = "localhost"
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"
