"""Changed copies of programs: rewritten to the same meaning, with a fault in one line,
or with misleading texts.

The package imports no paper's module, no store of responses and no model.
"""
