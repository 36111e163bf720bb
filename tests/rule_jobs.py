"""What the rules of a workflow hand to their jobs, without running any."""

import copy
import os
import random
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace

from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)


@contextmanager
def inside(project):
    """Work in a project's folder; reading its Snakefile leaves no trace in the environment."""
    before, environment = Path.cwd(), dict(os.environ)
    os.chdir(project)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def handed(project, overlay):
    """List the jobs that would make all files of a project, as their scripts see them."""
    with inside(project), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        asked = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[Path(overlay)]),
            snakefile=project / "Snakefile",
        ).dag(DAGSettings(forceall=True))
        workflow = asked.workflow_api._workflow
        # Prints the graph of rules, once it has made the jobs.
        asked.printrulegraph()
        return [_seen(job) for job in workflow.dag.jobs if job.rule.script]


def _seen(job):
    script = Path(job.rule.basedir.join(job.rule.script).get_path_or_uri(secret_free=True))
    fields = {name: getattr(job, name) for name in ("input", "output", "params", "wildcards")}
    fields["priority"] = job.rule.expand_priority(job.wildcards, job.input, 1)
    return SimpleNamespace(rule=job.rule.name, script=str(script.resolve()), **fields)


def altered(value, seed=0):
    """A value with one part of it changed at random; of a function, what it returns."""
    if callable(value):
        return lambda wildcards: altered(value(wildcards), seed)
    chance = random.Random(seed)
    if is_dataclass(value):
        changed = copy.copy(value)
        name = chance.choice([field.name for field in fields(value)])
        object.__setattr__(changed, name, altered(getattr(value, name), chance.random()))
        return changed
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        return value | {key: altered(value[key], chance.random())}
    if isinstance(value, tuple | list) and value:
        place = chance.randrange(len(value))
        inner = [altered(value[place], chance.random())] * chance.choice((0, 1, 2))
        return type(value)([*value[:place], *inner, *value[place + 1 :]])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value / 2 + 1.25
    return f"{value}x"
