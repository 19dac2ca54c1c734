#include "lib/sharding/FactorAxes.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace tessera::sharding {

// Factors of size 1 beside others say nothing.
static int64_t realFactors(const FactorRule &rule, const DimFactors &dim) {
  return llvm::count_if(dim, [&](int32_t f) { return rule.factors[f].size > 1; });
}

FactorAxes::FactorAxes(const RuledOp &op)
    : op(&op), axes(op.rule.factors.size()), mustDivide(op.rule.factors.size()),
      computation(op.rule.factors.size()) {
  std::iota(computation.begin(), computation.end(), 0);
  for (const auto *tensors : {&op.rule.operands, &op.rule.results})
    for (const TensorFactors &tensor : *tensors)
      for (const DimFactors &dim : tensor)
        if (realFactors(op.rule, dim) > 1)
          for (int32_t factor : dim)
            mustDivide[factor] = true;
  auto connect = [&](int32_t a, int32_t b) {
    if (a >= 0 && computation[a] != computation[b])
      llvm::replace(computation, int32_t(computation[b]), int32_t(computation[a]));
  };
  for (const auto *tensors : {&op.rule.operands, &op.rule.results})
    for (const TensorFactors &tensor : *tensors) {
      int32_t first = -1;
      auto add = [&](int32_t factor) {
        connect(first, factor);
        first = factor;
      };
      for (const DimFactors &dim : tensor)
        llvm::for_each(dim, add);
      if (tensors == &op.rule.results) // which are partial over the axes of reductions
        for (size_t f = 0; f < axes.size(); ++f)
          if (op.rule.factors[f].kind == FactorKind::Reduction)
            add(f);
    }
}

bool FactorAxes::isFree(const AxisRef &axis, int32_t factor) const {
  for (size_t f = 0; f < axes.size(); ++f)
    if (computation[f] == computation[factor] && overlap(axes[f], llvm::ArrayRef(axis)))
      return false;
  return true;
}

void FactorAxes::claim(const TensorFactors &factors, const TensorSharding &sharding) {
  for (auto [dim, dimSharding] : llvm::zip(factors, sharding.dims)) {
    llvm::SmallVector<AxisRef> rest(llvm::reverse(dimSharding.axes));
    for (int32_t f : dim) {
      const Factor &factor = op->rule.factors[f];
      if (factor.size == 1)
        continue;
      if (factor.kind == FactorKind::NeedReplication || rest.empty())
        break;
      AxisRefs wanted;
      int64_t left = factor.size; // of a factor that must divide
      while (!rest.empty()) {
        AxisRef axis = rest.back();
        if (mustDivide[f]) {
          if (left == 1)
            break;
          if (left % axis.size == 0) {
            left /= axis.size;
            rest.pop_back();
          } else if (axis.size % left == 0) { // the rest of the axis goes to the next factor
            rest.back() = {axis.axis, axis.preSize * left, axis.size / left};
            axis.size = left;
            left = 1;
          } else {
            rest.clear();
            break;
          }
        } else {
          rest.pop_back();
        }
        wanted.push_back(axis);
      }
      wanted = normalized(wanted);
      // Keep what is there; add what follows it.
      AxisRefs &have = axes[f];
      if (have.size() > wanted.size() || !std::equal(have.begin(), have.end(), wanted.begin())) {
        if (!std::equal(wanted.begin(), wanted.end(), have.begin()))
          break;
      }
      bool all = true;
      for (size_t i = have.size(); i < wanted.size() && all; ++i) {
        all = isFree(wanted[i], f);
        if (all)
          have.push_back(wanted[i]);
      }
      if (!all || (mustDivide[f] && left != 1))
        break;
    }
  }
  dropMinorAxes();
}

bool FactorAxes::assign(llvm::ArrayRef<AxisRefs> wanted) {
  axes.assign(axes.size(), {});
  bool holds = true;
  for (size_t f = 0; f < axes.size() && holds; ++f) {
    const Factor &factor = op->rule.factors[f];
    if (wanted[f].empty())
      continue;
    holds = factor.kind != FactorKind::NeedReplication && factor.size > 1 &&
            (!mustDivide[f] || factor.size % shardCount(wanted[f]) == 0);
    for (const AxisRef &axis : wanted[f])
      holds = holds && isFree(axis, f);
    axes[f] = wanted[f];
  }
  if (holds) {
    dropMinorAxes();
    holds = llvm::equal(axes, wanted);
  }
  if (!holds)
    axes.assign(axes.size(), {});
  return holds;
}

void FactorAxes::dropMinorAxes() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto *tensors : {&op->rule.operands, &op->rule.results})
      for (const TensorFactors &tensor : *tensors)
        for (const DimFactors &dim : tensor) {
          bool split = true; // all more major factors are single elements
          for (int32_t f : dim) {
            int64_t size = op->rule.factors[f].size;
            if (size == 1)
              continue;
            if (!split && !axes[f].empty()) {
              axes[f].clear();
              changed = true;
            }
            split = split && shardCount(axes[f]) == size;
          }
        }
  }
}

void FactorAxes::claimOperand(size_t index, const TensorSharding &sharding) {
  claim(op->rule.operands[index], sharding);
}

void FactorAxes::claimResult(size_t index, const TensorSharding &sharding) {
  claim(op->rule.results[index], sharding);
}

TensorSharding FactorAxes::shardingOf(const TensorFactors &factors) const {
  TensorSharding sharding = TensorSharding::replicatedOver(factors.size());
  for (auto [dim, into] : llvm::zip_equal(factors, sharding.dims)) {
    for (int32_t f : dim)
      into.axes.append(axes[f].begin(), axes[f].end());
    into.axes = normalized(into.axes);
  }
  return sharding;
}

TensorSharding FactorAxes::operandSharding(size_t index) const {
  return shardingOf(op->rule.operands[index]);
}

TensorSharding FactorAxes::resultSharding(size_t index) const {
  const TensorFactors &factors = op->rule.results[index];
  TensorSharding sharding = shardingOf(factors);
  for (size_t f = 0; f < axes.size(); ++f)
    if (op->rule.factors[f].kind == FactorKind::Reduction &&
        llvm::none_of(factors, [&](const DimFactors &dim) { return llvm::is_contained(dim, f); }))
      sharding.unreduced.append(axes[f].begin(), axes[f].end());
  llvm::sort(sharding.unreduced);
  sharding.unreduced = normalized(sharding.unreduced);
  return sharding;
}

ReductionKind FactorAxes::reduction() const {
  for (size_t f = 0; f < axes.size(); ++f)
    if (op->rule.factors[f].kind == FactorKind::Reduction && !axes[f].empty())
      return op->rule.factors[f].reduction;
  return ReductionKind::Sum;
}

int64_t FactorAxes::shards() const {
  llvm::SmallVector<int64_t> of(axes.size(), 1);
  int64_t most = 1;
  for (size_t f = 0; f < axes.size(); ++f)
    most = std::max(most, of[computation[f]] *= shardCount(axes[f]));
  return most;
}

static void dropUnits(AxisRefs &axes) {
  llvm::erase_if(axes, [](const AxisRef &axis) { return axis.size == 1; });
  axes = normalized(axes);
}

TensorSharding withoutUnitAxes(TensorSharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dropUnits(dim.axes);
  dropUnits(sharding.replicated);
  dropUnits(sharding.unreduced);
  return sharding;
}

bool sameAxes(const TensorSharding &a, const TensorSharding &b) {
  AxisRefs pa = a.unreduced, pb = b.unreduced;
  llvm::sort(pa);
  llvm::sort(pb);
  return pa == pb && a.dims.size() == b.dims.size() &&
         llvm::all_of(llvm::zip_equal(a.dims, b.dims), [](const auto &pair) {
           return std::get<0>(pair).axes == std::get<1>(pair).axes;
         });
}

} // namespace tessera::sharding
