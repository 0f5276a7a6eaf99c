"""The programs of `tensorflow.python.tools` and `tensorflow.tools`: each module has the functions and the `main`."""
