"""Questions to begin with, for a first visit or a lecture: each is the query of an address."""

from urllib.parse import urlencode

_RANDOM = {"target": "sin", "alpha0": "0"}
_SMALL_STEP = {"tab": "spectrum", "target": "sin", "alpha0": "1", "dimension": "1000"}


def _pin(name: str, question: dict[str, str]) -> tuple[str, str]:
    return "pin", f"{name}|{urlencode(question)}"


PRESETS = {
    "Double descent": [
        *(_RANDOM | {"ridge": "0.001", "start": "0.1", "stop": "3"}).items(),
        _pin("λ = 0.01", _RANDOM | {"ridge": "0.01"}),
        _pin("λ = 1", _RANDOM | {"ridge": "1"}),
    ],
    "Where a step pays": [
        *{"tab": "map", "activation": "erf", "target": "sin", "ridge": "0.1"}.items(),
        *{"across": "alpha0", "up": "alpha", "colour": "over_no_step"}.items(),
    ],
    "A spike leaves the bulk": [
        *(_SMALL_STEP | {"learning_rate": "0.2"}).items(),
        _pin("η̃ = 0.05", _SMALL_STEP | {"learning_rate": "0.05"}),
    ],
    # Smooth and centred, so that a network has no mean output to unlearn; the first stair is small.
    "A staircase": [
        *{"activation": "tanh(z)+z*tanh(z)-0.6", "target": "0.5*z1+z1*z2"}.items(),
        *{"learning_rate": "0.6", "alpha0": "20", "alpha": "20", "bulk": "isotropic"}.items(),
        *{"x": "steps", "stop": "6"}.items(),
    ],
}
