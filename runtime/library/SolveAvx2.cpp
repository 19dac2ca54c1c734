#define TESSERA_SOLVE_ISA avx2
#define TESSERA_SOLVE_BYTES 32
#define TESSERA_SOLVE_ROWS 4
#include "runtime/library/SolveLoops.h"
