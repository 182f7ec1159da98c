# SPDX-License-Identifier: Apache-2.0
"""Text and token numbers, by the package tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gemm64 import InvalidArgument

_STARTS = ("<|startoftranscript|>", "<pad>", "<s>")  # of decoders after an encoder
_ENDS = ("</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<eos>", "[SEP]")


class Tokens:
    """A tokenizer.json."""

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise InvalidArgument(
                "the package tokenizers is not installed: pip install tokenizers") from None
        self.path = path
        if not path.is_file():
            raise InvalidArgument(f"there is no tokenizer {path}; --tokenizer names one")
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # the package's own errors are plain Exceptions
            raise InvalidArgument(f"{path} is no tokenizer.json: {error}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def largest(self) -> int:
        """The largest token number."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        return max(vocabulary.values())

    def encode(self, text: str, special: bool = True) -> list[int]:
        """With the tokens that the tokenizer puts around a text, such as an end."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=special).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        """Without special tokens."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text

    def piece(self, token: int) -> str:
        """A token by itself, as the vocabulary writes it."""
        piece: str | None = self._tokenizer.id_to_token(token)
        if piece is None:
            raise InvalidArgument(f"the network wrote token {token}, which {self.path} does not have: is it "
                                  "this network's tokenizer?")
        return piece

    def number(self, token: str) -> int:
        """Of a token's name, or of a number."""
        known: int | None = self._tokenizer.token_to_id(token)
        if known is None and token.isdecimal():
            known = int(token)
        if known is None:
            raise InvalidArgument(f"{self.path} has no token {token!r}")
        return known

    def start(self, asked: str | None) -> int:
        """What a decoder after an encoder begins with."""
        return self._special(asked, _STARTS, "--start-token")

    def ends(self, asked: str | None) -> set[int]:
        """What ends a text."""
        if asked is not None:
            return {self.number(asked)}
        found = {self._tokenizer.token_to_id(name) for name in _ENDS} - {None}
        if not found:
            raise InvalidArgument(f"{self.path} has none of the tokens {', '.join(_ENDS)}; --end-token names one")
        return found

    def _special(self, asked: str | None, names: tuple[str, ...], option: str) -> int:
        if asked is not None:
            return self.number(asked)
        for name in names:
            known: int | None = self._tokenizer.token_to_id(name)
            if known is not None:
                return known
        raise InvalidArgument(f"{self.path} has none of the tokens {', '.join(names)}; {option} names one")
