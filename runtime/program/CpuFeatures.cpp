#include "runtime/program/CpuFeatures.h"
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace tessera::runtime {

namespace {

std::set<std::string> kernelFlags() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;)
        flags.insert(word);
      break;
    }
  return flags;
}

// LLVM's name and the kernel's, of the instruction sets that generated code may use.
const std::map<std::string, std::string> &instructionSets() {
  static const std::map<std::string, std::string> sets = {
      {"sse2", "sse2"},
      {"sse3", "pni"},
      {"ssse3", "ssse3"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"sse4a", "sse4a"},
      {"popcnt", "popcnt"},
      {"lzcnt", "abm"},
      {"bmi", "bmi1"},
      {"bmi2", "bmi2"},
      {"movbe", "movbe"},
      {"f16c", "f16c"},
      {"fma", "fma"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"avx512f", "avx512f"},
      {"avx512bw", "avx512bw"},
      {"avx512cd", "avx512cd"},
      {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"},
      {"avx512ifma", "avx512ifma"},
      {"avx512vbmi", "avx512vbmi"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512vp2intersect", "avx512_vp2intersect"},
      {"avxvnni", "avx_vnni"},
      {"gfni", "gfni"},
      {"vaes", "vaes"},
      {"vpclmulqdq", "vpclmulqdq"},
      {"aes", "aes"},
      {"pclmul", "pclmulqdq"},
      {"sha", "sha_ni"},
      {"adx", "adx"},
      {"rdrnd", "rdrand"},
      {"rdseed", "rdseed"},
      {"amx-tile", "amx_tile"},
      {"amx-int8", "amx_int8"},
      {"amx-bf16", "amx_bf16"},
  };
  return sets;
}

} // namespace

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &wanted) {
  static const std::set<std::string> flags = kernelFlags();
  std::vector<std::string> missing;
  for (const std::string &entry : wanted) {
    if (entry.starts_with("-"))
      continue;
    auto it = instructionSets().find(entry.starts_with("+") ? entry.substr(1) : entry);
    if (it != instructionSets().end() && !flags.empty() && !flags.count(it->second))
      missing.push_back(it->first);
  }
  return missing;
}

} // namespace tessera::runtime
