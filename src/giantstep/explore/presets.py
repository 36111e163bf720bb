"""Questions to begin with, for a first visit or a lecture: each is the query of an address."""

from urllib.parse import urlencode

_RANDOM = {"target": "sin", "alpha0": "0"}
_STAIRS = {"activation": "relu", "learning_rate": "1", "alpha0": "8", "bulk": "isotropic"}


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
        *{"tab": "spectrum", "target": "sin", "alpha0": "1", "learning_rate": "0.05"}.items(),
        ("dimension", "1000"),
    ],
    "A staircase": [
        *(_STAIRS | {"target": "z1+z1*z2", "x": "steps"}).items(),
        _pin("no stair: z1 z2", _STAIRS | {"target": "z1*z2"}),
    ],
}
