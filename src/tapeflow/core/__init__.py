"""Values, and the engine that runs ops on them. Imports no op."""
