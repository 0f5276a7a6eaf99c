"""Training with parameter servers: their strategy, and the tasks of its cluster."""
