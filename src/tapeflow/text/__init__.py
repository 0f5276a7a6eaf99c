"""TensorFlow Text, as far as models use it: `import tensorflow_text` imports this."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.text.bert import BertTokenizer
from tapeflow.text.fast import (
    FastBertNormalizer,
    FastBertTokenizer,
    FastWordpieceTokenizer,
    build_fast_bert_normalizer_model,
    build_fast_wordpiece_model,
)
from tapeflow.text.item_selectors import (
    FirstNItemSelector,
    LastNItemSelector,
    MaskValuesChooser,
    RandomItemSelector,
    mask_language_model,
)
from tapeflow.text.model_inputs import (
    Reduction,
    combine_segments,
    concatenate_segments,
    ngrams,
    pad_model_inputs,
    sliding_window,
)
from tapeflow.text.normal_forms import case_fold_utf8, normalize_utf8
from tapeflow.text.regex_split import RegexSplitter, regex_split, regex_split_with_offsets
from tapeflow.text.sentencepiece import SentencepieceTokenizer
from tapeflow.text.tokenizer import Detokenizer, Splitter, SplitterWithOffsets, Tokenizer, TokenizerWithOffsets
from tapeflow.text.trimmers import RoundRobinTrimmer, ShrinkLongestTrimmer, Trimmer, WaterfallTrimmer
from tapeflow.text.word_boundaries import (
    ByteSplitter,
    UnicodeCharTokenizer,
    UnicodeScriptTokenizer,
    WhitespaceTokenizer,
)
from tapeflow.text.wordpiece import WordpieceTokenizer

__version__ = "2.21.1"

_publish(globals())
