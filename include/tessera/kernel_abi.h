/* What a kernel and its caller agree on: a generated one, one that the runtime brings (library.h), or
 * one from outside, which the process registers (tessera_register_kernel in c_api.h). Shared by
 * compiler and runtime; C, no includes beyond stdint.
 *
 * A kernel is a leaf function: it computes grid cells [grid_begin, grid_end) of its grid, never
 * waits, never allocates. Cells may run in any order and on any core; together they write every
 * element of every output once.
 */
#ifndef TESSERA_KERNEL_ABI_H
#define TESSERA_KERNEL_ABI_H
#include <stdint.h>

typedef struct TesseraKernelArgs {
  /* Inputs, then outputs: dense row-major arrays, 64-byte aligned. An output may be the same address
   * as the input that the kernel names as its in-place operand. */
  void *const *buffers;
  /* At least the kernel's scratch bytes, 64-byte aligned, private to this call. */
  void *scratch;
  /* Of a kernel that the runtime brings: what it prepared at loading; of one from outside: its
   * TesseraKernelCall. */
  const void *plan;
} TesseraKernelArgs;

/* 0, or a code of the kernel's own that the runtime reports with the kernel's name and source
 * location. */
typedef int32_t (*TesseraKernel)(const TesseraKernelArgs *args, uint32_t grid_begin,
                                 uint32_t grid_end);

/* An array as a device has it: a part of the global one where that is sharded. */
typedef struct TesseraKernelArray {
  const char *type;     /* of an element: "f32", "bf16", "i1", .. */
  const int64_t *shape; /* `rank` sizes */
  uint32_t rank;
  uint64_t bytes;
} TesseraKernelArray;

/* A number has 8 bytes: an int64_t (truth values 0 or 1) or a double. Text is as it is, with a 0
 * behind it that `bytes` doesn't count. Arrays of numbers are as they lie in memory. */
typedef struct TesseraKernelAttribute {
  const char *name;
  const void *value;
  uint64_t bytes;
} TesseraKernelAttribute;

/* What a kernel from outside is told of its place in the program (docs/outside-kernels.md): the same
 * at every call, and on every device. It lives as long as the program. */
typedef struct TesseraKernelCall {
  const char *name;
  void *user; /* what was registered with the function */
  const TesseraKernelArray *inputs, *outputs;
  const TesseraKernelAttribute *attributes;
  uint32_t input_count, output_count, attribute_count;
  uint32_t grid;
  uint64_t scratch_bytes;
} TesseraKernelCall;

/* The attribute of this name, null where there is none. */
static inline const TesseraKernelAttribute *tessera_kernel_attribute(const TesseraKernelCall *call,
                                                                     const char *name) {
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    const char *a = call->attributes[i].name, *b = name;
    while (*a && *a == *b)
      ++a, ++b;
    if (*a == *b)
      return &call->attributes[i];
  }
  return 0;
}

#endif
