"""Console script `codestress`, which the Makefile calls too."""

# ruff: noqa: E402

from codestress.start import start_alone

start_alone()

import errno
import gc
import itertools
import os
import sys
from typing import Any, TextIO, cast

import click

from codestress import __version__
from codestress.course.commands import course
from codestress.errors import CodestressError, ParameterError
from codestress.literals import printable
from codestress.paths import NOTEBOOKS, OUTPUTS, PARAMS, ROOT
from codestress.pipeline.options import warn
from codestress.rooms import offered_by

from . import answers, artefacts, exporting, questions, sources, trying


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Build again the tables and figures of four papers on how well language models
    understand code."""
    if not (PARAMS.is_dir() and NOTEBOOKS.is_dir()):
        raise ParameterError(
            f"{ROOT}: no params/ and notebooks/ here; run from a checkout, or set CODESTRESS_ROOT to one"
        )
    # Ignore a person's matplotlibrc, keep Matplotlib's own cache in outputs/, and start
    # no threads for numpy's matrices, which are small.
    os.environ.update(
        MATPLOTLIBRC=os.devnull,
        MPLCONFIGDIR=str(OUTPUTS / ".matplotlib"),
        OPENBLAS_NUM_THREADS="1",
    )


for _command in (
    artefacts.build,
    artefacts.report,
    artefacts.crate,
    artefacts.diff,
    artefacts.badge,
    artefacts.sync,
    questions.plan,
    questions.show,
    questions.explain,
    answers.store,
    answers.archive,
    answers.score,
    exporting.export,
    sources.data,
    sources.serve,
    sources.doctor,
    trying.try_command,
    course,
    *itertools.chain(*offered_by("commands", "COMMANDS").values()),
):
    cli.add_command(_command)


class _Printable:
    """Text stream that spells out control characters on writing, so that untrusted
    texts cannot command the terminal. Every other attribute is the wrapped stream's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main() -> None:
    """Run the console script and exit with its status.

    The status is 130 after an interruption, and click's own status for wrong usage. The
    status is the error's `exit_status`, mostly 1, after an error of the kit
    (`CodestressError`), and 1 after an error of a file. Errors of the kit and of files
    are printed without a traceback. Any other error is raised.
    """
    gc.set_threshold(100_000)  # imports make many objects, and none of them is garbage
    sys.stdout = cast(TextIO, _Printable(sys.stdout))
    try:
        sys.exit(cli(standalone_mode=False))
    except CodestressError as error:
        warn(f"error: {error}")
        sys.exit(error.exit_status)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        warn(
            "interrupted; every answer that came is kept: run the same command again to go on"
        )
        sys.exit(130)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if error.filename is None and not full:
            raise
        remedy = "check the path, the folder's rights and the space left"
        warn(
            f"error: {error}; {remedy} (`make clean` keeps all answers), or set "
            "CODESTRESS_OUTPUTS to another folder"
        )
        sys.exit(1)
