"""Types of arrays: double precision, single precision, and either."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Reals = NDArray[np.floating[Any]]
Complex = NDArray[np.complex128]
# Real in the theory of learning, complex in that of the spectrum.
RealOrComplex = NDArray[Any]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
