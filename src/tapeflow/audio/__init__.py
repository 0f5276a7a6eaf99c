"""The public `tf.audio` namespace: WAV files of 16-bit samples, as `[samples, channels]` tensors of floats."""

from tapeflow.audio.wav import decode_wav, encode_wav
from tapeflow.core.public_names import publish as _publish

_publish(globals())
