"""What lies around the kit never reaches a result: hidden files, a person's own settings, places, other tools."""

from __future__ import annotations

import json
from pathlib import Path

from test_failures import Project, project  # noqa: F401

from codestress.paths import visible


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
    done = project.run("build", "--json")
    assert [one["state"] for one in json.loads(done.stdout)] == ["up to date"], done.stderr
    for command in (("sync", "--check"), ("diff", "demo", "demo")):
        done = project.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    typed = project.run("plan", "t/no")
    assert "'t/a'" in typed.stderr
    assert "._a" not in typed.stderr


def test_hidden_files_are_no_file_of_an_artefact_and_no_text_of_a_paper(tmp_path: Path) -> None:
    for name in ("a.txt", "b/a.txt", "b/.a.txt", ".c/a.txt", "b/.c/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert visible(tmp_path, "**/*.txt") == [tmp_path / "a.txt", tmp_path / "b/a.txt"]
    assert visible(tmp_path) == [tmp_path / "a.txt", tmp_path / "b"]
    # Where the folder itself lies does not matter.
    assert visible(tmp_path / ".c") == [tmp_path / ".c/a.txt"]
