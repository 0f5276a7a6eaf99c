"""The rows of the op table, by namespace."""
