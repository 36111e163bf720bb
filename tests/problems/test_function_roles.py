"""The page on functions says what the code says."""

from pathlib import Path

from giantstep.problems.function_roles import functions_table

PAGE = Path(__file__).parents[2] / "docs/functions.md"


def test_the_page_has_the_table_of_functions():
    assert functions_table() in PAGE.read_text(encoding="utf-8")
