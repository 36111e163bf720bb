"""A parameter is said once: its field has meaning, symbol and domain, which holds its default."""

import pytest

from giantstep.problems.grid import Grid
from giantstep.problems.parameter import parameters_of
from giantstep.problems.protocol import Protocol
from giantstep.problems.sizes import Sizes
from giantstep.problems.spiked_features import SpikedFeatures, one_spike, one_spike_parameters
from giantstep.validation import InvalidParametersError
from giantstep.vocabulary import MEANINGS

CLASSES = [Protocol, SpikedFeatures, Grid, Sizes]
PARAMETERS = [item for cls in CLASSES for item in parameters_of(cls).items()]


@pytest.mark.parametrize(("name", "parameter"), [*PARAMETERS, *one_spike_parameters().items()])
def test_a_parameter_is_described_and_its_default_is_allowed(name, parameter):
    assert all((parameter.meaning, parameter.symbol, str(parameter.domain)))
    assert MEANINGS[name].symbol == parameter.symbol
    if not parameter.required:
        parameter.domain.read(parameter.default)  # raises nothing


@pytest.mark.parametrize("refused", ["nonsense", -7.5, None])
def test_what_no_domain_holds_is_refused_all_at_once(refused):
    for make, parameters in (
        (Protocol, parameters_of(Protocol)),
        (Grid, parameters_of(Grid)),
        (one_spike, one_spike_parameters()),
    ):
        with pytest.raises(InvalidParametersError) as raised:
            make(**dict.fromkeys(parameters, refused))
        told = {fault.name for fault in raised.value.faults}
        assert told == set(parameters) or make is one_spike


def test_one_spike_refuses_what_it_does_not_take():
    with pytest.raises(TypeError, match="nosie"):
        one_spike("tanh", "sin", 1, 1, 1, 1, nosie=1)
    with pytest.raises(InvalidParametersError) as refused:
        one_spike("tahn", "sin", None, -1, 2, 1)
    names = {fault.name for fault in refused.value.faults}
    assert names == {"activation", "bulk_variance", "alignment"}
    assert one_spike("tanh", "sin", 1e-12, 1, 1, 1).bulk_variance == (1e-12,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bulk_variance": (1, 2, 3), "spike_strength": (1, 2)}, "spike_strength = (1, 2): must"),
        ({"fraction": 0.5}, "fraction = 0.5: must be numbers that add up to 1"),
        ({"target": "he5(z1)*he2(z2)"}, "target = 'he5(z1)*he2(z2)': must be of degree 6 at most,"),
    ],
)
def test_features_are_refused_for_what_was_given(given, message):
    features = {"activation": "tanh", "target": "sin", "bulk_variance": 1, "spike_strength": 1}
    with pytest.raises(InvalidParametersError) as refused:
        SpikedFeatures(**features | {"alignment": 0.5, "beta": 1} | given)
    assert str(refused.value).startswith(message)
    assert len(refused.value.faults) == 1


def test_a_table_of_eigenvalues_is_refused_for_what_it_holds(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("eigenvalue,weight\n1,2\n")
    with pytest.raises(InvalidParametersError, match=r"it holds an array of shape \(1, 2\)"):
        Protocol("tanh", "sin", 1, 1, beta=1, covariance=str(path))
