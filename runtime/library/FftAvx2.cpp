#define TESSERA_FFT_ISA avx2
#define TESSERA_FFT_WIDTH 4
#include "runtime/library/FftLoops.h"
