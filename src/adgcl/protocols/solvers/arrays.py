"""Names for the kinds of arrays the solvers use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
# Labels of one binary problem per row: +1, -1, or 0 where the problem does not use the sample.
Signs = NDArray[np.int8]
