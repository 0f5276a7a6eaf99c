"""Random calls of tensor functions, run under TensorFlow and under TapeFlow, and what differs: see `scripts/fuzz.py`.

`seeds` collects calls from the op table and the goldens, `drawing` draws new ones from them, `sweeping` changes one
argument of each after another, `values` says how a call is written as JSON, `modes` runs one eagerly, traced,
differentiated or vectorized, `outcomes` writes down what came out, `worker` and `processes` do so for thousands of
calls in a process that may crash, and `comparing` finds and groups the differences.
"""
