// A transform of n = r * m points as r transforms of m points and m of r (Bailey 1990, FFTs in
// external or hierarchical memory):
//
//   X[k1 + r k2] = sum over j2 of w(m)^(j2 k2) w(n)^(j2 k1) y[j2, k1]
//   y[j2, k1] = sum over j1 of w(r)^(j1 k1) x[j1 m + j2]
//
// Shards have rows, values of j1 (one each where r = p): the inner sums need an all-to-all, the
// outer ones another, and the order of the result a third. What p does not divide lies in uneven
// shards meanwhile. A real transform of n elements is a complex one of n / 2 points, even
// elements in the real parts and odd ones in the imaginary parts (Cooley, Lewis & Welch 1970, The
// fast Fourier transform algorithm: programming considerations), and its result put together of
// Z[k] and Z[n / 2 - k]; one of an odd n, forward, is complex with imaginary parts of zero.
#include "passes/reshard/FourStepFft.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "lib/sharding/FourStepRows.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace tessera {

using namespace mlir;
using namespace tessera::stablehlo;
using sharding::AxisRefs;

namespace {

class FourSteps : public SplitDimension {
public:
  FourSteps(ShardedFft fft, const ValueShardings &shardings)
      : SplitDimension(shardings, fft.op, fft.op.getOperand(),
                       typeOf(fft.op.getOperand()).getRank() - 1),
        shardings(shardings), axes(fft.axes), points(fft.points), shards(fft.shards),
        rows(fft.rows),
        inverse(fft.op.getFftType() == FftType::IFFT || fft.op.getFftType() == FftType::IRFFT),
        integer(points < (int64_t(1) << 30) ? b.getI32Type() : b.getI64Type()) {
    Type element = typeOf(fft.op.getOperand()).getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    real = cast<FloatType>(element);
  }

  // {points} on the axes -> the first `kept` of them, transformed.
  Value transform(Value x, int64_t kept) {
    int64_t m = points / rows;
    x = move(inRows(x, rows, m), {{}, axes});
    x = transposed(x, {1, 0}); // j2, j1
    x = binary<MulOp>(local(x, rows), twiddles(x, m));
    x = local(move(transposed(x, {1, 0}), {axes, {}}), m); // k1, k2
    int64_t left = llvm::divideCeil(kept, rows);
    x = move(sliced(transposed(x, {1, 0}), 0, 0, left), {axes, {}});
    return inLine(x, {left, rows}, kept);
  }

  Value ofReal(Value x);
  Value ofOddReal(Value x) {
    return transform(joinedParts(x, constant(x, real, 0)), points / 2 + 1);
  }
  Value toReal(Value spectrum);

private:
  // {count * length} -> {count, length}: a shard has whole rows, as many as any other while they
  // are put in rows, those past the end included.
  Value inRows(Value x, int64_t count, int64_t length) {
    int64_t all = llvm::alignTo(count, shards);
    x = padded(x, 0, 0, (all - count) * length);
    return sliced(reshaped(x, {all, length}, {axes, {}}), 0, 0, count);
  }
  // {count, length} -> {kept}, the first of all.
  Value inLine(Value x, std::pair<int64_t, int64_t> size, int64_t kept) {
    auto [count, length] = size;
    int64_t all = llvm::alignTo(count, shards);
    x = reshaped(padded(x, 0, 0, all - count), {all * length}, {axes});
    return sliced(x, 0, 0, kept);
  }
  Value as(Value made, Value like) {
    shardings.set(made, shardings.of(like));
    return made;
  }
  Value constant(Value like, FloatType element, double number) {
    auto type = RankedTensorType::get(typeOf(like).getShape(), element);
    Attribute value = b.getFloatAttr(element, number);
    return as(ConstantOp::create(b, loc, DenseElementsAttr::get(type, value)), like);
  }
  Value local(Value x, int64_t length) {
    return as(FftOp::create(b, loc, x.getType(), x, inverse ? FftType::IFFT : FftType::FFT,
                            ArrayRef<int64_t>{length}),
              x);
  }
  // exp(-2 pi i a / of), of integers a, in double precision: as exact as the elements hold.
  Value root(Value a, int64_t of, bool conjugate) {
    constexpr double pi = 3.14159265358979323846;
    Value turns = converted(a, b.getF64Type());
    Value step = constant(a, b.getF64Type(), (conjugate ? 2 : -2) * pi / double(of));
    Value angle = binary<MulOp>(turns, step);
    Value cosine = as(CosineOp::create(b, loc, angle), a),
          sine = as(SineOp::create(b, loc, angle), a);
    return joinedParts(converted(cosine, real), converted(sine, real));
  }
  // Of {m, rows}: w(n)^(j2 k1), for all lines alike.
  Value twiddles(Value like, int64_t m) {
    auto type = RankedTensorType::get({m, rows}, integer);
    sharding::TensorSharding lie = sharding::TensorSharding::replicatedOver(2),
                             all = shardings.of(like);
    lie.dims[0].axes = axes;
    auto count = [&](int64_t dim) {
      Value iota = IotaOp::create(b, loc, type, dim);
      shardings.set(iota, lie);
      return iota;
    };
    Value w = root(binary<MulOp>(count(0), count(1)), points, inverse);
    int64_t rank = typeOf(like).getRank();
    return as(
        BroadcastInDimOp::create(b, loc, like.getType(), w, ArrayRef<int64_t>{rank - 2, rank - 1}),
        like);
  }
  Value joinedParts(Value re, Value im) { return as(ComplexOp::create(b, loc, re, im), re); }
  Value part(Value z, bool imaginary) {
    return imaginary ? as(ImagOp::create(b, loc, z), z) : as(RealOp::create(b, loc, z), z);
  }
  Value conjugate(Value z) {
    Value im = part(z, true);
    return joinedParts(part(z, false), as(NegOp::create(b, loc, im), im));
  }
  Value reversed(Value z) {
    return as(ReverseOp::create(b, loc, z, ArrayRef<int64_t>{typeOf(z).getRank() - 1}), z);
  }
  Value halved(Value z) {
    Value factor = constant(z, real, 0.5);
    return joinedParts(binary<MulOp>(part(z, false), factor), binary<MulOp>(part(z, true), factor));
  }
  Value timesI(Value z, bool minus) {
    Value re = part(z, false), im = part(z, true);
    return minus ? joinedParts(im, as(NegOp::create(b, loc, re), re))
                 : joinedParts(as(NegOp::create(b, loc, im), im), re);
  }
  Value isAt(Value like, int64_t place) {
    Value at = positions(like, 0, integer);
    return compare(at, number(at, place), ComparisonDirection::EQ);
  }

  const ValueShardings &shardings;
  AxisRefs axes;
  int64_t points, shards, rows;
  bool inverse;
  Type integer;
  FloatType real;
};

// X[k] = E + w^k O with E = (Z[k] + conj Z[N-k]) / 2, O = -i (Z[k] - conj Z[N-k]) / 2; N + 1 of
// them.
Value FourSteps::ofReal(Value x) {
  Value pairs = inRows(x, points, 2);
  Value even = reshaped(sliced(pairs, 1, 0, 1), {points}, {axes});
  Value odd = reshaped(sliced(pairs, 1, 1, 2), {points}, {axes});
  Value z = transform(joinedParts(even, odd), points);
  Value back = reversed(z); // Z[N-1-k]; rolled by one it is Z[N-k]
  Value mirrored =
      conjugate(joined({sliced(back, 0, points - 1, points), sliced(back, 0, 0, points - 1)}, 0));
  Value evens = halved(binary<AddOp>(z, mirrored));
  Value odds = timesI(halved(binary<SubtractOp>(z, mirrored)), /*minus=*/true);
  Value w = root(positions(z, 0, integer), 2 * points, false);
  Value low = padded(binary<AddOp>(evens, binary<MulOp>(w, odds)), 0, 0, 1);
  // X[N] = Re Z[0] - Im Z[0], which only the first shard has.
  Value first = isAt(z, 0);
  Value re = part(z, false), zero = constant(re, real, 0);
  Value last = summed(select(first, binary<SubtractOp>(re, part(z, true)), zero), 0);
  SmallVector<int64_t> dims(typeOf(last).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  last = as(BroadcastInDimOp::create(b, loc, typeOf(low).clone(real), last, dims), low);
  Value none = constant(low, real, 0);
  return select(isAt(low, points), joinedParts(last, none), low);
}

// Z[k] = E + i O with E = (X[k] + conj X[N-k]) / 2, O = w^-k (X[k] - conj X[N-k]) / 2; of X[0] and
// X[N] only the real parts count.
Value FourSteps::toReal(Value spectrum) {
  auto realEnd = [&](Value value) {
    Value re = part(value, false), im = part(value, true);
    Value zero = constant(im, real, 0);
    return joinedParts(re, select(isAt(value, 0), zero, im));
  };
  Value up = realEnd(sliced(spectrum, 0, 0, points));
  Value down = conjugate(realEnd(sliced(reversed(spectrum), 0, 0, points)));
  Value evens = halved(binary<AddOp>(up, down));
  Value w = root(positions(up, 0, integer), 2 * points, true);
  Value odds = binary<MulOp>(w, halved(binary<SubtractOp>(up, down)));
  Value z = transform(binary<AddOp>(evens, timesI(odds, /*minus=*/false)), points);
  Value even = reshaped(part(z, false), {points, 1}, {axes, {}});
  Value odd = reshaped(part(z, true), {points, 1}, {axes, {}});
  return inLine(joined({even, odd}, 1), {points, 2}, 2 * points);
}

} // namespace

std::optional<ShardedFft> shardedFft(FftOp op, const ValueShardings &shardings) {
  Value operand = op.getOperand();
  sharding::TensorSharding place = shardings.of(operand);
  ArrayRef<int64_t> lengths = op.getFftLength();
  if (lengths.size() != 1 || !place.unreduced.empty() || llvm::is_contained(shapeOf(operand), 0))
    return std::nullopt;
  for (auto [dim, size] : llvm::zip_equal(place.dims, shapeOf(operand)))
    if (size == 1 && !dim.axes.empty()) // no op but a reshard keeps that
      return std::nullopt;
  ShardedFft fft{op, lengths[0], 1, 1, place.dims.back().axes};
  fft.shards = sharding::shardCount(fft.axes);
  if (fft.isHalved())
    fft.points /= 2;
  else if (op.getFftType() == FftType::IRFFT)
    return std::nullopt;
  std::optional<int64_t> rows = sharding::fourStepRows(fft.points, fft.shards);
  if (fft.shards < 2 || !rows)
    return std::nullopt;
  fft.rows = *rows;
  return fft;
}

Value fourStepFft(ShardedFft fft, const ValueShardings &shardings) {
  FourSteps steps(fft, shardings);
  Value operand = fft.op.getOperand();
  switch (fft.op.getFftType()) {
  case FftType::FFT:
  case FftType::IFFT:
    return steps.transform(operand, fft.points);
  case FftType::RFFT:
    return fft.isHalved() ? steps.ofReal(operand) : steps.ofOddReal(operand);
  case FftType::IRFFT:
    return steps.toReal(operand);
  }
  llvm_unreachable("all kinds are above");
}

} // namespace tessera
