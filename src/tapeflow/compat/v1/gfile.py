"""The public `tf.compat.v1.gfile` namespace: `tf.io.gfile` by other names."""
# ruff: noqa: F401 (what is imported here is public)

from tapeflow.io.gfile import GFile
from tapeflow.io.gfile import GFile as FastGFile
from tapeflow.io.gfile import GFile as Open
from tapeflow.io.gfile import copy as Copy
from tapeflow.io.gfile import exists as Exists
from tapeflow.io.gfile import glob as Glob
from tapeflow.io.gfile import isdir as IsDirectory
from tapeflow.io.gfile import listdir as ListDirectory
from tapeflow.io.gfile import makedirs as MakeDirs
from tapeflow.io.gfile import mkdir as MkDir
from tapeflow.io.gfile import remove as Remove
from tapeflow.io.gfile import rename as Rename
from tapeflow.io.gfile import rmtree as DeleteRecursively
from tapeflow.io.gfile import stat as Stat
from tapeflow.io.gfile import walk as Walk
