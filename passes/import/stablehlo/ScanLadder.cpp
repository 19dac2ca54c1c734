#include "passes/import/stablehlo/ScanLadder.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::import {

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// first + factor * i
struct Line {
  int64_t factor, first;
  int64_t at(int64_t i) const { return first + factor * i; }
};

// At place i of `size` there are the elements low(i) .. high(i), combined.
struct Stretch {
  int64_t size;
  Line low, high;
};

bool agree(Line a, Line b, int64_t size) {
  return a.at(0) == b.at(0) && (size < 2 || a.at(1) == b.at(1));
}

// Part of a whole: its place i is place places.at(i) there.
struct Part {
  Stretch stretch;
  Line places;
};

// The whole that is made of `parts`, if its stretches grow evenly.
std::optional<Stretch> joined(ArrayRef<Part> parts, int64_t size) {
  std::optional<std::pair<int64_t, int64_t>> ends[2]; // at the first two places
  for (const Part &part : parts)
    for (int64_t i = 0; i < std::min<int64_t>(part.stretch.size, 2); ++i)
      if (int64_t place = part.places.at(i); place < 2)
        ends[place] = {part.stretch.low.at(i), part.stretch.high.at(i)};
  if (!ends[0] || (size > 1 && !ends[1]))
    return std::nullopt;
  auto [low, high] = *ends[0];
  auto [nextLow, nextHigh] = size > 1 ? *ends[1] : *ends[0];
  Stretch whole{size, {nextLow - low, low}, {nextHigh - high, high}};
  for (const Part &part : parts) {
    auto through = [&](Line line) {
      return Line{line.factor * part.places.factor, line.at(part.places.first)};
    };
    if (!agree(through(whole.low), part.stretch.low, part.stretch.size) ||
        !agree(through(whole.high), part.stretch.high, part.stretch.size))
      return std::nullopt;
  }
  return whole;
}

// Every `step`th element of an array along one dimension, from `first` on.
struct Places {
  Value array;
  int64_t dim, first, step;
};

std::optional<Places> placesOf(Value value, int64_t dim) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return std::nullopt;
  for (auto [d, size] : llvm::enumerate(shapeOf(slice.getOperand())))
    if (int64_t(d) != dim && shapeOf(value)[d] != size)
      return std::nullopt;
  return Places{slice.getOperand(), dim, slice.getStartIndices()[dim], slice.getStrides()[dim]};
}

struct Interleaved {
  Value even, odd;
  int64_t dim;
};

// The dimension between whose elements `pad` puts one each, if it does nothing else but put `low`
// before and as many as are missing behind.
std::optional<int64_t> spreadDim(PadOp pad, int64_t low) {
  std::optional<int64_t> dim;
  for (auto [d, interior] : llvm::enumerate(pad.getInteriorPadding())) {
    int64_t before = pad.getEdgePaddingLow()[d], behind = pad.getEdgePaddingHigh()[d];
    if (interior == 0 && before == 0 && behind == 0)
      continue;
    bool isBetween = interior == 1 || shapeOf(pad.getOperand())[d] == 1;
    if (dim || !isBetween || before != low || behind < 0 || behind > 1)
      return std::nullopt;
    dim = d;
  }
  bool isOfZeros = matchPattern(pad.getPaddingValue(), m_AnyZeroFloat()) ||
                   matchPattern(pad.getPaddingValue(), m_Zero());
  if (auto constant = pad.getPaddingValue().getDefiningOp<ConstantOp>(); !isOfZeros && constant)
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
        splat && isa<ComplexType>(splat.getElementType())) {
      auto number = splat.getSplatValue<std::complex<APFloat>>();
      isOfZeros = number.real().isZero() && number.imag().isZero();
    }
  return isOfZeros ? dim : std::nullopt;
}

std::optional<Interleaved> interleavedOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, OrOp>(op))
    return std::nullopt;
  auto even = op->getOperand(0).getDefiningOp<PadOp>(),
       odd = op->getOperand(1).getDefiningOp<PadOp>();
  if (!even || !odd)
    return std::nullopt;
  std::optional<int64_t> dim = spreadDim(even, 0);
  if (!dim || dim != spreadDim(odd, 1))
    return std::nullopt;
  return Interleaved{even.getOperand(), odd.getOperand(), *dim};
}

// What the ladder with this result scans: its first even element is that of the array.
Value scannedBy(Value result, int64_t dim) {
  std::optional<Interleaved> parts = interleavedOf(result);
  if (!parts || parts->dim != dim)
    return {};
  Value first = parts->even;
  if (auto concatenate = first.getDefiningOp<ConcatenateOp>())
    first = concatenate.getInputs().front();
  std::optional<Places> places = placesOf(first, dim);
  return places && places->first == 0 && shapeOf(first)[dim] == 1 ? places->array : Value();
}

// The number that all elements of a constant are.
Attribute uniform(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return splat ? splat.resizeSplat(RankedTensorType::get({}, splat.getElementType())) : Attribute();
}

bool isPlainElementwise(Operation *op) {
  return op && tessera::isElementwise(op) && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         op->getNumOperands() > 0;
}

// Element `later` of the two that are combined, of a component.
struct Side {
  unsigned component;
  bool later;
};

// The computation of which ladder.pairs are the first results, in terms of slices of its arrays.
class Combination {
public:
  explicit Combination(const ScanLadder &ladder) : ladder(ladder) {}

  std::optional<Side> sideOf(Value value) const {
    std::optional<Places> places = placesOf(value, ladder.dim);
    if (!places || places->step != 2 || places->first > 1)
      return std::nullopt;
    const auto *at = llvm::find(ladder.arrays, places->array);
    if (at == ladder.arrays.end())
      return std::nullopt;
    return Side{static_cast<unsigned>(at - ladder.arrays.begin()), places->first == 1};
  }

  // Whether `value` is what `pattern` is, with other values in place of slices: `bound`.
  bool matches(Value pattern, Value value, DenseMap<Value, Value> &bound) const {
    auto [at, isNew] = bound.try_emplace(pattern, value);
    if (!isNew)
      return at->second == value;
    if (typeOf(pattern).getElementType() != typeOf(value).getElementType())
      return false;
    if (sideOf(pattern))
      return true;
    if (Attribute number = uniform(pattern))
      return number == uniform(value);
    Operation *one = pattern.getDefiningOp(), *other = value.getDefiningOp();
    return isPlainElementwise(one) && other && one->getName() == other->getName() &&
           one->getAttrDictionary() == other->getAttrDictionary() &&
           one->getNumOperands() == other->getNumOperands() &&
           llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()), [&](auto operands) {
             return matches(std::get<0>(operands), std::get<1>(operands), bound);
           });
  }

private:
  const ScanLadder &ladder;
};

// Finds the arrays that are scanned with one, and how they are combined.
class Learner {
public:
  Learner(ScanLadder &ladder) : ladder(ladder) {}

  bool learn(Value result, int64_t dim) {
    ladder.dim = dim;
    for (Value level = result; Value array = scannedBy(level, dim);
         level = interleavedOf(level)->odd)
      levels.resize(1), levels[0].push_back(array);
    constexpr size_t leastLevels = 3;
    if (levels.empty() || levels[0].size() < leastLevels)
      return false;
    ladder.arrays = {levels[0][0]};
    for (unsigned component = 0; component < ladder.arrays.size(); ++component)
      if (!learnOne(component))
        return false;
    return true;
  }

private:
  bool learnOne(unsigned component) {
    constexpr size_t mostArrays = 8;
    if (levels[component].size() < 2)
      return false;
    Value pairs = levels[component][1];
    ladder.pairs.push_back(pairs);
    unsigned before = ladder.arrays.size();
    if (!findArrays(pairs) || ladder.arrays.size() > mostArrays)
      return false;
    // Levels of the arrays that were found, from those of this one.
    levels.resize(ladder.arrays.size());
    for (unsigned other = before; other < ladder.arrays.size(); ++other)
      levels[other].push_back(ladder.arrays[other]);
    Combination combination(ladder);
    for (size_t level = 2; level < levels[component].size(); ++level) {
      DenseMap<Value, Value> bound;
      if (!combination.matches(pairs, levels[component][level], bound))
        return level > 2; // the last ones may be simpler
      for (auto [pattern, value] : bound)
        if (std::optional<Side> side = combination.sideOf(pattern);
            side && side->component >= before && levels[side->component].size() == level - 1)
          if (std::optional<Places> places = placesOf(value, ladder.dim))
            levels[side->component].push_back(places->array);
    }
    return true;
  }

  bool findArrays(Value value) {
    constexpr size_t mostValues = 200;
    if (!seen.insert(value).second)
      return true;
    if (seen.size() > mostValues)
      return false;
    if (uniform(value))
      return true;
    if (std::optional<Places> places = placesOf(value, ladder.dim);
        places && places->step == 2 && places->first <= 1 &&
        shapeOf(places->array) == shapeOf(ladder.arrays[0])) {
      if (!llvm::is_contained(ladder.arrays, places->array))
        ladder.arrays.push_back(places->array);
      return true;
    }
    Operation *op = value.getDefiningOp();
    return isPlainElementwise(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return findArrays(operand); });
  }

  ScanLadder &ladder;
  std::vector<SmallVector<Value>> levels; // of each component the array, its pairs, their pairs, ..
  DenseSet<Value> seen;
};

// Follows stretches through the ladder.
class Tracer {
public:
  Tracer(const ScanLadder &ladder) : ladder(ladder), combination(ladder) {}

  // Whether `value` is the running reduction of a component.
  bool isRunning(Value value, unsigned component) {
    std::optional<Stretch> stretch = trace(value, component);
    return stretch && agree(stretch->low, {0, 0}, stretch->size) &&
           agree(stretch->high, {1, 0}, stretch->size);
  }

private:
  std::optional<Stretch> trace(Value value, unsigned component) {
    auto [at, isNew] = known.try_emplace({value, component});
    if (!isNew)
      return at->second;
    std::optional<Stretch> stretch = traceNew(value, component);
    return known[{value, component}] = stretch;
  }

  std::optional<Stretch> traceNew(Value value, unsigned component) {
    int64_t dim = ladder.dim;
    if (shapeOf(value).size() <= size_t(dim) || shapeOf(value)[dim] == 0)
      return std::nullopt;
    int64_t size = shapeOf(value)[dim];
    if (value == ladder.arrays[component])
      return Stretch{size, {1, 0}, {1, 0}};
    if (std::optional<Places> places = placesOf(value, dim)) {
      std::optional<Stretch> whole = trace(places->array, component);
      if (!whole)
        return std::nullopt;
      auto part = [&](Line line) {
        return Line{line.factor * places->step, line.at(places->first)};
      };
      return Stretch{size, part(whole->low), part(whole->high)};
    }
    if (auto concatenate = value.getDefiningOp<ConcatenateOp>();
        concatenate && int64_t(concatenate.getDimension()) == dim) {
      SmallVector<Part> parts;
      int64_t first = 0;
      for (Value input : concatenate.getInputs()) {
        std::optional<Stretch> stretch = trace(input, component);
        if (!stretch)
          return std::nullopt;
        parts.push_back({*stretch, {1, first}});
        first += stretch->size;
      }
      return joined(parts, size);
    }
    if (std::optional<Interleaved> turns = interleavedOf(value); turns && turns->dim == dim) {
      std::optional<Stretch> even = trace(turns->even, component),
                             odd = trace(turns->odd, component);
      if (!even || !odd)
        return std::nullopt;
      return joined({{*even, {2, 0}}, {*odd, {2, 1}}}, size);
    }
    return traceCombined(value, component);
  }

  // All that is combined must be of like stretches, those of the later right behind the earlier.
  std::optional<Stretch> traceCombined(Value value, unsigned component) {
    DenseMap<Value, Value> bound;
    if (!combination.matches(ladder.pairs[component], value, bound))
      return std::nullopt;
    std::optional<Stretch> sides[2];
    for (auto [pattern, operand] : bound) {
      std::optional<Side> side = combination.sideOf(pattern);
      if (!side)
        continue;
      std::optional<Stretch> stretch = trace(operand, side->component), &found = sides[side->later];
      if (!stretch || (found && (!agree(found->low, stretch->low, stretch->size) ||
                                 !agree(found->high, stretch->high, stretch->size))))
        return std::nullopt;
      found = stretch;
    }
    auto &[earlier, later] = sides;
    if (!earlier || !later || earlier->size != later->size ||
        !agree({earlier->high.factor, earlier->high.first + 1}, later->low, later->size))
      return std::nullopt;
    return Stretch{later->size, earlier->low, later->high};
  }

  const ScanLadder &ladder;
  Combination combination;
  DenseMap<std::pair<Value, unsigned>, std::optional<Stretch>> known;
};

} // namespace

Value scannedArray(Value result) {
  std::optional<Interleaved> turns = interleavedOf(result);
  return turns ? scannedBy(result, turns->dim) : Value();
}

std::optional<ScanLadder> ladderOf(Value result) {
  constexpr int64_t leastSize = 17; // fewer are not reduced in blocks
  std::optional<Interleaved> turns = interleavedOf(result);
  ScanLadder ladder;
  if (!turns || shapeOf(result)[turns->dim] < leastSize ||
      !Learner(ladder).learn(result, turns->dim) || !Tracer(ladder).isRunning(result, 0))
    return std::nullopt;
  ladder.results.resize(ladder.arrays.size());
  ladder.results[0] = result;
  return ladder;
}

void findResults(ScanLadder &ladder, ArrayRef<Value> candidates) {
  Tracer tracer(ladder);
  for (Value candidate : candidates) {
    const auto *at = llvm::find(ladder.arrays, scannedBy(candidate, ladder.dim));
    unsigned component = at - ladder.arrays.begin();
    if (at != ladder.arrays.end() && !ladder.results[component] &&
        shapeOf(candidate) == shapeOf(ladder.results[0]) && tracer.isRunning(candidate, component))
      ladder.results[component] = candidate;
  }
}

SmallVector<Value> combineIn(OpBuilder &b, const ScanLadder &ladder, bool isReversed) {
  Block &body = *b.getInsertionBlock();
  Combination combination(ladder);
  DenseMap<Value, Value> made;
  auto make = [&](auto &make, Value value) -> Value {
    if (Value there = made.lookup(value))
      return there;
    auto type = RankedTensorType::get({}, typeOf(value).getElementType());
    Value result;
    if (std::optional<Side> side = combination.sideOf(value)) {
      unsigned first = side->later != isReversed ? ladder.arrays.size() : 0;
      result = body.getArgument(first + side->component);
    } else if (Attribute number = uniform(value)) {
      result = ConstantOp::create(b, value.getLoc(), cast<ElementsAttr>(number));
    } else {
      Operation *op = value.getDefiningOp();
      OperationState state(op->getLoc(), op->getName());
      for (Value operand : op->getOperands())
        state.addOperands(make(make, operand));
      state.addTypes(type);
      state.addAttributes(op->getAttrs());
      result = b.create(state)->getResult(0);
    }
    return made[value] = result;
  };
  return llvm::map_to_vector(ladder.pairs, [&](Value pairs) { return make(make, pairs); });
}

} // namespace tessera::import
