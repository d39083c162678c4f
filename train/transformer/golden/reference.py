"""Hugging Face's tokenizers, as the encoder is to agree with it: no piece in brackets comes out of a text."""

from itertools import accumulate

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers


def tokenizer(pieces):
    made = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def tokens(made, text):
    """The id and the span in bytes of each token."""
    encoding = made.encode(text, add_special_tokens=False)
    at = [0, *accumulate(len(c.encode()) for c in text)]
    return [(i, (at[a], at[b])) for i, (a, b) in zip(encoding.ids, encoding.offsets)]
