"""A run prints one line for each job that ends; what is no job is printed as it is."""

import logging
import re
from types import SimpleNamespace

import tiny
import yaml
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

CHOSEN = yaml.safe_load((tiny.ROOT / "profiles/default/config.yaml").read_text())["logger"]
QUIET = dict.fromkeys(("dryrun", "verbose", "printshellcmds", "debug_dag", "stdout"), False)


def printed(capsys, *records, seconds=110.0, **settings):
    """Print records, some time after the start."""
    plugin = LoggerPluginRegistry().get_plugin(CHOSEN)
    handler = plugin.log_handler(SimpleNamespace(**QUIET | settings), None)
    for record in records:
        made = logging.makeLogRecord({"msg": None, "levelno": logging.INFO} | record)
        made.created += seconds
        handler.handle(made)
    return "".join(capsys.readouterr()).splitlines()


def job(number, done, total=5):
    """What Snakemake logs of a job that starts and ends."""
    told = {"jobid": number, "rule_msg": f"Job {number} of tanh-sign-eta3", "rule_name": "theory"}
    return (
        {"event": LogEvent.JOB_INFO} | told,
        {"event": LogEvent.JOB_STARTED, "jobs": [number]},
        {"event": LogEvent.JOB_FINISHED, "job_id": number, "msg": f"Finished jobid: {number}"},
        {"event": LogEvent.PROGRESS, "done": done, "total": total},
    )


def test_a_job_that_ends_is_one_line_with_its_number_and_the_time_left(capsys):
    first, last = printed(capsys, *job(7, 2), *job(8, 5))
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  2 of 5 steps \(40%\) done, 0:02:45 left: Job 7 of tanh-sign-eta3", first
    )
    assert last.endswith("5 of 5 steps (100%) done: Job 8 of tanh-sign-eta3")


def test_what_is_no_job_is_printed_as_it_is_and_who_asks_for_more_has_snakemakes_words(capsys):
    assert printed(capsys, *job(7, 0)[:2], dryrun=True) == ["Job 7 of tanh-sign-eta3"]
    silent = {"msg": "Select jobs to execute"}
    told = {"msg": "Nothing to be done", "levelno": logging.ERROR}
    assert printed(capsys, told, silent) == ["Nothing to be done"]
    for flag in ("verbose", "printshellcmds", "debug_dag"):
        assert printed(capsys, *job(7, 2), **{flag: True}) == []
