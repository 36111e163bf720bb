"""`giantstep check`: the numbers in the authors' notebooks beside ours."""

import numpy as np

from giantstep.cli.check import here, notebook_numbers
from giantstep.cli.main import main


def test_our_numbers_are_those_of_the_notebooks_within_what_is_said_of_each():
    stored, again, tested, trained = notebook_numbers()
    ratios = {
        part["title"]: here(part) / np.mean(part["theirs"], axis=1)
        for part in (stored, again, tested, trained)
    }
    lacking, rerun, *networks = ratios.values()
    assert np.all((lacking < 0.998) & (lacking > 0.97))  # the stored run lacks what lowers errors
    assert np.all(abs(rerun - 1) < 0.01)
    assert np.all(abs(np.array(networks) - 1) < 0.04)


def test_it_is_one_command_that_fits_a_screen(capsys):
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.endswith("%") for line in lines) == 24
