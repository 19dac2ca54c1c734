#define TESSERA_FFT_ISA baseline
#define TESSERA_FFT_WIDTH 4
#include "runtime/library/FftLoops.h"
