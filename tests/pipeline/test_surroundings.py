"""Surroundings of the kit reach no result: hidden files, a person's own settings, places, other tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from matplotlib import rc_context, rcParams
from test_failures import Project, project  # noqa: F401

from codestress.paths import visible
from codestress.pipeline.surroundings import LONGEST, socket_folder
from codestress.report.style import styled_figure
from conftest import ROOT, SCRIPT, codestress, ran
from told import names

MATPLOTLIBRC = "axes.facecolor: black\ntext.usetex: True\nsavefig.dpi: 30\nsavefig.transparent: True\n"
FOREIGN = "raise SystemExit('a foreign module was imported')"


def hidden_files(root: Path) -> None:
    """Leaves in each folder of `root` what editors and systems leave beside files."""
    folders = [path for path in root.rglob("*") if path.is_dir()]
    for folder in [root, *folders]:
        files = [path for path in folder.iterdir() if path.is_file()]
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
        for path in files:
            copy = f"{path.stem}-checkpoint{path.suffix}"
            (folder / ".ipynb_checkpoints" / copy).write_text("no: such\nkey: {")
            (folder / f"._{path.name}").write_bytes(b"\0\5\26\7\xff")
            (folder / f".#{path.name}").symlink_to("somebody@nowhere.1234:5678")
            (folder / f".{path.name}.swp").write_bytes(b"b0VIM\xff")


def test_hidden_files_are_nothing_of_the_kit(project: Project) -> None:  # noqa: F811
    project.artefact("a", "pass")
    for command in ("sync", "build"):
        assert project.run(command).returncode == 0
    hidden_files(project.root)
    assert project.states() == {"t/a": "up to date"}
    done = project.run("sync", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    typed = project.run("plan", "t/no")
    assert "'t/a'" in typed.stderr
    assert "._a" not in typed.stderr


def test_hidden_files_are_no_file_of_an_artefact_and_no_text_of_a_paper(
    tmp_path: Path,
) -> None:
    for name in ("a.txt", "b/a.txt", "b/.a.txt", ".c/a.txt", "b/.c/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert visible(tmp_path, "**/*.txt") == [tmp_path / "a.txt", tmp_path / "b/a.txt"]
    assert visible(tmp_path) == [tmp_path / "a.txt", tmp_path / "b"]
    # Where the folder itself lies does not matter.
    assert visible(tmp_path / ".c") == [tmp_path / ".c/a.txt"]


REPLACED = ["click", "errno", "pandas", "yaml"]
"""Modules that a folder of PYTHONPATH replaces."""
if (
    "import re\n" not in Path(SCRIPT).read_text()
):  # as in scripts of an older pip, before anything of the kit
    REPLACED += ["re", "types"]


def persons(home: Path) -> dict[str, str]:
    """An environment in which each tool has settings of a person's, each of which would change a build or end it."""
    files = {
        ".config/matplotlib/matplotlibrc": MATPLOTLIBRC,
        ".ipython/profile_default/startup/00.py": "import os; os._exit(7)",
        ".ipython/profile_default/ipython_kernel_config.py": "import os; os._exit(7)",
        ".jupyter/jupyter_config.py": "raise SystemExit(3)",
        ".local/share/jupyter/kernels/python3/kernel.json": '{"argv": ["false"]}',
        ".local/share/jupyter/nbconvert/templates/basic/index.html.j2": "{% broken",
        "own/matplotlibrc": MATPLOTLIBRC,
        "own/start.py": FOREIGN,
        **{f"own/{name}.py": FOREIGN for name in REPLACED},
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return {
        "HOME": str(home),
        "COLUMNS": "12",
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
        "JUPYTER_PATH": str(home / ".local/share/jupyter"),
        "JUPYTER_RUNTIME_DIR": "/proc/nowhere",
        "MATPLOTLIBRC": str(home / "own/matplotlibrc"),
        "MPLBACKEND": "nonsense",
        "MPLCONFIGDIR": "/proc/nowhere",
        "PANDAS_FUTURE_INFER_STRING": "1",
        "PYTHONINSPECT": "1",
        "PYTHONOPTIMIZE": "2",
        "PYTHONPATH": f"{home / 'own'}:",
        "PYTHONSTARTUP": str(home / "own/start.py"),
        "PYTHONWARNINGS": "error",
        "TQDM_MININTERVAL": "often",
    }


@pytest.mark.slow  # executes a notebook twice
def test_a_person_s_settings_and_places_reach_no_result(tmp_path: Path) -> None:
    words = ("build", "origin/fig04", "--profile", "smoke")
    assert codestress(*words, outputs=tmp_path / "plain").returncode == 0
    home, temporary = tmp_path / "home", tmp_path / ("long" * 30)
    temporary.mkdir()
    places = {"CODESTRESS_OUTPUTS": str(tmp_path / "own"), "TMPDIR": str(temporary)}
    environment = os.environ | persons(home) | places
    before = sorted(home.rglob("*"))
    at = {"cwd": home / "own", "stdin": subprocess.DEVNULL}
    done = ran(SCRIPT, *words, env=environment, **at)
    assert done.returncode == 0, done.stdout + done.stderr
    # Nothing is written there either.
    assert sorted(home.rglob("*")) == before
    assert list(temporary.iterdir()) == []
    own, plain = (tmp_path / name / "smoke/origin/fig04" for name in ("own", "plain"))
    for name in ("figure.png", "figure.svg", "table.csv", "table.md", "answers.html"):
        assert (own / name).read_bytes() == (plain / name).read_bytes(), name

    def outputs(folder: Path) -> list[Any]:
        notebook = nbformat.read(folder / "notebook.ipynb", 4)
        return [cell.get("outputs") for cell in notebook.cells]

    assert outputs(own) == outputs(plain)


@pytest.mark.slow  # `codestress doctor` as a whole, and JupyterLab's start
def test_doctor_names_what_is_left_aside_and_what_stops_jupyterlab(
    tmp_path: Path,
) -> None:
    own = {**persons(tmp_path), "TMPDIR": str(tmp_path)}
    outputs = {"CODESTRESS_OUTPUTS": str(tmp_path / "outputs")}
    done = ran(SCRIPT, "doctor", env=os.environ | own | outputs)
    for name in ("PYTHONPATH", "MPLBACKEND", "IPYTHONDIR"):
        names(done.stdout, f"{name}={own[name]}")
    startup = ".ipython/profile_default/startup/00.py"
    names(done.stdout, tmp_path / ".config/matplotlib/matplotlibrc", tmp_path / startup)
    [broken] = [line for line in done.stdout.splitlines() if line.startswith("broken")]
    names(broken, "make lab", tmp_path / ".jupyter/jupyter_config.py")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.slow  # starts JupyterLab, three times
def test_what_stops_jupyterlab_is_named_wherever_it_is_set(tmp_path: Path) -> None:
    def faults(**variables: str) -> str:
        script = "from codestress.pipeline import surroundings as s; print(s.faulty_jupyter_settings())"
        environment = {**os.environ, "HOME": str(tmp_path), **variables}
        return ran(sys.executable, "-c", script, env=environment).stdout.strip()

    assert faults() == ""
    (tmp_path / "jupyter_server_config.py").write_text("raise SystemExit('bad')")
    named = faults(JUPYTER_CONFIG_PATH=str(tmp_path))
    names(named, tmp_path / "jupyter_server_config.py")
    names(faults(JUPYTER_PORT="abc"), "JUPYTER_PORT", "abc")


def test_of_pythonpath_the_kit_s_own_folder_stays(tmp_path: Path) -> None:
    """A clone's own code, in another clone's environment, as `make badge` runs it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lib", tmp_path / "lib", ignore=ignored)
    marked = tmp_path / "lib/codestress/__init__.py"
    text = marked.read_text()
    marked.write_text(text.replace('__version__ = "', "__version__ = \"the clone's "))
    persons(tmp_path)
    path = os.pathsep.join((str(tmp_path / "lib"), str(tmp_path / "own")))
    done = ran(SCRIPT, "--version", env=os.environ | {"PYTHONPATH": path})
    # Its own folder stands first, so that nothing of it is replaced by what is behind.
    names(done.stdout, "the clone's")


def test_a_figure_is_drawn_from_matplotlib_s_defaults() -> None:
    wanted = styled_figure(2, 1).get_facecolor()
    theirs = {"figure.facecolor": "black", "text.usetex": True, "savefig.dpi": 30}
    with rc_context(theirs):
        assert styled_figure(2, 1).get_facecolor() == wanted
        assert not rcParams["text.usetex"]
        assert rcParams["savefig.dpi"] == 200


@pytest.mark.parametrize("characters", [LONGEST - 1, LONGEST, 200])
def test_sockets_lie_where_their_paths_are_short(
    characters: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tempfile.mkdtemp(dir="/tmp")  # pytest's own folder has a longer path
    request.addfinalizer(lambda: shutil.rmtree(base))
    temporary = Path(base) / ("t" * (characters - len(base) - 1))
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    place = temporary if characters < LONGEST else Path("/tmp")
    with socket_folder() as folder:
        assert Path(folder).parent == place


COMMIT = (
    "from codestress.pipeline.surroundings import commit; print(*commit(), sep='|')"
)


def git(*arguments: str, at: Path) -> None:
    person = ("-c", "user.name=n", "-c", "user.email=e@e")
    subprocess.run(
        ["git", *person, *arguments], cwd=at, check=True, capture_output=True
    )


def test_only_the_kit_s_own_repository_has_its_commit(tmp_path: Path) -> None:
    def commit_of(root: Path, **more: str) -> list[str]:
        environment = {**os.environ, "CODESTRESS_ROOT": str(root), **more}
        done = ran(sys.executable, "-c", COMMIT, env=environment)
        return done.stdout.strip().split("|")

    own, unpacked = tmp_path / "own", tmp_path / "unpacked"
    for folder in (tmp_path, own):
        folder.mkdir(exist_ok=True)
        git("init", at=folder)
        git("commit", "--allow-empty", "-m", folder.name, at=folder)
    unpacked.mkdir()
    known, why = commit_of(unpacked)
    assert not known
    names(why, "not a git repository")
    known, why = commit_of(own)
    assert len(known) == 40
    # A hook of another repository runs the build.
    outer = {"GIT_DIR": str(tmp_path / ".git"), "GIT_WORK_TREE": str(tmp_path)}
    outer["GIT_INDEX_FILE"] = str(tmp_path / "no")
    assert commit_of(own, **outer) == [known, why]
    assert commit_of(unpacked, **outer)[0] == ""
    known, why = commit_of(own, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert not known
    names(why, "safe.directory", own)


def test_a_clone_has_the_bytes_that_were_committed(tmp_path: Path) -> None:
    settings = ("-c", "core.autocrlf=true", "-c", "core.eol=crlf")
    git("clone", "--quiet", *settings, str(ROOT), "clone", at=tmp_path)
    for name in ("lib/codestress/papers", "params", "notebooks"):
        for path in visible(tmp_path / "clone" / name, "**/*.*"):
            if path.is_file():
                assert b"\r\n" not in path.read_bytes() or path.suffix == ".gz", path


@pytest.mark.slow  # executes a notebook
def test_a_notebook_saved_by_other_tools_is_built(project: Project) -> None:  # noqa: F811
    """As hooks and editors leave it."""
    project.artefact("a")
    path = project.root / "notebooks/t/a.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"] = {"vscode": {"interpreter": {"hash": "0"}}}
    del notebook["nbformat_minor"]
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["metadata"]["collapsed"] = False
        if cell["cell_type"] == "code":
            cell["metadata"]["vscode"] = {"languageId": "python"}
            text = {"output_type": "stream", "name": "stdout", "text": ["an old one"]}
            cell.update(execution_count=7, outputs=[text])
    notebook["cells"][0]["id"] = f"an id with blanks, é, and {'more ' * 20}"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    done = project.run("build", kernels=True)
    assert done.returncode == 0, done.stdout + done.stderr
    executed = (project.root / "outputs/demo/t/a/notebook.ipynb").read_text()
    assert "an old one" not in executed


def test_values_that_a_build_ignores_are_named_with_the_file_to_edit(
    project: Project,  # noqa: F811
) -> None:
    for name in ("a", "b"):
        project.artefact(name, "pass", step=300)
    artefact = project.root / "params/t/b.yaml"
    artefact.write_text(artefact.read_text().replace("t/b.ipynb", "t/a.ipynb"))
    path = project.root / "notebooks/t/a.ipynb"
    notebook = nbformat.read(path, 4)
    knobs = {"step": "Larger: fewer."}
    notebook.metadata.codestress = {"artefact": "t/a", "knobs": knobs}
    nbformat.write(notebook, path)
    assert "JupyterLab" not in project.run("sync").stderr
    text = path.read_text().replace("step: int = 300", "step: int = 150")
    path.write_text(text.replace("# Any", "seed: int = 9\\n# Any"))
    sources = {"step = 150": "params/profiles/demo.yaml", "seed = 9": "params/t/a.yaml"}
    for command in (("build",), ("plan",), ("sync", "--check")):
        done = project.run(*command)
        for value, source in sources.items():
            [line] = [line for line in done.stderr.splitlines() if value in line]
            files = ("params/t/a.yaml", "params/t/b.yaml")
            names(line, "notebooks/t/a.ipynb", source, *files)
        assert done.returncode == (command[0] == "sync"), done.stderr
