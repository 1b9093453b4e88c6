"""Surroundings of the kit reach no result: hidden files, a person's own settings, places, other repositories."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from small_project import Project

from codestress.paths import visible
from codestress.pipeline.surroundings import LONGEST, socket_folder
from conftest import ROOT, SCRIPT, codestress, ran
from told import names


def write_hidden_files(root: Path) -> None:
    """Leave in each folder what editors and systems leave beside files."""
    folders = [path for path in root.rglob("*") if path.is_dir()]
    for folder in [root, *folders]:
        files = [path for path in folder.iterdir() if path.is_file()]
        checkpoints = folder / ".ipynb_checkpoints"
        checkpoints.mkdir()
        for path in files:
            copy = f"{path.stem}-checkpoint{path.suffix}"
            (checkpoints / copy).write_text("no: such\nkey: {")
            (folder / f"._{path.name}").write_bytes(b"\0\5\26\7\xff")
            (folder / f".#{path.name}").symlink_to("somebody@nowhere.1234:5678")


def test_hidden_files_are_no_part_of_the_kit(tmp_path: Path) -> None:
    """The project itself may lie in a hidden folder."""
    project = Project(tmp_path / ".hidden")
    project.artefact("a", "pass")
    project.works("sync")
    project.works("build")
    write_hidden_files(project.root)
    assert project.states() == {"t/a": "up to date"}
    project.works("sync", "--check")
    errors = project.run("plan", "t/no").stderr
    assert "'t/a'" in errors
    assert "._a" not in errors


MATPLOTLIBRC = "axes.facecolor: black\ntext.usetex: True\nsavefig.dpi: 30\n"
FOREIGN = "raise SystemExit('a foreign module was imported')"
REPLACED = ["click", "errno", "pandas", "yaml"]
"""Modules that a folder of PYTHONPATH replaces."""
# Scripts of an older pip import `re` before anything of the kit.
if "import re\n" not in Path(SCRIPT).read_text():
    REPLACED += ["re", "types"]


def personal_settings(home: Path) -> dict[str, str]:
    """Write a person's settings of each tool, each of which would change a build or end it, and return the
    environment that names them."""
    files = dict.fromkeys([f"own/{name}.py" for name in REPLACED], FOREIGN) | {
        ".config/matplotlib/matplotlibrc": MATPLOTLIBRC,
        ".ipython/profile_default/startup/00.py": "import os; os._exit(7)",
        ".ipython/profile_default/ipython_kernel_config.py": "import os; os._exit(7)",
        ".jupyter/jupyter_config.py": "raise SystemExit(3)",
        ".local/share/jupyter/kernels/python3/kernel.json": '{"argv": ["false"]}',
        ".local/share/jupyter/nbconvert/templates/basic/index.html.j2": "{% broken",
        "own/matplotlibrc": MATPLOTLIBRC,
        "own/start.py": FOREIGN,
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
    environment = os.environ | personal_settings(home) | places
    before = sorted(home.rglob("*"))
    options = {"cwd": home / "own", "stdin": subprocess.DEVNULL}
    process = ran(SCRIPT, *words, env=environment, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    # Nothing is written there either.
    assert sorted(home.rglob("*")) == before
    assert list(temporary.iterdir()) == []
    own, plain = (tmp_path / name / "smoke/origin/fig04" for name in ("own", "plain"))
    for name in ("figure.png", "figure.svg", "table.csv", "table.md", "answers.html"):
        assert (own / name).read_bytes() == (plain / name).read_bytes(), name
    outputs = []
    for folder in (own, plain):
        cells = nbformat.read(folder / "notebook.ipynb", 4).cells
        outputs.append([cell.get("outputs") for cell in cells])
    assert outputs[0] == outputs[1]


@pytest.mark.slow  # starts JupyterLab
def test_doctor_names_ignored_settings_and_what_stops_jupyterlab(
    tmp_path: Path,
) -> None:
    settings = {**personal_settings(tmp_path), "TMPDIR": str(tmp_path)}
    outputs = {"CODESTRESS_OUTPUTS": str(tmp_path / "outputs")}
    process = ran(SCRIPT, "doctor", env=os.environ | settings | outputs)
    for name in ("PYTHONPATH", "MPLBACKEND", "IPYTHONDIR"):
        names(process.stdout, f"{name}={settings[name]}")
    startup = tmp_path / ".ipython/profile_default/startup/00.py"
    names(process.stdout, tmp_path / ".config/matplotlib/matplotlibrc", startup)
    lines = process.stdout.splitlines()
    [broken] = [line for line in lines if line.startswith("broken")]
    names(broken, "make lab", tmp_path / ".jupyter/jupyter_config.py")
    assert process.returncode == 1
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("characters", [LONGEST - 1, LONGEST])
def test_sockets_lie_where_their_paths_are_short(
    characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest's own folder has a longer path.
    with tempfile.TemporaryDirectory(dir="/tmp") as base:
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
    command = ["git", *person, *arguments]
    subprocess.run(command, cwd=at, check=True, capture_output=True)


def test_only_the_kit_s_own_repository_has_its_commit(tmp_path: Path) -> None:
    def commit_of(root: Path, **more: str) -> list[str]:
        environment = {**os.environ, "CODESTRESS_ROOT": str(root), **more}
        process = ran(sys.executable, "-c", COMMIT, env=environment)
        return process.stdout.strip().split("|")

    own, unpacked = tmp_path / "own", tmp_path / "unpacked"
    for folder in (own, unpacked):
        folder.mkdir()
    for folder in (tmp_path, own):
        git("init", at=folder)
        git("commit", "--allow-empty", "-m", folder.name, at=folder)
    commit, reason = commit_of(unpacked)
    assert not commit
    names(reason, "not a git repository")
    commit, reason = commit_of(own)
    assert len(commit) == 40
    # A hook of another repository runs the build.
    outer = {"GIT_DIR": str(tmp_path / ".git"), "GIT_WORK_TREE": str(tmp_path)}
    outer["GIT_INDEX_FILE"] = str(tmp_path / "no")
    assert commit_of(own, **outer) == [commit, reason]
    assert commit_of(unpacked, **outer)[0] == ""
    commit, reason = commit_of(own, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert not commit
    names(reason, "safe.directory", own)


def test_a_clone_has_the_bytes_that_were_committed(tmp_path: Path) -> None:
    settings = ("-c", "core.autocrlf=true", "-c", "core.eol=crlf")
    git("clone", "--quiet", *settings, str(ROOT), "clone", at=tmp_path)
    for name in ("lib/codestress/papers", "params", "notebooks"):
        for path in visible(tmp_path / "clone" / name, "**/*.*"):
            if path.is_file() and path.suffix != ".gz":
                assert b"\r\n" not in path.read_bytes(), path
