#include "test/gpu/emulator/Visible.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace tessera::emulator {

std::vector<int> visibleGpus() {
  const char *said = std::getenv("TESSERA_EMULATOR_GPUS");
  const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
  int there = said && *said ? std::atoi(said) : 1;
  std::vector<int> visible;
  if (!list) {
    visible.resize(static_cast<size_t>(std::max(there, 0)));
    std::iota(visible.begin(), visible.end(), 0);
    return visible;
  }
  while (*list) {
    char *end = nullptr;
    long number = std::strtol(list, &end, 10);
    if (end == list || number < 0 || number >= there)
      break;
    visible.push_back(static_cast<int>(number));
    list = *end == ',' ? end + 1 : end;
  }
  return visible;
}

} // namespace tessera::emulator
