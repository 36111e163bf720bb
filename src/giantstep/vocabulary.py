"""The vocabulary of answers and result files: name, symbol, unit and equation of every variable."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import xarray as xr

from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.recovery import Recovery
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures
from giantstep.theory.readout.status import Status


@dataclass(frozen=True)
class Meaning:
    """What a variable is; `equation` refers to the paper unless it says otherwise."""

    long_name: str
    symbol: str
    equation: str = "not in the paper"


_MEANINGS = {
    "alpha_simulated": Meaning("sample complexity of simulated points", r"\alpha", "(18)"),
    "curve": Meaning("name of the curve: panel, then what varies", "curve"),
    "panel": Meaning("panel of the figure", "panel"),
    "theory": Meaning("theory as d -> infinity, or at finite d", "d", "theory.md section 12"),
    "network": Meaning("network replicate", "i"),
    "training": Meaning("training replicate", "j"),
    "group": Meaning("group of neurons", "g", "theory.md section 4"),
    "other_group": Meaning("the other group of neurons of a pair", "h", "theory.md section 4"),
    "alignments": Meaning(
        "overlap of spike and each direction of the target", r"\gamma", "theory.md section 13"
    ),
    "row_overlap_by_step": Meaning(
        "share of a row's squared norm along each direction of the target after each step",
        r"r_k^2 \gamma_k^2/(c_k + r_k^2)",
        "theory.md section 13",
    ),
    "mean_row_by_step": Meaning(
        "p times the squared norm of the bulk's mean row after each step, over that of a bulk row",
        r"\chi_k",
        "theory.md section 12",
    ),
    "row_covariance_by_step": Meaning(
        "d times the covariance, over bulk rows b, of b.v, b.theta_perp and |b|^2/c - 1",
        r"\Sigma_k",
        "theory.md section 13",
    ),
    "row_projection": Meaning(
        "along the spike v, along the target's part across it, theta_perp, or norm |b|^2/c - 1",
        "i",
        "theory.md section 13",
    ),
    "other_row_projection": Meaning("the other of a pair of them", "j", "theory.md section 13"),
    "best_linear_error": Meaning(
        "error of the best linear predictor", r"\|\sigma_\star\|^2 - h_1^{\star 2}", "section 4.1"
    ),
    "test_error": Meaning("test error, without label noise", r"\epsilon_g", "(25)"),
    "gain_over_linear": Meaning(
        "share of the best linear predictor's error that is saved",
        r"1 - \epsilon_g/\epsilon_{lin}",
        "docs/maps.md",
    ),
    "gain_over_no_step": Meaning(
        "share of the test error without a step that is saved",
        r"1 - \epsilon_g/\epsilon_0",
        "docs/maps.md",
    ),
    "isotropic_deviation": Meaning(
        "test error for an isotropic bulk over that for the trained one, less one",
        r"\epsilon_g/\epsilon_{trained} - 1",
        "docs/maps.md",
    ),
    "row": Meaning("row of a map, counted", "i"),
    "column": Meaning("column of a map, counted", "j"),
    "map_x": Meaning("value of the parameter along a map's horizontal axis", "x"),
    "map_y": Meaning("value of the parameter along a map's vertical axis", "y"),
    "x_parameter": Meaning("parameter along a map's horizontal axis", "x"),
    "y_parameter": Meaning("parameter along a map's vertical axis", "y"),
    "map_test_error": Meaning("test error over two parameters", r"\epsilon_g", "(25)"),
    "theory_dimension": Meaning("dimension of the inputs, in the theory", "d", "(1)"),
    "test_error_at_dimension": Meaning(
        "test error, by the theory of finite dimension",
        r"\epsilon_g^{(d)}",
        "docs/finite-size.md",
    ),
    "theory_learning_rate": Meaning(
        "learning rate over dimension, in the theory", r"\tilde\eta", "(3)"
    ),
    "test_error_by_learning_rate": Meaning(
        "test error after each step, by learning rate", r"\epsilon_g", "docs/more-than-one-step.md"
    ),
    "training_error": Meaning("training error", r"\epsilon_t", "theory.md section 4"),
    "classification_error": Meaning("share of inputs given the other sign", r"\epsilon_{0-1}"),
    "training_loss": Meaning("mean loss on the training set", r"\ell_t", "theory.md section 6"),
    "test_loss": Meaning("mean loss, without label noise", r"\ell_g", "theory.md section 6"),
    "m": Meaning("mean readout", "m", "(17)"),
    "zeta": Meaning("readout along the bulk's image of the spike", r"\zeta", "(17)"),
    "psi": Meaning("readout along the bulk's image of the target", r"\psi", "(17)"),
    "xi": Meaning("readout along the change of the neurons' norms", r"\xi", "docs/trained-bulk.md"),
    "q1": Meaning("readout's norm through the bulk", "q_1", "(17)"),
    "q2": Meaning("readout's norm", "q_2", "(17)"),
    "V1": Meaning("variance through the bulk", "V_1", "(19)"),
    "V2": Meaning("variance", "V_2", "(19)"),
    "residual": Meaning("largest relative residual of all equations", r"\delta", "(18)-(20)"),
    "quadrature_error": Meaning(
        "relative change when the nodes are doubled", r"\delta_q", "(18), (25)"
    ),
    "iterations": Meaning("Newton steps", "k"),
    "status": Meaning("whether the point may be used, and why not", "status"),
    "s": Meaning("projection of the input on the target", r"\theta \cdot x", "(2)"),
    "s_simulated": Meaning(
        "projection at which thin slabs of inputs are centred", r"\theta \cdot x"
    ),
    "bulk": Meaning("bulk of the first layer, in the theory", "bulk", "docs/trained-bulk.md"),
    "kappa": Meaning("projection of the input on the spike", r"\kappa", "(15)"),
    "mu0": Meaning("mean feature given the projection on the spike", r"\mu_0(\kappa)", "(15)"),
    "kappa_mu1": Meaning(
        "projection times the feature's slope given it", r"\kappa\mu_1(\kappa)", "(15)"
    ),
    "conditional_target": Meaning(
        "mean target given the projection on the spike", r"h(\kappa)", "theory.md section 4"
    ),
    "upper_bound": Meaning("upper bound on the test error at the best ridge", r"b_+", "(26)"),
    "lower_bound": Meaning("lower bound on the test error at the best ridge", r"b_-", "(27)"),
    "lower_bound_with_bias": Meaning(
        "lower bound at the best bias common to all neurons", r"b_-^{(b)}", "(132)"
    ),
    "upper_bound_function": Meaning(
        "nearest function to the target in the span of mu0", r"b\mu_0(\kappa)", "(26)"
    ),
    "lower_bound_function": Meaning(
        "nearest function to the target in the span of mu0 and kappa mu1",
        r"b\mu_0(\kappa) + b'\kappa\mu_1(\kappa)",
        "(27)",
    ),
    "optimal_test_error": Meaning("test error at the best ridge", r"\epsilon_g", "(25)"),
    "dimension_of_limit": Meaning(
        "dimension from which on the limit is within 5 % of the theory at a dimension", "d"
    ),
    "alpha_spectrum": Meaning("sample complexity of the spectrum", r"\alpha", "App. F"),
    "eigenvalue": Meaning("eigenvalue of the features' covariance", "x", "App. F"),
    "density": Meaning("density of eigenvalues", r"\rho(x)", "App. F"),
    "point": Meaning("point of the density, counted", "k"),
    "rank": Meaning("outlier, counted from the largest", "k"),
    "index": Meaning("eigenvalue, counted from the smallest", "k"),
    "mass_at_zero": Meaning("share of eigenvalues that vanish", r"\rho_0", "App. F"),
    "outlier": Meaning("eigenvalue of order d, over d", "x/d", "(191)"),
    "interval": Meaning("interval of the bulk, counted from the smallest", "k", "App. F"),
    "bulk_lower_edge": Meaning("lower end of an interval of the bulk", "x_-", "App. F"),
    "bulk_upper_edge": Meaning("upper end of an interval of the bulk", "x_+", "App. F"),
    "nearest_ridge": Meaning("simulated ridge nearest to the best", r"\lambda"),
    "leap": Meaning("leap of the teacher", r"\ell", "Abbe et al. 2023"),
    "first_batch": Meaning("samples of a batch", "n_0", "(3)"),
    "step": Meaning("steps taken", "k"),
    "direction": Meaning("direction of the teacher, counted", "k"),
    "overlap": Meaning(
        "share of a row's squared norm along a direction of the teacher",
        r"\langle (w \cdot \theta_k)^2/|w|^2 \rangle",
        "docs/what-one-step-sees.md",
    ),
    "update_overlap": Meaning(
        "the same of the row's change",
        r"\langle (\delta w \cdot \theta_k)^2/|\delta w|^2 \rangle",
        "docs/what-one-step-sees.md",
    ),
    "learned_function": Meaning("mean output at a projection on the target", "F", "Figure 1"),
    "target_function": Meaning("target at a projection on it", r"\sigma_\star(s)", "(2)"),
    **{
        f"letter_{k}": Meaning(f"value {k} of the initial readout", rf"\omega^{{({k})}}", "App. D")
        for k in (2, 3, 4)  # all but the first are optimised
    },
}

# What is derived from a variable, by its name, with the variable's own as the group: long name,
# symbol and, if it is not that of the variable, equation.
_DERIVED = (
    (r"(.+)_by_step", "%s, after each step", "%s_k", "theory.md section 13"),
    (
        r"(.+)_best_learning_rate",
        "%s, at its best learning rate",
        r"\min_{\tilde\eta} %s",
        "(28)-(31)",
    ),
    (r"(.+)_on_edge", "whether it is at an end of the range searched: %s", "%s"),
    (r"largest_z_score_(.+)", "largest size of the z-scores of the %s of a curve", r"\max |z(%s)|"),
    (r"mean_z_score_(.+)", "mean z-score of the %s of a curve", r"\langle z(%s) \rangle"),
    (r"z_score_(.+)", "simulated %s minus theory, over its standard error", "z(%s)"),
    (r"simulated_(.+)_mean", "simulated %s, mean over replicates", r"\langle %s \rangle"),
    (r"(.+)_stderr", "standard error of the mean %s", r"\mathrm{se}\, %s"),
    (r"(.+)_network_variance", "variance component of networks in %s", r"\mathrm{Var}_i\, %s"),
    (
        r"(.+)_training_variance",
        "variance component of training sets in %s",
        r"\mathrm{Var}_j\, %s",
    ),
    (r"simulated_(.+)", "simulated %s", "%s"),
    (r"optimal_(.+)", "%s, of the least test error", "%s_{opt}"),
)


class _Meanings(dict[str, Meaning]):
    """Meanings by name; what is derived from a variable is named after it."""

    def __missing__(self, name: str) -> Meaning:
        for pattern, long_name, symbol, *equation in _DERIVED:
            if match := re.fullmatch(pattern, name):
                of = self[match[1]]
                texts = long_name % of.long_name, symbol % of.symbol
                return Meaning(*texts, *(equation or [of.equation]))
        raise KeyError(name)


def _of_parameters() -> dict[str, Meaning]:
    classes = Recovery, Sizes, Grid, SpikedFeatures, Protocol  # the last one counts
    parameters = {name: one for cls in classes for name, one in parameters_of(cls).items()}
    return {name: Meaning(x.meaning, x.symbol, x.equation) for name, x in parameters.items()}


MEANINGS = _Meanings(_of_parameters() | _MEANINGS)


def label(dataset: xr.Dataset) -> xr.Dataset:
    """Give every variable its meaning, symbol, unit and equation, and the status its flags.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its variables must be named in `MEANINGS`.

    Examples
    --------
    >>> import xarray as xr
    >>> label(xr.Dataset({"test_error": 0.1}))["test_error"].attrs["equation"]
    '(25)'
    """
    dataset = dataset.copy()
    for name, variable in dataset.variables.items():
        meaning = MEANINGS[str(name)]
        variable.attrs = {
            "long_name": meaning.long_name,
            "units": "1",  # everything is dimensionless
            "symbol": meaning.symbol,
            "equation": meaning.equation,
        }
        if str(name).endswith("status"):
            variable.attrs |= {
                "flag_values": np.array(list(Status), dtype=np.int8),
                "flag_meanings": " ".join(status.label for status in Status),
                "comment": " ".join(f"{s.label}: {s.advice}" for s in Status),
            }
    return dataset
