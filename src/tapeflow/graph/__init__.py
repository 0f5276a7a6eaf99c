"""Graphs: operations and the tensors between them, and from a graph to a Python function of kernel calls."""
