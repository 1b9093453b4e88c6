"""CodeCrash: the questions that are asked, the conditions paired, what readers make of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd
import pytest
from made_answers import answers_to
from studied import READERS, given_of, prompt_of, trials_of

from codestress.errors import DataError, ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.mutate.perturbations.messages import messages
from codestress.papers.codecrash import contest_programs
from codestress.papers.codecrash.results import differences, reasoning, verdicts
from codestress.parameters import questions
from codestress.pipeline.inputs import inputs_of
from codestress.pipeline.plan import make_plan
from codestress.prompts import prompt_text
from codestress.report.protocol import stamp
from conftest import artefact_of, codestress
from told import names, refused

RULE = {"rule": "strict", "confidence": 0.95}


def test_prompts_have_the_papers_two_sentences_and_form() -> None:
    trials = trials_of(
        problems=["generated"], perturbations=["VAN", "REN"], modes=["direct", "cot"]
    )
    candidates = Counter[int]()
    for trial in trials.items:
        prompt = trials.render(trial)
        system, user = prompt.messages
        assert (system.role, user.role) == ("system", "user")
        names(user.content, "Do NOT output any extra information")
        names(user.content, "Ensure the provided expression syntax is correct")
        assert user.content.endswith(" == ?? [/ANSWER]")
        # The instruction names the tag, the question ends with it.
        shots = user.content.count("[/ANSWER]") - 2
        asked = (shots, "[THOUGHT]" in user.content, prompt.sampling.max_tokens)
        cot = trial.factors["mode"] == "cot"
        assert asked == ((1, True, 2000) if cot else (2, False, 200))
        assert (prompt.sampling.temperature, prompt.sampling.top_p) == (0.2, 0.95)
        renamed = trial.factors["perturbation"] == "REN"
        assert ("def f(Var_" in user.content) == renamed
        candidates[trial.sample] += not cot
    assert candidates == dict.fromkeys(range(3), 12)


def test_the_defences_are_asked_in_the_papers_words() -> None:
    """Table 8's sentence and Table 9's four steps, as section 4.3 prints them, and no word of what misleads."""
    told = trials_of(perturbations=["VAN", "MCC"], ignore=[False, True])
    # That they may be wrong is not said.
    sentence = "Please ignore the comments and any other non-code elements in the code snippet."
    assert prompt_text("codecrash.ignore") == sentence
    asked = set()
    for number, trial in enumerate(told.items):
        ignore = trial.factors["ignore"]
        asked.add((trial.factors["perturbation"], ignore))
        assert (sentence[:-1] in prompt_of(told, number)) == ignore
    # Table 8 has one column of vanilla programs, which have no comments to be ignored.
    assert asked == {("VAN", False), ("MCC", False), ("MCC", True)}
    cleaned = trials_of(perturbations=["MCC"], refactor=[True])
    steps = (
        "(i) deleting misleading comments, (ii) renaming unintelligible identifiers, (iii) adding missing imports, "
        "and (iv) stripping dead code"
    )
    assert steps in prompt_of(cleaned, 0).splitlines()[-1]


def test_reasoning_models_are_asked_directly_with_room_to_think_beside_the_others() -> (
    None
):
    """Appendix D; section 4.1 compares Qwen2.5-72B step by step with QwQ."""
    assert load_registry()["qwq-32b"].max_tokens == 32768
    for name in ("codecrash/tab06", "codecrash/fig04"):
        given = artefact_of(name, "paper").parameters
        thinking, plain = map(given.of_model, ("qwq-32b", "qwen2.5-72b"))
        assert (thinking.modes, thinking.samples_direct) == (["direct"], 1)
        assert "cot" in plain.modes
        assert plain.max_tokens_cot == 2000
        assert stamp(given) == "as the paper"
    trials = artefact_of("codecrash/tab06", "smoke", "n_problems=1").trials()
    for model, mode in (("sim-trusting", "cot"), ("sim-thinking", "direct")):
        assert {trial.factors["mode"] for trial in trials.of(model).items} == {mode}


def test_candidates_are_different_requests_and_unchanged_programs_are_asked_once() -> (
    None
):
    trials = trials_of(
        problems=["generated"], n_problems=12, perturbations=["VAN", "RTF"]
    )
    entry = load_registry()["sim-careful"]
    keys = defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    statuses = {}
    for trial in trials.items:
        asked = keys[str(trial.factors["perturbation"])][trial.problem]
        asked.add(request_of(trials, trial, entry).key)
        statuses[trial.problem] = trial.factors["status"]
    assert "unchanged" in statuses.values()
    for name, status in statuses.items():
        assert len(keys["RTF"][name]) == len(keys["VAN"][name]) == 3
        assert (keys["RTF"][name] == keys["VAN"][name]) == (status == "unchanged")


MINIMUM_COST = """def minimumCost(s: str) -> int:
    ans = 0
    for i in range(1, len(s)):
        if s[i - 1] != s[i]:
            ans += min(i, len(s) - i)
    return ans"""


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.usefixtures("public")
def test_cruxeval_at_full_size(tmp_path: Path) -> None:
    how, reader = "hints=generated", ("sim-careful",)
    artefact = artefact_of("codecrash/tab05", "paper", how, models=reader)
    trials = artefact.trials()
    counts = Counter(
        (trial.factors["perturbation"], trial.factors["mode"]) for trial in trials.items
    )
    assert counts["VAN", "direct"] == counts["PSC-ALL", "direct"] == 2400
    assert counts["VAN", "cot"] == 800
    assert counts["MHC", "direct"] >= 3 * 780
    [row] = make_plan([artefact], tmp_path / "s.sqlite").rows
    assert row.requests == len(trials.items)


@pytest.mark.slow
def test_readers_and_all_conditions(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    trials = trials_of(
        n_problems=10,
        perturbations=["VAN", "PSC-ALL", "MCC", "MPS", "MHC"],
        refactor=[False, True],
        samples_direct=2,
    )
    results = run(trials, READERS, store=store)
    for counts in results.counts().values():
        assert sum(counts.values()) == len(trials.items)
    answers = results.answers
    table = differences.differences(answers, **RULE)
    assert set(table["problems"]) == {10}
    hint = table.query("perturbation == 'MHC' and not refactor").set_index("model")
    assert hint.loc["sim-trusting", "points"] < hint.loc["sim-careful", "points"]
    assert run(trials, READERS, store=store).asked == 0
    earlier = [len(keys) for keys in answers["earlier"]]
    assert set(earlier) <= {0, 1}
    assert sum(earlier) > 0.4 * len(earlier)
    cleaned = [keys[0] for keys in answers["earlier"] if keys]
    for response in stored_responses(cleaned, store).values():
        assert response.text.startswith("```python")


def test_plans_count_both_requests_of_a_pipeline(tmp_path: Path) -> None:
    artefact = artefact_of("codecrash/tab09", "smoke", models=("sim-careful",))
    [row] = make_plan([artefact], tmp_path / "s.sqlite").rows
    trials = artefact.trials().items
    cleaned = [trial for trial in trials if trial.factors["refactor"]]
    assert row.requests == len(trials) + len(cleaned)


def test_what_cannot_be_asked_is_said() -> None:
    remedy = "`codestress write translations`"
    with refused(ParameterError, "javascript", "generated", remedy):
        trials_of(problems=["generated"], languages=["javascript"])
    with refused(ParameterError, "input", "livecodebench"):
        trials_of(problems=["livecodebench"], task="input")
    with refused(DataError, "livecodebench/execution-v2.jsonl"):
        artefact_of("codecrash/fig03", "paper").trials()
    file, remedy = "/nowhere/hints.jsonl", "`codestress write hints"
    asked = "--problems contest --task output"
    with refused(DataError, file, remedy, asked, "hints = generated"):
        trials_of(perturbations=["MHC"], hints=file)
    for lone in (["VAN"], ["MCC"]):
        told = f"perturbations = {lone}"
        with refused(ParameterError, told, "codecrash/perturbations"):
            questions(given_of(perturbations=lone))
    for compare in (differences.differences, verdicts.changed_verdicts):
        with refused(ParameterError, "VAN", "answers: MCC"):
            compare(answers_to("MCC", [1.0]), **RULE)


def test_cases_with_a_defence_stand_beside_the_plain_program(tmp_path: Path) -> None:
    given = given_of(n_problems=20, perturbations=["VAN", "MCC"], ignore=[False, True])
    answers = run(given, ["sim-trusting"], store=tmp_path / "s.sqlite").answers
    found = verdicts.cases(answers, rule="strict", per_condition=1, seed=0)
    assert set(found["ignore"]) == {False, True}
    asked = answers.drop_duplicates("key").set_index("key")
    assert set(asked.loc[found["key_before"], "perturbation"]) == {"VAN"}
    assert not asked.loc[found["key_before"], "ignore"].any()


@pytest.mark.slow
def test_reasoning_that_collapses(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    given = given_of(
        n_problems=40,
        perturbations=["VAN", "MCC", "MHC"],
        samples_direct=1,
        max_tokens_direct=4096,
    )
    answers = run(given, ["sim-thinking"], store=store).answers
    texts = stored_responses(answers["key"], store)
    thought = reasoning.with_reasoning(answers, texts)
    table = reasoning.reasoning_table(thought, **RULE).set_index("perturbation")
    average = table["average_tokens"]
    assert average["VAN"] < min(average["MCC"], average["MHC"])
    assert table.loc["VAN", "collapses"] == 0 < table.loc["MHC", "collapses"]
    found = reasoning.doubt_curve(answers, texts)
    assert found.perturbation == "MHC"
    assert found.collapse_at is not None
    [growth] = reasoning.growth_table(found).itertuples()
    assert growth.c2 > 0


def test_a_missing_contest_program_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest_programs, "FOLDER", tmp_path)
    with refused(DataError, tmp_path / "calls.json", "git checkout"):
        contest_programs.contest_problems.__wrapped__()


@pytest.mark.parametrize(
    ("source", "is_read"), [("contest", True), ("generated", False)]
)
def test_contest_programs_are_inputs_of_the_artefacts_that_ask_about_them(
    source: str, is_read: bool
) -> None:
    files = inputs_of(artefact_of("codecrash/tab01", "smoke", f"problems=[{source}]"))
    assert ("data params/codecrash/contest/coin_row_duel.py" in files) == is_read


def test_the_messages_that_table_3_prints_are_to_the_letter() -> None:
    kit, new = messages("kit"), list[str]()
    for kind, printed in messages("printed").items():
        assert len(printed) == len(kit[kind])
        old = [text for _, text in kit[kind]]
        new += [text for _, text in printed if text not in old]
    assert new == [
        "This branch will not execute because the condition is always unmet.",
        "The logic here ensures this block is skipped in all scenarios.",
        "This operation is irrelevant and can be safely removed.",
        "The operation is unnecessary and does not affect the outcome.",
    ]


def test_tokens_grow_as_an_oracle_says() -> None:
    asked = {"question": [f"q{number // 2}" for number in range(12)]}
    tokens = {"VAN": range(100, 112), "MHC": range(300, 336, 3), "MCC": [150, 50] * 6}
    parts = [
        answers_to(name, [1.0] * 12, reasoning_tokens=[*spent], **asked)
        for name, spent in tokens.items()
    ]
    # Who has no vanilla is left out.
    parts.append(parts[1][:1].assign(problem="p99"))
    own = reasoning.token_growth(pd.concat(parts), confidence=0.95)
    assert ((own["low"] < own["times"]) & (own["times"] < own["high"])).all()
    own = own.set_index("perturbation")
    assert list(own.loc["MHC", ["times", "problems", "questions"]]) == [3.0, 12, 6]
    assert own.loc["MCC", "times"] == pytest.approx(1200 / sum(range(100, 112)))


def test_generated_hints_are_a_deviation_and_a_model_s_file_is_none() -> None:
    papers = {"problems": ["cruxeval", "livecodebench"], "n_problems": 0}
    papers["artefact"] = "codecrash/tab01"
    as_asked = given_of(**papers, hints="elsewhere.jsonl", messages="printed")
    assert stamp(as_asked) == "as the paper"
    told = stamp(given_of(**papers, hints="generated", messages="kit"))
    names(told, "deviates", "hints generated", "messages kit")
    names(told, "outputs/data/codecrash.hints.jsonl", "printed")


@pytest.mark.isolation
def test_another_process_asks_the_same_and_livecodebench_in_its_own_form(
    tmp_path: Path,
) -> None:
    """The other's hashes are others, and it has two programs of LiveCodeBench's form."""
    rows = []
    for text, output in (("0011", "2"), ("010101", "9")):
        row = {"question_id": 2777, "id": f"sample_{text}", "code": MINIMUM_COST}
        row |= {"function_name": "minimumCost", "input": f"minimumCost(s = {text!r})"}
        rows.append(json.dumps(row | {"output": output, "numsteps": 13}))
    (tmp_path / "livecodebench").mkdir()
    (tmp_path / "livecodebench" / "execution-v2.jsonl").write_text("\n".join(rows))
    name, profile, model = "codecrash/tab01", "smoke", "sim-careful"
    command = ["show", name, "--profile", profile, "--models", model, "--json"]
    command += ["--limit", "0", "--set", "problems=[contest,livecodebench]"]
    where = {"CODESTRESS_DATA": str(tmp_path), "PYTHONHASHSEED": "1"}
    settings = ("n_problems=4", "perturbations=[VAN,REN,PSC-ALL,MCC,MPS,MHC]")
    for setting in settings:
        command += ["--set", setting]
    done = codestress(*command, outputs=tmp_path, **where)
    assert done.returncode == 0, done.stderr
    texts = defaultdict[str, list[str]](list)
    for row in json.loads(done.stdout):
        asked = row["prompt"]["messages"][-1]["content"]
        texts[row["factors"]["dataset"]].append(asked)
    assert any("f(Var_3 = '0011') == ??" in text for text in texts["livecodebench"])
    contest = (*settings, "problems=[contest]")
    trials = artefact_of(name, profile, *contest, models=(model,)).trials()
    own = [prompt_of(trials, number) for number in range(len(trials.items))]
    assert own == texts["contest"]
