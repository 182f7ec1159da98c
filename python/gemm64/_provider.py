# SPDX-License-Identifier: Apache-2.0
"""The execution provider for ONNX Runtime: where its library is, and reports of its runs."""

from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
from typing import Any

from ._errors import InvalidArgument
from ._report import Report

_tokens = itertools.count()


def get_library_path() -> str:
    """The absolute path of the provider's library, for register_execution_provider_library()."""
    return str(pathlib.Path(__file__).absolute().parent / "libgemm64_ep.so")


def get_ep_name() -> str:
    """The provider's name, as ONNX Runtime's devices and sessions have it."""
    return "Gemm64ExecutionProvider"


def last_report(session: Any) -> Report:
    """The report of the last run of a session of ONNX Runtime's with the provider.

    session: an onnxruntime.InferenceSession. Raises InvalidArgument where it has no such provider,
        has not run yet, or is of an ONNX Runtime too old to ask (before set_ep_dynamic_options):
        the provider's option `report` writes the same to a file.
    """
    if not hasattr(session, "set_ep_dynamic_options"):
        raise InvalidArgument(
            f"{type(session).__name__} has no set_ep_dynamic_options; use the provider's option "
            "'report', which names a file for the report"
        )
    if get_ep_name() not in session.get_providers():
        raise InvalidArgument(
            f"the session's providers are {session.get_providers()}; there is no {get_ep_name()}"
        )
    token = f"{os.getpid()}.{next(_tokens)}"
    try:
        session.set_ep_dynamic_options({"last_report": token})
    except Exception as error:  # of ONNX Runtime's own types
        raise InvalidArgument(str(error)) from None
    library = ctypes.CDLL(get_library_path())
    take = library.gemm64_ep_report
    take.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    take.restype = ctypes.c_size_t
    size = take(token.encode(), None, 0)
    text = ctypes.create_string_buffer(size)
    take(token.encode(), text, size)
    return Report.from_json(text.raw.decode())
