// SPDX-License-Identifier: Apache-2.0
// Files as they are, in the program's read-only data. CMake names them.

#define EMBED(name, file)                               \
  __asm__(                                              \
      ".pushsection .rodata,\"a\",@progbits\n"          \
      ".global gemm64_page_" name ", gemm64_page_" name \
      "_end\n"                                          \
      "gemm64_page_" name ": .incbin \"" file           \
      "\"\n"                                            \
      "gemm64_page_" name                               \
      "_end: .byte 0\n"                                 \
      ".popsection\n")

EMBED("charts", GEMM64_CHARTS);
EMBED("style", GEMM64_STYLE);
EMBED("script", GEMM64_SCRIPT);
