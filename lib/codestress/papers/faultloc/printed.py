"""The motivating example of Fault Localizability as the paper prints it (section II,
Figures 1 to 3): programs, prompt, questions.

The texts are `printed/figure1.txt`, `printed/figure3.txt` and `printed/edited.txt`
(Figure 1, with the misleading names and comment of Figure 3). They keep the marks of
omitted code. The print leaves some points open, which the kit reconstructs as follows:

- Indentation: four columns a level. Figure 1 prints its last two lines inside the
  function that they call; here they stand outside, as in the data set. The second line
  of a `zip` is aligned with the first.
- A comment that the page breaks stands in one line. So Figure 1 has its fault in line
  13, as section II says.
- The labels between the lines of Figure 3 are not code. Its printed lines 11 (the
  fault) and 19 (the line that Claude Sonnet 4.5 named) are lines 8 and 16 of the
  program.
- Figure 1's comment names the fault. Figure 3 lacks the loop over the upper diagonal,
  beside the changes that it shows. The study asks about both figures as printed
  (`annotated`, `figure 3`) and about Figure 1 without that comment (`faulty`). It also
  asks about Figure 1 with the edits of Figure 3 alone (`edited`), which change only
  names and a comment.
- The wording of the question about the specification is the kit's own: Figure 2, which
  has the paper's wording, is a picture.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from pydantic import Field

from codestress.mutate.faults.neutral import FaultyProgram
from codestress.parameters import Experiment
from codestress.prompts import filled, prompt_text
from codestress.types import (
    Message,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Trial,
)

from .scoring import (
    TOLERANCES,
    score_location,
    score_specification,
)

Question = Literal["specification", "faulty", "annotated", "edited", "figure 3"]
COMMENT = "        # Off-by-one fault: the loop stops one row too early\n"
"""Comment of Figure 1 that tells the reader where the fault is."""
FAULT = "range(row, n-1, 1)"
"""Text of the faulty line in all versions of the program."""


class Naming(Experiment):
    """Parameters of questions for a faulty line: the sampling of their requests."""

    SINGLE = OPEN = ("temperature", "max_tokens")

    temperature: float = Field(0.0, ge=0, le=2)
    """Temperature of the sampling, which the paper does not say."""
    max_tokens: int = Field(512, ge=1)
    """Tokens of the longest answer."""

    def prompt(self, text: str) -> Prompt:
        """Return the prompt that asks `text`, with the sampling of all requests."""
        sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
        return Prompt((Message("user", text),), sampling)


class Printed(Naming):
    """Parameters of the questions about N-Queens, the motivating example of Fault
    Localizability (section II)."""

    questions: list[Question] = Field(list(get_args(Question)), min_length=1)
    """Questions: the specification, then Figure 1 without and with its comment, with
    Figure 3's edits, and Figure 3."""
    max_tokens: int = Field(2048, ge=1)
    """Tokens of the longest answer."""

    def trials(self) -> Iterator[Trial]:
        """Yield a trial for each of `questions`.

        A question is about the specification of N-Queens, or is the printed prompt
        about one version of the program.
        """
        for question in self.questions:
            shown: dict[str, Scalar] = {"language": "python", "elided": "marked"}
            yield Trial("N-Queens", shown | {"question": question}, self.seed)

    def program(self, trial: Trial) -> FaultyProgram | None:
        """Return the version of the program that `trial` asks about; None if it asks
        about the specification."""
        question: Question = trial.factors["question"]  # type: ignore[assignment]
        return None if question == "specification" else printed_program(question)

    def render(self, trial: Trial) -> Prompt:
        text = prompt_text("printed.specification")
        if program := self.program(trial):
            text = filled("printed", {"code": program.code})
        return self.prompt(text)

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        program = self.program(trial)
        if program is None:
            return score_specification(response)
        return score_location(
            response, program.line, program.code, TOLERANCES[rule], prose=True
        )


@cache
def printed_program(question: Question) -> FaultyProgram:
    """Return the version of N-Queens that the question `question` is about, with the
    number of its faulty line.

    The program is from section II of Fault Localizability. Marks stand for the code
    that the figures omit.
    """
    name = {"edited": "edited", "figure 3": "figure3"}.get(question, "figure1")
    path = files(__package__) / "printed" / f"{name}.txt"
    code = path.read_text("utf-8").removesuffix("\n")
    if question != "annotated":
        code = code.replace(COMMENT, "")
    return FaultyProgram(code, code[: code.index(FAULT)].count("\n") + 1)
