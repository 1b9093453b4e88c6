"""Imported before nbformat, which then takes a tenth of the time: jsonschema would build a grammar of addresses in a
second, and no notebook has addresses to be checked."""

import sys

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
