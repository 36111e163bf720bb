"""The vocabulary of answers and result files: name, symbol, unit and equation of every variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from giantstep.theory.readout.status import Status


@dataclass(frozen=True)
class Meaning:
    """What a variable is; `equation` refers to the paper unless it says otherwise."""

    long_name: str
    symbol: str
    equation: str = "not in the paper"


MEANINGS = {
    "alpha": Meaning("sample complexity n/d of the readout's training set", r"\alpha", "(18)"),
    "alpha_simulated": Meaning("sample complexity of simulated points", r"\alpha", "(18)"),
    "ridge": Meaning("ridge penalty, without 1/n", r"\lambda", "(4)"),
    "curve": Meaning("name of the curve: panel, then what varies", "curve"),
    "panel": Meaning("panel of the figure", "panel"),
    "theory": Meaning("theory as d -> infinity, or at finite d", "d", "theory.md section 12"),
    "network": Meaning("network replicate", "i"),
    "training": Meaning("training replicate", "j"),
    "activation": Meaning("activation of the network", r"\sigma", "(1)"),
    "target": Meaning("target function", r"\sigma_\star", "(2)"),
    "learning_rate": Meaning("learning rate over dimension", r"\tilde\eta", "(3)"),
    "step_exponent": Meaning(
        "exponent s of the step size, learning_rate d^(s+1/2)", "s", "docs/smaller-steps.md"
    ),
    "alpha0": Meaning("sample complexity n0/d of the first batch", r"\alpha_0", "(9)"),
    "beta": Meaning("width p/d", r"\beta", "(18)"),
    "noise": Meaning("variance of the label noise", r"\Delta", "theory.md section 1"),
    "outlier_fraction": Meaning(
        "share of the labels that are outliers", r"\varrho", "docs/loss.md"
    ),
    "outlier_variance": Meaning(
        "variance of the label noise of outliers", r"\Delta_o", "docs/loss.md"
    ),
    "loss": Meaning("what the readout minimises", r"\ell", "App. C"),
    "readout": Meaning("values of the initial readout, and their shares", r"\omega", "App. D"),
    "group": Meaning("group of neurons", "g", "theory.md section 4"),
    "other_group": Meaning("the other group of neurons of a pair", "h", "theory.md section 4"),
    "fraction": Meaning("share of the neurons", r"\pi", "theory.md section 4"),
    "bias": Meaning("quenched bias of the neurons", "b", "App. D"),
    "bulk_variance": Meaning("squared norm of a bulk row", "c", "(11)"),
    "spike_strength": Meaning("spike strength", "r", "(10)"),
    "alignment": Meaning("overlap of spike and target", r"\gamma", "(9)"),
    "bulk_variance_by_step": Meaning(
        "squared norm of a bulk row after each step", "c_k", "theory.md section 13"
    ),
    "spike_strength_by_step": Meaning(
        "spike strength after each step", "r_k", "theory.md section 13"
    ),
    "alignment_by_step": Meaning(
        "overlap of spike and target after each step", r"\gamma_k", "theory.md section 13"
    ),
    "alignments": Meaning(
        "overlap of spike and each direction of the target", r"\gamma", "theory.md section 13"
    ),
    "alignments_by_step": Meaning(
        "overlap of spike and each direction of the target after each step",
        r"\gamma_k",
        "theory.md section 13",
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
    "inputs": Meaning("distribution of the inputs' entries", "x"),
    "steps": Meaning("number of gradient steps", "k"),
    "reuse_batch": Meaning("whether later steps take the first batch again", "reuse"),
    "model": Meaning("what simulations of an sRF take as features", "model", "(15)"),
    "dimension": Meaning("dimension of the inputs", "d", "(1)"),
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
    "upper_bound_best_learning_rate": Meaning(
        "upper bound at its best learning rate", r"\min_{\tilde\eta} b_+", "(28)-(31)"
    ),
    "lower_bound_best_learning_rate": Meaning(
        "lower bound at its best learning rate", r"\min_{\tilde\eta} b_-", "(28)-(31)"
    ),
    "upper_bound_function": Meaning(
        "nearest function to the target in the span of mu0", r"b\mu_0(\kappa)", "(26)"
    ),
    "lower_bound_function": Meaning(
        "nearest function to the target in the span of mu0 and kappa mu1",
        r"b\mu_0(\kappa) + b'\kappa\mu_1(\kappa)",
        "(27)",
    ),
    "optimal_ridge": Meaning("ridge of the least test error", r"\lambda_{opt}"),
    "optimal_test_error": Meaning("test error at the best ridge", r"\epsilon_g", "(25)"),
    "optimal_ridge_on_edge": Meaning(
        "whether the best ridge is at an end of the range searched", r"\lambda_{opt}"
    ),
    "optimal_learning_rate": Meaning("learning rate of the least test error", r"\tilde\eta_{opt}"),
    "optimal_bias": Meaning("bias common to all neurons of the least test error", "b_{opt}"),
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
    "outlier": Meaning("predicted eigenvalue of order d, over d", "x/d", "(191)"),
    "interval": Meaning("interval of the bulk, counted from the smallest", "k", "App. F"),
    "bulk_lower_edge": Meaning("lower end of an interval of the bulk", "x_-", "App. F"),
    "bulk_upper_edge": Meaning("upper end of an interval of the bulk", "x_+", "App. F"),
    "simulated_eigenvalue": Meaning("eigenvalue of simulated features' covariance", "x", "App. F"),
    "nearest_ridge": Meaning("simulated ridge nearest to the best", r"\lambda"),
    "simulated_outlier_mean": Meaning("mean of simulated eigenvalues of order d, over d", "x/d"),
    "simulated_outlier_stderr": Meaning("its standard error", r"\mathrm{se}\, x/d"),
    "z_score_outlier": Meaning(
        "simulated outlier minus the predicted one, over its standard error", "z(x/d)"
    ),
    "z_score_finite_size_outlier": Meaning(
        "simulated outlier minus that predicted at its dimension, over its standard error",
        "z_d(x/d)",
    ),
    "teacher": Meaning("multi-index target", "F", "docs/what-one-step-sees.md"),
    "exponent": Meaning("order of the batch in the dimension", r"\log n_0/\log d"),
    "width": Meaning("neurons", "p", "(1)"),
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
}

# Letters of the initial readout that are optimised, all but the first.
for _k in (2, 3, 4):
    MEANINGS[f"letter_{_k}"] = Meaning(
        f"value {_k} of the initial readout", rf"\omega_{_k}", "App. D"
    )
    MEANINGS[f"optimal_letter_{_k}"] = Meaning(
        f"value {_k} of the initial readout of the least test error", rf"\omega_{{{_k},opt}}"
    )
for _name in ("learning_rate", "bias", "letter_2", "letter_3", "letter_4"):
    _meaning = MEANINGS[f"optimal_{_name}"]
    MEANINGS[f"optimal_{_name}_on_edge"] = Meaning(
        "whether it is at an end of the range searched: " + _meaning.long_name, _meaning.symbol
    )

# Of the theory at the dimension of the simulations, named after that of the limit d → ∞.
for _name in (
    *("test_error", "training_error", "classification_error", "test_loss", "training_loss"),
    *("m", "zeta", "psi", "xi", "q1", "q2", "V1", "V2"),
    *("residual", "quadrature_error", "iterations", "status"),
    *("optimal_ridge", "optimal_test_error", "optimal_ridge_on_edge"),
    *("nearest_ridge", "learned_function", "outlier"),
):
    _meaning = MEANINGS[_name]
    MEANINGS[f"finite_size_{_name}"] = Meaning(
        f"{_meaning.long_name}, theory at the simulations' dimension",
        rf"{_meaning.symbol}^{{(d)}}",
        "theory.md section 12",
    )

# What is simulated, raw and summarised, is named after the theory's.
_DERIVED = (
    ("{}_stderr", "standard error of the mean {} of networks", r"\mathrm{{se}}\, {}"),
    ("simulated_{}", "simulated {}", "{}"),
    ("simulated_{}_mean", "simulated {}, mean over replicates", r"\langle {} \rangle"),
    ("simulated_{}_stderr", "standard error of the mean simulated {}", r"\mathrm{{se}}\, {}"),
    (
        "simulated_{}_network_variance",
        "variance component of networks in simulated {}",
        r"\mathrm{{Var}}_i\, {}",
    ),
    (
        "simulated_{}_training_variance",
        "variance component of training sets in simulated {}",
        r"\mathrm{{Var}}_j\, {}",
    ),
    ("z_score_{}", "simulated {} minus theory, over its standard error", "z({})"),
    ("largest_z_score_{}", "largest size of the z-scores of the {} of a curve", r"\max |z({})|"),
    ("mean_z_score_{}", "mean z-score of the {} of a curve", r"\langle z({}) \rangle"),
    (
        "z_score_finite_size_{}",
        "simulated {} minus theory at its dimension, over its standard error",
        "z_d({})",
    ),
    (
        "largest_z_score_finite_size_{}",
        "largest size of the z-scores of the {} of a curve, against theory at its dimension",
        r"\max |z_d({})|",
    ),
    (
        "mean_z_score_finite_size_{}",
        "mean z-score of the {} of a curve, against theory at its dimension",
        r"\langle z_d({}) \rangle",
    ),
)
for _name in (
    "test_error",
    "training_error",
    "optimal_test_error",
    *("classification_error", "training_loss", "test_loss"),
    *("m", "zeta", "psi", "q1", "q2"),
    "learned_function",
    *("overlap", "update_overlap", "finite_size_optimal_test_error"),
):
    _meaning = MEANINGS[_name]
    for _form, _what, _symbol in _DERIVED:
        MEANINGS[_form.format(_name)] = Meaning(
            _what.format(_meaning.long_name), _symbol.format(_meaning.symbol), "theory.md section 1"
        )


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
