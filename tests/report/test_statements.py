"""Whether each statement of the papers can be decided: synthetic answers of the papers' models, for this test alone.

Answers that have exactly the published effect, under the paper's protocol and of its size, are not called different
beyond the nominal rate; answers with a clearly other effect are. What no run decides stands in docs/ledger.md.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.proportions import clustered_share
from codestress.inference.registry import load_registry
from codestress.papers.codecrash.results import differences, leaderboard, reasoning
from codestress.papers.faultloc.results import stated
from codestress.papers.faultloc.results.localization import READINGS
from codestress.papers.faultloc.results.paper import published_localization
from codestress.papers.origin import results as origin
from codestress.papers.semtrace.results import largest_drops, losses, removal, tables
from codestress.papers.semtrace.results.orders import FAMILIES
from codestress.parameters import Facts
from codestress.report.claims import EVIDENCE, ORDERS, WORDS, ledger
from codestress.report.published import (
    published_models,
    published_numbers,
    read_published,
)
from codestress.report.statements import Statement, statements
from codestress.scoring.summaries import summarize
from conftest import artefact_of, some

ROOT = Path(__file__).parents[2]
PAPERS = ("origin", "semtrace", "faultloc", "codecrash")
POSITIONS = np.linspace(0, 1, 11)
Tables = dict[str, pd.DataFrame]
Random = np.random.Generator
SEEDS = 2
STRICT: dict[str, Any] = {"rule": "strict", "confidence": 0.95}
FITTED = {"confidence": 0.95, "resamples": 200, "seed": 0}


def models_of(paper_name: str, one: Statement) -> list[str]:
    groups = read_published(paper_name).get("groups", {})
    model = one.where.get("model", "")
    return list(groups.get(model, [model] if model else []))


@cache
def protocol(name: str) -> Facts:
    return artefact_of(name, "paper").parameters


def verdicts(paper_name: str, one: Statement, tables: Tables) -> list[str]:
    """Of one statement, with these tables and none of the others."""
    given = protocol(f"{paper_name}/{one.artefacts[0]}")
    used = statements(paper_name, one.artefacts[0])
    named = {name for other in used for name in (other.each, other.table) if name}
    found = ledger(given, dict.fromkeys(named, pd.DataFrame()) | tables)
    head = one.statement.split("{")[0] if one.each else one.statement
    same = found["statement"].str.startswith(head) & found["regenerated"].notna()
    same &= (found["unit"] == one.unit) & (found["evidence"] == one.evidence)
    found = found[same]
    for readings in filter(None, found["readings"]):
        numbers = re.findall(r": [\d,.-]+ \S+ .*?\(", readings)
        assert len(numbers) == readings.count("; ") + 1, readings
    return found["verdict"].map(str).tolist()


def moved(share: float, shift: float) -> float:
    """Another share, as far as the shift towards one half and beyond."""
    return share - shift if share > 0.5 else share + shift


def chances(means: np.ndarray, items: int, random: Random) -> np.ndarray:
    """Of items (rows) in conditions with these means: three in ten are solved, or failed, in all conditions."""
    return settled(random.random((items, 1)), means)


def settled(place: np.ndarray, means: np.ndarray) -> np.ndarray:
    failed = place > 1 - 0.3 * (1 - means)
    return np.where(place < 0.3 * means, 1.0, np.where(failed, 0.0, means))


def drawn(means: np.ndarray, items: int, random: Random) -> np.ndarray:
    chance = chances(means, items, random)
    return (random.random(chance.shape) < chance) * 1.0


def rows_of(table: np.ndarray, *axes: str, columns: Any = None) -> pd.DataFrame:
    """A row for each answer in a table of them, with its place on both axes."""
    cells = pd.DataFrame(table, columns=columns).stack()
    return cells.rename_axis(axes).reset_index(name="value_strict")


def curve(best: float, depth: float) -> np.ndarray:
    return best - depth * (1 - (2 * POSITIONS - 1) ** 2)


def depth_of(value: float, best: float, items: int, relative: bool) -> float:
    """How deep a curve must be so that its plug-in, which grows with noise, is this value on average."""
    random, low, high = np.random.default_rng(0), 0.0, best
    for _ in range(12):
        depth = (low + high) / 2
        shares = random.binomial(items, curve(best, depth), (400, 11)) / items
        top, bottom = shares.max(axis=1), shares.min(axis=1)
        found = np.mean((1 - bottom / top) if relative else top - bottom)
        low, high = (depth, high) if found < value else (low, depth)
    return low


def positions(one: Statement, value: float, random: Random) -> Tables:
    """Answers at 11 places, with 20 and 80 distractors; the drop is the wanted one where it is stated of."""
    relative, items, best = one.unit.startswith("%"), int(one.n), 0.85
    depth = depth_of(value / 100, best, items, relative)
    named = one.where["dataset"]
    dataset = named if isinstance(named, str) else "cruxeval"
    dataset = "semtrace" if "digits" in one.where else dataset
    counts = [int(one.where["context"])] if one.where["context"] != "any" else [20, 80]
    parts = []
    for model in models_of("semtrace", one):
        for distractors in counts:
            deep = depth if distractors == counts[-1] else depth / 3
            table = drawn(curve(best, deep), items, random)
            cells = rows_of(table, "problem", "position")
            parts.append(cells.assign(model=model, distractors=distractors))
    answers = pd.concat(parts).assign(
        problem=lambda rows: rows["problem"].astype(str),
        dataset=dataset,
        task=one.where.get("task", "output_prediction"),
        digits=one.where.get("digits", 2),
        qac=True,
        keys=one.where.get("keys", False),
    )
    given = SimpleNamespace(metrics=["strict"], **FITTED)
    return {"drops": largest_drops.largest_drops(answers, given)}


def gains(_: Statement, value: float, random: Random) -> Tables:
    rows, models = [], read_published("semtrace")["groups"]["larger"]
    for dataset, share in (("cruxeval", 0.5), ("semtrace", 0.5 * (1 + value / 100))):
        table = drawn(np.full(len(models), share), 800, random)
        cells = rows_of(table, "problem", "model", columns=models)
        rows.append(cells.assign(dataset=dataset))
    answers = pd.concat(rows).assign(task="output_prediction", distractors=20)
    return {"gains": largest_drops.task_gains(answers, confidence=0.95)}


def removals(one: Statement, value: float, random: Random) -> Tables:
    shares = np.linspace(0, 1, 11)
    rate = -2 * np.log(1 - value / 100)
    parts = []
    for model in models_of("semtrace", one):
        table = drawn(0.8 * np.exp(-rate * shares), 800, random)
        cells = rows_of(table, "problem", "removed")
        parts.append(cells.assign(model=model))
    answers = pd.concat(parts).assign(task=one.where["task"])
    answers["share_removed"] = answers["removed"] / 10
    given = SimpleNamespace(trend="exponential", weighted=False, **FITTED)
    fits = removal.fit_removal(answers, given)
    lost = losses.group_losses(fits, answers, 0.95)
    return {"losses": lost.assign(problems="cruxeval")}


def baseline(_: Statement, shift: float, random: Random) -> Tables:
    published = tables.published_baselines("semtrace/tab01", 0.95)
    parts = []
    for row in published.itertuples():
        right = random.random(row.n) < moved(row.percent / 100, shift)
        part = pd.DataFrame({"problem": range(row.n), "value_strict": right})
        parts.append(part.assign(label=row.label, condition=row.condition))
    answers = pd.concat(parts).assign(outcome_strict="correct")
    summary = summarize(answers, by=["label", "condition"])
    return {"published": published, "regenerated": summary}


def origin_shares(one: Statement, shift: float, random: Random) -> Tables:
    """Of the same prompts: some are answered otherwise, as many rightly as wrongly; at the other effect more of what is
    more frequent becomes the other."""
    artefact = f"origin/{one.artefacts[0]}"
    published = origin.published_shares(artefact, 0.95)
    name, axes = one.artefacts[0], ("d", "characters", "depth")
    numbers = published_numbers(f"origin/{origin.OUTCOMES_OF.get(name, name)}") or {}
    parts = []
    if "outcomes" in numbers:
        first, last = numbers["lines"]
        lines = range(first, last + 1, 8)
        for label, bits in numbers["outcomes"].items():
            right = np.array([int(bit) for bit in bits])
            counts = np.array([(right == 0).sum(), (right == 1).sum()])
            flips = 0.1 * counts.min() / np.maximum(counts, 1)[right]
            flips += shift * (right == float(right.mean() > 0.5))
            values = np.abs(right - (random.random(len(bits)) < flips))
            cells = {"lines": lines, "problem": [str(n) for n in lines]}
            parts.append(pd.DataFrame(cells | {"label": label, "value_strict": values}))
    else:
        by = [name for name in axes if published[name].notna().any()]
        for row in published.to_dict("records"):
            values = random.random(row["n"]) < moved(row["accuracy"], shift)
            part = pd.DataFrame({"problem": range(row["n"]), "value_strict": values})
            parts.append(part.assign(**{key: row[key] for key in ("label", *by)}))
    answers = pd.concat(parts).assign(outcome_strict="correct")
    answers = answers.assign(model=answers["label"].map(published_models("origin")))
    by = ["model", *(name for name in axes if name in answers)]
    summary = summarize(answers, by=by)
    if "outcomes" in numbers:
        summary = origin.with_pairs(summary, answers, artefact, "strict")
    summary = summary.assign(independent=summary["items"], text="printed")
    return {"published": published, "summary": summary}


def localization(one: Statement, value: float, random: Random) -> Tables:
    """A task in each of the paper's programs, found by all models, and asked again under its mutations: the models,
    languages and mutations that the number is about."""
    number, share = one.where["number"], value / 100
    groups = read_published("faultloc")["groups"]
    gain = number.startswith("gain")
    models = groups[number.removeprefix("gain, ") if gain else "all"]
    programs = [("python", n) for n in range(637)] + [("java", n) for n in range(670)]
    frame = pd.DataFrame(programs, columns=["language", "program"])
    if one.where["language"] != "both":
        frame = frame[frame["language"] == one.where["language"]]
    problems = frame["program"].astype(str) + "/x/1"
    frame = frame.assign(source=frame["language"], problem=problems)
    spms = pd.DataFrame({"spm": ["comments", "names", "dead_code", "functions"]})
    again = frame.merge(spms, how="cross")
    again = again[(again["spm"] != "functions") | (again["language"] == "java")]
    if " under " in number:
        again = again[again["spm"] == number.split()[-1]]
    if number.startswith("found"):  # before they are mutated
        again = again[:1]
    again = again.merge(pd.DataFrame({"strength": [1, 8]}), how="cross")
    accuracy = np.full(len(again), 0.35)
    if number.startswith("lost"):
        accuracy[:] = 1 - share
    elif number.startswith("accuracy"):
        accuracy[:] = share
    elif number.startswith("fall"):
        step = share if number.startswith("fall,") else 7 * share
        accuracy[(again["strength"] == 8).to_numpy()] -= step
    quarter = [0.25] * 4
    if number.startswith("found"):
        place = int(number.split()[-1]) - 1
        quarter = [(1 - share) / 3] * 4
        quarter[place] = share
    parts = []
    place = random.random(len(frame))
    easy = pd.Series(place, index=frame["language"] + frame["problem"])
    for model in models:
        more = share if gain and model == models[1] else 0.0
        plain = 0.4 + more if gain else 1.0
        own = frame.assign(
            spm="none",
            strength=0,
            quarter=random.choice([1, 2, 3, 4], len(frame), p=quarter),
            value_strict=(random.random(len(frame)) < plain) * 1.0,
        )
        latent = easy[again["language"] + again["problem"]].to_numpy()
        chance = settled(latent, np.clip(accuracy + more, 0, 1))
        right = (random.random(len(again)) < chance) * 1.0
        mutated = again.assign(quarter=1, value_strict=right)
        parts.append(pd.concat([own, mutated]).assign(model=model))
    answers = pd.concat(parts, ignore_index=True).assign(outcome_strict="correct")
    sources = ["alpaca", "codesearchnet"]
    return {"stated": stated.stated_numbers(answers, sources, **STRICT)}


def table_two(_: Statement, shift: float, random: Random) -> Tables:
    """Four tasks of each program, that one model at least localizes."""
    cells = published_localization()
    rows = []
    for cell in cells.to_dict("records"):
        programs = int(cell["n"])
        share = moved(cell["value"] / 100, shift)
        scores = (random.random((programs, 4)) < share).astype(float)
        found = clustered_share(scores.ravel(), np.repeat(np.arange(programs), 4))
        row = {key: cell[key] for key in ("model", "language", "fault")}
        row |= {"accuracy_kept": found.value, "kept_low": found.interval.low}
        row |= {"kept_high": found.interval.high, "programs_kept": programs}
        rows.append(row | {"kept": 4 * programs})
    table = pd.DataFrame(rows)
    table = table.assign(asked="all ten", programs="alpaca codesearchnet")
    compared = [table.assign(reading=reading) for reading in READINGS.values()]
    return {"published": cells, "localized": pd.concat(compared)}


SIZES = {"cruxeval": 800, "livecodebench": 479}


def questions_of(dataset: str) -> np.ndarray:
    """The question of each problem: some of LiveCodeBench's have one together."""
    problems = np.arange(SIZES[dataset])
    return problems if dataset == "cruxeval" else problems % 92


def applied(answers: pd.DataFrame, task: str, mode: str) -> pd.DataFrame:
    """The answers with what they have in common."""
    setting = {"language": "python", "task": task, "mode": mode, "status": "applied"}
    return answers.assign(
        **{name: answers[name].astype(str) for name in ("problem", "question")},
        **setting,
        ignore=False,
        refactor=False,
        value_reference=answers["value_strict"],
        density=answers["perturbation"].map({"VAN": 0.0}).fillna(1.0),
    )


def crash(
    labels: Sequence[str],
    shift: float,
    random: Random,
    names: Sequence[str],
    mode: str = "direct",
    task: str = "output",
) -> pd.DataFrame:
    """Answers to vanilla and perturbed programs, of the published Pass@1, those of one question alike."""
    published = leaderboard.published_differences(task)
    parts = []
    for label in labels:
        own = published[(published["label"] == label) & (published["mode"] == mode)]
        for dataset, part in own[own["dataset"].isin(SIZES)].groupby("dataset"):
            known = part.set_index("perturbation")["pass_at_1_pct"][list(names)]
            vanilla = float(part["vanilla_pct"].iloc[0])
            means = np.clip(np.array([vanilla, *(known - shift * vanilla)]) / 100, 0, 1)
            question = questions_of(str(dataset))
            chance = chances(means, question.max() + 1, random)[question]
            table = (random.random(chance.shape) < chance) * 1.0
            columns = ["VAN", *names]
            cells = rows_of(table, "problem", "perturbation", columns=columns)
            asked = question[cells["problem"]]
            cells = cells.assign(model=part["model"].iloc[0], dataset=dataset)
            parts.append(cells.assign(question=asked))
    answers = pd.concat(parts, ignore_index=True)
    return applied(answers, task, mode)


def crash_cells(one: Statement, shift: float, random: Random) -> Tables:
    task = "input" if one.artefacts[0] in ("tab05", "tab17") else "output"
    models, names = ["GPT-4o", "GPT-4o-Mini"], ["PSC-ALL", "MCC", "MPS", "MHC"]
    answers = crash(models, shift, random, names, task=task)
    table = differences.differences(answers, **STRICT)
    return leaderboard.compared_tables(table, leaderboard.published_differences(task))


def told_to_ignore(one: Statement, shift: float, random: Random) -> Tables:
    """The same questions twice; at the other effect the second time, told to ignore comments, fewer are right."""
    labels = ["GPT-4o", "Qwen2.5-72B-Instruct", "DeepSeek-V3"]
    names = [one.where["perturbation"]]
    plain = crash(labels, 0.0, random, names)
    told = crash(labels, shift, random, names).assign(ignore=True)
    answers = pd.concat([plain, told[told["perturbation"] != "VAN"]])
    return {"effects": differences.setting_effects(answers, **STRICT)}


def headline(one: Statement, shift: float, random: Random) -> Tables:
    published = leaderboard.published_differences()
    labels, mode = published["label"].unique(), one.where["mode"]
    answers = crash(labels, shift, random, leaderboard.HEADLINE, mode)
    return {"own_headline": leaderboard.own_headlines(answers, published, **STRICT)}


def thought(_: Statement, shift: float, random: Random) -> Tables:
    """Tokens and right answers of one reasoning model; at the other effect twice the tokens, and fewer right ones."""
    published = reasoning.published_claims(reasoning.published_reasoning())
    rows = []
    one = published[published["label"] == published["label"].iloc[0]]
    for cell in one.to_dict("records"):
        question = questions_of(cell["dataset"])
        size = len(question)
        spread = random.normal(0, 0.5, question.max() + 1)[question]
        spread += random.normal(0, 0.5, size)
        tokens = cell["average_tokens"] * np.exp(spread - 0.25) * (1 + 2 * shift)
        lost = 100 * shift if cell["perturbation"] != "VAN" else 0
        right = random.random(size) < (cell["pass_at_1_pct"] - lost) / 100
        part = pd.DataFrame({"problem": np.arange(size), "question": question})
        part = part.assign(reasoning_tokens=tokens, value_strict=right.astype(float))
        about = {name: cell[name] for name in ("model", "dataset", "perturbation")}
        rows.append(part.assign(**about, collapsed=False))
    answers = applied(pd.concat(rows, ignore_index=True), "output", "direct")
    table = reasoning.reasoning_table(answers, **STRICT)
    return {"published": published, "reasoning": table}


def as_it_is(one: Statement, value: float, _: Random) -> Tables:
    """A number without sampling."""
    ones = "n share_removed single single_drop far_versions far_programs problems passed lines"
    zeros = "drop single_drop_by_program versions far published tokens accuracy"
    told: dict[str, Any] = dict.fromkeys(ones.split(), 1)
    told |= dict.fromkeys(zeros.split(), 0.0)
    value = value / 100 if one.per_cent else value
    ways = [*one.readings.values()] or [one]
    number = {name: value for way in ways for name in way.number}
    rows = [told | way.where | number for way in ways]
    return {one.table: pd.DataFrame(rows)}


def ordered(one: Statement, side: float) -> Tables:
    """A number that lies on the stated side of its bound, `side` away, of enough items; on the other where negative."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for way in [*one.readings.values()] or [one]:
        unit = 100 if way.per_cent else 1
        away = side if way.relation == "more than" else -side
        value = (float(way.value) + away) / unit
        facts = (value, value - 0.1 / unit, value + 0.1 / unit, 1000)
        words = re.findall(r"{(\w+)", way.basis + way.statement + way.needs)
        row = dict.fromkeys(words, 0) | dict.fromkeys(way.match, "m")
        for name, choice in way.where.items():
            row[name] = choice[0] if isinstance(choice, list) else choice
        numbers = dict(zip(way.number, facts, strict=False))
        rows.setdefault(way.table, []).append(row | numbers)
        if way.each and way.each != way.table:
            rows.setdefault(way.each, []).append(row)
    return {name: pd.DataFrame(some) for name, some in rows.items()}


Design = tuple[Callable[[Statement, float, Random], Tables], bool]
"""How answers are made, and whether from the published value (else from a shift of all published cells)."""
DESIGNS: dict[str, Design] = {
    "drops": (positions, True),
    "gains": (gains, True),
    "losses": (removals, True),
    "regenerated": (baseline, False),
    "summary": (origin_shares, False),
    "stated": (localization, True),
    "localized": (table_two, False),
    "differences": (crash_cells, False),
    "effects": (told_to_ignore, False),
    "own_headline": (headline, False),
    "reasoning": (thought, False),
}


EXACT = """headline counted lines seeds published audit bound interpreter tokens medians words steps noticed
printed recounted averages unchanged"""
"""Tables of numbers without sampling."""


def other(one: Statement) -> float:
    """A clearly other effect, in the unit of the statement."""
    value = float(one.value)
    if one.table == "own_headline":
        return 0.3
    if "step" in one.statement:
        return value + 3.5
    if one.table == "gains":  # more in % would be as much in points
        return value - 35
    return value - 35 if value > 45 else value + 35


def stated_in_tables(*, order: bool) -> Iterator[Any]:
    """The papers' statements that a run can decide: those on orders, or the others."""
    for name in PAPERS:
        for one in statements(name):
            tried = one.evidence in (WORDS if order else EVIDENCE)
            if (one.relation in ORDERS) != order or not one.table or not tried:
                continue
            if order or one.table != "headline":
                about = f"{one.statement[:60]}, {one.unit}, {one.artefacts[0]}"
                yield pytest.param(name, one, id=f"{name}, {about}")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "one"), list(stated_in_tables(order=False)))
def test_every_statement_can_be_decided(name: str, one: Statement) -> None:
    make, by_value = DESIGNS.get(one.table, (as_it_is, True))

    def judged(effect: float, seed: int) -> list[str]:
        tables = make(one, effect, np.random.default_rng(seed))
        if make is as_it_is:
            tables = complete(name, one, tables)
        return verdicts(name, one, tables)

    exact: list[str] = []
    for seed in range(SEEDS if len(one.number) == 4 else 1):
        exact += judged(float(one.value) if by_value else 0.0, seed)
    assert exact
    assert exact.count("differs") <= max(1, 0.08 * len(exact)), exact
    assert set(exact) <= {"reproduced", "inconclusive", "differs"}
    different = judged(other(one) if by_value else 0.4, 99)
    assert "reproduced" not in different
    if not one.why and not one.artefacts[0].startswith("sec"):  # one answer each
        assert different.count("differs") >= 0.6 * len(different), different


def complete(paper_name: str, one: Statement, tables: Tables) -> Tables:
    """With the columns that other statements of the artefact look up in the same tables, empty."""
    for other in statements(paper_name, one.artefacts[0]):
        for way in (other, *other.readings.values()):
            if way.table in tables:
                table = tables[way.table]
                named = [way.value] if isinstance(way.value, str) else []
                columns = dict.fromkeys([*table, *way.number, *way.match, *named])
                tables[way.table] = table.reindex(columns=[*columns])
    return tables


@pytest.mark.parametrize(("name", "one"), some(list(stated_in_tables(order=True)), 40))
def test_every_order_can_be_decided(name: str, one: Statement) -> None:
    for side, word in zip((1.0, -1.0), WORDS[one.evidence], strict=True):
        tables = complete(name, one, ordered(one, side))
        assert set(verdicts(name, one, tables)) == {word}


def test_what_no_run_can_decide_is_listed() -> None:
    written = runpy.run_path(str(ROOT / "docs/undecided.py"))
    page = written["PAGE"].read_text(encoding="utf-8")
    assert page.endswith(written["section"]()), "run `python docs/undecided.py`"
    every = [one for name in PAPERS for one in statements(name)]
    assert 0 < len([one for one in every if one.why]) < len(every) / 4


def test_every_statement_names_what_its_table_has() -> None:
    """All tables that statements name are made by some design of this test."""
    known = {*DESIGNS, *EXACT.split(), ""}
    for name in PAPERS:
        for one in statements(name):
            tables = {way.table for way in (one, *one.readings.values())}
            assert one.relation in ORDERS or tables <= known, one
            sampled = len(one.number) == 4 and one.relation not in ORDERS
            assert not sampled or one.each or one.n, (
                f"{one.statement}: of how many of the paper's items?"
            )


def test_statements_that_hold_whatever_digits_are_asked_name_theirs() -> None:
    """Else a run with other digits would be judged by the paper's number of two."""
    for one in statements("semtrace"):
        if "digits" in one.independent and one.where["dataset"] == "semtrace":
            assert "digits" in one.where, one.statement


def test_every_model_of_a_statement_is_known() -> None:
    """A misspelt model or group would select no row, and say `not run` for ever."""
    labels = {*FAMILIES, "open", *published_models("origin")}
    for name in PAPERS:
        groups = read_published(name).get("groups", {})
        for one in statements(name):
            for way in (one, *one.readings.values()):
                model = way.where.get("model")
                assert model is None or model in {*load_registry(), *groups, *labels}
