#define TESSERA_SOLVE_ISA avx512
#define TESSERA_SOLVE_BYTES 64
#define TESSERA_SOLVE_ROWS 8
#include "runtime/library/SolveLoops.h"
