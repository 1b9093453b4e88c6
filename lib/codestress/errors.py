"""Errors that a person can act on: each says what is wrong, where, and what to do."""


class CodestressError(Exception):
    """Shown without a traceback by the console script; the message ends with the remedy."""


class ParameterError(CodestressError):
    """An unknown key, a wrong type, an unknown name in params/ or on the command line."""


class DataError(CodestressError):
    """A data set that is missing or is not what its hash says."""


class StoreError(CodestressError):
    """The file of responses cannot be read or written."""


class ArchiveError(CodestressError):
    """A file of responses that is none, or is not what it says."""


class EngineError(CodestressError):
    """No request of a model can be answered: key, server, model id."""

    model = ""
    """The registry's name of the model that was asked."""


class IncompleteError(CodestressError):
    """Some requests of a run failed; the answered ones are in the store."""


class SandboxError(CodestressError):
    """Programs cannot be run here, or not safely."""
