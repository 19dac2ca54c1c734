#define TESSERA_REDUCE_ISA avx2
#include "runtime/comm/ReduceLoops.h"
