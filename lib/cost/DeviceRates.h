// What one device computes and moves per second, and what it costs to ask it to. Plain data.
#pragma once

#include <map>
#include <string>

namespace tessera::cost {

struct DeviceRates {
  double flopsPerSecond = 2e10; // of products; multiply-adds count two
  std::map<std::string, double, std::less<>>
      flopsByType;              // of an element type ("bf16"), where it differs
  double bytesPerSecond = 1e10; // of the device's memory
  // By kind of work, as KernelTerms.h names them: so many a second. Empty: nobody has measured them,
  // and a kernel takes what the two above say.
  std::map<std::string, double, std::less<>> kernels;
  // Of a GPU, over which a kernel's blocks of threads are divided (GpuTime.h); 0: it is none.
  double processors = 0;
  double cacheBytes = 1e6;    // that a core keeps at hand
  double sharedBytes = 0;     // that a cache beyond has for each core; 0: none is known
  double othersPerSecond = 0; // bytes that others of the machine bring into that, for each core
  double nearBytes = 0;       // of which a kernel's arrays cost nothing to load
  double vectorBytes = 64;    // of a vector register
  double tileRows = 0;        // of the processor's own tiles, which multiply bf16; 0: it has none
  // Where a step multiplies by tiles, all else that is computed takes so many times as long: the
  // processor's clock is slower then.
  double besideTiles = 1;
  double stepSeconds = 0;      // that a step takes to begin and end, on all devices together
  double shortStepSeconds = 0; // of one that the calling thread carries out (lib/steps/ShortStep.h)
  double wakingSeconds = 0;    // that idle cores take to come in such a step: they sleep
  double launchSeconds = 0;    // of a kernel, beside its work
  double instructionSeconds = 0; // of any instruction of a device program
  double sharingSeconds = 0;     // that idle cores take to come when a kernel is divided among them
  double coresTogether = 1;      // what cores do that share a kernel, of so many alone
  double meetingSeconds = 0;     // of a collective among devices that share a memory
};

} // namespace tessera::cost
