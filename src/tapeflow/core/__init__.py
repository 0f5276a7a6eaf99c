"""What a value is and how an op runs. Imports no op."""
