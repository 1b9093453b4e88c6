"""Whether a count grows faster than in proportion: a quadratic beside a straight line (CodeCrash, Figure 3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Growth(NamedTuple):
    """Least-squares fits of y over x (n,): c0 + c1 x + c2 x²."""

    quadratic: tuple[float, float, float]
    """c0, c1, c2."""
    curvature_error: float
    """Standard error of c2, residuals taken as independent (they are not: a cumulative count's residuals are
    correlated, so it is too small)."""
    r2_quadratic: float
    r2_linear: float


def fit_growth(x: ArrayLike, y: ArrayLike) -> Growth:
    """Fits both curves; nan where there are fewer than four points or all y are equal."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    total = float(((ys - ys.mean()) ** 2).sum()) if ys.size else 0.0
    if ys.size < 4 or total == 0:
        return Growth((math.nan, math.nan, math.nan), math.nan, math.nan, math.nan)
    scale = float(np.abs(xs).max()) or 1.0  # x² of token counts would be 10^9
    design = np.vander(xs / scale, 3, increasing=True)
    coefficients, *_ = np.linalg.lstsq(design, ys, rcond=None)
    residual = ys - design @ coefficients
    line, *_ = np.linalg.lstsq(design[:, :2], ys, rcond=None)
    variance = float(residual @ residual) / max(1, ys.size - 3)
    covariance = variance * np.linalg.pinv(design.T @ design)
    c0, c1, c2 = (float(c) / scale**power for power, c in enumerate(coefficients))
    return Growth(
        (c0, c1, c2),
        math.sqrt(max(0.0, float(covariance[2, 2]))) / scale**2,
        1 - float(residual @ residual) / total,
        1 - float(((ys - design[:, :2] @ line) ** 2).sum()) / total,
    )
