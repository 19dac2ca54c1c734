#include "runtime/program/CpuFeatures.h"
#include "tessera/cpu_features.h"

namespace tessera::runtime {

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &wanted) {
  std::vector<std::string> missing;
  for (const std::string &name : wanted) {
    const cpu::Feature *feature = cpu::find(name);
    if (!feature || !cpu::isHere(*feature))
      missing.push_back(name);
  }
  return missing;
}

} // namespace tessera::runtime
