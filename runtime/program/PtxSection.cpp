#include "runtime/program/PtxSection.h"
#include <algorithm>

namespace tessera::runtime {

Status checkPtx(std::string_view text) {
  auto isOfText = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
  if (!std::all_of(text.begin(), text.end(), isOfText))
    return invalidProgram("altered: the code for GPUs is no text");
  for (const char *part : {".version ", ".target sm_", ".address_size 64"})
    if (text.find(part) == text.npos)
      return invalidProgram(std::string("altered: the code for GPUs has no ") + part);
  if (text.find(".extern") != text.npos)
    return invalidProgram("altered: the code for GPUs wants that of others");
  return {};
}

} // namespace tessera::runtime
