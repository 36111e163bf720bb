"""The workflow: from configuration to tasks, results and figures."""
