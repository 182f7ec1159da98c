#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes host/graph/onnx/schema_table.cpp: what ONNX's definitions say of each operator's inputs, outputs
and attributes, in every version. Run it with the Python of the test environment, which holds the
packages onnx and onnxruntime: build/venv/bin/python scripts/codegen/generate-operators.py."""

import argparse
import pathlib
import sys

import onnx
import onnx.defs
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state

TABLE = "host/graph/onnx/schema_table.cpp"

# Of ONNX Runtime's own operators, those that its quantizer and its transformer optimizer write.
MICROSOFT = {
    "Attention", "BiasGelu", "DequantizeLinear", "DynamicQuantizeMatMul", "EmbedLayerNormalization",
    "FastGelu", "FusedConv", "FusedGemm", "FusedMatMul", "Gelu", "GroupQueryAttention",
    "MatMulIntegerToFloat", "MatMulNBits",
    "MultiHeadAttention", "NhwcMaxPool", "QAttention", "QGemm", "QLinearAdd", "QLinearAveragePool",
    "QLinearConcat", "QLinearConv", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul",
    "QLinearReduceMean", "QLinearSigmoid", "QLinearSoftmax", "QLinearWhere", "QuantizeLinear",
    "QuickGelu", "RotaryEmbedding", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}

LETTERS = {
    "FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "SPARSE_TENSOR": "p",
    "TYPE_PROTO": "y", "FLOATS": "F", "INTS": "I", "STRINGS": "S", "TENSORS": "T", "GRAPHS": "G",
    "SPARSE_TENSORS": "P", "TYPE_PROTOS": "Y"}


def formals(parameters, least):
    """Names of inputs or outputs: `x?` may be left out, `x*2` stands for any number, at least 2."""
    words = []
    for index, parameter in enumerate(parameters):
        kind = parameter.option.name
        word = parameter.name
        if kind == "Optional":
            word += "?"
        elif kind == "Variadic":
            word += f"*{max(least - index, 0)}"
        words.append(word)
    return words


def attributes(schema):
    """`name=letter`, with ! where it is required."""
    return [
        f"{name}={LETTERS[attribute.type.name]}{'!' if attribute.required else ''}"
        for name, attribute in sorted(schema.attributes.items())]


def signature(schema):
    if schema.deprecated:
        return "deprecated"
    words = [*formals(schema.inputs, schema.min_input), ">",
             *formals(schema.outputs, schema.min_output)]
    given = attributes(schema)
    return " ".join([*words, *([":", *given] if given else [])])


def lines_of(domain, newest, schemas):
    """A line for the domain, then one for each operator and version that changes its signature."""
    lines = [f"domain {domain} {newest}"]
    last = {}
    for schema in sorted(schemas, key=lambda s: (s.name, s.since_version)):
        text = signature(schema)
        if last.get(schema.name) != text:
            lines.append(f"{schema.name} {schema.since_version} {text}")
        last[schema.name] = text
    return lines


def table():
    by_domain = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        by_domain.setdefault(schema.domain or "ai.onnx", []).append(schema)
    # What its optimizer writes among ONNX's own, for all that they do not hold it.
    by_domain["ai.onnx"] += [schema for schema in onnxruntime_pybind11_state.get_all_operator_schema()
                             if schema.domain == "" and schema.name == "SimplifiedLayerNormalization"]
    lines = []
    for domain, schemas in sorted(by_domain.items()):
        newest = (onnx.defs.onnx_opset_version() if domain == "ai.onnx"
                  else max(schema.since_version for schema in schemas))
        lines += lines_of(domain, newest, schemas)
    found = [schema for schema in onnxruntime_pybind11_state.get_all_operator_schema()
             if schema.domain == "com.microsoft" and schema.name in MICROSOFT]
    missing = MICROSOFT - {schema.name for schema in found}
    if missing:
        sys.exit(f"generate-operators: onnxruntime {onnxruntime.__version__} does not define "
                 f"{', '.join(sorted(missing))}; take them off the list in this script")
    return lines + lines_of("com.microsoft", 1, found)


def text():
    quoted = "\n".join(f'    "{line}\\n"' for line in table())
    return f"""// SPDX-License-Identifier: Apache-2.0
// Written by scripts/codegen/generate-operators.py from onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}. Do not
// edit. Operator, first opset, inputs > outputs : attributes; host/graph/onnx/schema.cpp reads it.
// clang-format off
#include "host/graph/onnx/schema.hpp"

namespace gemm64 {{

const std::int64_t kNewestIrVersion = {onnx.IR_VERSION};

const char* const kSchemaTable =
{quoted};

}}  // namespace gemm64
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 where the file differs")
    arguments = parser.parse_args()
    path = pathlib.Path(__file__).resolve().parents[2] / TABLE
    if not arguments.check:
        path.write_text(text())
    elif not path.exists() or path.read_text() != text():
        sys.exit(f"generate-operators: {TABLE} is out of date; run scripts/codegen/generate-operators.py")


if __name__ == "__main__":
    main()
