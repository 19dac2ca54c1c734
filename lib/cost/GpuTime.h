// How long a kernel takes on a GPU.
//
// Blocks of threads are divided over processors. The one that has most of them decides: 133 blocks on 132
// processors take as long as 264. Products go by the rate of their type; what is computed of elements by
// instructions, of which a processor begins as many as multiply-adds; and all the while bytes move, each
// once, of which a processor draws no more than a few times its share of the memory. With c the seconds
// of computing and m those of the memory a kernel takes about sqrt(c*c + m*m), beside its launch.
#pragma once

#include "lib/cost/DeviceRates.h"
#include "lib/cost/KernelWork.h"

namespace tessera::cost {

inline bool isGpu(const DeviceRates &rates) { return rates.processors > 0; }

// `blocks`: of threads, as the code has them. Without the launch.
double gpuSeconds(const DeviceRates &rates, const KernelWork &work, double blocks);

// The blocks that such a kernel gets where there is no code of it yet: of products, tiles of the results
// as large as leave no processor idle; of others, threads for 16 bytes each of the largest array.
double likelyBlocks(const DeviceRates &rates, const KernelWork &work);

} // namespace tessera::cost
