"""The public `tf.audio` namespace: WAV files of 16-bit samples, as `[samples, channels]` tensors of floats."""

from tapeflow.audio.wav import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
__dir__ = __all__.copy
