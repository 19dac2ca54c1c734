#include "lib/sharding/FactorPropagation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::sharding {
namespace {

// What is left of an axis when its first `size` are taken.
AxisRef restOf(const AxisRef &axis, int64_t size) {
  return {axis.axis, axis.preSize * size, axis.size / size};
}

// A factor in one tensor.
struct Cell {
  AxisRefs axes;
  bool present = false;
  bool closed = false;
  bool minorMost =
      false; // the last factor of its dimension takes all axes, whether they divide it or not
  bool operator==(const Cell &) const = default;
};

using Row = llvm::SmallVector<Cell, 6>; // of one tensor, by factor

// Takes from the front of `axes` what a factor of `size` can be sharded on without padding.
AxisRefs takeFront(llvm::SmallVectorImpl<AxisRef> &axes, int64_t size) {
  AxisRefs taken;
  while (!axes.empty() && size > 1) {
    AxisRef &axis = axes.front();
    if (size % axis.size == 0) {
      size /= axis.size;
      taken.push_back(axis);
      axes.erase(axes.begin());
    } else if (axis.size % size == 0) {
      taken.push_back({axis.axis, axis.preSize, size});
      axis = restOf(axis, size);
      size = 1;
    } else {
      break;
    }
  }
  return normalized(taken);
}

// The axes of each dimension, distributed over its factors; `left`: what no factor gets, but the
// tensor has.
//   reshape's ([ij]) with i=2, j=4, dimension on {"x" of 4}:  i {"x":(1)2}   j {"x":(2)2}
//   ([ij]) with i=8, j=4, dimension on {"a" of 2, "b" of 3}:  i {"a"}        left {"b"}
Row project(const TensorSharding &tensor, const TensorFactors &factors, const FactorRule &rule,
            AxisRefs &left) {
  Row row(rule.factors.size());
  for (auto [dim, dimFactors] : llvm::zip_equal(tensor.dims, factors)) {
    AxisRefs rest = dim.axes;
    bool stuck = false;
    for (int32_t f : dimFactors) {
      Cell &cell = row[f];
      cell.present = true;
      cell.minorMost = f == dimFactors.back();
      cell.closed = dim.closed || stuck;
      if (stuck)
        continue;
      if (cell.minorMost) {
        cell.axes = normalized(rest);
        rest.clear();
        continue;
      }
      cell.axes = takeFront(rest, rule.factors[f].size);
      // Axes that don't divide this factor stay where they are; nothing can be added around them.
      if (!rest.empty() && shardCount(cell.axes) < rule.factors[f].size) {
        stuck = true;
        cell.closed = true;
      }
    }
    left.append(rest);
  }
  return row;
}

// The axes of a dimension from those of its factors: a minor factor counts when the more major ones
// are fully sharded.
AxisRefs dimensionAxes(const Row &row, const DimFactors &factors, const FactorRule &rule) {
  AxisRefs axes;
  for (int32_t f : factors) {
    axes.append(row[f].axes);
    if (shardCount(row[f].axes) < rule.factors[f].size)
      break;
  }
  return normalized(axes);
}

// Axes on which several tensors agree so far.
struct Agreed {
  AxisRefs axes;
  bool parted = false; // nothing can be added: two go on differently

  void meet(llvm::ArrayRef<AxisRef> other) {
    AxisRefs a = axes, b(other.begin(), other.end()), common;
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        common.push_back(a[i]);
        ++i, ++j;
        continue;
      }
      if (a[i].axis != b[j].axis || a[i].preSize != b[j].preSize)
        break;
      int64_t size = std::min(a[i].size, b[j].size);
      if (a[i].size % size || b[j].size % size)
        break;
      common.push_back({a[i].axis, a[i].preSize, size});
      for (auto [list, at] : {std::pair(&a, &i), std::pair(&b, &j)}) {
        if ((*list)[*at].size == size)
          ++*at;
        else
          (*list)[*at] = restOf((*list)[*at], size);
      }
    }
    bool aEnds = i == a.size(), bEnds = j == b.size();
    if (!aEnds && !bEnds)
      parted = true;
    else if (!bEnds && !parted)
      common.append(b.begin() + j, b.end());
    else if (!aEnds)
      common.append(a.begin() + i, a.end());
    axes = normalized(common);
  }
};

struct Candidate {
  int32_t factor;
  AxisRefs axes;
  int32_t source; // the tensor it comes from
  int64_t sourceElements;
};

class Propagation {
public:
  Propagation(const OpPropagation &op, llvm::ArrayRef<TensorSharding *> tensors)
      : op(op), rule(op.rule), tensors(tensors), numOperands(rule.operands.size()) {
    for (auto [t, tensor] : llvm::enumerate(tensors))
      rows.push_back(project(*tensor, factorsOf(t), rule, left.emplace_back()));
  }

  llvm::SmallVector<int32_t> run() {
    llvm::SmallVector<Candidate> candidates = findCandidates();
    if (candidates.empty())
      return {};
    if (op.seconds)
      decideConflicts(candidates);
    return spread(candidates);
  }

private:
  llvm::SmallVector<int32_t> spread(llvm::SmallVector<Candidate> candidates) {
    llvm::SmallVector<int32_t> changed;
    int32_t numTensors = tensors.size();
    for (int32_t t = numOperands; t < numTensors; ++t)
      if (isTarget(t) && extend(t, candidates))
        changed.push_back(t);
    if (op.elementwise)
      boundByResult(candidates);
    for (int32_t t = 0; t < numOperands; ++t)
      if (isTarget(t) && extend(t, candidates))
        changed.push_back(t);
    llvm::sort(changed);
    return changed;
  }

  // Whether two factors want a common axis, and a tensor that may take it has both.
  bool conflict(const Candidate &a, const Candidate &b) const {
    if (a.factor == b.factor || !overlap(a.axes, b.axes))
      return false;
    for (int32_t t = 0, n = tensors.size(); t < n; ++t) {
      const Cell &x = rows[t][a.factor], &y = rows[t][b.factor];
      if (isTarget(t) && x.present && y.present && !x.closed && !y.closed &&
          !overlap(x.axes, b.axes) && !overlap(y.axes, a.axes))
        return true;
    }
    return false;
  }

  // Tries each of the candidates that want the same axis as the first of them.
  void decideConflicts(llvm::SmallVectorImpl<Candidate> &candidates) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      size_t best = i;
      double least = 0;
      for (size_t j = i + 1; j < candidates.size(); ++j) {
        if (!conflict(candidates[i], candidates[j]))
          continue;
        if (best == i && least == 0)
          least = secondsWith(candidates);
        llvm::SmallVector<Candidate> other(candidates.begin(), candidates.end());
        std::rotate(other.begin() + i, other.begin() + j, other.begin() + j + 1);
        // Times are estimates: a difference of less than a twentieth says nothing.
        if (double seconds = secondsWith(other); seconds < least * 0.95) {
          best = j;
          least = seconds;
        }
      }
      std::rotate(candidates.begin() + i, candidates.begin() + best, candidates.begin() + best + 1);
    }
  }

  double secondsWith(llvm::ArrayRef<Candidate> candidates) const {
    std::vector<TensorSharding> copies;
    for (const TensorSharding *tensor : tensors)
      copies.push_back(*tensor);
    llvm::SmallVector<TensorSharding *> pointers;
    for (TensorSharding &copy : copies)
      pointers.push_back(&copy);
    Propagation(op, pointers).spread(llvm::SmallVector<Candidate>(candidates));
    return op.seconds(copies);
  }

  const TensorFactors &factorsOf(int32_t t) const {
    return t < numOperands ? rule.operands[t] : rule.results[t - numOperands];
  }
  bool flows(Flow flow) const { return static_cast<int>(op.flow) & static_cast<int>(flow); }
  bool isSource(int32_t t) const { return flows(t < numOperands ? Flow::Forward : Flow::Backward); }
  bool isTarget(int32_t t) const {
    return op.flow == Flow::Both || flows(t < numOperands ? Flow::Backward : Flow::Forward);
  }

  // What flows along each factor, the most important first.
  llvm::SmallVector<Candidate> findCandidates() const {
    llvm::SmallVector<Candidate> candidates;
    for (int32_t f = 0, e = rule.factors.size(); f < e; ++f) {
      if (llvm::is_contained(op.blocked, f))
        continue;
      AxisRefs axes = agreedAxes(f);
      if (axes.empty())
        continue;
      Candidate candidate{f, axes, -1, -1};
      for (int32_t t = 0, n = tensors.size(); t < n; ++t)
        if (isSource(t) && rows[t][f].present && op.elements[t] > candidate.sourceElements &&
            isPrefix(axes, rows[t][f].axes)) {
          candidate.source = t;
          candidate.sourceElements = op.elements[t];
        }
      candidates.push_back(candidate);
    }
    llvm::stable_sort(candidates,
                      [&](const Candidate &a, const Candidate &b) { return before(a, b); });
    return candidates;
  }

  // An elementwise op computes where its result lies: what the result can't have, no operand needs.
  void boundByResult(llvm::SmallVectorImpl<Candidate> &candidates) const {
    for (Candidate &candidate : candidates) {
      const AxisRefs &result = rows.back()[candidate.factor].axes;
      if (isPrefix(result, candidate.axes))
        candidate.axes = result;
      else if (!isPrefix(candidate.axes, result))
        candidate.axes.clear();
    }
  }

  bool before(const Candidate &a, const Candidate &b) const {
    if (op.elementwise) {
      if (int64_t as = shardCount(a.axes), bs = shardCount(b.axes); as != bs)
        return as > bs;
      return a.source < b.source;
    }
    if (a.sourceElements != b.sourceElements)
      return a.sourceElements > b.sourceElements;
    return a.source < b.source;
  }

  AxisRefs agreedAxes(int32_t f) const {
    Agreed agreed;
    for (int32_t t = 0, e = tensors.size(); t < e; ++t)
      if (isSource(t) && rows[t][f].present)
        agreed.meet(rows[t][f].axes);
    return agreed.axes;
  }

  // Gives tensor `t` the axes it can take; whether that changes it.
  bool extend(int32_t t, llvm::ArrayRef<Candidate> candidates) {
    Row &row = rows[t];
    if (extended.contains(tensors[t])) { // as another operand: what it got there, it has here
      left[t].clear();
      row = project(*tensors[t], factorsOf(t), rule, left[t]);
    }
    const TensorLimits *limits = op.limits.empty() ? nullptr : op.limits[t];
    bool any = false;
    for (const Candidate &candidate : candidates) {
      Cell &cell = row[candidate.factor];
      if (!cell.present || cell.closed)
        continue;
      AxisRefs taken = tensors[t]->replicated;
      taken.append(tensors[t]->unreduced);
      taken.append(left[t]);
      if (limits)
        taken.append(limits->reserved);
      for (int32_t f = 0, e = row.size(); f < e; ++f)
        if (f != candidate.factor)
          taken.append(row[f].axes);
      AxisRefs axes = prefixWithout(candidate.axes, taken);
      if (!cell.minorMost)
        axes = takeFront(axes, rule.factors[candidate.factor].size);
      if (axes != cell.axes && isPrefix(cell.axes, axes)) {
        cell.axes = axes;
        any = true;
      }
    }
    if (!any)
      return false;
    bool changed = false;
    for (auto [d, dim, factors] : llvm::enumerate(tensors[t]->dims, factorsOf(t))) {
      if (factors.empty() || dim.closed ||
          (limits && llvm::is_contained(limits->frozen, int32_t(d))))
        continue;
      AxisRefs axes = dimensionAxes(row, factors, rule);
      if (axes != dim.axes && isPrefix(dim.axes, axes)) {
        dim.axes = axes;
        changed = true;
      }
    }
    if (changed)
      extended.insert(tensors[t]);
    return changed;
  }

  const OpPropagation &op;
  const FactorRule &rule;
  llvm::ArrayRef<TensorSharding *> tensors;
  int32_t numOperands;
  llvm::SmallVector<Row, 4> rows;
  llvm::SmallVector<AxisRefs, 4> left;
  llvm::SmallPtrSet<const TensorSharding *, 4> extended;
};

// Whether the tensors of an elementwise op have all that any of them has, as those of most do that are visited
// again: nothing flows then.
bool allLieAlike(const OpPropagation &op, llvm::ArrayRef<TensorSharding *> tensors) {
  if (!op.elementwise || op.rule.results.size() != 1)
    return false;
  const TensorFactors &factors = op.rule.results.front();
  const TensorSharding &result = *tensors.back();
  return llvm::all_of(factors, [](const DimFactors &dim) { return dim.size() == 1; }) &&
         llvm::all_of(op.rule.operands,
                      [&](const TensorFactors &operand) { return operand == factors; }) &&
         llvm::all_of(tensors.drop_back(), [&](const TensorSharding *tensor) {
           return llvm::equal(
               tensor->dims, result.dims,
               [](const DimSharding &a, const DimSharding &b) { return a.axes == b.axes; });
         });
}

} // namespace

llvm::SmallVector<int32_t> propagateThroughOp(const OpPropagation &op,
                                              llvm::ArrayRef<TensorSharding *> tensors) {
  bool isAnySharded = llvm::any_of(tensors, [](const TensorSharding *tensor) {
    return llvm::any_of(tensor->dims, [](const DimSharding &dim) { return !dim.axes.empty(); });
  });
  if (!isAnySharded || allLieAlike(op, tensors))
    return {};
  return Propagation(op, tensors).run();
}

llvm::SmallVector<std::optional<AxisRefs>>
axesByFactor(const TensorSharding &tensor, const TensorFactors &factors, const FactorRule &rule) {
  llvm::SmallVector<std::optional<AxisRefs>> axes;
  AxisRefs left;
  for (Cell &cell : project(tensor, factors, rule, left))
    axes.push_back(cell.present ? std::optional(cell.axes) : std::nullopt);
  return axes;
}

AxisRefs prefixWithout(llvm::ArrayRef<AxisRef> axes, llvm::ArrayRef<AxisRef> taken) {
  AxisRefs prefix;
  for (const AxisRef &axis : axes) {
    int64_t size = axis.size;
    for (const AxisRef &other : taken)
      if (overlap(axis, other)) {
        bool majorPart = other.preSize > axis.preSize && other.preSize % axis.preSize == 0 &&
                         axis.size % (other.preSize / axis.preSize) == 0;
        size = std::min(size, majorPart ? other.preSize / axis.preSize : 1);
      }
    if (size > 1)
      prefix.push_back({axis.axis, axis.preSize, size});
    if (size != axis.size)
      break;
  }
  return prefix;
}

bool isPrefix(llvm::ArrayRef<AxisRef> shorter, llvm::ArrayRef<AxisRef> longer) {
  if (shorter.size() > longer.size())
    return false;
  for (size_t i = 0; i < shorter.size(); ++i) {
    if (shorter[i] == longer[i])
      continue;
    // The last may be the major part of what the other has there.
    return i + 1 == shorter.size() && shorter[i].axis == longer[i].axis &&
           shorter[i].preSize == longer[i].preSize && longer[i].size % shorter[i].size == 0;
  }
  return true;
}

} // namespace tessera::sharding
