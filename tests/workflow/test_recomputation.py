"""What is computed again after a change: what the change feeds, by the plan of a dry run."""

import shutil

import tiny

PLACES = ("src", "workflow/scripts")
FIGURE = "config/figures/fig4.yaml"


def edit_modules(project, *modules):
    for module in modules:
        path = project / "src/giantstep" / module
        path.write_text(path.read_text() + "\n_edited = True\n")


def test_a_checkout_with_other_times_comments_formatting_and_documents_computes_nothing(
    tiny_run, tmp_path
):
    records = shutil.ignore_patterns(".snakemake")
    checkout = tmp_path / "checkout"
    shutil.copytree(tiny_run, checkout, ignore=records, copy_function=shutil.copyfile)
    for place in PLACES:
        for path in (checkout / place).rglob("*.py"):
            text = path.read_text().replace('."""', ', in other words."""')
            path.write_text(f"# A comment.\n{text}\n\n")
    (checkout / "README.md").write_text("Documents.\n")
    for rules in (checkout / "workflow/rules").iterdir():
        rules.write_text(f"# A comment.\n{rules.read_text()}")
    for path in (path for path in checkout.rglob("*") if path.is_file()):
        path.touch()
    assert tiny.planned(checkout) == {}


def test_a_style_draws_again_and_computes_nothing(project):
    edit_modules(project, "figures/style.py")
    assert tiny.planned(project) == {"figures": 2}


def test_a_figures_config_is_nothing_to_another_figure(project):
    tiny.edit(project / FIGURE, "points: 4", "points: 7")
    assert tiny.planned(project) == {"theory": 1, "merge": 1, "scores": 1, "figures": 1}


def test_one_drawing_alone_is_made_again_with_the_data_that_it_shows(project):
    edit_modules(project, "pipeline/stages/merge.py")
    assert tiny.planned(project, "figures/fig2.pdf") == {"merge": 1, "figures": 1}


def test_the_solver_computes_theory_again_and_no_simulation(project):
    edit_modules(project, "theory/readout/fixed_point.py")
    assert tiny.planned(project) == {
        "theory": 1, "dimensions": 1, "learning_rates": 1, "spectrum": 1,
        "merge": 2, "scores": 2, "figures": 2,
    }  # fmt: skip


def test_the_simulator_computes_simulations_again_and_no_theory(project):
    edit_modules(project, "simulation/ridge.py", "simulation/eigenvalues.py")
    assert tiny.planned(project) == {
        "montecarlo": 2, "eigenvalues": 2, "merge": 2, "scores": 2, "figures": 2,
    }  # fmt: skip
