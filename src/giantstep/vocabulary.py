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


# Name, long name, symbol and equation, two spaces apart; what follows a name may be on lines of its
# own, indented. Variables without an equation are not in the paper.
_TABLE = r"""
alpha_simulated  sample complexity of simulated points  \alpha  (18)
curve  name of the curve: panel, then what varies  curve
panel  panel of the figure  panel
total_samples  samples of all steps and of the readout, over d  k\alpha_0 + \alpha
theory  theory as d -> infinity, or at finite d  d  theory.md section 12
network  network replicate  i
training  training replicate  j
group  group of neurons  g  theory.md section 4
target_overlap_by_step  overlap of a group's spike with the target after each step
    \theta\cdot U_g  docs/theory/larger-rank-spikes.md
spike_gram_by_step  overlap of the spikes of two groups after each step  U_g\cdot U_h
    docs/theory/larger-rank-spikes.md
spike  direction of the spikes beyond the first, counted  j  C.8
other_group  the other group of neurons of a pair  h  theory.md section 4
alignments  overlap of spike and each direction of the target  \gamma  theory.md section 13
row_overlap_by_step
    share of a row's squared norm along each direction of the target after each step
    r_k^2 \gamma_k^2/(c_k + r_k^2)  theory.md section 13
mean_row_by_step
    p times the squared norm of the bulk's mean row after each step, over that of a bulk row  \chi_k
    theory.md section 12
row_covariance_by_step
    d times the covariance, over bulk rows b, of b.v, b.theta_perp and |b|^2/c - 1  \Sigma_k
    theory.md section 13
row_projection
    along the spike v, along the target's part across it, theta_perp, or norm |b|^2/c - 1  i
    theory.md section 13
other_row_projection  the other of a pair of them  j  theory.md section 13
best_linear_error  error of the best linear predictor  \|\sigma_\star\|^2 - h_1^{\star 2}
    section 4.1
bayes_optimal_error  least error of any method with all samples  \epsilon_{Bayes}
amp_error  error of approximate message passing with all samples  \epsilon_{AMP}
bayes_optimal_overlap  squared overlap of the best estimate with the target's direction  q
amp_overlap  squared overlap of AMP's estimate with the target's direction  q_{AMP}
weak_recovery  samples over d from which AMP finds the target's direction  \alpha_c
kernel_degree  least k for which kernels learn the target from d^k samples  k_{kernel}
information_exponent  least degree of the target's Hermite polynomials  k_{info}
generative_exponent  least k for which E[He_k(z) | y] is not zero  k_{gen}
test_error  test error, without label noise  \epsilon_g  (25)
gain_over_linear  share of the best linear predictor's error that is saved
    1 - \epsilon_g/\epsilon_{lin}  docs/maps.md
gain_over_no_step  share of the test error without a step that is saved  1 - \epsilon_g/\epsilon_0
    docs/maps.md
isotropic_deviation  test error for an isotropic bulk over that for the trained one, less one
    \epsilon_g/\epsilon_{trained} - 1  docs/maps.md
by  error that the optimum minimises  by
row  row of a map, counted  i
column  column of a map, counted  j
map_x  value of the parameter along a map's horizontal axis  x
map_y  value of the parameter along a map's vertical axis  y
x_parameter  parameter along a map's horizontal axis  x
y_parameter  parameter along a map's vertical axis  y
map_test_error  test error over two parameters  \epsilon_g  (25)
theory_dimension  dimension of the inputs, in the theory  d  (1)
test_error_at_dimension  test error, by the theory of finite dimension  \epsilon_g^{(d)}
    docs/finite-size.md
theory_learning_rate  learning rate over dimension, in the theory  \tilde\eta  (3)
test_error_by_learning_rate  test error after each step, by learning rate  \epsilon_g
    docs/more-than-one-step.md
leave_one_out  error on samples left out one at a time, label noise included
    \epsilon_{loo}  docs/cross-validation.md
k_fold  error on five folds left out in turn, label noise included  \epsilon_{5}
    docs/cross-validation.md
gcv  error by generalised cross-validation  \epsilon_{gcv}  docs/cross-validation.md
cost_of_choice  test error at the ridge that cross-validation chooses, over the least, less one
    \epsilon_g/\min_\lambda \epsilon_g - 1  docs/cross-validation.md
training_error  training error  \epsilon_t  theory.md section 4
classification_error  share of inputs given the other sign  \epsilon_{0-1}
training_loss  mean loss on the training set  \ell_t  theory.md section 6
test_loss  mean loss, without label noise  \ell_g  theory.md section 6
m  mean readout  m  (17)
zeta  readout along the bulk's image of the spike  \zeta  (17)
psi  readout along the bulk's image of the target  \psi  (17)
xi  readout along the change of the neurons' norms  \xi  docs/trained-bulk.md
q1  readout's norm through the bulk  q_1  (17)
q2  readout's norm  q_2  (17)
V1  variance through the bulk  V_1  (19)
V2  variance  V_2  (19)
residual  largest relative residual of all equations  \delta  (18)-(20)
quadrature_error  relative change when the nodes are doubled  \delta_q  (18), (25)
reliability  sum of the estimated relative corrections that the theory leaves out  \delta_\epsilon
    docs/trust.md
reliability_unseen  estimated change of the test error by the few samples that variance comes from
    \delta_\kappa  docs/trust.md
reliability_sparse  the same by the few neurons that variance comes from  \delta_p  docs/trust.md
reliability_mean  relative error that the fluctuation of the mean readout adds  \delta_m
    docs/trust.md
reliability_quadratic  share of the error that quadratic features fit  \delta_2  docs/trust.md
reliability_own_output  what the network's own output adds to the norm of its rows, over it
    \delta_f  docs/trust.md
reliability_first_batch  what the fluctuating covariance of the first batch changes  \delta_0
    docs/trust.md
iterations  Newton steps  k
status  whether the point may be used, and why not  status
s  projection of the input on the target  \theta \cdot x  (2)
s_simulated  projection at which thin slabs of inputs are centred  \theta \cdot x
bulk  bulk of the first layer, in the theory  bulk  docs/trained-bulk.md
kappa  projection of the input on the spike  \kappa  (15)
mu0  mean feature given the projection on the spike  \mu_0(\kappa)  (15)
kappa_mu1  projection times the feature's slope given it  \kappa\mu_1(\kappa)  (15)
conditional_target  mean target given the projection on the spike  h(\kappa)  theory.md section 4
upper_bound  upper bound on the test error at the best ridge  b_+  (26)
lower_bound  lower bound on the test error at the best ridge  b_-  (27)
lower_bound_with_bias  lower bound at the best bias common to all neurons  b_-^{(b)}  (132)
upper_bound_function  nearest function to the target in the span of mu0  b_0\mu_0(\kappa)  (26)
lower_bound_function  nearest function to the target in the span of mu0 and kappa mu1
    b_0\mu_0(\kappa) + b_1\kappa\mu_1(\kappa)  (27)
optimal_test_error  test error at the best ridge  \epsilon_g  (25)
dimension_of_limit  dimension from which on the limit is within 5 % of the theory at a dimension  d
alpha_spectrum  sample complexity of the spectrum  \alpha  App. F
eigenvalue  eigenvalue of the features' covariance  x  App. F
density  density of eigenvalues  \rho(x)  App. F
point  point of the density, counted  k
rank  outlier, counted from the largest  k
index  eigenvalue, counted from the smallest  k
mass_at_zero  share of eigenvalues that vanish  \rho_0  App. F
outlier  eigenvalue of order d, over d  x/d  (191)
interval  interval of the bulk, counted from the smallest  k  App. F
bulk_lower_edge  lower end of an interval of the bulk  x_-  App. F
bulk_upper_edge  upper end of an interval of the bulk  x_+  App. F
nearest_ridge  simulated ridge nearest to the best  \lambda
leap  leap of the teacher  \ell  Abbe et al. 2023
first_batch  samples of a batch  n_0  (3)
step  steps taken  k
direction  direction of the teacher, counted  k
overlap  share of a row's squared norm along a direction of the teacher
    \langle (w \cdot \theta_k)^2/|w|^2 \rangle  docs/what-one-step-sees.md
update_overlap  the same of the row's change
    \langle (\delta w \cdot \theta_k)^2/|\delta w|^2 \rangle  docs/what-one-step-sees.md
learned_function  mean output at a projection on the target  F  Figure 1
target_function  target at a projection on it  \sigma_\star(s)  (2)
"""
# Letters of the initial readout that are optimised: all but the first.
_LETTERS = {
    f"letter_{k}": Meaning(f"value {k} of the initial readout", rf"\omega^{{({k})}}", "App. D")
    for k in (2, 3, 4)
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
    (r"optimal_(.+)", "%s, at the optimum", "%s_{opt}"),
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


_OF_PARAMETERS = {
    name: Meaning(of.meaning, of.symbol, of.equation)
    for cls in (Recovery, Sizes, Grid, SpikedFeatures, Protocol)  # the last one counts
    for name, of in parameters_of(cls).items()
}
_RECORDS = (re.split(r"\s{2,}", record) for record in re.split(r"\n(?! )", _TABLE.strip()))
_OF_TABLE = {name: Meaning(*texts) for name, *texts in _RECORDS}
MEANINGS = _Meanings(_OF_PARAMETERS | _OF_TABLE | _LETTERS)


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
