#include "passes/import/stablehlo/RandomBits.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::import {
namespace {

// Unsigned tensors with wrapping arithmetic.
class Words {
public:
  Words(OpBuilder &b, Location loc, Value value) : b(&b), loc(loc), value(value) {}
  Value get() const { return value; }
  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }

  Words number(uint64_t n) const {
    auto type = this->type();
    APInt bits(type.getElementType().getIntOrFloatBitWidth(), n, false, /*implicitTrunc=*/true);
    return with(stablehlo::ConstantOp::create(*b, loc, DenseElementsAttr::get(type, bits)));
  }
  Words convert(unsigned width) const {
    auto element = IntegerType::get(b->getContext(), width, IntegerType::Unsigned);
    if (type().getElementType() == element)
      return *this;
    return with(stablehlo::ConvertOp::create(*b, loc, type().clone(element), value));
  }
  Words low() const { return convert(32); }
  Words high() const { return shiftedRight(32).convert(32); }
  Words shiftedRight(unsigned n) const { return apply<stablehlo::ShiftRightLogicalOp>(number(n)); }
  Words shiftedLeft(unsigned n) const { return apply<stablehlo::ShiftLeftOp>(number(n)); }
  Words rotatedLeft(unsigned n) const { return shiftedLeft(n) | shiftedRight(32 - n); }
  Words operator+(Words other) const { return apply<stablehlo::AddOp>(other); }
  Words operator*(Words other) const { return apply<stablehlo::MulOp>(other); }
  Words operator^(Words other) const { return apply<stablehlo::XorOp>(other); }
  Words operator|(Words other) const { return apply<stablehlo::OrOp>(other); }
  Words operator+(uint64_t n) const { return *this + number(n); }
  // 1 where this is less, as 64 bits.
  Words less(Words other) const {
    Value less = stablehlo::CompareOp::create(*b, loc, value, other.value,
                                              stablehlo::ComparisonDirection::LT,
                                              stablehlo::ComparisonType::UNSIGNED);
    return with(stablehlo::ConvertOp::create(*b, loc, type(), less));
  }

  Words reshape(ArrayRef<int64_t> shape) const {
    if (type().getShape() == shape)
      return *this;
    return with(stablehlo::ReshapeOp::create(*b, loc, type().clone(shape), value));
  }
  Words broadcast(ArrayRef<int64_t> shape) const { // of a scalar
    if (shape.empty())
      return *this;
    return with(stablehlo::BroadcastInDimOp::create(*b, loc, type().clone(shape), value,
                                                    ArrayRef<int64_t>()));
  }
  Words slice(ArrayRef<int64_t> limits) const { // from 0 on
    if (type().getShape() == limits)
      return *this;
    SmallVector<int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
    return with(stablehlo::SliceOp::create(*b, loc, value, starts, limits, strides));
  }
  // The element at a place of a vector, as a scalar.
  Words at(int64_t i) const {
    return with(stablehlo::SliceOp::create(*b, loc, value, ArrayRef<int64_t>{i},
                                           ArrayRef<int64_t>{i + 1}, ArrayRef<int64_t>{1}))
        .reshape({});
  }
  // 0, 1, 2, .. in row-major order.
  Words indices(ArrayRef<int64_t> shape) const {
    auto type = RankedTensorType::get(shape, this->type().getElementType());
    Words zero = number(0).broadcast(shape), sum = zero;
    int64_t stride = 1;
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      if (shape[d] > 1) {
        Words index = with(stablehlo::IotaOp::create(*b, loc, type, d));
        Words scaled = stride == 1 ? index : index * index.number(stride);
        sum = sum.value == zero.value ? scaled : sum + scaled;
      }
      stride *= shape[d];
    }
    return sum;
  }
  // Side by side along `dim`.
  static Words concatenate(ArrayRef<Words> parts, int64_t dim) {
    const Words &first = parts.front();
    SmallVector<int64_t> shape(first.type().getShape());
    SmallVector<Value> values;
    shape[dim] = 0;
    for (const Words &part : parts) {
      values.push_back(part.value);
      shape[dim] += part.type().getDimSize(dim);
    }
    return first.with(stablehlo::ConcatenateOp::create(*first.b, first.loc,
                                                       first.type().clone(shape), values, dim));
  }
  Words with(Value other) const { return Words(*b, loc, other); }

private:
  template <typename Op> Words apply(Words other) const {
    return with(Op::create(*b, loc, value, other.value));
  }

  OpBuilder *b;
  Location loc;
  Value value;
};

using Pair = std::array<Words, 2>;
using Four = std::array<Words, 4>;

Pair threefry(Pair key, Pair x) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  std::array<Words, 3> keys{key[0], key[1], key[0] ^ key[1] ^ key[0].number(0x1BD11BDA)};
  x = {x[0] + keys[0], x[1] + keys[1]};
  for (unsigned i = 0; i < 5; ++i) {
    for (unsigned rotation : rotations[i % 2]) {
      Words sum = x[0] + x[1];
      x = {sum, x[1].rotatedLeft(rotation) ^ sum};
    }
    x = {x[0] + keys[(i + 1) % 3], x[1] + keys[(i + 2) % 3] + (i + 1)};
  }
  return x;
}

Four philox(Pair key, Four x) {
  auto product = [](Words a, uint64_t factor) {
    Words wide = a.convert(64);
    return wide * wide.number(factor);
  };
  for (unsigned round = 0; round < 10; ++round) {
    if (round)
      key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
    Words first = product(x[0], 0xD2511F53), second = product(x[2], 0xCD9E8D57);
    x = {second.high() ^ x[1] ^ key[0], second.low(), first.high() ^ x[3] ^ key[1], first.low()};
  }
  return x;
}

// Both as one 64-bit number.
Words joined(Words low, Words high) { return low.convert(64) | high.convert(64).shiftedLeft(32); }

int64_t sizeOf(ArrayRef<int64_t> shape) { return ShapedType::getNumElements(shape); }

// The dimension that Threefry's two words are divided over.
size_t splitDim(ArrayRef<int64_t> shape) {
  size_t largest = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] % 2 == 0)
      return d;
    if (shape[d] > shape[largest])
      largest = d;
  }
  return largest;
}

// The state with its counter moved on by `blocks`.
Words advanced(Words state, int64_t blocks) {
  SmallVector<Words, 3> words;
  int64_t size = state.type().getDimSize(0);
  Words counter = state.at(1), next = counter + blocks;
  words.push_back(state.at(0).reshape({1}));
  words.push_back(next.reshape({1}));
  if (size == 3)
    words.push_back((state.at(2) + next.less(counter)).reshape({1}));
  return Words::concatenate(words, 0);
}

} // namespace

RandomBits threefryBits(OpBuilder &b, Location loc, Value state, ArrayRef<int64_t> shape,
                        unsigned width) {
  Words s(b, loc, state), key = s.at(0), counter = s.at(1);
  SmallVector<int64_t> dims(shape);
  if (dims.empty())
    dims.push_back(1);
  size_t split = splitDim(dims);
  SmallVector<int64_t> blocks(dims);
  if (width != 64)
    blocks[split] = llvm::divideCeil(dims[split], int64_t(2));
  Words numbers = counter.broadcast(blocks) + key.indices(blocks);
  Pair keys{key.low().broadcast(blocks), key.high().broadcast(blocks)};
  Pair words = threefry(keys, {numbers.low(), numbers.high()});
  auto result = [&](Words bits) {
    return RandomBits{advanced(s, sizeOf(blocks)).get(), bits.reshape(shape).get()};
  };
  if (width == 64)
    return result(joined(words[0], words[1]));
  // The words stand side by side within the dimension that was halved.
  SmallVector<int64_t> pairs(blocks), together(blocks);
  pairs.insert(pairs.begin() + split + 1, 1);
  together[split] *= 2;
  Words both = Words::concatenate(
      {words[0].convert(width).reshape(pairs), words[1].convert(width).reshape(pairs)}, split + 1);
  return result(both.reshape(together).slice(dims));
}

RandomBits philoxBits(OpBuilder &b, Location loc, Value state, ArrayRef<int64_t> shape,
                      unsigned width) {
  Words s(b, loc, state), key = s.at(0), counter = s.at(1);
  Words upper = s.type().getDimSize(0) == 3 ? s.at(2) : key;
  int64_t size = sizeOf(shape), each = width == 64 ? 2 : 4;
  int64_t blocks = llvm::divideCeil(size, each);
  Words start = counter.broadcast({blocks}), low = start + key.indices({blocks});
  Words high = upper.broadcast({blocks}) + low.less(start);
  Pair keys{key.low().broadcast({blocks}), key.high().broadcast({blocks})};
  Four words = philox(keys, {low.low(), low.high(), high.low(), high.high()});
  SmallVector<Words, 4> columns;
  if (width == 64)
    columns = {joined(words[0], words[1]), joined(words[2], words[3])};
  else
    for (Words word : words)
      columns.push_back(word.convert(width));
  for (Words &column : columns)
    column = column.reshape({blocks, 1});
  Words bits = Words::concatenate(columns, 1).reshape({blocks * each}).slice({size});
  return {advanced(s, blocks).get(), bits.reshape(shape).get()};
}

} // namespace tessera::import
