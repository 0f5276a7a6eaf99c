"""Calls between processes, by gRPC, and what travels with them: values, functions as TensorFlow's `FunctionDef`s."""
