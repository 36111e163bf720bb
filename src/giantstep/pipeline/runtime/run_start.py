"""What a run or a report does before anything else; Snakemake has no hook for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
