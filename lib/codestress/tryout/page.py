"""The page of a model that was tried: four panels, what became of every question, how it was asked."""

from __future__ import annotations

import io
import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from codestress import __version__
from codestress.inference.budget import cost
from codestress.inference.run import Answer
from codestress.inference.servers import server_of
from codestress.paths import write_whole
from codestress.report.headline import Headline
from codestress.report.notebook_page import page_environment
from codestress.report.style import COLOURS, PUBLISHED, styled_figure
from codestress.tryout.counts import Counted
from codestress.tryout.sampling import Part, Sample
from codestress.tryout.subject import Subject
from codestress.types import Outcome

SPREAD = 0.3
"""Published models of one cell stand so far to either side, in their order, so that none hides another."""
PLACES = {outcome.value: place for place, outcome in enumerate(Outcome)}
NO_TOKENS = "not reported; that a server cuts prompts is seen by them alone"


def write_page(folder: Path, subject: Subject, sampled: Sample, counts: Sequence[Counted], *, command: str) -> Path:
    """`index.html`, `cells.csv` and `answers.csv` in a folder that needs nothing else; returns the page."""
    entry, answers = subject.entry, [answer for part in sampled.parts for answer in part.answers]
    panels = [_panel(subject, part, one) for part, one in zip(sampled.parts, counts, strict=True)]
    text = (files("codestress.tryout") / "page.html").read_text(encoding="utf-8")
    template = page_environment().from_string(text)
    every = dict.fromkeys(outcome for one in counts for outcome in one.outcomes)
    ordered = sorted(every, key=lambda name: PLACES.get(name, len(PLACES)))
    failed = Counter(answer.error.split("\n")[0] for answer in answers if answer.error)
    page = template.render(
        name=entry.name,
        summary=_summary(subject, sampled, answers),
        simulated=entry.simulated,
        ended=sampled.ended,
        unread=_unread(answers),
        told=subject.told,
        panels=panels,
        outcomes=ordered,
        failures=failed.most_common(5),
        facts=_facts(subject, sampled, answers),
        command=command,
        registry=(folder / "models.yaml").is_file(),
        version=__version__,
    )
    folder.mkdir(parents=True, exist_ok=True)
    tables = [
        one.cells.assign(paper=part.paper).set_index("paper")
        for part, one in zip(sampled.parts, counts, strict=True)
    ]  # fmt: skip
    pd.concat(tables).to_csv(folder / "cells.csv", float_format="%.6g", lineterminator="\n")
    rows = [
        (
            *(part.paper, answer.trial.problem, part.headline.cell(answer.trial)),
            *(answer.scores["strict"].outcome.value, answer.usage.prompt_tokens, answer.usage.completion_tokens),
            *(answer.seconds, answer.key),
        )
        for part in sampled.parts
        for answer in part.answers
    ]
    columns = ["paper", "problem", "cell", "outcome", "prompt_tokens", "completion_tokens", "seconds", "key"]
    table = pd.DataFrame(rows, columns=columns)
    table.to_csv(folder / "answers.csv", index=False, float_format="%.6g", lineterminator="\n")
    path = folder / "index.html"
    write_whole(path, page)
    return path


def _panel(subject: Subject, part: Part, counted: Counted) -> dict[str, Any]:
    """What the page shows of a paper."""
    headline = part.headline
    rows = counted.cells[counted.cells["n"] > 0].to_dict("records")
    said = ", ".join(
        f"{row['cell']} {100 * row['share']:.0f} % ({100 * row['low']:.0f} to {100 * row['high']:.0f})" for row in rows
    )
    picture = as_svg(panel(subject.entry.name, counted.cells, headline), f"{headline.title}: {said or 'no answers'}")
    return {
        **{"title": headline.title, "question": headline.question, "source": headline.source},
        **{"svg": Markup(picture), "finding": _finding(counted), "later": _later(part, counted)},
        **{"deviates": headline.deviates(subject.reach), "outcomes": counted.outcomes},
    }


def _finding(counted: Counted) -> str:
    if counted.later is None:
        return "No answers to compare."
    below, above, neither = counted.told_apart
    return (
        f"“{counted.compared}”, beside {below + above + neither} published models: above {below}, below {above}, "
        f"not told apart from {neither}."
    )


def _later(part: Part, counted: Counted) -> str:
    if counted.later is None:
        return "it has no answers yet"
    if not part.left:
        return f"all {len(part.rounds)} rounds are asked"
    neither = counted.told_apart[2]
    now = f"the interval of “{counted.compared}” is ± {counted.half_width:.0f} points"
    if not neither:
        return f"{now}, which tells it apart from all published models"
    models = f"{counted.later} model{'' if counted.later == 1 else 's'} not told apart"
    before = "as now" if counted.later == neither else f"instead of {neither}"
    half = f"± {counted.half_width / 2**0.5:.0f}"
    return f"{now}; with as many answers more, {half}, and {models} {before}, if the share stays"


def _summary(subject: Subject, sampled: Sample, answers: Sequence[Answer]) -> str:
    minutes, seconds = divmod(round(sampled.seconds), 60)
    kept = len(answers) - sampled.asked
    stored = f", {kept:,} of them stored before" if kept > 0 else ""
    spent = _dollars(subject, answers)
    failed = sum(bool(answer.error) for answer in answers)
    without = f", {failed:,} questions without an answer" if failed else ""
    took = f"{minutes} min {seconds:02d} s{f', {spent}' if spent else ''}"
    return f"{len(answers) - failed:,} answers{stored}{without}; {took}."


def _unread(answers: Sequence[Answer]) -> str:
    """What is to be said of a model of which more than half of the questions brought no answer, or none to be read."""
    found = Counter(answer.scores["strict"].outcome for answer in answers)
    other = [(name, count) for name, count in found.most_common() if name not in (Outcome.CORRECT, Outcome.INCORRECT)]
    if 2 * sum(count for _, count in other) <= len(answers):
        return ""
    told = ", ".join(f"{count:,} {name.value}" for name, count in other)
    return f"of {len(answers):,} questions {told}: such shares say how it answers, not what it understands"


def _dollars(subject: Subject, answers: Sequence[Answer]) -> str:
    if subject.entry.price is None:
        return ""
    usage = [(answer.usage.prompt_tokens or 0, answer.usage.completion_tokens or 0) for answer in answers]
    return f"${sum(cost(subject.entry, *one) for one in usage):.2f} at its listed price"


def _facts(subject: Subject, sampled: Sample, answers: Sequence[Answer]) -> list[tuple[str, str]]:
    entry, came = subject.entry, [answer for answer in answers if not answer.error]
    seconds = [answer.seconds for answer in came]
    tokens = sum(answer.usage.completion_tokens or 0 for answer in came)
    prompt_tokens = sum(answer.usage.prompt_tokens or 0 for answer in came)
    named = sorted({answer.answered_by for answer in came if answer.answered_by})
    dates = "answered by " + "; ".join(named) if named else "the server does not name its model"
    refused = f"; {sampled.failed:,} requests refused for overload, or without a whole reply" if sampled.failed else ""
    context = sampled.parts[0].context
    learnt = ", as it said when it refused a longer prompt" if context != entry.context else ""
    longest = sampled.parts[0].longest
    refused_at = f"; a prompt and its answer of at most {longest:,} characters were refused as too long"
    shorter = refused_at if longest < math.inf else ""
    facts = [
        ("model", f"{entry.id}{f' ({entry.revision})' if entry.revision else ''}, {dates}"),
        ("server", server_of(entry).split(" by ")[0] or "runs in this process"),
        ("context", f"{context:,} tokens{learnt}" if context else f"not said{shorter}"),
        ("begun answers", "continued" if subject.reach.prefill else "not continued: begun in the question instead"),
        ("asked now", f"{sampled.asked:,} answered in {sampled.seconds:.0f} s{refused}"),
        ("tokens", f"{prompt_tokens:,} of prompts, {tokens:,} of answers" if prompt_tokens else NO_TOKENS),
    ]
    if seconds and sampled.asked:
        rate = sampled.asked / sampled.seconds
        facts.append(("speed", f"{rate:.2f} answers a second; median {statistics.median(seconds):.2f} s an answer"))
    return facts


def panel(name: str, cells: pd.DataFrame, headline: Headline) -> Figure:
    """Shares of right answers by cell: grey, the published ones, a dot each; in colour, this model."""
    figure = styled_figure(4.6, 2.5)
    ax = figure.subplots()
    published = headline.published()
    for place, cell in enumerate(headline.cells):
        shares = sorted(published.loc[published["cell"] == cell, "share"])
        count = len(shares)
        xs = [place + SPREAD * (2 * number / (count - 1) - 1) if count > 1 else place for number in range(count)]
        label = "published models" if place == 0 else None
        ax.plot(xs, [100 * share for share in shares], ".", color=PUBLISHED, alpha=0.45, markersize=5, label=label)
        if not count:
            ax.annotate("not published\nas numbers", (place, 101), ha="center", va="top", fontsize=5.5, color=PUBLISHED)
    shown = cells.reset_index(drop=True)
    known = shown[shown["n"] > 0]
    places, share = known.index.to_numpy(float), 100 * known["share"].to_numpy(float)
    errors = [share - 100 * known["low"].to_numpy(float), 100 * known["high"].to_numpy(float) - share]
    ax.errorbar(places, share, yerr=errors, fmt="o", color=COLOURS[1], markersize=5.5, capsize=3, label=name, zorder=5)
    for place, row in shown.iterrows():
        told = f"{row['right']} of {row['n']}" if row["n"] else "no answer"
        if not row["n"] and (row["too_long"] or row["cut"]):
            told = "does not fit" if row["too_long"] else "cut by the server"
        ax.annotate(
            told, (float(str(place)), 0), (0, -15), textcoords="offset points", ha="center", va="top", fontsize=6
        )
    ax.set_xticks(range(len(headline.cells)), headline.cells)
    ax.tick_params(axis="x", length=0, labelsize=7)
    ax.set_xlim(-0.5, len(headline.cells) - 0.5)
    ax.set_ylim(-3, 103)
    ax.set_ylabel("right (%)")
    ax.set_xlabel(headline.axis, labelpad=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=6.5, frameon=False, borderaxespad=0.1)
    return figure


def as_svg(figure: Figure, alt: str) -> str:
    """To stand inside a page, said in words for who does not see it."""
    out = io.StringIO()
    with rc_context({"svg.hashsalt": "codestress", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    content = out.getvalue()
    svg = content[content.index("<svg") :]
    # Ids are the same in every picture of a page: each gets its own.
    prefix = re.sub(r"\W", "", alt)[:24]
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{re.sub(chr(34), "", alt)}"', 1)
