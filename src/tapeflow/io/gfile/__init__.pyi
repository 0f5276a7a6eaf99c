# Written by `scripts/record.py stubs`.
from tapeflow.io.gfile.files import GFile as GFile
from tapeflow.io.gfile.files import copy as copy
from tapeflow.io.gfile.files import exists as exists
from tapeflow.io.gfile.files import get_registered_schemes as get_registered_schemes
from tapeflow.io.gfile.files import glob as glob
from tapeflow.io.gfile.files import isdir as isdir
from tapeflow.io.gfile.files import join as join
from tapeflow.io.gfile.files import listdir as listdir
from tapeflow.io.gfile.files import makedirs as makedirs
from tapeflow.io.gfile.files import mkdir as mkdir
from tapeflow.io.gfile.files import remove as remove
from tapeflow.io.gfile.files import rename as rename
from tapeflow.io.gfile.files import rmtree as rmtree
from tapeflow.io.gfile.files import stat as stat
from tapeflow.io.gfile.files import walk as walk
