// SPDX-License-Identifier: Apache-2.0
/* What the program and its TorchScript plug-in say to each other: plain C, so that neither needs
 * the other's libraries. A change of anything below raises GEMM64_TORCHSCRIPT_VERSION. */
#ifndef GEMM64_HOST_TORCHSCRIPT_PLUGIN_INTERFACE_H
#define GEMM64_HOST_TORCHSCRIPT_PLUGIN_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEMM64_TORCHSCRIPT_VERSION 1
/* The one symbol that a plug-in exports: a gemm64_torchscript_entry. */
#define GEMM64_TORCHSCRIPT_SYMBOL "gemm64_torchscript"

enum gemm64_torchscript_output {
  GEMM64_TORCHSCRIPT_MODEL = 0,   /* the network as an ONNX file */
  GEMM64_TORCHSCRIPT_MODULES = 1, /* figures of its modules as JSON, see module_records.hpp */
  GEMM64_TORCHSCRIPT_MESSAGE = 2, /* why there are none, in one line without the file's name */
  GEMM64_TORCHSCRIPT_OUTPUTS = 3
};

typedef struct gemm64_torchscript_shape {
  const char* input; /* its name; "" stands for the first input */
  const int64_t* dims;
  size_t rank;
} gemm64_torchscript_shape;

typedef struct gemm64_torchscript_request {
  const char* path;
  const gemm64_torchscript_shape* shapes;
  size_t shape_count;
  int with_weights; /* 0: the model may lack the contents of large tensors */
  /* Takes the next `size` bytes of an output; other than 0 where they are lost. */
  int (*write)(void* context, int output, const void* bytes, size_t size);
  void* context;
} gemm64_torchscript_request;

typedef struct gemm64_torchscript_plugin {
  uint32_t version; /* GEMM64_TORCHSCRIPT_VERSION; nothing else is read where it differs */
  /* Writes the outputs. 0: the model and its modules; otherwise a message. Throws nothing. */
  int (*translate)(const gemm64_torchscript_request* request);
} gemm64_torchscript_plugin;

typedef const gemm64_torchscript_plugin* (*gemm64_torchscript_entry)(void);

#ifdef __cplusplus
}
#endif

#endif
