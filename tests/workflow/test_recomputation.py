"""What is computed again after a change: what the change feeds, by the plan of a dry run."""

import re
import shutil

import tiny

PLACES = ("src", "workflow/scripts")


def planned(project):
    """Count the jobs of each stage that a dry run plans."""
    said = tiny.snakemake(project, "--dry-run")
    counts = {job: int(n) for job, n in re.findall(r"^(\w+) +(\d+)$", said, flags=re.MULTILINE)}
    assert counts or "Nothing to be done" in said
    return {job: n for job, n in counts.items() if job not in ("all", "total", "identity")}


def edit(project, *modules):
    for module in modules:
        with (project / "src/giantstep" / module).open("r+") as code:
            code.seek(0, 2)
            code.write("\n_edited = True\n")


def test_a_fresh_checkout_beside_old_results_computes_nothing(tiny_run, tmp_path):
    records = shutil.ignore_patterns(".snakemake")
    checkout = tmp_path / "checkout"
    shutil.copytree(tiny_run, checkout, ignore=records, copy_function=shutil.copyfile)
    assert planned(checkout) == {}


def test_times_comments_docstrings_formatting_and_documents_compute_nothing(project):
    for place in PLACES:
        for path in (project / place).rglob("*.py"):
            text = path.read_text().replace('."""', ', in other words."""')
            path.write_text(f"# A comment.\n{text}\n\n")
    (project / "README.md").write_text("Documents.\n")
    for rules in (project / "workflow/rules").iterdir():
        rules.write_text(f"# A comment.\n{rules.read_text()}")
    for path in (path for path in project.rglob("*") if path.is_file()):
        path.touch()
    assert planned(project) == {}


def test_a_style_draws_again_and_computes_nothing(project):
    edit(project, "figures/style.py")
    assert planned(project) == {"figures": 2}


def test_a_figures_config_is_nothing_to_another_figure(project):
    config = project / "config/figures/fig4.yaml"
    config.write_text(config.read_text().replace("points: 4", "points: 7"))
    said = tiny.snakemake(project, "--dry-run")
    assert "fig4" in said
    assert "fig2" not in said.split("Building DAG")[1].split("rule all")[0].replace("localrule", "")
    assert planned(project) == {"theory": 1, "merge": 1, "scores": 1, "figures": 1}


def test_the_solver_computes_theory_again_and_no_simulation(project):
    edit(project, "theory/fixed_point.py")
    assert planned(project) == {"theory": 1, "spectrum": 1, "merge": 2, "scores": 2, "figures": 2}


def test_the_simulator_computes_simulations_again_and_no_theory(project):
    edit(project, "simulation/ridge.py", "simulation/eigenvalues.py")
    assert planned(project) == {
        "montecarlo": 2, "eigenvalues": 1, "merge": 2, "scores": 2, "figures": 2,
    }  # fmt: skip
