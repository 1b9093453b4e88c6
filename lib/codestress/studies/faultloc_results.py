"""Fault Localizability: tables of its figures, the paper's own numbers beside the regenerated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from codestress.fitting.bootstrap import cluster_bootstrap_mean, cluster_weights, percentile_interval
from codestress.fitting.proportions import wilson
from codestress.fitting.summaries import paired_differences
from codestress.generation.faults.neutral import Labelled, Spm, bank
from codestress.generation.faults.sites import KINDS, Kind
from codestress.inference.registry import ModelEntry
from codestress.problems.seeds import Source, packed_rows, seed_set
from codestress.report.claims import Claim
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.studies.faultloc import Task, localize_prompt, mutated_program, tasks_of
from codestress.types import Reason, Sampling

LANGUAGES = {"python": "Python", "java": "Java"}
QUARTERS = ("0-25 %", "25-50 %", "50-75 %", "75-100 %")
BINS = (50, 100, 200, 300, 400, 500)
"""Lower ends of Figure 5's bins, in lines."""
ORACLE = "perfect localizer"


# --- localization of tasks as they are ------------------------------------------------------------------------------


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `seed_program`: tasks made from one program are not independent."""
    return answers.assign(seed_program=answers["source"] + "/" + answers["problem"].str.split("/").str[0])


def localized(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Tasks as they are: one row for each model and combination of `by`, and for the perfect localizer.

    Columns: model, `by`, tasks, found, share, low, high (bootstrap over programs); kept (tasks that at least one model
    finds: the paper's filter), share_kept, kept_low, kept_high; found_reference, share_reference (within two lines).
    Intervals of shares among kept tasks do not know that the filter is drawn too.
    """
    plain = with_seed(answers[answers["spm"] == "none"])
    value = f"value_{rule}"
    found_by_any = plain.groupby(["source", "problem"])[value].transform("max") > 0
    plain = plain.assign(kept=found_by_any)
    rows = []
    for group, part in plain.groupby(["model", *by], sort=False):
        names = cast(tuple[Any, ...], group)
        kept = part[part["kept"]]
        estimates = [
            cluster_bootstrap_mean(
                one[value],
                one["seed_program"],
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "localized", *map(str, names)),
            )
            for one in (part, kept)
        ]
        rows.append(
            dict(zip(["model", *by], names, strict=True))
            | {"tasks": len(part), "found": int(part[value].sum()), "share": estimates[0].value}
            | {"low": estimates[0].interval.low, "high": estimates[0].interval.high}
            | {"kept": len(kept), "share_kept": estimates[1].value}
            | {"kept_low": estimates[1].interval.low, "kept_high": estimates[1].interval.high}
            | {"found_reference": int(part["value_reference"].sum())}
            | {"share_reference": float(part["value_reference"].mean())}
        )
    table = pd.DataFrame(rows)
    ceiling = table.groupby(list(by), sort=False, as_index=False)[["tasks", "kept"]].max()
    ones = {name: 1.0 for name in ("share", "low", "high", "share_kept", "kept_low", "kept_high", "share_reference")}
    oracle = ceiling.assign(model=ORACLE, found=ceiling["tasks"], found_reference=ceiling["tasks"], **ones)
    return pd.concat([table, oracle], ignore_index=True)[list(table.columns)]


def by_relevance(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """As `localized`, by how well people judged specification and program to fit; empty where nobody judged them."""
    judged = answers[answers["relevance"].notna()]
    if judged.empty:
        return pd.DataFrame(columns=["model", "language", "relevance"])
    by = ["language", "relevance"]
    return localized(judged, by, rule=rule, confidence=confidence, resamples=resamples, seed=seed)


def place_effect(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """For each model and language: of all faults found, the share that stands in each quarter, and accuracy in the
    last quarter relative to the first with a bootstrap over programs (a perfect localizer: 1)."""
    plain = with_seed(answers[answers["spm"] == "none"])
    value = f"value_{rule}"
    rows = []
    for (model, language), part in plain.groupby(["model", "language"], sort=False):
        quarters = part.groupby("quarter")[value].agg(["sum", "mean"]).reindex(range(1, 5))
        codes, programs = pd.factorize(part["seed_program"])
        weights = cluster_weights(len(programs), resamples, rng(seed, "place", model, language))
        draws = []
        for quarter in (1, 4):
            inside = (part["quarter"] == quarter).to_numpy()
            sums = np.bincount(codes, part[value].to_numpy(float) * inside, len(programs))
            counts = np.bincount(codes, inside, len(programs))
            with np.errstate(divide="ignore", invalid="ignore"):
                draws.append((weights @ sums) / (weights @ counts))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = percentile_interval(np.where(draws[0] > 0, draws[1] / draws[0], np.nan), confidence)
        total = float(quarters["sum"].sum())
        first, last = float(quarters["mean"].iloc[0]), float(quarters["mean"].iloc[3])
        rows.append(
            {"model": model, "language": language, "found": int(total)}
            | {f"of_found_{n}": float(quarters["sum"].iloc[n - 1]) / total if total else np.nan for n in range(1, 5)}
            | {"last_to_first": last / first if first else np.nan, "low": low, "high": high}
        )
    return pd.DataFrame(rows)


def heat_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the heat map: row, column, share, tasks; means over models, and the perfect localizer's row."""
    models = table[table["model"] != ORACLE]
    cells = models.groupby(["fault", "quarter"], as_index=False, sort=False).agg(
        share=("share", "mean"), tasks=("tasks", "max")
    )
    ceiling = (
        table[table["model"] == ORACLE]
        .groupby("quarter", as_index=False)
        .agg(share=("share", "mean"), tasks=("tasks", "sum"))
    )
    order = {kind: place for place, kind in enumerate((*KINDS, ORACLE))}
    both = pd.concat([cells, ceiling.assign(fault=ORACLE)], ignore_index=True)
    both = both.assign(place=both["fault"].map(order)).sort_values(["place", "quarter"], ignore_index=True)
    return both.assign(row=both["fault"], column=[QUARTERS[int(q) - 1] for q in both["quarter"]])


def published_heat() -> pd.DataFrame:
    """The paper's Figure 9: row, column, share."""
    numbers = published_numbers("faultloc/fig09") or {"values": {}}
    names = {"BooleanLogic": "IncorrectBooleanLogic"}
    rows = [
        (names.get(fault, fault), QUARTERS[place], share)
        for fault, shares in numbers["values"].items()
        for place, share in enumerate(shares)
    ]
    return pd.DataFrame(rows, columns=["row", "column", "share"])


def share_panels(table: pd.DataFrame, label: str, value: str = "share") -> dict[str, pd.DataFrame]:
    """Bars: a panel for each language, the models side by side (`share_bars`)."""
    low, high = ("kept_low", "kept_high") if value == "share_kept" else ("low", "high")
    return {
        LANGUAGES[str(language)]: pd.DataFrame(
            {
                "label": part[label].astype(str),
                "condition": part["model"] if label != "model" else "",
                "share": part[value],
                "low": part[low],
                "high": part[high],
            }
        )
        for language, part in table.groupby("language", sort=False)
    }


def by_category(answers: pd.DataFrame, models: Sequence[ModelEntry]) -> pd.DataFrame:
    """The answers with each model's category (the registry's `architecture.category`, else what it is simulated as)
    in the place of its name."""
    names = {
        entry.name: str(entry.architecture.get("category", "simulated" if entry.simulated else "uncategorised"))
        for entry in models
    }
    return answers.assign(model=answers["model"].map(names))


def version_differences(
    answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Each later model against the first one on the same tasks as they are, for each language (Figure 11)."""
    plain = answers[answers["spm"] == "none"]
    parts = [
        paired_differences(
            part.assign(version=part["model"], model=LANGUAGES[str(language)]),
            "version",
            rule=rule,
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        for language, part in plain.groupby("language", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


# --- robustness -----------------------------------------------------------------------------------------------------


def robustness(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Tasks that a model localized, asked again under mutations: one row for each model and combination of `by`.

    Columns: model, `by`, tasks (all, with their mutations), localized (of those, localized before), asked_again (those
    to which a neutral mutation could be made), found_again, share (of asked again), low, high (bootstrap over
    programs), share_reference. tasks = asked_again + skipped (checked).
    """
    mutated = with_seed(answers[answers["spm"] != "none"])
    skipped = mutated[f"reason_{rule}"] == Reason.SKIPPED.value
    before = mutated[f"detail_{rule}"].eq("not localized before")
    mutated = mutated.assign(skipped=skipped, before=~(skipped & before))
    rows = []
    for group, part in mutated.groupby(["model", *by], sort=False):
        names = cast(tuple[Any, ...], group)
        asked = part[~part["skipped"]]
        if len(asked) + int(part["skipped"].sum()) != len(part):
            raise AssertionError(f"{names}: {len(asked)} asked and {part['skipped'].sum()} skipped of {len(part)}")
        estimate = cluster_bootstrap_mean(
            asked[f"value_{rule}"],
            asked["seed_program"],
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "robustness", *map(str, names)),
        )
        rows.append(
            dict(zip(["model", *by], names, strict=True))
            | {"tasks": len(part), "localized": int(part["before"].sum()), "asked_again": len(asked)}
            | {"found_again": int(asked[f"value_{rule}"].sum()), "share": estimate.value}
            | {"low": estimate.interval.low, "high": estimate.interval.high}
            | {"share_reference": float(asked["value_reference"].mean()) if len(asked) else np.nan}
        )
    return pd.DataFrame(rows)


def strength_slopes(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """Least-squares slope of robust accuracy over strength, in points a step, for each model and language (section
    V-B3); programs are resampled, so that what a program adds to all strengths cancels."""
    again = with_seed(answers[(answers["spm"] != "none") & (answers[f"reason_{rule}"] != Reason.SKIPPED.value)])
    rows = []
    for (model, language), part in again.groupby(["model", "language"], sort=False):
        codes, programs = pd.factorize(part["seed_program"])
        x, y = part["strength"].to_numpy(float), 100 * part[f"value_{rule}"].to_numpy(float)
        sums = np.stack([np.bincount(codes, w, len(programs)) for w in (np.ones_like(x), x, y, x * x, x * y)])
        slope = float(_slope(sums.sum(axis=1)))
        low = high = np.nan
        if len(programs) > 1:
            weights = cluster_weights(len(programs), resamples, rng(seed, "slope", model, language))
            low, high = percentile_interval(_slope((weights @ sums.T).T), confidence)
        rows.append(
            {"model": model, "language": language, "slope": slope, "low": low, "high": high}
            | {"programs": len(programs), "answers": len(part)}
        )
    return pd.DataFrame(rows)


def _slope(sums: np.ndarray) -> Any:
    """Slope from n, Σx, Σy, Σx², Σxy; nan where all x are equal."""
    n, sx, sy, sxx, sxy = sums
    spread = n * sxx - sx * sx
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, (n * sxy - sx * sy) / spread, np.nan)


def strength_points(table: pd.DataFrame) -> pd.DataFrame:
    """Curves of `density_curve`'s form: model, panel (language and mutation), density (the strength), value, low,
    high in %."""
    return pd.DataFrame(
        {
            "model": table["model"],
            "panel": [f"{LANGUAGES[row.language]}, {row.spm.replace('_', ' ')}" for row in table.itertuples()],
            "density": table["strength"],
            "value": 100 * table["share"],
            "low": 100 * table["low"],
            "high": 100 * table["high"],
        }
    )


def describe_strengths(points: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(f"{panel}, {model}: {ordered['value'].iloc[0]:.0f} % to {ordered['value'].iloc[-1]:.0f} %")
    return "Localized again, from the lowest strength to the highest. " + "; ".join(parts) + "."


def best_known(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The answers about the one task that most models localize as it is."""
    plain = answers[answers["spm"] == "none"]
    return answers[answers["problem"] == plain.groupby("problem", sort=False)[f"value_{rule}"].mean().idxmax()]


def example_cells(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Cells of one program's heat map: row (condition), column (model), share (1: localized); skipped ones are left
    out."""
    asked = answers[answers[f"reason_{rule}"] != Reason.SKIPPED.value]
    conditions = zip(asked["spm"], asked["strength"], strict=True)
    rows = ["as it is" if spm == "none" else f"{spm}, {strength}" for spm, strength in conditions]
    return pd.DataFrame({"row": rows, "column": asked["model"], "share": asked[f"value_{rule}"]})


# --- the paper's numbers --------------------------------------------------------------------------------------------


def localization_claims(artefact: str, table: pd.DataFrame, sources: Sequence[str]) -> list[Claim]:
    """Table II's cells beside the regenerated ones, on the paper's programs and models; cells that disagree with the
    paper's own Figure 7 say so."""
    numbers = published_numbers("faultloc/tab02")
    if numbers is None:
        return []
    names = published_models("faultloc")
    own = set(sources) <= {"alpaca", "codesearchnet"}
    index = table.set_index(["model", "language", "fault"]) if "fault" in table else pd.DataFrame()
    flagged = {(one["language"], one["fault"], one["model"]): one["implied_by_fig7"] for one in numbers["flagged"]}
    claims = []
    for language, faults in numbers["values"].items():
        for fault, values in faults.items():
            of = numbers["denominators"][language][fault]
            for label, value in zip(numbers["columns"], values, strict=True):
                model = names[label]
                statement = f"Table II: {label}, {LANGUAGES[language]}, {fault}: localized of {of:,}"
                if (language, fault, label) in flagged:
                    statement += f" (Figure 7 implies {flagged[language, fault, label]:.2f})"
                key = (model, language, fault)
                if not own or key not in index.index:
                    basis = f"needs the answers of {model} on the paper's programs"
                    claims.append(Claim(artefact, statement, value, "%", basis=basis))
                    continue
                found = index.loc[key]
                interval = (100 * found["kept_low"], 100 * found["kept_high"])
                told = f"{found['kept']} tasks that a model localizes"
                claims.append(Claim(artefact, statement, value, "%", 100 * found["share_kept"], *interval, told))
    return claims


def stated_claims(artefact: str, numbers: Mapping[str, tuple[float, float, float, str]]) -> list[Claim]:
    """Claims of the text for an artefact (params/published): `numbers` has what was regenerated for some of them, by
    their key: value, low, high, basis."""
    claims = []
    for stated in (published_numbers(artefact) or {}).get("claims", []):
        found = numbers.get(stated["key"])
        if found is None:
            basis = "needs the paper's programs and models"
            cannot = stated.get("cannot", "")
            claims.append(
                Claim(artefact, stated["statement"], stated["value"], stated["unit"], basis=basis, cannot=cannot)
            )
        else:
            value, low, high, basis = found
            claims.append(
                Claim(artefact, stated["statement"], stated["value"], stated["unit"], value, low, high, basis)
            )
    return claims


def published_spm_bars() -> pd.DataFrame:
    """The paper's Figure 6: label (mutation), condition (model), share."""
    values = (published_numbers("faultloc/fig06") or {"values": {}})["values"]
    rows = [(spm, model, share / 100) for model, shares in values.items() for spm, share in shares.items()]
    return pd.DataFrame(rows, columns=["label", "condition", "share"])


def published_panels(show: str) -> dict[str, pd.DataFrame]:
    """The paper's own bars for a figure, as a panel of `share_bars`: Figure 6 as means over models and (for Figure 7,
    whose third series is no accuracy) over mutations; Figures 10 and 11; Table II as means over models."""
    if show in ("spms", "models"):
        by = {"spms": "label", "models": "condition"}[show]
        means = published_spm_bars().groupby(by, sort=False)["share"].mean()
        values = {str(name): share for name, share in means.items()}
        title = "published (Figure 6), mean over " + {"spms": "models", "models": "mutations"}[show]
    elif show in ("categories", "versions"):
        name = {"categories": "fig10", "versions": "fig11"}[show]
        numbers = (published_numbers(f"faultloc/{name}") or {"values": {}})["values"]
        values = {key: share / 100 for key, share in numbers.items()}
        title = "published (whether before or after mutations is not said)"
    else:
        return {
            f"published (Table II), {LANGUAGES[language]}, mean over models": _bars(
                {fault: float(np.mean(shares)) / 100 for fault, shares in faults.items()}
            )
            for language, faults in (published_numbers("faultloc/tab02") or {"values": {}})["values"].items()
        }
    return {title: _bars(values)}


def _bars(values: Mapping[str, float]) -> pd.DataFrame:
    shares = list(values.values())
    unknown = [np.nan] * len(shares)
    return pd.DataFrame(
        {"label": list(values), "condition": "published", "share": shares, "low": unknown, "high": unknown}
    )


def published_strengths() -> pd.DataFrame:
    """The paper's Figure 8, means over models and mutations: points of `strength_points`' form, in panels of their
    own."""
    numbers = published_numbers("faultloc/fig08") or {"means": {}, "strengths": []}
    rows = [
        ("published", f"published, {LANGUAGES[language]}, all mutations", strength, share, share, share)
        for language, shares in numbers["means"].items()
        for strength, share in zip(numbers["strengths"], shares, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "panel", "density", "value", "low", "high"])


def skipped_reasons(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Why trials were skipped: model, language, spm, why, trials."""
    skipped = answers[answers[f"reason_{rule}"] == Reason.SKIPPED.value].rename(columns={f"detail_{rule}": "why"})
    return (
        skipped.groupby(["model", "language", "spm", "why"], as_index=False, sort=False)
        .size()
        .rename(columns={"size": "trials"})
    )


def describe_shares(panels: Mapping[str, pd.DataFrame], what: str) -> str:
    """The figure in words."""
    parts = [
        f"{panel}, {row.condition}, {row.label}: {row.share:.1%}"
        for panel, frame in panels.items()
        for row in frame.itertuples()
    ]
    return f"{what}. " + "; ".join(parts) + "."


def describe_heat(panels: Mapping[str, pd.DataFrame], what: str) -> str:
    """The figure in words."""
    parts = [
        f"{panel}, {row.row}, {row.column}: {row.share:.0%}"
        for panel, frame in panels.items()
        for row in frame.itertuples()
    ]
    return f"{what}. " + "; ".join(parts) + "."


# --- the programs ---------------------------------------------------------------------------------------------------


def seed_tables(
    *, seeds: Sequence[Source], n_seeds: int, min_lines: int, max_lines: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How many programs have how many lines (panel, label, programs), and how many were dropped for which reason."""
    kept, dropped = [], []
    for source in seeds:
        found = seed_set(source, min_lines, max_lines)
        chosen = found.seeds[: n_seeds or None]
        sizes = [seed.lines for seed in chosen]
        for low, high in zip(BINS, (*BINS[1:], None), strict=True):
            count = sum(low <= size and (high is None or size < high) for size in sizes)
            kept.append((source, f"{low} to {high - 1}" if high else f"{low} and more", count))
        dropped.append((source, "kept", len(chosen)))
        dropped += [(source, why, count) for why, count in found.dropped.most_common()]
    return (
        pd.DataFrame(kept, columns=["source", "lines", "programs"]),
        pd.DataFrame(dropped, columns=["source", "what", "programs"]),
    )


def published_sizes() -> pd.DataFrame:
    """The paper's Figure 5: source, lines, programs."""
    numbers = published_numbers("faultloc/fig05")
    if numbers is None:
        return pd.DataFrame(columns=["source", "lines", "programs"])
    rows = [
        (f"published, {LANGUAGES[language]}", f"{label} lines", count)
        for language in ("python", "java")
        for label, count in zip(numbers["bins"], numbers[language], strict=True)
    ]
    return pd.DataFrame(rows, columns=["source", "lines", "programs"])


def size_panels(kept: pd.DataFrame, published: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What `count_bars` draws: the regenerated sizes, then the paper's."""
    both = pd.concat([kept, published]).rename(columns={"lines": "label", "programs": "count"})
    return {str(source): part for source, part in both.groupby("source", sort=False)}


def task_statistics(
    *,
    seeds: Sequence[Source],
    n_seeds: int,
    min_lines: int,
    max_lines: int,
    faults: Sequence[Kind],
    per_quarter: int,
    spms: Sequence[Spm],
    strengths: Sequence[int],
    seed: int,
) -> pd.DataFrame:
    """Table IV for these parameters, for one model that localizes everything: programs, tasks (faulty programs and
    their mutants), lines and characters of the faulty programs. Columns: source, programs, faulty, tasks, mean_lines,
    total_lines, tokens (at four characters each)."""
    rows = []
    for source in seeds:
        tasks = tasks_of(source, n_seeds, min_lines, max_lines, tuple(faults), per_quarter, seed)
        programs = [task.program.code for task in tasks.values()]
        lines = [code.count("\n") + 1 for code in programs]
        times = 1 + len(spms) * len(strengths)
        rows.append(
            {
                "source": source,
                "programs": len({task.seed.id for task in tasks.values()}),
                "faulty": len(tasks),
                "tasks": len(tasks) * times,
                "mean_lines": float(np.mean(lines)) if lines else 0.0,
                "total_lines": sum(lines) * times,
                "tokens": sum(map(len, programs)) * times // 4,
            }
        )
    return pd.DataFrame(rows)


def labels_checked(tasks: Mapping[str, Task]) -> pd.DataFrame:
    """For each language and kind of fault how many tasks there are, and of how many undoing the edit gives the seed
    back and the labelled line is the one that differs: all of them."""
    rows: dict[tuple[str, str], list[int]] = {}
    for task in tasks.values():
        program, seed = task.program, task.seed.code.split("\n")
        lines = program.code.split("\n")
        taken = [*lines[: program.line - 1], *lines[program.line :]]
        rest = seed if len(lines) > len(seed) else [*seed[: program.line - 1], *seed[program.line :]]
        same = taken == rest and (len(lines) > len(seed) or lines[program.line - 1] != seed[program.line - 1])
        right = same and task.site.undo(program.code) == task.seed.code
        counts = rows.setdefault((task.seed.language, task.site.kind), [0, 0])
        counts[0] += 1
        counts[1] += right
    columns = ["language", "fault", "tasks", "label_is_right"]
    return pd.DataFrame([(*key, *counts) for key, counts in rows.items()], columns=columns)


def example(task: Task, spms: Sequence[Spm], strength: int, seed: int) -> str:
    """A fault and mutations of the program around it, for people."""
    program = task.program
    parts = [f"=== {task.id}: {task.site.kind} in line {program.line}", _around(program)]
    for spm in spms:
        mutated = mutated_program(task, spm, strength, bank(task.seed.language), seed)
        parts.append(f"--- {spm}, strength {strength}")
        parts.append(mutated if isinstance(mutated, str) else f"fault in line {mutated.line}\n{_around(mutated)}")
    return "\n".join([*parts, ""])


def _around(program: Labelled, lines: int = 4) -> str:
    numbered = list(enumerate(program.code.split("\n"), start=1))
    shown = numbered[max(0, program.line - 1 - lines) : program.line + lines]
    return "\n".join(f"{'>' if number == program.line else ' '} {number:4} {line}" for number, line in shown)


def label_panels(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Bars of the share of exact labels, a panel for each language."""
    intervals = [wilson(int(row.label_is_right), int(row.tasks), 0.95) for row in table.itertuples()]
    frame = table.assign(
        label=table["fault"],
        condition="label is the line that differs",
        share=table["label_is_right"] / table["tasks"],
        low=[interval.low for interval in intervals],
        high=[interval.high for interval in intervals],
    )
    return {LANGUAGES[str(language)]: part for language, part in frame.groupby("language", sort=False)}


def audit_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the heat map of the audit: row, column, share, tasks."""
    order = {name: place for place, name in enumerate((*KINDS, "all faults"))}
    shown = table[table["quarter"] > 0]
    shown = shown.assign(row=shown["fault"].replace({"BooleanLogic": "IncorrectBooleanLogic"}))
    shown = shown.assign(place=shown["row"].map(order)).sort_values(["place", "quarter"], ignore_index=True)
    return shown.assign(column=[QUARTERS[int(quarter) - 1] for quarter in shown["quarter"]])


def audit_claims(artefact: str, table: pd.DataFrame) -> list[Claim]:
    """What was counted in the public tasks before (spec: the facts about them), counted again."""
    every = table.set_index(["fault", "quarter"])
    values = {
        **{
            f"{fault}": float(every.loc[(fault, 0), "within"]) for fault in ("BooleanLogic", "OffByOne", "OperatorSwap")
        },
        "MisplacedReturn": float(every.loc[("MisplacedReturn", 0), "within"]),
        **{f"quarter {n}": 100 * float(every.loc[("all faults", n), "share"]) for n in range(1, 5)},
    }
    found = {key: (value, value, value, "the public tasks") for key, value in values.items()}
    return stated_claims(artefact, found)


def model_facts(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Table III: name, size, category, licence."""
    return pd.DataFrame(
        [
            {
                "name": entry.name,
                "size": str(entry.architecture.get("size", "undisclosed" if not entry.simulated else "simulated")),
                "category": str(entry.architecture.get("category", "")),
                "licence": entry.licence,
            }
            for entry in models
        ]
    )


def prompt_of(task: Task, numbered: bool) -> str:
    """The question about a task as it is."""
    return localize_prompt(task.seed, task.program.code, numbered, Sampling()).messages[0].content


# --- the public tasks -----------------------------------------------------------------------------------------------


def audit(tasks: str, tolerance: int) -> pd.DataFrame:
    """How far the public Python tasks' labels are from the line that really changed, by fault and labelled quarter.

    `tasks`: `public` reads the tasks; `counted` takes the counts that this gave (tolerance 2), where they are not at
    hand. Columns: fault, quarter (0: all), tasks, within (labels within the tolerance), share, low, high (Wilson).
    `share` is what a perfect localizer would score; tasks whose program is the seed (39) are left out.
    """
    counts = _counted() if tasks == "counted" else _count_labels(tolerance)
    every: dict[tuple[str, int], list[int]] = {}
    for (fault, quarter), (within, total) in counts.items():
        for key in ((fault, quarter), (fault, 0), ("all faults", quarter), ("all faults", 0)):
            sums = every.setdefault(key, [0, 0])
            sums[0] += within
            sums[1] += total
    rows = []
    for (fault, quarter), (within, total) in every.items():
        low, high = wilson(within, total, 0.95)
        rows.append((fault, quarter, total, within, within / total, low, high))
    return pd.DataFrame(rows, columns=["fault", "quarter", "tasks", "within", "share", "low", "high"])


def _count_labels(tolerance: int) -> dict[tuple[str, int], tuple[int, int]]:
    """Labels within the tolerance, and tasks, by fault and labelled quarter (1 to 4)."""
    rows = pd.DataFrame(packed_rows("python_buggy_index.jsonl.gz")).dropna(subset=["changed_line"])
    percent = rows["line_no_percent"].str.rstrip("%").astype(int)
    quarters = 1 + np.searchsorted([25, 50, 75], percent, side="right")
    rows = rows.assign(quarter=quarters, within=(rows["line_no"] - rows["changed_line"]).abs() <= tolerance)
    table = rows.groupby(["sam", "quarter"])["within"].agg(["sum", "size"])
    return {(str(sam), int(q)): (int(row["sum"]), int(row["size"])) for (sam, q), row in table.iterrows()}


def _counted() -> dict[tuple[str, int], tuple[int, int]]:
    counts = (published_numbers("faultloc/audit") or {"counts": {}})["counts"]
    return {(fault, n + 1): (cell[0], cell[1]) for fault, cells in counts.items() for n, cell in enumerate(cells)}
