#define TESSERA_FFT_ISA avx512
#define TESSERA_FFT_WIDTH 8
#include "runtime/library/FftLoops.h"
