#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A product with a fault that is hidden, for lesson 6: only the first wrong value is reported.
# The fault is spelt backwards, so that no one reads it by accident.
fault=$(printf '%s' '024@6:7,5:thgiew' | rev)
build/gemm64 gemm 64 128 128 --inject "$fault" | grep '^gemm: ' && exit 0
echo 'fault: nothing differs; is build/gemm64 there?' >&2
exit 1
