#include "passes/codegen/gpu/Division.h"

namespace tessera::codegen::gpu {

int64_t elementsOfThread(int64_t size, int64_t widestBytes) {
  int64_t elements = kAccessBytes / widestBytes;
  while (elements > 1 && size % elements)
    elements /= 2;
  return elements > 1 ? elements : 1;
}

int64_t blocksFor(int64_t items, const Launch &launch) {
  return (items + launch.threads - 1) / launch.threads;
}

} // namespace tessera::codegen::gpu
