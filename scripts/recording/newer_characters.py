"""Records characters that the oldest supported Python does not know, as TensorFlow Text has them.

    python scripts/record.py newer_characters   # needs TensorFlow Text, and the file of `unicode_scripts`

The file has a line for each form and for case folding (`code=text`, in hexadecimal), and one for punctuation.
"""

import pathlib

ROOT = pathlib.Path(__file__).parents[2] / "src" / "tapeflow"
UNKNOWN = "103"


def known_characters() -> set[int]:
    """Returns the characters of `unicode_scripts.txt`."""
    known = set()
    for line in (ROOT / "strings" / "unicode_scripts.txt").read_text().splitlines():
        script, *ranges = line.split()
        for text in ranges if script != UNKNOWN else ():
            first, _, last = text.partition("-")
            known |= set(range(int(first, 16), int(last or first, 16) + 1))
    return known


def main() -> None:
    import tensorflow_text

    known = known_characters()
    codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in known]
    characters = [chr(c).encode() for c in codes]
    changed = {form: tensorflow_text.normalize_utf8(characters, form) for form in ("NFD", "NFKD")}
    changed["fold"] = tensorflow_text.case_fold_utf8(characters)
    lines = []
    for name, results in changed.items():
        pairs = [(c, text.decode()) for c, text in zip(codes, results.numpy().tolist(), strict=True)]
        entries = [f"{c:x}={'+'.join(f'{ord(x):x}' for x in text)}" for c, text in pairs if text not in (chr(c), "")]
        lines.append(" ".join([name, *entries]))
    words = tensorflow_text.FastWordpieceTokenizer(["[UNK]", "a"]).tokenize([b"a%sa" % c for c in characters])
    alone = [c for c, row in zip(codes, words.to_list(), strict=True) if len(row) == 3]
    chinese = {*range(0x3400, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x2FA20)}
    lines.append(" ".join(["alone", *(f"{c:x}=" for c in alone if c not in chinese)]))
    (ROOT / "text" / "newer_characters.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
