"""Care of finished results: explain, verify, prune, and damaged files. Start with `explain`."""
