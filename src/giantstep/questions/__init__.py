"""The questions that the library answers, each by a labelled dataset."""
