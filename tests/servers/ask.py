"""Asks a small study of a model, prints what came, and archives it: `python ask.py REGISTRY MODEL STORE [ARTEFACT]`.

For the checks with real servers, in whatever environment has the engine; answers by key, and counts by reason.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from codestress.inference.archive import write_archive
from codestress.inference.registry import load_registry
from codestress.inference.requests import stored_requests
from codestress.inference.run import run
from codestress.inference.store import Store, stored_responses
from codestress.pipeline.artefacts import resolve


def main(registry: Path, model: str, store: Path, name: str = "semtrace/fig01") -> None:
    models = load_registry() | load_registry(registry)
    [artefact] = resolve([name], "smoke", [model], ["max_tokens=12"], models)
    results = run(artefact.trials(), [model], registry=registry, store=store)
    with Store(store) as opened:
        rows = stored_requests(artefact.trials(), [models[model]], opened)
        write_archive(store.with_suffix(".jsonl.gz"), rows)
    responses = stored_responses(results.answers["key"], store)
    found = {
        "asked": results.asked,
        "counts": results.counts(),
        "texts": {key: response.text for key, response in responses.items()},
        "cached": sum(one.usage.cached_tokens or 0 for one in responses.values()),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
