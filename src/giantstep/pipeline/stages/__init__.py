"""What each stage of the workflow computes: problems in, labelled datasets out."""
