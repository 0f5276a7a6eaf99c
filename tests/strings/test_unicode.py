"""Control characters are replaced, or dropped with what is malformed; those up to 31."""

import pytest

import tapeflow as tf

CONTROLS = [0, 1, 9, 10, 31]
OTHERS = [32, 126, 127, 128, 159, 160, 0xFFFD]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("errors", ["ignore", "replace"])
def test_control_characters(encoding, errors):
    codes = [*CONTROLS, *OTHERS]
    text = "".join(map(chr, codes)).encode(encoding)
    options = {"errors": errors, "replacement_char": ord("?")}
    assert tf.strings.unicode_decode(text, encoding, **options).numpy().tolist() == codes
    replaced = tf.strings.unicode_decode(text, encoding, replace_control_characters=True, **options).numpy().tolist()
    assert replaced == [*[ord("?")] * (len(CONTROLS) if errors == "replace" else 0), *OTHERS]
    again = tf.strings.unicode_transcode(text, encoding, "UTF-8", replace_control_characters=True, **options)
    assert again.numpy().decode() == "".join(map(chr, replaced))
