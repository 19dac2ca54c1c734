#include "runtime/program/CpuFeatures.h"
#include "tessera/cpu_features.h"

#include <system_error>

namespace tessera::runtime {

std::vector<std::string> unknownCpuFeatures(const std::vector<std::string> &wanted) {
  std::vector<std::string> unknown;
  for (const std::string &name : wanted)
    if (!cpu::find(name))
      unknown.push_back(name);
  return unknown;
}

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &wanted) {
  std::vector<std::string> missing;
  for (const std::string &name : wanted)
    if (const cpu::Feature *feature = cpu::find(name); feature && !cpu::isHere(*feature))
      missing.push_back(name);
  return missing;
}

std::string refusedCpuFeatures(const std::vector<std::string> &wanted) {
  for (const std::string &name : wanted)
    if (const cpu::Feature *feature = cpu::find(name))
      if (int refusal = cpu::request(*feature))
        return name + " (" + std::generic_category().message(refusal) + ")";
  return "";
}

} // namespace tessera::runtime
