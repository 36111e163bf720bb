"""Words and symbols of parameters and overlaps, as the page writes them."""

from __future__ import annotations

from giantstep.problems.bulk_kind import ISOTROPIC, TRAINED

WORDS = {
    "alpha": "sample complexity",
    "ridge": "ridge",
    "learning_rate": "learning rate",
    "alpha0": "first batch",
    "steps": "gradient steps",
    "beta": "width",
    "noise": "label noise",
    "readout": "initial readout",
    "bulk_variance": "bulk variance",
    "spike_strength": "spike strength",
    "alignment": "alignment",
    "activation": "activation",
    "target": "target",
    "loss": "loss",
    "bulk": "bulk",
    "dimension": "dimension",
}
# Shorter than in figures, where they stand alone.
BULK_WORDS = {
    ISOTROPIC: "isotropic",
    TRAINED: "trained",
}
SYMBOLS = {
    "alpha": "α",
    "ridge": "λ",
    "learning_rate": "η̃",
    "alpha0": "α₀",
    "steps": "k",
    "beta": "β",
    "noise": "Δ",
    "readout": "ω",
    "bulk_variance": "c",
    "spike_strength": "r",
    "alignment": "γ",
    "activation": "σ",
    "target": "σ⋆",
    "loss": "ℓ",
    "bulk": "",
    "dimension": "d",
    "m": "m",
    "zeta": "ζ",
    "psi": "ψ",
    "q1": "q₁",
    "q2": "q₂",
    "V1": "V₁",
    "V2": "V₂",
}
# Those of overlaps, as they are listed.
OVERLAPS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")
# What some parameters are.
DEFINITIONS = {"alpha": "n/d", "alpha0": "n₀/d", "beta": "p/d", "learning_rate": "η/d"}


def axis_label(name: str) -> str:
    """Label the axis of a parameter.

    Examples
    --------
    >>> from giantstep.explore.symbols import axis_label
    >>> axis_label("alpha")
    'sample complexity  α = n/d'
    """
    definition = f" = {DEFINITIONS[name]}" if name in DEFINITIONS else ""
    return f"{WORDS[name]}  {SYMBOLS[name]}{definition}"


def number_text(value: float) -> str:
    """Write a number for readers: four digits, and ∞."""
    return f"{value:.4g}".replace("inf", "∞").replace("e-0", "e-").replace("-", "−")
