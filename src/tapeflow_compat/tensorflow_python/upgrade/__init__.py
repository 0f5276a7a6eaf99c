"""`tf_upgrade_v2`: programs of TensorFlow 1 with the names and arguments of TensorFlow 2.

`table.py` has the names, `notes.py` notes about things to check, `source.py` calls and edits of source text, `calls.py`
the calls that change in other ways, `programs.py` the walk through a program, `command.py` files and reports.
"""
