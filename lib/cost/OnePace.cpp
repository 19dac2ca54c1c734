#include "lib/cost/OnePace.h"

#include <algorithm>

namespace tessera::cost {

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double leastInARow(llvm::ArrayRef<double> seconds, double span) {
  double least = 0, all = 0, row = 0;
  size_t first = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    all += seconds[i];
    row += seconds[i];
    while (first < i && row - seconds[first] >= span)
      row -= seconds[first++];
    double mean = row / double(i + 1 - first);
    if (row >= span && (least == 0 || mean < least))
      least = mean;
  }
  return least > 0 || seconds.empty() ? least : all / double(seconds.size());
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
