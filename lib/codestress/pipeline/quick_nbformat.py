"""Shortcut that reduces the import time of nbformat to a tenth, if this module is
imported before nbformat.

jsonschema would spend a second on a grammar of addresses, but no notebook has addresses
to check.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
