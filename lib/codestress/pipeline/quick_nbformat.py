"""Module that shortens the import of nbformat to a tenth when imported before it: jsonschema would
spend a second on a grammar of addresses, and no notebook has addresses to check."""

import sys

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
