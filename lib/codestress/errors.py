"""Errors that a person can act on. Each message says what is wrong, where it is, and
what to do."""


class CodestressError(Exception):
    """Base of the kit's errors. The console script shows the message, which ends with
    the remedy, instead of a traceback."""

    exit_status = 1
    """Exit status of the console script."""


class ParameterError(CodestressError):
    """Error for an unknown key, a wrong value or type, or an unknown name in params/,
    in a notebook or on the command line."""


class DataError(CodestressError):
    """Error for a data file that is missing, unreadable or without the expected
    content, such as a data set with another hash."""


class NothingMatchedError(DataError):
    """Error for a file that can be read but has nothing that belongs to the request,
    such as answers to other problems."""

    exit_status = 2


class StoreError(CodestressError):
    """Error for a store of responses or a folder outputs/ that cannot be read, written
    or locked."""


class ArchiveError(CodestressError):
    """Error for an archive of responses that has the wrong format, or whose content
    does not match its own description."""


class EngineError(CodestressError):
    """Error for a model that cannot answer any request, because of its key, its server
    or its model id. Also raised if the store's responses for the model come from
    another server."""

    model = ""
    """Name of the model in the registry (params/models.yaml)."""


class NoContinuationError(EngineError):
    """Error for a server that cannot continue an answer whose beginning is in the
    request (a prefill). The server answers all other requests."""


class IncompleteError(CodestressError):
    """Error for a run in which requests failed or have no stored response. All other
    responses of the run are in the store."""


class SandboxError(CodestressError):
    """Error for programs that cannot be run on this computer, or not safely."""
