#define TESSERA_REDUCE_ISA baseline
#include "runtime/comm/ReduceLoops.h"
