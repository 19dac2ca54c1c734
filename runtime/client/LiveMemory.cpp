#include "runtime/client/LiveMemory.h"
#include "lib/text/Quantity.h"
#include <algorithm>

namespace tessera::runtime {

std::string describeLive(std::vector<LiveArray> arrays, uint64_t taken, uint64_t most) {
  constexpr size_t kNamed = 6;
  std::erase_if(arrays, [](const LiveArray &array) { return !array.bytes; });
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const LiveArray &a, const LiveArray &b) { return a.bytes > b.bytes; });
  std::string text;
  for (size_t i = 0; i < std::min(arrays.size(), kNamed); ++i)
    text += (i ? ", " : "; live are ") + arrays[i].name + " (" + text::bytes(arrays[i].bytes) + ")";
  uint64_t others = 0;
  for (size_t i = kNamed; i < arrays.size(); ++i)
    others += arrays[i].bytes;
  if (others)
    text +=
        " and " + std::to_string(arrays.size() - kNamed) + " others (" + text::bytes(others) + ")";
  if (!taken)
    return text + "; there are " + text::bytes(most);
  return text + "; " + text::bytes(taken) + " of " + text::bytes(most) + " are taken";
}

} // namespace tessera::runtime
