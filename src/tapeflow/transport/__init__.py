"""Calls between processes by gRPC, with values, and with functions as TensorFlow's `FunctionDef`s."""
