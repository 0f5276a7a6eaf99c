"""A small BERT in Keras 2."""

# requires: tf-keras
import os

os.environ["TF_USE_LEGACY_KERAS"] = os.environ["TF_KERAS"] = "1"
from keras_bert import compile_model, gen_batch_inputs, get_base_dict, get_model

tokens = {**get_base_dict(), "all": 5, "work": 6, "and": 7, "no": 8, "play": 9}
pairs = [[["all", "work", "and"], ["no", "play"]], [["no", "work"], ["all", "play"]]]
model = get_model(len(tokens), head_num=2, transformer_num=1, embed_dim=8, feed_forward_dim=8, seq_len=10, pos_num=10)
compile_model(model)
batch = gen_batch_inputs(pairs, tokens, list(tokens), seq_len=10, mask_rate=0.3, swap_sentence_rate=1.0)
model.train_on_batch(*batch)
