"""A small project with artefacts of its own, on which tests run the console script."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat

from codestress.inference.store import Store
from codestress.parameters import parameters_cell
from codestress.pipeline.artefacts import load_study
from conftest import ROOT, SCRIPT, ran
from openai_server import Received, Reply, completion
from served import settings_of
from told import names

WITHOUT_KERNELS = (sys.executable, str(Path(__file__).with_name("without_kernels.py")))
STUDY = "origin.find_the_origin"
OUTSIDE = ("CODESTRESS_DATA", "CODESTRESS_STORE", "OPENAI_API_KEY")
"""Variables of whoever runs the tests that no command of a small project gets."""


class Project:
    """A folder with params/ and notebooks/, whose artefacts belong to the paper `t`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.outputs = root / "outputs"
        for folder in ("params/profiles", "params/t", "notebooks/t"):
            (root / folder).mkdir(parents=True)
        for file in ("models.yaml", "datasets.yaml"):
            shutil.copy(ROOT / "params" / file, root / "params" / file)
        self.write_profile()

    def write_profile(self, timeout_s: float = 120) -> None:
        parameters = "{'t/*': {models: [sim-near], step: 300}}"
        text = f"description: test\ntimeout_s: {timeout_s}\nparameters: {parameters}\n"
        (self.root / "params/profiles/demo.yaml").write_text(text)

    def artefact(self, name: str, *cells: str, **parameters: object) -> None:
        """Write an artefact whose notebook has these cells (none: the project's own notebook of shares)."""
        notebook = nbformat.read(ROOT / "notebooks/origin/shares.ipynb", as_version=4)
        if cells:
            values = {"artefact": "", "models": []}
            source = parameters_cell(load_study(STUDY, "test"), values, {})
            tags = {"tags": ["parameters"]}
            first = nbformat.v4.new_code_cell(source, metadata=tags)
            notebook.cells = [first, *map(nbformat.v4.new_code_cell, cells)]
            notebook.metadata.pop("codestress")  # its knobs
        nbformat.write(notebook, self.root / f"notebooks/t/{name}.ipynb")
        file = {"title": name, "notebook": f"t/{name}.ipynb", "study": STUDY}
        file["parameters"] = parameters
        (self.root / f"params/t/{name}.yaml").write_text(json.dumps(file))

    def serve(self, base_url: str, **settings: object) -> None:
        """Write params/models.yaml with the model `served` at this address."""
        row = {"engine": "openai", "settings": settings_of(base_url, **settings)}
        registered = (ROOT / "params/models.yaml").read_text()
        path = self.root / "params/models.yaml"
        path.write_text(f"{registered}\nserved: {json.dumps(row)}\n")

    def environment(self, **more: str) -> dict[str, str]:
        environment = dict(os.environ)
        for name in OUTSIDE:
            environment.pop(name, None)
        environment["CODESTRESS_ROOT"] = str(self.root)
        environment["CODESTRESS_OUTPUTS"] = str(self.outputs)
        return environment | more

    def run(
        self, *arguments: str, kernels: bool = False, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the console script, by default without executing notebooks."""
        script = (SCRIPT,) if kernels else WITHOUT_KERNELS
        return ran(*script, *arguments, env=self.environment(**more))

    def works(self, *arguments: str, **more: Any) -> str:
        """Run a command that must succeed, and return its standard output."""
        process = self.run(*arguments, **more)
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def fails(self, *arguments: str, parts: tuple[object, ...], **more: Any) -> None:
        """Run a command that must fail with an error that names these."""
        process = self.run(*arguments, **more)
        assert process.returncode == 1
        names(process.stderr, *parts)
        assert "Traceback" not in process.stderr

    def states(self, *arguments: str) -> dict[str, str]:
        """Build, and return the state of each artefact."""
        outcomes = json.loads(self.run("build", *arguments, "--json").stdout)
        return {outcome["name"]: outcome["state"] for outcome in outcomes}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command without waiting for its end."""
        return subprocess.Popen(
            [*WITHOUT_KERNELS, *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Shells let background jobs ignore the interrupt.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def count_responses(self) -> int:
        """Count the responses in the store."""
        with Store(self.outputs / "responses.sqlite") as store:
            return store.count()


def answers_late(_: Received) -> Reply:
    return completion("FINAL ANSWER: workbench", delay=0.05)
