"""The table of questions, without the questions themselves, which take a while to import."""

import tomllib
from pathlib import Path

# Entries by the names of the questions' functions.
TABLE = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
