#include "passes/memory/Donations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <deque>
#include <map>

namespace tessera::memory {

std::vector<int> pairDonations(llvm::ArrayRef<DonatedArray> arguments,
                               llvm::ArrayRef<DonatedArray> outputs,
                               llvm::ArrayRef<std::pair<int, int>> inplace) {
  std::vector<int> pairs(arguments.size(), -1);
  std::vector<bool> taken(outputs.size(), false);
  auto pair = [&](int argument, int output) {
    pairs[argument] = output;
    taken[output] = true;
  };
  for (auto [argument, output] : inplace)
    if (pairs[argument] < 0 && !taken[output])
      pair(argument, output);

  // In the order of time, an output takes the argument that has waited longest.
  auto byTime = [](llvm::ArrayRef<DonatedArray> arrays) {
    auto order = llvm::to_vector(llvm::seq<int>(0, arrays.size()));
    llvm::stable_sort(order, [&](int a, int b) { return arrays[a].when < arrays[b].when; });
    return order;
  };
  auto argumentOrder = byTime(arguments), outputOrder = byTime(outputs);
  auto pairEqual = [&](auto keyOf) {
    std::map<decltype(keyOf(arguments[0])), std::deque<int>> waiting;
    size_t next = 0;
    for (int output : outputOrder) {
      for (; next < argumentOrder.size() &&
             arguments[argumentOrder[next]].when < outputs[output].when;
           ++next)
        if (int argument = argumentOrder[next]; pairs[argument] < 0)
          waiting[keyOf(arguments[argument])].push_back(argument);
      std::deque<int> &fitting = waiting[keyOf(outputs[output])];
      if (taken[output] || fitting.empty())
        continue;
      pair(fitting.front(), output);
      fitting.pop_front();
    }
  };
  pairEqual([](const DonatedArray &array) { return array.type; });
  pairEqual([](const DonatedArray &array) { return std::pair(array.host, array.bytes); });
  return pairs;
}

} // namespace tessera::memory
