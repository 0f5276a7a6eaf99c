# Written by `scripts/record.py stubs`.
from tapeflow.audio.wav import decode_wav as decode_wav
from tapeflow.audio.wav import encode_wav as encode_wav
