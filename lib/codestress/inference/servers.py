"""Which server answered: the store records its address beside each answer, and another server's answers are refused.

No key depends on the address. A server that moved, by the row's `base_url_env` or to another port of this machine,
keeps its answers where the row names a revision; without one nothing says that it is the same model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

from codestress.errors import ArchiveError, EngineError
from codestress.inference.engines.openai import Settings
from codestress.inference.registry import ModelEntry

Belongs = Callable[[str, str], None]
"""Refuses, by an error, an answer by the registry's name of its model and by what `server_of` said of its server."""
BY = " by "
"""Between an address and the environment variable that named it."""


def server_of(entry: ModelEntry) -> str:
    """Address of the server that a row asks, and the environment variable that names it; empty without a server."""
    settings = _settings(entry)
    if settings is None:
        return ""
    override = os.environ.get(settings.base_url_env) if settings.base_url_env else None
    address = _address(override or settings.base_url)
    return f"{address}{BY}{settings.base_url_env}" if override else address


def belongs(entry: ModelEntry, archive: str = "") -> Belongs:
    """Refuses answers, of the store or of an archive, from other servers than the one that the row asks."""
    now = server_of(entry)

    @cache
    def check(row: str, then: str) -> None:
        if not _same(entry, row, then, now):
            elsewhere = (
                f"or have the row ask {_parts(then)[0]}: the archive's answers count for it alone."
                if archive
                else "or name another file in CODESTRESS_STORE."
            )
            raise EngineError(
                f"{entry.name}: answers to the same questions are in {archive or 'the store'} from another server: "
                f"{then} (row {row}); this row asks {now}.\n"
                f"Give {entry.name} a `revision` of its own in params/models.yaml, for instance revision: "
                f'"{entry.revision or entry.id}, {urlsplit(now).hostname or "elsewhere"}", {elsewhere}'
            )

    return check


def comes_from(model: str, server: str, archive: str) -> Belongs:
    """The same for an archive's answers whose model has no row: what the store has must be of the same address."""

    def check(row: str, then: str) -> None:
        before, address = _parts(then)[0], _parts(server)[0]
        if before and address and before != address:
            raise ArchiveError(
                f"{archive}: {model}: answers to the same questions are in the store from another server: {then} (row "
                f"{row}); the archive's are from {server}. Name another file in CODESTRESS_STORE."
            )

    return check


def _same(entry: ModelEntry, row: str, then: str, now: str) -> bool:
    (before, variable), (address, override) = (_parts(one) for one in (then, now))
    if before in ("", address) or not address:
        return True
    if row != entry.name or not entry.revision:
        return False
    settings = _settings(entry)
    named = settings is not None and settings.base_url_env in {variable, override} - {""}
    return named or (_here(before) and _here(address))


def _settings(entry: ModelEntry) -> Settings | None:
    """How the row's server is asked; None where there is none."""
    own, engine = entry.settings, entry.engine
    if engine == "ray":
        engine, own = own["worker"]["engine"], own["worker"].get("settings", {})
    if engine not in ("openai", "openai_batch"):
        return None
    return Settings.model_validate({name: value for name, value in own.items() if name in Settings.model_fields})


def _parts(server: str) -> tuple[str, str]:
    address, _, variable = server.partition(BY)
    return address, variable


def _address(base_url: str) -> str:
    """In one way of writing: small letters, no port where it is the usual one, one name for this machine."""
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        host = parts.hostname or ""
    except ValueError:  # no address: its engine will say so
        return base_url
    host = "localhost" if host in ("::1", "0.0.0.0") or host.startswith("127.") else host
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def _here(address: str) -> bool:
    return urlsplit(address).hostname == "localhost"
