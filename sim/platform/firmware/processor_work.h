// SPDX-License-Identifier: Apache-2.0
/* Work that the processor does itself between the accelerator's programs, on int8 tensors as the
 * accelerator lays them out: [planes of channels][images][height][width][pixel_bytes]. */
#ifndef GEMM64_PROCESSOR_WORK_H
#define GEMM64_PROCESSOR_WORK_H

#include <stdint.h>

#define WORK_NONE 0u     /* the job is the accelerator's */
#define WORK_MAX_POOL 1u /* the largest value under each window */
#define WORK_CLASSES 2u  /* of each image, the channel with the largest value, as uint32 */

/* Sizes are 1 to WORK_MOST, the numbers of maps and images up to WORK_MOST_MAPS. */
#define WORK_MOST 0xffffu
#define WORK_MOST_MAPS 0xffffffu

struct processor_work {
  uint64_t source; /* address of the tensor */
  uint32_t kind;
  uint32_t pixel_bytes;   /* channels side by side: the array's size */
  uint32_t maps;          /* WORK_MAX_POOL: planes x images; WORK_CLASSES: images of one pixel */
  uint32_t channels;      /* WORK_CLASSES alone, as all that follows is WORK_MAX_POOL's alone */
  uint32_t height, width; /* of the source */
  uint32_t out_height, out_width;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_height, stride_width;
  uint32_t dilation_height, dilation_width;
  uint32_t pad_top, pad_left; /* what lies beyond the border is less than any value */
};

#endif
