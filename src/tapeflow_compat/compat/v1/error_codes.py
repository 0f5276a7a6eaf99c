"""The functions of `tf.compat.v1.errors` that TensorFlow 2 dropped."""

from tapeflow.core.errors import error_code_from_exception_type, exception_type_from_error_code

__all__ = ["error_code_from_exception_type", "exception_type_from_error_code"]
