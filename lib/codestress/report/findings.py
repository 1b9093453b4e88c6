"""Words for names and intervals in titles and notes."""

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Return `names` joined as `a, b and c`; `none` without names."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def span(low: float, high: float, scale: float, digits: int) -> str:
    """Return the interval from `low` to `high`, both multiplied by `scale`, as text in
    brackets with `digits` decimals: `[1.0, 2.5]`."""
    return f"[{scale * low:.{digits}f}, {scale * high:.{digits}f}]"
