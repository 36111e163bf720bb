"""What a run or a report does before anything else; Snakemake has no hook for it."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake import persistence
from snakemake.script import PythonScript

from giantstep.pipeline.planning.layout import TASK_STAGES
from giantstep.pipeline.planning.plan import Plan
from giantstep.pipeline.runtime.job_server import LATER, JobServer


def before_run(workflow: Any, prepare: Callable[[], None]) -> None:
    """Call a function when a workflow starts to run jobs, before it looks for any file.

    Reading the Snakefile must change no file, since `snakemake -n`, `--lint`, `--report` and others
    read it too; and Snakemake calls `onstart` only after it has decided, by the files that it
    found, which jobs to run. So the method that runs the workflow is wrapped.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        That reads the Snakefile.
    prepare : callable
    """
    execute = workflow.execute

    def prepare_and_execute(executor_plugin: Any, *args: Any, **kwargs: Any) -> Any:
        executor = executor_plugin.common_settings
        if workflow.is_main_process and not (executor.dryrun_exec or executor.touch_exec):
            prepare()
        return execute(executor_plugin, *args, **kwargs)

    workflow.execute = prepare_and_execute


def fork_jobs(workflow: Any, plan: Plan) -> None:
    """Let a run on one machine fork its jobs from a process that has imported what they need.

    Jobs on a cluster, and scripts of another workflow that uses this one, start as usual.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        That is about to run jobs.
    plan : Plan
    """
    if not workflow.local_exec or sys.platform != "linux":
        return
    # To keep to its limit of jobs per second, Snakemake looks at all jobs again each second, and
    # once more for every job that has ended.
    workflow.scheduling_settings.max_jobs_per_timespan = None
    scripts = (plan.root / "workflow/scripts").resolve()
    drawings = {figure.drawing for figure in plan.figures.values()}
    server = JobServer(scripts, [*(stage.module for stage in TASK_STAGES), *drawings, *LATER])
    start_python = PythonScript.execute_script

    def execute(self: Any, fname: str, edit: bool = False) -> None:
        if self.is_local and Path(self.local_path).resolve().parent == scripts:
            server.run(fname)
        else:
            start_python(self, fname, edit)

    PythonScript.execute_script = execute
    server.start()
    atexit.register(server.stop)


def keep_results() -> None:
    """Let Snakemake make no copies of the files that a job of theory leaves as they are.

    Results are written whole or not at all. A copy that a killed run has left may be half a file,
    and would be put in place of the result when the job fails.
    """
    # What holds these methods has another name in earlier versions.
    owner: Any = getattr(persistence, "FileBackupMixin", None) or persistence.Persistence
    owner.backup_output = lambda self, path: None
    owner.restore_output = lambda self, path: False


def before_report(workflow: Any) -> list[bool]:
    """Note when a workflow starts to write a report, before it looks for any file.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        That reads the Snakefile.

    Returns
    -------
    list of bool
        Empty, and no longer so once a report is written.
    """
    noted: list[bool] = []
    create = workflow.create_report

    def note_and_create(*args: Any, **kwargs: Any) -> Any:
        noted.append(True)
        return create(*args, **kwargs)

    workflow.create_report = note_and_create
    return noted
