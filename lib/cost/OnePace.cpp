#include "lib/cost/OnePace.h"

#include <algorithm>

namespace tessera::cost {

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::vector<double> atOnePace(llvm::ArrayRef<std::vector<double>> rounds) {
  std::vector<double> seconds;
  size_t programs = rounds.empty() ? 0 : rounds.front().size();
  for (size_t i = 0; i < programs; ++i) {
    std::vector<double> each;
    for (const std::vector<double> &round : rounds)
      each.push_back(i == 0 ? round[0] : round[i] / round[0]);
    seconds.push_back(medianOf(std::move(each)) * (i == 0 ? 1 : seconds[0]));
  }
  return seconds;
}

} // namespace tessera::cost
