"""Changed copies of programs: rewritten to the same meaning, with a fault in one line, or with
misleading texts. Imports no paper, no store of responses and no model."""
