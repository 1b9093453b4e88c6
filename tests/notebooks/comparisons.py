"""Cells that compare what a reader of a notebook sees computed with what the notebook publishes."""

COMPARISONS = {
    "origin/shares": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
        pairs = answers.pivot_table(index="problem", columns=["model", "condition"], values="right")
        for row in differences.itertuples():
            change = pairs[row.model][row.second] - pairs[row.model][row.first]
            assert np.isclose(change.mean(), row.difference)
    """,
    "origin/outcomes": """
        ours = table[table["source"] == "regenerated"].set_index("model")["accuracy"]
        assert np.allclose(ours, summary.set_index("model")["accuracy"][ours.index])
        bits = cells[cells["model"] == ours.index[0]].set_index("lines")["outcome"]
        first = table.set_index("model")["lines_of_first_failure"][ours.index[0]]
        assert (bits[bits.index < first] == "correct").all() and bits[first] != "correct"
    """,
    "origin/needles": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
    """,
    "origin/distance": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
        both = fitted.merge(seen, on=["model", "side"])
        assert len(both) == len(fitted) == 2
        assert np.allclose(both[["top seen here", "reach seen here"]], both[["top", "reach_lines"]], rtol=2e-3)
    """,
    "semtrace/positions": """
        wanted = dips[dips["metric"] == given.metrics[0]].set_index(curve)
        assert np.allclose(wanted.loc[seen.index, ["dip_points", "drop_points"]], seen)
        assert np.allclose(curves.to_numpy().ravel(), table["accuracy"])
    """,
    "semtrace/baselines": """
        assert np.allclose(share, table["accuracy"])
        wanted = differences.set_index(["task", "model"])["difference"]
        assert np.allclose(wanted, change.iloc[:, 0][wanted.index])
    """,
    "semtrace/recall": """
        wanted = taus[taus["other"] == "SemTrace"].set_index("lexical")["tau"]
        assert np.allclose(wanted, pd.Series(seen)[wanted.index])
    """,
    "semtrace/line_removal": """
        from codestress.papers.semtrace.results.removal import fit_removal
        assert np.allclose(table.set_index(["model", "task", "share_removed"])["accuracy"][
            pd.MultiIndex.from_frame(share[["model", "task", "share_removed"]])], share["mean"])
        for curve, fit in fits.items():
            assert np.allclose(fit.at(share["share_removed"]), form(share["share_removed"], *seen[curve]), atol=2e-3)
    """,
    "semtrace/sensitivity": """
        wanted = sensitivity.set_index(["model", "task"])["sensitivity"]
        assert np.allclose(wanted, seen[wanted.index])
    """,
    "faultloc/localization": """
        wanted = table.set_index(groups)
        assert np.allclose(wanted["accuracy"][share.index], share)
        assert np.allclose(wanted["accuracy_kept"][share_kept.index], share_kept)
    """,
    "faultloc/robustness": """
        wanted = table.set_index(["model", *by])
        assert np.allclose(wanted.loc[share.index, ["accuracy", "asked_again"]], share)
        wanted = losses[losses["control"] == controls[0]].set_index(["model", "language"])["net_lost"]
        assert np.allclose(wanted, net[wanted.index])
    """,
    "codecrash/robustness": """
        wanted = table.set_index(conditions.CELL)["points"].drop("merge", level="dataset")
        assert len(wanted) and np.allclose(wanted, points[wanted.index])
    """,
    "codecrash/collapse": """
        assert np.allclose(fit.convert().coef, table.loc[0, ["c0", "c1", "c2"]].astype(float))
    """,
    "codecrash/reasoning": """
        wanted = table.set_index(cell)[["average_tokens", "most_tokens"]]
        assert np.allclose(wanted.loc[spent.index], spent)
        for row in growth.itertuples():
            assert np.isclose(times[row.perturbation][row.model, row.dataset], row.times)
    """,
}
"""By notebook, a last cell that compares what a reader sees computed with what is published."""
