"""Control flow as functions: conditions, loops, maps, the lists that loops fill, and calls of Python."""
