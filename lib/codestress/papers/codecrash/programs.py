"""Programs that CodeCrash asks about: the usable problems of a data set, and their
variants under each perturbation (section 2).

A problem whose program does not return its recorded output is left out of all
conditions.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codestress.errors import SandboxError
from codestress.functions import file_of
from codestress.mutate.perturbations.checking import Checked, check_problems
from codestress.mutate.perturbations.edits import GlobalNames, Guard
from codestress.mutate.perturbations.kinds import MESSAGES
from codestress.mutate.perturbations.messages import Wording
from codestress.mutate.perturbations.own import own_perturbations
from codestress.mutate.perturbations.variants import (
    Perturbation,
    Variant,
    make_variants,
)
from codestress.notes import noted
from codestress.parameters import Seeded
from codestress.paths import ROOT
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import (
    cruxeval,
    known_source,
    livecodebench,
    own_problems,
)
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.types import LANGUAGE_NAMES, Language, NotRun

from .contest_programs import contest_files, contest_problems
from .material import translated, written_hints

SOURCES = ("cruxeval", "livecodebench", "generated", "contest")
"""Data sets of the paper, and the kit's own problems."""
Source = Annotated[str, known_source(*SOURCES)]
Truth = Annotated[
    Literal["any", "false"],
    BeforeValidator(lambda value: str(value).lower()),
]
"""Parameter `truth`: whether the messages in a program must all be false in the asked
call (`false`), or may be true (`any`). A bare `false`, which YAML reads as a boolean,
becomes the text "false"."""
Density = Annotated[float, Field(gt=0, le=1)]
"""Share of the places for messages that get a message, above 0 to 1."""
CONDITION = ("dataset", "language", "perturbation", "density")
"""Factors that select the variants of programs."""
Variants = dict[str, Variant]
"""Dict from problem id to variant."""


class Perturbed(Seeded):
    """Parameters of studies that perturb programs: programs, perturbations and their
    settings (section 2). Defaults are the paper's."""

    FILES = {"translations": ("",), "hints": ("generated",)}

    problems: list[Source] = Field(["cruxeval", "livecodebench"], min_length=1)
    """Sources of the programs: generated and contest are the kit's own, the others data
    sets."""
    n_problems: int = Field(0, ge=0)
    """Number of problems of each source, from the first on; 0: all (generated: 800)."""
    languages: list[Literal["python", "javascript"]] = Field(["python"], min_length=1)
    """Languages of the programs; javascript: contest has twins, others need
    translations."""
    translations: str = ""
    """Path of JSON Lines of id and code: JavaScript written by a model."""
    task: Literal["output", "input"] = "output"
    """Task: outputs or inputs are predicted (livecodebench: outputs only)."""
    perturbations: list[Perturbation] = Field(
        ["VAN", "PSC-ALL", "MCC", "MPS", "MHC"], min_length=1
    )
    """Perturbations; VAN is the program as it is."""
    densities: list[Density] = Field([1.0], min_length=1)
    """Share of the places that get a message (p)."""
    hints: str = "outputs/data/codecrash.hints.jsonl"
    """Source of MHC's values: a model's file, which `codestress write hints` makes; or
    generated."""
    messages: Wording = "printed"
    """Wording of MCC and MPS: the kit's with the four messages that Table 3 prints, or
    without them (kit)."""
    guard: Guard = "tag"
    """Fate of a perturbation that the rules refuse to a program: refuse it, or tag it
    and count it."""
    globals_of: GlobalNames = "parameters"
    """Names that GBC declares as globals: parameters, or both: local variables too."""
    truth: Truth = "any"
    """Messages by their truth in the asked call: false ones alone, or any, as in the
    paper."""

    def not_run(self) -> tuple[NotRun, ...]:
        """Return a `NotRun`, which names a gap and its reason, for each language whose
        programs cannot run on this computer, and for problems without a hint in the file
        of hints."""
        gaps = [*_without_hints(self)]
        for language in self.languages:
            if why := missing(language):
                label = LANGUAGE_NAMES[language]
                gaps.append(NotRun("language", language, label, why))
        return tuple(gaps)

    def files(self) -> list[Path]:
        """Return the paths of the files that the study reads: contest programs, modules
        of custom perturbations, and the named files of hints and translations if they are
        used. A file need not exist."""
        files: list[Path] = []
        if "contest" in self.problems:
            files += contest_files()
        for name, perturbation in own_perturbations().items():
            if name in self.perturbations:
                files.append(file_of(perturbation.function))
        for name in sorted(self.FILES.keys() - self.idle()):
            path = getattr(self, name)
            if path not in self.FILES[name]:
                files.append(ROOT / path)
        return files


def _without_hints(given: Perturbed) -> Iterator[NotRun]:
    """Yield a `NotRun` for each data set and language of `given` that has problems without a row in
    the file of hints: they are not asked about under MHC."""
    if "MHC" not in given.perturbations or given.hints == "generated":
        return
    for source, language in product(given.problems, runnable(given.languages)):
        settings = given.n_problems, given.translations, given.seed
        problems, _ = checked_problems(source, language, *settings)
        ids = {checked.problem.id for checked in problems}
        hints = written_hints(given.hints, source, given.task, ids)
        if lacking := len(ids) - len(hints):
            label = f"MHC for {lacking} of {len(ids)} problems of {source}"
            why = f"{given.hints} has no hint for them"
            yield NotRun("perturbation", "MHC", label, why)


@cache
@noted
def checked_problems(
    source: str, language: Language, n_problems: int, translations: str, seed: int
) -> tuple[list[Checked], dict[str, str]]:
    """Return the usable problems of `source` in `language`, as `Checked` with their
    executions, and a dict from the id of each unusable problem to its fault. A program
    is unusable if it does not parse, does not return its recorded output, or does not
    behave the same twice.

    `source` is an entry of `SOURCES` or a custom set (params/problems.yaml).
    `n_problems` takes only the first ones; 0 takes all, or 800 generated ones.
    `translations` is the file for `translated`. `seed` determines the generated
    problems and the inputs of the check. Raises `DataError` for a missing or faulty
    file, and `ParameterError` if `translations` is empty but needed (JavaScript, except
    for `contest`).
    """
    match source:
        case "generated":
            problems = generated_problems(n_problems or 800, seed=seed)
        case "contest":
            problems = contest_problems(language)
        case "cruxeval":
            problems = cruxeval()
        case "livecodebench":
            problems = livecodebench()
        case _:
            problems = own_problems(source)
    problems = problems[: n_problems or None]
    if language == "javascript" and source != "contest":
        problems = translated(problems, translations, source)
    with Executor() as executor:
        return check_problems(problems, executor, seed)


def variants(
    given: Perturbed,
    source: str,
    language: Language,
    perturbation: Perturbation,
    density: float,
) -> Variants:
    """Return the variant of each usable problem of `source` in `language` under
    `perturbation`, as a dict from problem id to `Variant`. A variant holds the
    perturbed problem, or the vanilla problem if the status is not `applied`.

    `density` is the share of the places for messages that get a message; it has no
    effect on perturbations that insert none. `given` has all other settings. Raises
    `DataError` for a missing or faulty file of problems, hints or translations.
    """
    if perturbation not in MESSAGES:
        density = 1.0
    problems = source, language, given.n_problems, given.translations, given.seed
    return _variants(
        problems,
        perturbation,
        given.hints,
        density=density,
        task=given.task,
        guard=given.guard,
        truth=given.truth,
        globals_of=given.globals_of,
        wording=given.messages,
    )


@cache
@noted
def _variants(
    of: tuple[str, Language, int, str, int],
    perturbation: Perturbation,
    hints: str,
    **how: Any,
) -> Variants:
    source, *_, seed = of
    problems, _ = checked_problems(*of)
    if perturbation == "MHC" and hints != "generated":
        ids = {checked.problem.id for checked in problems}
        how["written_hints"] = written_hints(hints, source, how["task"], ids)
    with Executor() as executor:
        return make_variants(problems, perturbation, executor, seed=seed, **how)


def made_variants(
    given: Perturbed,
) -> Iterator[tuple[str, Language, Perturbation, float, Variants]]:
    """Yield (source, language, perturbation, density, variants) for each combination of
    these parameters in `given`. The variants are a dict from problem id to `Variant`;
    the density is 1 for perturbations that insert no messages. Languages that cannot
    run on this computer are left out. Raises `SandboxError` if no language can run."""
    languages = runnable(given.languages)
    for condition in product(given.problems, languages, given.perturbations):
        densities = [1.0]
        if condition[-1] in MESSAGES:
            densities = given.densities
        for density in densities:
            yield *condition, density, variants(given, *condition, density)


def runnable(languages: Sequence[Language]) -> list[Language]:
    """Return those of `languages` whose programs can run on this computer, in the same
    order. Raises `SandboxError` with the reasons if none can."""
    left = [language for language in languages if not missing(language)]
    if not left:
        why = "; ".join(map(missing, languages))
        raise SandboxError(f"languages = {languages}: {why}")
    return left
