/* What a kernel and its caller agree on: a generated one, or one that the runtime brings
 * (library.h). Shared by compiler and runtime; C, no includes beyond stdint.
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
  /* Of a kernel that the runtime brings: what it prepared at loading. */
  const void *plan;
} TesseraKernelArgs;

/* 0, or a code of the kernel's own that the runtime reports with the kernel's name and source
 * location. */
typedef int32_t (*TesseraKernel)(const TesseraKernelArgs *args, uint32_t grid_begin,
                                 uint32_t grid_end);

#endif
