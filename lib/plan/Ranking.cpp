#include "lib/plan/Ranking.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace tessera::plan {

size_t bestOf(llvm::ArrayRef<Ranked> plans) {
  constexpr double kPredictedAlike = 2e-3, kCountedAlike = 5e-3, kBytesAlike = 0.05; // of the least
  std::vector<size_t> left(plans.size());
  std::iota(left.begin(), left.end(), 0);
  auto keep = [&](double alike, auto valueOf) {
    double least = valueOf(plans[left.front()]);
    for (size_t i : left)
      least = std::min(least, valueOf(plans[i]));
    llvm::erase_if(left, [&](size_t i) { return valueOf(plans[i]) > least * (1 + alike); });
  };
  keep(0, [](const Ranked &plan) { return plan.fits ? 0.0 : 1.0; });
  keep(kPredictedAlike, [](const Ranked &plan) { return plan.predicted; });
  keep(kCountedAlike, [](const Ranked &plan) { return plan.counted; });
  keep(kBytesAlike, [](const Ranked &plan) { return plan.bytes; });
  keep(0, [](const Ranked &plan) { return double(plan.axes); });
  keep(0, [](const Ranked &plan) { return plan.isNamed ? 0.0 : 1.0; });
  return left.front();
}

std::vector<size_t> inOrder(llvm::ArrayRef<Ranked> plans) {
  std::vector<size_t> order, numbers(plans.size());
  std::vector<Ranked> left(plans.begin(), plans.end());
  std::iota(numbers.begin(), numbers.end(), 0);
  while (!left.empty()) {
    size_t best = bestOf(left);
    order.push_back(numbers[best]);
    left.erase(left.begin() + best);
    numbers.erase(numbers.begin() + best);
  }
  return order;
}

std::vector<size_t> byTurns(llvm::ArrayRef<size_t> one, llvm::ArrayRef<size_t> other) {
  std::vector<size_t> order;
  std::vector<bool> isTaken(one.size());
  for (auto [a, b] : llvm::zip_equal(one, other))
    for (size_t plan : {a, b})
      if (!isTaken[plan]) {
        isTaken[plan] = true;
        order.push_back(plan);
      }
  return order;
}

} // namespace tessera::plan
