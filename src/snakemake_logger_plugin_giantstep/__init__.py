"""What a run prints: one line for each job that has ended, with n of N and the time left.

Snakemake finds a logger by the name of its package, and profiles/default chooses this one. The full
output of Snakemake is in `.snakemake/log`, and on the screen with `--printshellcmds`.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from datetime import timedelta
from logging import Handler, LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# What is left out, since a job is told when it has ended: events, and beginnings of other messages.
_SILENT = ("workflow_started", "resources_info", "job_started", "group_info")
_NEEDLESS = ("Select jobs to execute", "Touching output file")


class LogHandler(LogHandlerBase):
    """Prints lines, unless shell commands or more are to be printed, which Snakemake does."""

    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        Handler.__init__(self)  # which the interface does only since its second version
        self._messages: dict[int, str] = {}
        self._ended, self._started = "", time.time()

    @property
    def writes_to_stream(self) -> bool:
        """Whether Snakemake is to write nothing itself."""
        common = self.common_settings
        return not (common.verbose or common.printshellcmds or common.debug_dag)

    def emit(self, record: LogRecord) -> None:
        """Print what is left of a record."""
        if self.writes_to_stream and (text := self._shortened(record)) not in ("", "None"):
            with suppress(BrokenPipeError):
                to = sys.stdout if self.common_settings.stdout else sys.stderr
                print(text, file=to, flush=True)

    def _shortened(self, record: LogRecord) -> str:
        event, told = getattr(record, "event", None), vars(record)
        if event == LogEvent.JOB_INFO:
            self._messages[told["jobid"]] = told["rule_msg"] or told["rule_name"]
            return self._messages[told["jobid"]] if self.common_settings.dryrun else ""
        if event == LogEvent.JOB_FINISHED:
            self._ended = self._messages.pop(told["job_id"], "")
        elif event == LogEvent.PROGRESS:
            return self._progress(told["done"], told["total"], record.created - self._started)
        elif event not in _SILENT and not record.getMessage().startswith(_NEEDLESS):
            return self.format(record)
        return ""

    def _progress(self, done: int, total: int, seconds: float) -> str:
        left = timedelta(seconds=round(seconds * (total - done) / done)) if done else "unknown"
        share = f"{done} of {total} steps ({100 * done // total}%) done"
        rest = f", {left} left" if done < total else ""
        return f"{time.strftime('%H:%M:%S')}  {share}{rest}: {self._ended}"
