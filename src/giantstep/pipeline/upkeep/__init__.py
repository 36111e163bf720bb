"""What is known of finished results: explain, verify, prune, and files that are damaged."""
