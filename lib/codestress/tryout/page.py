"""The page of a model that was tried: four panels, what became of every question, how it was asked."""

from __future__ import annotations

import base64
import io
import math
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from codestress import __version__
from codestress.inference.budget import cost
from codestress.inference.servers import server_of
from codestress.paths import write_whole
from codestress.report.curves import interval
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
COLUMNS = ["paper", "problem", "cell", "outcome", "prompt_tokens", "completion_tokens", "seconds", "key"]


def write_page(folder: Path, subject: Subject, sampled: Sample, counts: Sequence[Counted], *, command: str) -> Path:
    """`index.html`, `cells.csv` and `answers.csv` in a folder that needs nothing else; returns the page."""
    rows = [
        {
            **{"paper": part.paper, "problem": answer.trial.problem, "cell": part.headline.cell(answer.trial)},
            **{"outcome": answer.scores["strict"].outcome.value, "prompt_tokens": answer.usage.prompt_tokens},
            **{"completion_tokens": answer.usage.completion_tokens, "seconds": answer.seconds, "key": answer.key},
            **{"error": answer.error.split("\n")[0], "by": answer.answered_by},
        }
        for part in sampled.parts
        for answer in part.answers
    ]
    answers = pd.DataFrame(rows, columns=[*COLUMNS, "error", "by"])
    text = (files("codestress.tryout") / "page.html").read_text(encoding="utf-8")
    every = dict.fromkeys(outcome for one in counts for outcome in one.outcomes)
    page = (
        page_environment()
        .from_string(text)
        .render(
            name=subject.entry.name,
            summary=_summary(subject, sampled, answers),
            simulated=subject.entry.simulated,
            ended=sampled.ended,
            unread=_unread(answers),
            told=subject.told,
            panels=[_panel(subject, part, one) for part, one in zip(sampled.parts, counts, strict=True)],
            outcomes=sorted(every, key=lambda name: PLACES.get(name, len(PLACES))),
            failures=Counter(filter(None, answers["error"])).most_common(5),
            facts=_facts(subject, sampled, answers[answers["error"] == ""]),
            command=command,
            registry=(folder / "models.yaml").is_file(),
            version=__version__,
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    cells = pd.concat({part.paper: one.cells for part, one in zip(sampled.parts, counts, strict=True)}, names=["paper"])
    for name, table in (("cells", cells.reset_index("paper")), ("answers", answers[COLUMNS])):
        table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
    write_whole(folder / "index.html", page)
    return folder / "index.html"


def _panel(subject: Subject, part: Part, counted: Counted) -> dict[str, Any]:
    """What the page shows of a paper."""
    headline = part.headline
    rows = counted.cells[counted.cells["n"] > 0].to_dict("records")
    said = ", ".join(
        f"{row['cell']} {100 * row['share']:.0f} % ({100 * row['low']:.0f} to {100 * row['high']:.0f})" for row in rows
    )
    picture = io.BytesIO()
    with rc_context({"svg.fonttype": "path"}):
        panel(subject.entry.name, counted.cells, headline).savefig(picture, format="svg", metadata={"Date": None})
    return {
        **{"title": headline.title, "question": headline.question, "source": headline.source},
        **{"svg": base64.b64encode(picture.getvalue()).decode(), "alt": f"{headline.title}: {said or 'no answers'}"},
        **{"finding": _finding(counted), "later": _later(part, counted)},
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


def _summary(subject: Subject, sampled: Sample, answers: pd.DataFrame) -> str:
    minutes, seconds = divmod(round(sampled.seconds), 60)
    kept = len(answers) - sampled.asked
    stored = f", {kept:,} of them stored before" if kept > 0 else ""
    dollars = cost(subject.entry, answers["prompt_tokens"].sum(), answers["completion_tokens"].sum())
    spent = f", ${dollars:.2f} at its listed price" if subject.entry.price else ""
    failed = (answers["error"] != "").sum()
    without = f", {failed:,} questions without an answer" if failed else ""
    return f"{len(answers) - failed:,} answers{stored}{without}; {minutes} min {seconds:02d} s{spent}."


def _unread(answers: pd.DataFrame) -> str:
    """What is to be said of a model of which more than half of the questions brought no answer, or none to be read."""
    found = Counter(answers["outcome"])
    read = found.pop(Outcome.CORRECT.value, 0) + found.pop(Outcome.INCORRECT.value, 0)
    if 2 * read >= len(answers):
        return ""
    told = ", ".join(f"{count:,} {name}" for name, count in found.most_common())
    return f"of {len(answers):,} questions {told}: such shares say how it answers, not what it understands"


def _facts(subject: Subject, sampled: Sample, came: pd.DataFrame) -> list[tuple[str, str]]:
    """How it was asked, and what came."""
    entry, part = subject.entry, sampled.parts[0]
    context, longest = part.context, part.longest
    prompts, tokens = (int(came[name].sum()) for name in ("prompt_tokens", "completion_tokens"))
    named = sorted({*came["by"]} - {""})
    dates = "answered by " + "; ".join(named) if named else "the server does not name its model"
    refused = f"; {sampled.failed:,} requests refused for overload, or without a whole reply" if sampled.failed else ""
    learnt = ", as it said when it refused a longer prompt" if context != entry.context else ""
    refused_at = f"; a prompt and its answer of at most {longest:,} characters were refused as too long"
    shorter = refused_at if longest < math.inf else ""
    facts = [
        ("model", f"{entry.id}{f' ({entry.revision})' if entry.revision else ''}, {dates}"),
        ("server", server_of(entry).split(" by ")[0] or "runs in this process"),
        ("context", f"{context:,} tokens{learnt}" if context else f"not said{shorter}"),
        ("begun answers", "continued" if subject.reach.prefill else "not continued: begun in the question instead"),
        ("asked now", f"{sampled.asked:,} answered in {sampled.seconds:.0f} s{refused}"),
        ("tokens", f"{prompts:,} of prompts, {tokens:,} of answers" if prompts else NO_TOKENS),
    ]
    if len(came) and sampled.asked:
        rate, median = sampled.asked / sampled.seconds, came["seconds"].median()
        facts.append(("speed", f"{rate:.2f} answers a second; median {median:.2f} s an answer"))
    return facts


def panel(name: str, cells: pd.DataFrame, headline: Headline) -> Figure:
    """Shares of right answers by cell: grey, the published ones, a dot each; in colour, this model."""
    figure = styled_figure(4.6, 2.5)
    ax = figure.subplots()
    published = headline.published()
    below: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 6}
    for place, row in enumerate(cells.to_dict("records")):
        shares = 100 * np.sort(published.loc[published["cell"] == row["cell"], "share"])
        xs = place + SPREAD * np.linspace(-1, 1, len(shares)) if len(shares) > 1 else [place] * len(shares)
        label = "published models" if place == 0 else None
        ax.plot(xs, shares, ".", color=PUBLISHED, alpha=0.45, markersize=5, label=label)
        if not len(shares):
            ax.annotate("not published\nas numbers", (place, 101), ha="center", va="top", fontsize=5.5, color=PUBLISHED)
        lack = "does not fit" if row["too_long"] else "cut by the server" if row["cut"] else "no answer"
        ax.annotate(f"{row['right']} of {row['n']}" if row["n"] else lack, (place, 0), (0, -15), **below)
    known = cells.reset_index(drop=True).query("n > 0")
    share, errors = interval(known, "share")
    ax.errorbar(known.index, share, errors, fmt="o", color=COLOURS[1], markersize=5.5, capsize=3, label=name, zorder=5)
    ax.set_xticks(range(len(cells)), headline.cells)
    ax.tick_params(axis="x", length=0, labelsize=7)
    ax.set(xlim=(-0.5, len(cells) - 0.5), ylim=(-3, 103), ylabel="right (%)")
    ax.set_xlabel(headline.axis, labelpad=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=6.5, frameon=False, borderaxespad=0.1)
    return figure
