# SPDX-License-Identifier: Apache-2.0
"""A tokenizer of as many words as the networks of transformers.py know."""

import tokenizers
import transformers

WORDS = ["<pad>", "</s>"] + [f"w{number}" for number in range(2, transformers.WORDS)]


def write_tokenizer(path, words=WORDS):
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<pad>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(words[:2])
    tokenizer.save(str(path))
