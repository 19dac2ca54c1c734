#define TESSERA_REDUCE_ISA avx512
#include "runtime/comm/ReduceLoops.h"
