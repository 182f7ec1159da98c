// SPDX-License-Identifier: Apache-2.0
/* A plug-in without LibTorch: what it does is said by the file's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/torchscript/plugin_interface.h"

#ifndef FAKE_VERSION
#define FAKE_VERSION GEMM64_TORCHSCRIPT_VERSION
#endif

static int say(const gemm64_torchscript_request* request, int output, const char* text) {
  return request->write(request->context, output, text, strlen(text));
}

/* The model is the file after its first 4 bytes, which make it look like a ZIP archive. */
static int copy_model(const gemm64_torchscript_request* request) {
  char bytes[4096];
  FILE* const file = fopen(request->path, "rb");
  if (file == NULL) return 1;
  fseek(file, 4, SEEK_SET);
  for (size_t count; (count = fread(bytes, 1, 100, file)) != 0;) {
    if (request->write(request->context, GEMM64_TORCHSCRIPT_MODEL, bytes, count) != 0) return 1;
  }
  fclose(file);
  return say(request, GEMM64_TORCHSCRIPT_MODULES,
             "{\"modules\": [{\"name\": \"\", \"kind\": \"Net\", \"container\": true, "
             "\"parameters\": 0, \"parameter_bytes\": 0, \"weight_bytes\": 0, \"macs\": 0, "
             "\"calls\": 1, \"output_bytes\": 24, \"outputs\": [\"2x3\"]}, {\"name\": \"fc\", "
             "\"kind\": \"Linear\", \"container\": false, \"parameters\": 6, "
             "\"parameter_bytes\": 24, \"weight_bytes\": 24, \"macs\": 12, \"calls\": 1, "
             "\"output_bytes\": 24, \"outputs\": [\"2x3\"]}]}");
}

/* "x=1x2, weights" as a message. */
static int tell_request(const gemm64_torchscript_request* request) {
  char text[1000] = "";
  for (size_t i = 0; i < request->shape_count; ++i) {
    const gemm64_torchscript_shape* shape = &request->shapes[i];
    snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]", shape->input);
    for (size_t j = 0; j < shape->rank; ++j) {
      snprintf(text + strlen(text), sizeof text - strlen(text), " %lld", (long long)shape->dims[j]);
    }
    strcat(text, ", ");
  }
  strcat(text, request->with_weights ? "with weights" : "without weights");
  say(request, GEMM64_TORCHSCRIPT_MESSAGE, text);
  return 1;
}

static int translate(const gemm64_torchscript_request* request) {
  const char* const slash = strrchr(request->path, '/');
  const char* const name = slash == NULL ? request->path : slash + 1;
  if (strcmp(name, "crash.pt") == 0) abort();
  if (strcmp(name, "exit.pt") == 0) exit(0);
  if (strcmp(name, "silent.pt") == 0) return 1;
  if (strcmp(name, "noise.pt") == 0) {
    puts("noise");
    fputs("noise\n", stderr);
    fflush(NULL);
  }
  if (strcmp(name, "lines.pt") == 0) {
    say(request, GEMM64_TORCHSCRIPT_MESSAGE, "two\nlines");
    return 1;
  }
  if (strcmp(name, "nothing.pt") == 0) return 0;
  if (strcmp(name, "tell.pt") == 0) return tell_request(request);
  return copy_model(request);
}

#ifndef FAKE_WITHOUT_SYMBOL
const gemm64_torchscript_plugin* gemm64_torchscript(void) {
  static const gemm64_torchscript_plugin plugin = {FAKE_VERSION, translate};
  return &plugin;
}
#else
int gemm64_something_else(void) { return translate(NULL); }
#endif
