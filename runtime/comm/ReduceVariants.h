// The loops of reductions, compiled for one instruction set each (see ReduceLoops.h). All give the
// same bits.
#pragma once

#include "runtime/comm/Reduce.h"

namespace tessera::runtime {
namespace baseline {
ReduceFunction pick(char kind, int size, int op);
}
#if defined(__x86_64__)
namespace avx2 {
ReduceFunction pick(char kind, int size, int op);
}
namespace avx512 {
ReduceFunction pick(char kind, int size, int op);
}
#endif
} // namespace tessera::runtime
