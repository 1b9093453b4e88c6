"""Errors that a person can act on: each message says what is wrong, where, and what to do."""


class CodestressError(Exception):
    """Base of the kit's errors. The console script shows the message, which ends with the remedy,
    in place of a traceback."""

    exit_status = 1
    """Exit status of the console script."""


class ParameterError(CodestressError):
    """Raised for an unknown key, a wrong value or type, or an unknown name in params/, a notebook
    or on the command line."""


class DataError(CodestressError):
    """Raised when a file of data is missing, cannot be read, or does not have the expected content,
    such as a data set with another hash."""


class NothingMatchedError(DataError):
    """Raised when a file can be read, but nothing in it belongs to what was asked, such as answers
    to other problems."""

    exit_status = 2


class StoreError(CodestressError):
    """Raised when the store of responses or outputs/ cannot be read, written or locked."""


class ArchiveError(CodestressError):
    """Raised when an archive of responses has the wrong format, or its content does not match its
    own description."""


class EngineError(CodestressError):
    """Raised when a model cannot answer any request, because of its key, its server or its model
    id, and where the store's responses for it are another server's."""

    model = ""
    """Name of the model in the registry (params/models.yaml)."""


class NoContinuationError(EngineError):
    """Raised when a server cannot continue begun answers; it answers all other requests."""


class IncompleteError(CodestressError):
    """Raised when requests of a run failed or have no stored response; the other responses are in
    the store."""


class SandboxError(CodestressError):
    """Raised when programs cannot be run on this computer, or not safely."""
