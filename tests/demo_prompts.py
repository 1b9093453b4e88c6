"""A hash of all prompts of each of the demo's artefacts, as JSON.

Where they are meant to change: `.venv/bin/python tests/demo_prompts.py > tests/demo_prompts.json`.
"""

from __future__ import annotations

import hashlib
import json
import sys

from codestress.artefact_files import artefact_names
from codestress.pipeline.artefacts import resolve


def prompt_hashes() -> dict[str, str]:
    """By artefact; those that ask nothing are left out."""
    found = {}
    for artefact in resolve(artefact_names(), "demo"):
        trials = artefact.trials()
        digest = hashlib.blake2b(digest_size=8)
        for trial in trials.items:
            prompt = trials.render(trial)
            digest.update(
                json.dumps(
                    [prompt.prefill, *([m.role, m.content] for m in prompt.messages)]
                ).encode()
            )
        if trials.items:
            found[artefact.name] = digest.hexdigest()
    return found


if __name__ == "__main__":
    json.dump(prompt_hashes(), sys.stdout, indent=1)
