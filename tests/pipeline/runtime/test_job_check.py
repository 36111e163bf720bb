"""A job writes what was planned under the names of its files, or nothing, whatever rules say."""

import random
import re
import shutil

import pytest
import rule_jobs
import tiny
from snakemake.exceptions import RuleException, WorkflowError

from giantstep.pipeline.planning import costs, fingerprint
from giantstep.pipeline.planning.figure_plan import FigurePlan
from giantstep.pipeline.runtime.job_check import ChangedJobError, check_job
from giantstep.problems.canonical import plain

RULES = "workflow/rules"
THEORY = "theory_fig2_1"
MONTECARLO = f"{RULES}/montecarlo.smk"
# What a rule hands to its job: the parameter's name, and what it is.
HANDED = re.compile(r"^ +(tasks?|figure|name|data)=(.*),$", re.MULTILINE)
# What `common.smk` returns to rules.
RETURNED = re.compile(r"^( +)return (PLAN\..*|identities\..*|path)$", re.MULTILINE)


@pytest.fixture
def planned(tmp_path):
    """A tiny project that no job has run in."""
    project = tiny.configured(tmp_path)
    shutil.copy(tiny.ROOT / "Snakefile", project)
    (project / tiny.TINY).write_text(tiny.CONFIG)
    (project / "config/figures/fig2.yaml").write_text(tiny.FIGURE)
    (project / "config/figures/fig4.yaml").write_text(tiny.FIGURE.replace("Tiny", "Other"))
    return project


def jobs_of(project):
    return rule_jobs.handed(project, tiny.TINY)


def passes(job):
    try:
        check_job(job, job.script)
    except ChangedJobError:
        return False
    return True


def used(job):
    """All that a job's result is made from, and its names."""
    given = dict(job.params.items())
    if isinstance(given.get("figure"), FigurePlan) and job.rule != "figures":
        given["figure"] = {**vars(given["figure"]), "config": given["figure"].science}
    return job.rule, job.script, [*job.output], job.input[:1], plain(given)


def test_the_rules_hand_on_what_was_planned(planned):
    jobs = jobs_of(planned)
    assert {job.rule for job in jobs} > {THEORY, "montecarlo", "merge", "figures", "scores"}
    assert all(map(passes, jobs))


def test_what_takes_longest_starts_first(planned):
    for job in jobs_of(planned):
        given = dict(job.params.items())
        if "task" in given:
            assert job.priority == costs.of_task(given["task"]).seconds
        elif "tasks" in given:
            assert job.priority == costs.of_theory([task for _, task in given["tasks"]]).seconds
        else:
            assert job.priority == (job.rule in ("merge", "figures"))


def test_resources_threads_messages_and_comments_of_rules_change_nothing(planned):
    before = [used(job) for job in jobs_of(planned)]
    for path in set((planned / RULES).iterdir()) - {planned / RULES / "common.smk"}:
        text = re.sub(r"( +)(mem_mb|runtime)=.*", r"\1\2=100,", path.read_text())
        text = re.sub(r"( +)threads:.*", r"\1threads: 2", text)
        text = re.sub(r'( +message:\n +)".*"', r'\1"Other words"', text)
        path.write_text(f"# A comment.\n{text}\n")
    after = jobs_of(planned)
    assert [used(job) for job in after] == before
    assert all(map(passes, after))


@pytest.mark.parametrize(
    ("path", "old", "new", "rule"),
    [
        ("theory.smk", "tasks=batch.tasks", "asked=batch.tasks", THEORY),
        ("theory.smk", "tasks=batch.tasks", "tasks=batch.tasks[1:]", THEORY),
        ("theory.smk", "compute.py", "simulate.py", THEORY),
        ("merge.smk", "name=merged_name", 'name="merge/fig2"', "merge"),
        ("merge.smk", 'mark_of_job("merge")', 'mark_of_job("scores")', "merge"),
        ("figures.smk", "data=merged_file", 'data="results/figures/fig4.nc"', "scores"),
    ],
)
def test_a_rule_that_hands_on_something_else_is_refused(planned, path, old, new, rule):
    tiny.edit(planned / RULES / path, old, new)
    (job,) = [job for job in jobs_of(planned) if job.rule == rule][:1]
    with pytest.raises(ChangedJobError, match=f"rule {rule} in workflow/rules hands other"):
        check_job(job, job.script)


def test_a_shard_of_other_replicates_than_its_name_says_is_refused(planned):
    old = 'task=task("montecarlo")'
    new = "task=lambda wildcards: shard_without_its_middle(wildcards)"
    tiny.edit(planned / tiny.TINY, "networks_per_job: 2", "networks_per_job: 4")
    tiny.edit(planned / MONTECARLO, old, new)
    (planned / MONTECARLO).write_text(
        (planned / MONTECARLO).read_text().replace(
            "rule montecarlo:",
            "from dataclasses import replace\n\n\n"
            "def shard_without_its_middle(wildcards):\n"
            '    given = task("montecarlo")(wildcards)\n'
            "    return replace(given, networks=(given.networks[0], given.networks[-1]))\n\n\n"
            "rule montecarlo:",
        )
    )  # fmt: skip
    (job,) = [job for job in jobs_of(planned) if job.rule == "montecarlo"]
    assert job.params.task.networks == (0, 3)
    assert not passes(job)


@pytest.mark.parametrize(
    "seed",
    [
        *range(3),
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 103)),
    ],
)
def test_a_random_edit_of_what_rules_hand_on_never_passes_as_planned(planned, seed):
    before = {tuple(job.output): used(job) for job in jobs_of(planned)}
    chance = random.Random(seed)
    places = [
        (path, found)
        for path in sorted((planned / RULES).glob("*.smk"))
        for pattern in (HANDED, RETURNED)
        for found in pattern.finditer(path.read_text())
    ]
    path, found = chance.choice(places)
    new = found[0].replace(found[2], f"altered({found[2]}, {seed})")
    text = path.read_text()
    text = text[: found.start()] + new + text[found.end() :]
    path.write_text(f"from rule_jobs import altered\n{text}")
    try:
        jobs = jobs_of(planned)
    except (WorkflowError, RuleException):  # Snakemake refuses by itself what it cannot make
        return
    for job in jobs:
        assert not passes(job) or used(job) == before.get(tuple(job.output)), new


def test_a_job_parses_no_code_that_is_as_planned(planned, monkeypatch):
    jobs = jobs_of(planned)

    def parsed(source, text):
        raise AssertionError(source)

    monkeypatch.setattr(fingerprint, "_parsed", parsed)
    assert all(map(passes, jobs))


def test_a_job_sees_that_its_code_is_not_what_was_planned(planned, monkeypatch):
    job = next(job for job in jobs_of(planned) if job.rule == THEORY)
    source = shutil.copytree(tiny.ROOT / "src", planned / "src")
    monkeypatch.setattr(fingerprint, "_ROOT", source)
    solver = source / "giantstep/theory/readout/fixed_point.py"
    original = solver.read_text()
    for text in (f"{original}edited = 1\n", "half a line (", "exec('1')\n"):
        solver.write_text(text)
        with pytest.raises(ChangedJobError, match="edited after the run was planned"):
            check_job(job, job.script)
    solver.unlink()
    assert not passes(job)
    solver.write_text(f"# A comment.\n{original}")
    assert passes(job)
