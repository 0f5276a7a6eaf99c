"""The public `tf.io.gfile` namespace: files and folders of this machine. Remote file systems are not supported."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.io.gfile.files import (
    GFile,
    copy,
    exists,
    get_registered_schemes,
    glob,
    isdir,
    join,
    listdir,
    makedirs,
    mkdir,
    remove,
    rename,
    rmtree,
    stat,
    walk,
)

_publish(globals())
