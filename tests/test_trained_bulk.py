"""The trained bulk is right: against actual matrices, finite differences, limits, simulation."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from giantstep.numerics.scalar_functions import lookup
from giantstep.pipeline.planning.config import InvalidConfigError
from giantstep.pipeline.planning.plan import make_plan
from giantstep.problems.protocol import Grid, Protocol, SpikedFeatures
from giantstep.problems.sizes import EXACT, Sizes
from giantstep.simulation.first_layer import members
from giantstep.simulation.replicate_statistics import summarise
from giantstep.simulation.simulate import simulate
from giantstep.theory.bulk.batch_covariance import FirstBatch
from giantstep.theory.bulk.interface import ISOTROPIC, TRAINED, TRAINED_NORMS
from giantstep.theory.bulk.isotropic_variances import Triangle
from giantstep.theory.bulk.trained import TrainedBulk
from giantstep.theory.conditional_features import conditional_features
from giantstep.theory.equivalent_features import equivalent_features
from giantstep.theory.solve import solve
from giantstep.validation import InvalidParametersError

ROOT = Path(__file__).parents[1]
LETTERS = ((-1.0, 0.3), (0.3, 0.3), (1.5, 0.4))


def of_protocol(protocol):
    features = conditional_features(equivalent_features(protocol))
    return TrainedBulk(protocol, features.B, FirstBatch.of(protocol), norms=True)


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol("tanh", "sign", 3, 0.7, 0.8, noise=0.2),
        Protocol("polynomial:0,-1,0,0.3", "relu", 1, 1.7, 0.8),  # whose spike is -E y x
        Protocol("erf", "tanh", 5, 3.0, 0.8, noise=0.01),
    ],
)
def test_traces_and_forms_are_those_of_an_actual_batch(protocol):
    d, rng, batch = 1500, np.random.default_rng(2), FirstBatch.of(protocol)
    theta = np.array([[0.3, 2.0]])
    x = rng.standard_normal((round(protocol.alpha0 * d), d))
    noise = np.sqrt(protocol.noise) * rng.standard_normal(len(x))
    y = lookup(protocol.target).value(x[:, 0]) + noise
    values, vectors = np.linalg.eigh((x * y[:, None] ** 2).T @ x / len(x))
    spike = y @ x * batch.handedness
    spike /= np.linalg.norm(spike)
    across = np.eye(d)[0] - spike[0] * spike
    directions = vectors.T @ np.stack([spike, across / np.linalg.norm(across)], axis=1)
    single = batch.singles(theta)
    pair = batch.pairs(theta, single)
    predicted = [*batch.forms(theta, single), *batch.pair_forms(theta, single, pair)]
    first, second = (1 / (1 + t * values) for t in theta[0])
    actual = [values**j * first * second for j in range(4)]
    for power, expected in zip(pair.powers, actual, strict=True):
        assert power[0, 0, 1] == pytest.approx(expected.mean(), rel=0.1)
    actual = [first, values * first, *actual[:3]]
    for form, middle in zip(predicted, actual, strict=True):
        entry = form[0, 0] if form.ndim == 4 else form[0, 0, 1]
        expected = directions.T @ (middle[:, None] * directions)
        assert entry == pytest.approx(expected, rel=0.1, abs=0.03 * np.abs(expected).max())


@pytest.mark.parametrize("readout", [((1.0, 1.0),), LETTERS])
def test_derivatives_are_those_of_the_variances(readout):
    # An entry of T is minus dV by one hat; the response to norms is in K, whose derivative sources
    # are. Both against differences of the solution itself.
    bulk = of_protocol(Protocol("tanh", "sin", 2, 0.8, 1.2, noise=0.1, readout=readout))
    rank, groups = bulk.rows.B.shape[1], len(readout)
    triangle, rng, step = Triangle(rank), np.random.default_rng(0), 1e-5
    root = rng.standard_normal((rank, rank))
    hats = np.concatenate(
        [triangle.pack(0.5 * np.eye(rank) + root @ root.T / rank), [0.3] * groups]
    )
    along = rng.standard_normal((1, rank + groups))
    across = rng.standard_normal((1, rank))

    def split(hats):
        return triangle.unpack(hats[None, : triangle.size]), hats[None, triangle.size :]

    def form(hats):
        channels = bulk.channels(split(hats)[0], bulk.variances(*split(hats))[0])
        z = np.concatenate([along, across], axis=1)[0]
        upper = np.concatenate([channels.along[0], channels.mixed[0]], axis=1)
        lower = np.concatenate([channels.mixed[0].T, channels.across[0]], axis=1)
        return z @ np.concatenate([upper, lower]) @ z

    V, T = bulk.variances(*split(hats))
    moves = step * np.eye(hats.size)
    slopes = [
        bulk.variances(*split(hats - e))[0] - bulk.variances(*split(hats + e))[0] for e in moves
    ]
    assert T[0].T == pytest.approx(np.concatenate(slopes) / (2 * step), rel=1e-6, abs=1e-8)
    first, second = bulk.channels(split(hats)[0], V).sources(along, across)
    multiplicity = np.concatenate([triangle.multiplicity, np.ones(groups)])
    changes = np.array([form(hats - e) - form(hats + e) for e in moves]) / (2 * step)
    sources = (T @ first[0] + second)[0]
    assert sources == pytest.approx(changes / multiplicity, rel=1e-6, abs=1e-6)


def test_overlaps_answer_as_those_of_actual_rows():
    # K between phi on the spike, the norms, and phi across: forms of S^-1 for rows drawn at finite
    # size, given a batch, with the spike's direction out of the covariance.
    protocol = Protocol("tanh", "sin", 3, 2.0, 1.0, noise=0.1, readout=LETTERS)
    bulk, d, rng = of_protocol(protocol), 900, np.random.default_rng(4)
    (B, pi, growth, _, _), count = bulk.rows, len(LETTERS)
    x = rng.standard_normal((round(protocol.alpha0 * d), d))
    y = np.sin(x[:, 0]) + np.sqrt(protocol.noise) * rng.standard_normal(len(x))
    member = members(pi, d)
    before = rng.standard_normal((d, d)) / np.sqrt(d)
    noise = (rng.standard_normal((d, len(x))) * y) @ x / np.sqrt(len(x) * d)
    rows = before + np.sqrt(growth[member])[:, None] * noise
    v = y @ x / np.linalg.norm(y @ x)
    across = np.eye(d)[0] - v[0] * v
    across /= np.linalg.norm(across)
    root = rng.standard_normal((count, count))
    V1_hat, L = 0.5 + root @ root.T / count, rng.uniform(0.5, 1.0, count)  # between groups
    projected = rows - np.outer(rows @ v, v)
    S = V1_hat[np.ix_(member, member)] * (projected @ projected.T) + np.diag(L[member])
    group = np.eye(count)[member]
    vectors = np.hstack([
        (rows @ v)[:, None] * group[:, :] @ B, (before @ v * bulk.norms[member])[:, None] * group,
        (rows @ across)[:, None] * group @ B,
    ])  # fmt: skip
    actual = vectors.T @ np.linalg.solve(S, vectors)
    hats = (B.T @ V1_hat @ B)[None]
    channels = bulk.channels(hats, bulk.variances(hats, L[None])[0])
    size = np.sqrt(np.outer(np.diag(actual), np.diag(actual)))
    upper = np.hstack([channels.along[0], channels.mixed[0]])
    lower = np.hstack([channels.mixed[0].T, channels.across[0]])
    assert np.vstack([upper, lower]) / size == pytest.approx(actual / size, abs=0.2)


@pytest.mark.parametrize(
    ("setting", "alpha", "ridge", "test_error"),
    [
        (("sin", 3, 20, 1), 0.9, 0.1, 0.042523),
        (("sin", 3, 20, 1), 3.0, 0.1, 0.032533),
        (("tanh", 1, 0.5, 1), 1.6, 0.01, 0.209880),
        (("tanh", 1, 0.5, 0.5), 1.6, 0.01, 0.282441),
    ],
)
def test_trained_bulk_reproduces_the_reference_values(setting, alpha, ridge, test_error):
    solution = solve(Protocol("tanh", *setting), Grid((alpha,), (ridge,)), TRAINED)
    assert solution.test_error.item() == pytest.approx(test_error, abs=6e-7)


@pytest.mark.parametrize("readout", [((1.0, 1.0),), LETTERS])
def test_the_bulk_of_a_very_large_batch_is_isotropic(readout):
    grid = Grid((0.3, 0.9, 3.0), (1e-6, 0.1, 1e3))
    for alpha0 in (1e11, np.inf):
        protocol = Protocol("tanh", "sin", 3, alpha0, 1.3, noise=0.1, readout=readout)
        trained, isotropic = solve(protocol, grid, TRAINED), solve(protocol, grid)
        for name in ("test_error", "training_error", "zeta", "psi", "q1", "q2", "V2"):
            value, expected = getattr(trained, name), getattr(isotropic, name)
            assert value == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_network_upside_down_has_the_same_theory():
    # With h1 = 0 the spike has no sign of its own; rounding must not give it one.
    grid = Grid((0.5, 2.0), (0.01,))
    up, down = (
        solve(Protocol(f"polynomial:0,{s * -3},0,{s}", "tanh", 0.5, 2.0, 1.0), grid, TRAINED_NORMS)
        for s in (1, -1)
    )
    for name in ("test_error", "zeta", "psi", "q1"):
        assert np.abs(getattr(up, name)) == pytest.approx(np.abs(getattr(down, name)), rel=1e-9)


def test_labels_with_a_little_noise_are_resolved():
    for target in ("polynomial:0,-3,0,1", "polynomial:-1,0,1", "sign"):
        protocol = Protocol("tanh", target, 30, 0.3, 1.0, noise=1e-3)
        solution = solve(protocol, Grid((0.5, 2.0), (1e-6, 0.1)), TRAINED)
        assert not solution.status.any()


def test_letters_of_opposite_sign_are_one_letter():
    # A neuron of letter -1 is minus one of letter 1 whose weights began at their opposites.
    grid = Grid((0.5, 2.0), (0.01,))
    one = Protocol("erf", "tanh", 3, 0.5, 1.0)
    two = Protocol("erf", "tanh", 3, 0.5, 1.0, readout=((-1.0, 0.4), (1.0, 0.6)))
    alone, both = solve(one, grid, TRAINED_NORMS), solve(two, grid, TRAINED_NORMS)
    assert both.test_error == pytest.approx(alone.test_error, rel=1e-9)
    assert both.q2.sum(axis=-1) == pytest.approx(alone.q2[..., 0], rel=1e-9)
    for name in ("zeta", "psi"):
        total = getattr(both, name).sum(axis=-1)
        assert total == pytest.approx(getattr(alone, name)[..., 0], rel=1e-8)
    assert both.xi @ [-1, 1] == pytest.approx(alone.xi[..., 0], rel=1e-8)
    assert both.q1.sum(axis=(2, 3)) == pytest.approx(alone.q1[..., 0, 0], rel=1e-8)


def test_untrained_features_have_no_trained_bulk():
    with pytest.raises(InvalidParametersError, match="isotropic"):
        solve(SpikedFeatures("tanh", "sin", 1.0, 1.0, 0.5, 1.0), Grid((1.0,), (0.1,)), TRAINED)
    grid = Grid((1.0,), (0.1,))
    still = Protocol("tanh", "sin", 0.0, 1.0, 1.0)
    assert solve(still, grid, TRAINED).test_error == solve(still, grid).test_error


def test_a_panel_may_ask_for_both_bulks_over_the_same_simulations(tmp_path):
    for folder in ("config", "workflow"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    path = tmp_path / "config/figures/fig2.yaml"
    figure = yaml.safe_load(path.read_text())
    figure["panels"] = {"left": figure["panels"]["left"] | {"bulk": ["isotropic", "trained"]}}
    path.write_text(yaml.safe_dump(figure))
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    curves = make_plan(tmp_path, config | {"figures": ["fig2"]}).figures["fig2"].curves
    assert len({curve.theory for curve in curves}) == 8
    assert len({curve.simulation for curve in curves}) == 4
    figure["panels"]["left"] |= {"bulk": "trained", "dimension": 300}
    path.write_text(yaml.safe_dump(figure))
    plan = make_plan(tmp_path, config | {"figures": ["fig2"]})
    assert {task.sizes.dimension for task in plan.montecarlo.values()} == {300}
    figure["panels"]["left"] |= {"bulk": "square", "dimension": 1}
    path.write_text(yaml.safe_dump(figure))
    with pytest.raises(InvalidConfigError, match="left.dimension"):
        make_plan(tmp_path, config | {"figures": ["fig2"]})


def gaps(protocols, grid, dimension, networks, bulks):
    """Give relative gaps of simulation to each theory, and their standard errors."""
    found = {bulk: [] for bulk in bulks}
    for i, protocol in enumerate(protocols):
        raw = simulate(protocol, grid, Sizes(dimension, 2, EXACT), range(networks), i)
        error = summarise(raw.test_error)
        for bulk in bulks:
            theory = solve(protocol, grid, bulk).test_error
            found[bulk].append([error.mean / theory - 1, error.stderr / theory])
    return {bulk: np.moveaxis(np.array(values), 1, 0) for bulk, values in found.items()}


def test_simulated_networks_are_as_the_trained_bulk_says_and_not_as_an_isotropic_one():
    # Forty protocols, extrapolated in 1/d from two sizes; a fifth of them with several letters.
    readouts = [((1.0, 1.0),)] * 4 + [((0.5, 0.5), (1.5, 0.5))]
    protocols = [
        Protocol(
            ("erf", "sin")[i % 2], target, rate, alpha0, (0.3, 0.5)[i % 2], (0.0, 0.1)[i % 3 == 2],
            readout=readouts[i % 5],
        )
        for i, alpha0 in enumerate(np.geomspace(0.25, 8, 10).tolist())
        for target in ("sign", "sin")
        for rate in (1.0, 3.0)
    ]  # fmt: skip
    grid, bulks = Grid((2.0,), (0.1,)), (ISOTROPIC, TRAINED, TRAINED_NORMS)
    small, large = gaps(protocols, grid, 150, 32, bulks), gaps(protocols, grid, 300, 16, bulks)
    mean = {}
    for bulk in bulks:
        (gap, error), (before, error_before) = large[bulk], small[bulk]
        z = (2 * gap - before) / np.hypot(2 * error, error_before)
        mean[bulk] = np.abs(z).mean()
    # E|z| is 0.8, and its mean over forty is off by 0.1.
    assert max(mean[TRAINED], mean[TRAINED_NORMS]) < 1.1
    assert mean[ISOTROPIC] > 1.2


def test_norms_that_go_with_the_spike_count_for_the_largest_batch():
    # There the trained bulk is the isotropic one, and the network is better than either says.
    protocol, grid = Protocol("erf", "sign", 3, np.inf, 1.0), Grid((3.0,), (0.1,))
    found = gaps([protocol], grid, 300, 24, (TRAINED, TRAINED_NORMS))
    (without, error), (with_norms, _) = (found[b][:, 0, 0, 0] for b in (TRAINED, TRAINED_NORMS))
    assert without < -0.03
    assert abs(with_norms) < 4 * error < 0.02
