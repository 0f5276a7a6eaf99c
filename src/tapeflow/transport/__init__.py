"""Calls between processes, by gRPC, with values and functions (as TensorFlow's `FunctionDef`s) as arguments."""
