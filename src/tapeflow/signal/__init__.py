"""The public `tf.signal` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.signal.cosine import dct, idct
from tapeflow.signal.fourier import (
    fftnd,
    fftshift,
    ifftnd,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    irfftnd,
    rfft,
    rfft2d,
    rfft3d,
    rfftnd,
)
from tapeflow.signal.fourier_ops import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from tapeflow.signal.frames import frame, overlap_and_add
from tapeflow.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from tapeflow.signal.spectral import inverse_mdct, inverse_stft, inverse_stft_window_fn, mdct, stft
from tapeflow.signal.windows import (
    hamming_window,
    hann_window,
    kaiser_bessel_derived_window,
    kaiser_window,
    vorbis_window,
)

_publish(globals())
