"""Recorders: each module writes what TensorFlow, or another source, says about a subject (`scripts/record.py`)."""
