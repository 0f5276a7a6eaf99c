"""tf.signal and tf.audio on drawn numbers: windows, spectra, mel bands, with options and for unknown shapes."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
S = tf.signal
def drawn(*shape, seed=0, low=-1.0, high=1.0, dtype=tf.float32):
    return tf.constant(np.random.default_rng(seed).uniform(low, high, shape), dtype)
def spectra(*shape):
    return tf.complex(drawn(*shape), drawn(*shape, seed=1))
def length(n):
    return tf.TensorSpec([], tf.int32)
def of_length(f, n):
    return tf.function(f, input_signature=[tf.TensorSpec([], tf.int32)])(n)
def inverse(x, size, step, fft=None, window=tf.signal.hann_window):
    return S.inverse_stft(x, size, step, fft, window)
"""
)
LOOSE = {"rtol": 1e-4, "atol": 2e-5, "because": "the order of a transform's sums is the kernel's choice"}

# ---- windows ---------------------------------------------------------------------------------------------------------
GROUP.family(
    "S.{f}_window({n}, {p}, tf.{d})", f="hann hamming", n="0 1 2 5 8", p="True False", d="float32 float64", **LOOSE
)
GROUP.family("S.{f}_window({n}, {b})", f="kaiser kaiser_bessel_derived", n="1 2 5 8", b="0.0 4.0 12.0", **LOOSE)
GROUP.family(
    "S.{f}_window({n}, dtype=tf.{d})",
    f="kaiser kaiser_bessel_derived vorbis",
    n="4 7",
    d="float64 float16",
    rtol=1e-2,
    atol=1e-3,
    because="the order of sums in half precision",
)
GROUP.family("S.vorbis_window({n})", n="0 1 2 5 8", **LOOSE)
GROUP.family("of_length(S.{f}_window, {n})", f="hann hamming kaiser kaiser_bessel_derived vorbis", n="1 4 7", **LOOSE)
GROUP.family("of_length(lambda n: S.{f}_window(n, False), {n})", f="hann hamming", n="1 4 7", **LOOSE)
GROUP.errors("""
S.hann_window(4, dtype=tf.int32)
S.hann_window([4])
S.hann_window(4, [True])
S.hamming_window(4.5)
S.kaiser_window(4, dtype=tf.int32)
S.kaiser_window([4])
S.vorbis_window([4])
S.vorbis_window(4, tf.int32)
S.kaiser_bessel_derived_window([4])
""")

# ---- spectra ---------------------------------------------------------------------------------------------------------
GROUP.family(
    "S.stft(drawn(2, 11), {n}, {s}, {f}, {w}, {p})",
    n="4 5",
    s="2 3",
    f="None 8 4",
    w="S.hann_window None",
    p="True False",
    **LOOSE,
)
GROUP.family("inverse(spectra(2, 3, 5), {n}, {s}, 8, {w})", n="4 7 8 10", s="2 5", w="S.hann_window None", **LOOSE)
GROUP.family(
    "S.inverse_stft_window_fn({s}, {w})({n}, tf.float32)",
    s="2 3 5",
    w="S.hann_window S.hamming_window",
    n="4 5 8",
    **LOOSE,
)
GROUP.family(
    "S.mdct(drawn(2, 18), {n}, {w}, {p}, {norm})",
    n="4 8",
    w="S.vorbis_window None",
    p="True False",
    norm=["None", "'ortho'"],
    **LOOSE,
)
GROUP.family(
    "S.inverse_mdct(drawn(2, 3, {n}), {w}, {norm})",
    n="2 4",
    w="S.vorbis_window None",
    norm=["None", "'ortho'"],
    **LOOSE,
)
GROUP.values(
    """
inverse(spectra(3, 5), 8, 4)
inverse(spectra(3, 9), 16, 4, 16)
S.stft(drawn(9, dtype=tf.float64), 4, 2)
S.stft(drawn(9), 3, 1)
S.stft(drawn(9), 4, 2, window_fn=lambda n, dtype: tf.ones([n], dtype))
sized(lambda x: S.stft(x, 4, 2), drawn(2, 9))
unranked(lambda x: S.stft(x, 4, 2), drawn(2, 9))
of_length(lambda n: S.stft(drawn(9), n, 2), 4)
of_length(lambda n: S.stft(drawn(9), n, 2), 5)
of_length(lambda n: S.stft(drawn(9), 4, n), 3)
of_length(lambda n: S.inverse_stft(spectra(3, 5), n, 2), 7)
of_length(lambda n: S.inverse_stft(spectra(3, 5), 8, n), 3)
of_length(lambda n: S.inverse_stft_window_fn(n)(8, tf.float32), 3)
unranked(lambda x: S.inverse_stft(x, 8, 4), spectra(2, 3, 5))
grad(lambda x: tf.abs(S.stft(x, 4, 2)), drawn(9))
grad(lambda x: S.mdct(x, 4) ** 2, drawn(9))
S.linear_to_mel_weight_matrix()[20:60, 3:8]
S.linear_to_mel_weight_matrix(4, 9, 100, 1.0, 40.0)
S.linear_to_mel_weight_matrix(4, 9, 100.0, 0.0, 50.0, tf.float64)
S.linear_to_mel_weight_matrix(1, 5, 16000)
of_length(lambda n: S.linear_to_mel_weight_matrix(4, n, 100, 1.0, 40.0), 9)
of_length(lambda n: S.linear_to_mel_weight_matrix(4, 9, n, 1.0, 40.0), 100)
S.mfccs_from_log_mel_spectrograms(drawn(2, 3, 5))
S.mfccs_from_log_mel_spectrograms(drawn(4, dtype=tf.float64))
sized(S.mfccs_from_log_mel_spectrograms, drawn(2, 5))
""",
    **LOOSE,
)
GROUP.errors("""
S.stft(1.0, 4, 2)
S.stft(drawn(9), [4], 2)
S.stft(drawn(9), 4, [2])
S.stft(drawn(9), -4, 2)
S.stft(tf.range(9), 4, 2)
S.stft(drawn(9), 4, 2, [8, 8])
S.inverse_stft(spectra(5), 8, 4)
S.inverse_stft(drawn(3, 5), 8, 4)
S.inverse_stft(spectra(3, 5), [8], 4)
S.inverse_stft(spectra(3, 5), -8, 4)
S.inverse_stft_window_fn([2])(4, tf.float32)
S.mdct(drawn(9), 6)
S.mdct(1.0, 4)
S.inverse_mdct(drawn(4))
S.linear_to_mel_weight_matrix(0)
S.linear_to_mel_weight_matrix(lower_edge_hertz=-1.0)
S.linear_to_mel_weight_matrix(lower_edge_hertz=3800.0)
S.linear_to_mel_weight_matrix(sample_rate=0)
S.linear_to_mel_weight_matrix(sample_rate=7000)
S.linear_to_mel_weight_matrix(dtype=tf.int32)
S.mfccs_from_log_mel_spectrograms(tf.zeros([2, 0]))
S.mfccs_from_log_mel_spectrograms(1.0)
""")

# ---- shifts and audio ------------------------------------------------------------------------------------------------
GROUP.family(
    "S.{f}(tf.reshape(tf.range(30), [2, 3, 5]), {a})",
    f="fftshift ifftshift",
    a=["None", "0", "-1", "[1, 2]", "(0, 2)", "[1, 1]"],
)
GROUP.family(
    "tf.audio.decode_wav(tf.audio.encode_wav(drawn(6, {c}), 8000), {want}, {n})",
    c="1 2",
    want="-1 1 2",
    n="-1 4 8",
    rtol=1e-4,
    atol=1e-4,
    because="samples of 16 bits",
)
GROUP.values("""
tf.audio.encode_wav([[0.5], [-1.0], [1.0], [2.0], [-2.0], [0.00001]], 44100)
tf.audio.encode_wav([[0.5, -0.25]], 8000)
tf.audio.decode_wav(tf.audio.encode_wav(drawn(3, 1), 16000)).sample_rate
""")
GROUP.errors("""
tf.audio.encode_wav([0.5], 8000)
tf.audio.encode_wav([[0.5]], [8000])
tf.audio.encode_wav(tf.zeros([1, 0]), 8000)
tf.audio.encode_wav([[0.5]], 0)
tf.audio.encode_wav([[0.5]], -1)
tf.audio.decode_wav(b'')
tf.audio.decode_wav(b'RIFF')
tf.audio.decode_wav([tf.audio.encode_wav([[0.5]], 8000)])
tf.audio.decode_wav(tf.strings.substr(tf.audio.encode_wav([[0.5]], 8000), 0, 40))
tf.audio.decode_wav(tf.audio.encode_wav([[0.5]], 8000), desired_channels=-2)
tf.audio.decode_wav(tf.audio.encode_wav([[0.5]], 8000), desired_samples=-2)
""")
