"""Checks of a response's server: the store records its address beside each response, and responses
of another server are refused.

No key depends on the address. A server that moved, by the row's `base_url_env` or to another port
of this machine, keeps its responses where the row names a revision; without a revision nothing says
that the model is the same.
"""

from functools import cache
from urllib.parse import urlsplit

from codestress.errors import EngineError

from .engines.base import own_settings
from .registry import ModelEntry, engine_module
from .store import Belongs

BY = " by "
"""Separator between an address and the environment variable that named it."""


def server_of(entry: ModelEntry) -> str:
    """Returns the address of the registry row `entry`'s server; where an environment variable gives
    the address, followed by " by " and the variable's name. Empty for a model without a server."""
    worker = entry.settings.get("worker") or {"engine": entry.engine}
    if worker["engine"] not in ("openai", "openai_batch"):
        return ""
    module = engine_module(worker["engine"])
    settings = module.Settings.model_validate(own_settings(entry))
    source = f"{BY}{settings.base_url_env}" if settings.override else ""
    return f"{_address(settings.address)}{source}"


def belongs(entry: ModelEntry, archive: str = "") -> Belongs:
    """Returns a check (see `store.Belongs`) that raises `EngineError` for a response from another
    server than the registry row `entry` names. The message names the archive `archive`, or the
    store where this is empty, as the place of the response.

    A response of an unknown server passes. So does one of a server that moved, by the row's
    `base_url_env` or to another port of this machine, where the row names a revision.
    """
    now = server_of(entry)

    @cache
    def check(row: str, then: str) -> None:
        if not _same(entry, row, then, now):
            raise EngineError(
                f"{entry.name}: answers to the same questions are in {archive or 'the store'} from another server: "
                f"{then} (row {row}); this row asks {now}.\n"
                f"Give {entry.name} a `revision` of its own in params/models.yaml, for instance revision: "
                f'"{entry.revision or entry.id}, {urlsplit(now).hostname or "elsewhere"}", '
                f"have it ask {_parts(then)[0]}, or name another file in CODESTRESS_STORE."
            )

    return check


def _same(entry: ModelEntry, row: str, then: str, now: str) -> bool:
    before, variable = _parts(then)
    address, override = _parts(now)
    if before in ("", address) or not address:
        return True
    if row != entry.name or not entry.revision:
        return False
    moves_by = own_settings(entry).get("base_url_env")
    if moves_by and moves_by in (variable, override):
        return True
    # Behind another path of a gateway is another server.
    here = urlsplit(before)
    there = urlsplit(address)
    return here.hostname == there.hostname == "localhost" and here.path == there.path


def _parts(server: str) -> tuple[str, str]:
    address, _, variable = server.partition(BY)
    return address, variable


def _address(base_url: str) -> str:
    """Returns the address `base_url` in one spelling: lower-case scheme and host, an explicit port,
    no final slash, and `localhost` for every loopback address; a text that is no address
    unchanged."""
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        host = parts.hostname or ""
    except ValueError:  # no address: its engine will say so
        return base_url
    if host in ("::1", "0.0.0.0") or host.startswith("127."):
        host = "localhost"
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"
