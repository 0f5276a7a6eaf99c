"""Objects that hold variables, and that checkpoints follow: modules, resources, lists, dicts and tuples."""
