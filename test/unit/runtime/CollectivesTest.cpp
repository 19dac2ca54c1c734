// Every collective against a plain element-by-element reference, on random meshes, groups, shapes
// and types; the same bits whatever the number of workers.
#include "test/unit/runtime/ProgramBuilder.h"
#include <random>

namespace tessera::runtime {
namespace {

using program::Collective;

using Shape = std::vector<int64_t>;

int64_t linear(const Shape &index, const Shape &shape) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    at = at * shape[i] + index[i];
  return at;
}

template <class F> void forEachIndex(const Shape &shape, F f) {
  int64_t count = elementCount(shape);
  for (int64_t n = 0; n < count; ++n) {
    Shape index(shape.size());
    int64_t rest = n;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i])
      index[i] = rest % shape[i];
    f(index);
  }
}

float reduceTwo(Collective::Reduction reduction, float a, float b) {
  switch (reduction) {
  case Collective::PRODUCT:
    return a * b;
  case Collective::MAX:
    return std::max(a, b);
  case Collective::MIN:
    return std::min(a, b);
  default:
    return a + b;
  }
}

struct Case {
  Shape mesh;
  std::vector<int> axes;
  Collective::Kind kind;
  Shape shape;
  Collective::Reduction reduction = Collective::SUM;
  uint32_t dim = 0, concat = 0;
  int64_t shift = 0;
  bool wrap = false;
  std::vector<int64_t> pairs;
};

Shape resultShape(const Case &c, int64_t g) {
  Shape shape = c.shape;
  if (c.kind == Collective::ALL_GATHER)
    shape[c.dim] *= g;
  if (c.kind == Collective::REDUCE_SCATTER || c.kind == Collective::ALL_TO_ALL)
    shape[c.dim] /= g;
  if (c.kind == Collective::ALL_TO_ALL)
    shape[c.concat] *= g;
  return shape;
}

// What the device at `position` must get: operands by rank of its group.
std::vector<float> expected(const Case &c, const std::vector<std::vector<float>> &operands,
                            int64_t rank) {
  auto g = static_cast<int64_t>(operands.size());
  Shape shape = resultShape(c, g);
  std::vector<float> result(elementCount(shape), 0.0f);
  forEachIndex(shape, [&](const Shape &index) {
    Shape from = index;
    float &value = result[linear(index, shape)];
    auto reduced = [&] {
      float sum = operands[0][linear(from, c.shape)];
      for (int64_t r = 1; r < g; ++r)
        sum = reduceTwo(c.reduction, sum, operands[r][linear(from, c.shape)]);
      return sum;
    };
    switch (c.kind) {
    case Collective::ALL_REDUCE:
      value = reduced();
      break;
    case Collective::REDUCE_SCATTER:
      from[c.dim] += rank * shape[c.dim];
      value = reduced();
      break;
    case Collective::ALL_GATHER:
      from[c.dim] %= c.shape[c.dim];
      value = operands[index[c.dim] / c.shape[c.dim]][linear(from, c.shape)];
      break;
    case Collective::ALL_TO_ALL: {
      // Along the concatenated dimension, a received part is as long as the split left it.
      int64_t part = c.dim == c.concat ? c.shape[c.dim] / g : c.shape[c.concat];
      int64_t source = index[c.concat] / part;
      from[c.concat] %= part;
      from[c.dim] += rank * (c.shape[c.dim] / g);
      value = operands[source][linear(from, c.shape)];
      break;
    }
    case Collective::BROADCAST:
      value = operands[0][linear(from, c.shape)];
      break;
    default: {
      int64_t source = -1;
      for (size_t i = 0; i < c.pairs.size(); i += 2)
        if (c.pairs[i + 1] == rank)
          source = c.pairs[i];
      if (c.pairs.empty()) {
        source = rank - c.shift;
        if (c.wrap)
          source = ((source % g) + g) % g;
        else if (source >= g)
          source = -1;
      }
      value = source < 0 ? 0.0f : operands[source][linear(from, c.shape)];
    }
    }
  });
  return result;
}

int64_t groupSize(const Case &c) {
  int64_t g = 1;
  for (int axis : c.axes)
    g *= c.mesh[axis];
  return g;
}

// Ranks along the axes by walking coordinates, apart from the runtime's arithmetic.
int64_t rankOf(const Case &c, int64_t position) {
  Shape coordinates(c.mesh.size());
  for (size_t i = c.mesh.size(); i-- > 0; position /= c.mesh[i])
    coordinates[i] = position % c.mesh[i];
  int64_t rank = 0;
  for (int axis : c.axes)
    rank = rank * c.mesh[axis] + coordinates[axis];
  return rank;
}

bool sameGroup(const Case &c, int64_t p, int64_t q) {
  for (size_t i = c.mesh.size(); i-- > 0; p /= c.mesh[i], q /= c.mesh[i]) {
    bool along = std::find(c.axes.begin(), c.axes.end(), static_cast<int>(i)) != c.axes.end();
    if (!along && p % c.mesh[i] != q % c.mesh[i])
      return false;
  }
  return true;
}

void check(const Case &c, uint32_t workers, std::mt19937 &random) {
  ProgramBuilder builder(c.mesh);
  int64_t g = groupSize(c), n = elementCount(c.shape);
  auto from = builder.addInput(program::F32, c.shape),
       to = builder.addOutput(program::F32, resultShape(c, g));
  Collective collective = builder.collective(c.kind, c.axes, program::F32, c.shape, from, to);
  collective.set_reduction(c.reduction);
  collective.set_dim(c.dim);
  collective.set_concat_dim(c.concat);
  collective.set_shift(c.shift);
  collective.set_wrap(c.wrap);
  for (int64_t r : c.pairs)
    collective.add_source_target(r);
  // Twice, in a loop: meeting places are used again.
  auto *loop = ProgramBuilder::loop(builder.body(), 2);
  ProgramBuilder::start(loop->mutable_body(), 7, collective);
  ProgramBuilder::wait(loop->mutable_body(), 7);
  auto session = builder.session(workers);
  ASSERT_NE(session, nullptr);
  std::vector<float> input(builder.devices() * n);
  for (float &x : input)
    x = std::uniform_real_distribution<float>(-2, 2)(random);
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto results = runOnce(*session, {bytesOf(input)});
    ASSERT_TRUE(results.ok()) << results.status().message();
    auto got = valuesOf<float>((*results)[0].bytes);
    for (int64_t p = 0; p < builder.devices(); ++p) {
      std::vector<std::vector<float>> operands(g);
      for (int64_t q = 0; q < builder.devices(); ++q)
        if (sameGroup(c, p, q))
          operands[rankOf(c, q)] = {input.begin() + q * n, input.begin() + (q + 1) * n};
      std::vector<float> want = expected(c, operands, rankOf(c, p));
      ASSERT_EQ(
          std::vector<float>(got.begin() + p * want.size(), got.begin() + (p + 1) * want.size()),
          want)
          << nameOf(c.kind) << " on device " << p << " of " << builder.devices() << ", groups of "
          << g;
    }
    EXPECT_EQ(session->counters().collectives, g > 1 ? 2u : 0u);
  }
}

class CollectivesTest : public testing::TestWithParam<uint32_t> {};

TEST_P(CollectivesTest, RandomCasesMatchTheReference) {
  std::mt19937 random(GetParam());
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Shape> meshes = {{8}, {2, 4}, {2, 2, 2}, {3, 2}, {1, 4}, {5}, {1}};
  for (int i = 0; i < 120; ++i) {
    Case c;
    c.mesh = meshes[pick(0, static_cast<int64_t>(meshes.size()) - 1)];
    for (size_t a = 0; a < c.mesh.size(); ++a)
      if (pick(0, 2))
        c.axes.push_back(static_cast<int>(a));
    std::shuffle(c.axes.begin(), c.axes.end(), random); // the order of axes is the order of ranks
    int64_t g = groupSize(c);
    c.kind = static_cast<Collective::Kind>(pick(0, 5));
    c.reduction = static_cast<Collective::Reduction>(pick(0, 3));
    for (int64_t rank = pick(1, 3); rank > 0; --rank)
      c.shape.push_back(pick(1, 6));
    c.dim = static_cast<uint32_t>(pick(0, static_cast<int64_t>(c.shape.size()) - 1));
    c.concat = static_cast<uint32_t>(pick(0, static_cast<int64_t>(c.shape.size()) - 1));
    if (c.kind == Collective::REDUCE_SCATTER || c.kind == Collective::ALL_TO_ALL)
      c.shape[c.dim] *= g;
    if (i % 20 == 0) { // several units of work
      c.shape = {c.shape[c.dim], pick(20000, 40000)};
      c.dim = c.concat = 0;
    }
    if (i % 10 == 5) { // several of rows that lie between those of other ranks
      bool divides = c.kind == Collective::REDUCE_SCATTER || c.kind == Collective::ALL_TO_ALL;
      c.shape = {pick(150, 300), pick(2, 40) * (divides ? g : 1)};
      c.dim = 1;
      c.concat = static_cast<uint32_t>(pick(0, 1));
    }
    c.shift = pick(-g - 1, g + 1);
    c.wrap = pick(0, 1);
    if (pick(0, 1)) { // pairs that leave some ranks without a source
      std::vector<int64_t> targets(g);
      for (int64_t r = 0; r < g; ++r)
        targets[r] = r;
      std::shuffle(targets.begin(), targets.end(), random);
      for (int64_t r = 0; r < std::max<int64_t>(1, g - 1); ++r)
        c.pairs.insert(c.pairs.end(), {r, targets[r]});
    }
    check(c, GetParam(), random);
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, CollectivesTest, testing::Values(1u, 2u, 3u));

// Guards against an order of summation that depends on who reduces: float addition is not
// associative.
TEST(CollectivesTest, SameBitsOnAnyNumberOfWorkers) {
  for (auto type : {program::F32, program::BF16, program::F16}) {
    std::vector<std::string> results;
    for (uint32_t workers : {1u, 2u, 3u}) {
      ProgramBuilder builder({8});
      auto from = builder.addInput(type, {70001}), to = builder.addOutput(type, {70001});
      ProgramBuilder::start(
          builder.body(), 0,
          builder.collective(Collective::ALL_REDUCE, {0}, type, {70001}, from, to));
      ProgramBuilder::wait(builder.body(), 0);
      std::mt19937 random(5);
      std::vector<float> values(8 * 70001);
      for (float &x : values)
        x = std::normal_distribution<float>()(random);
      std::string input = bytesOf(values);
      if (type != program::F32) {
        input.resize(values.size() * byteSize(type));
        fromFloat32(type, values.data(), input.data(), static_cast<int64_t>(values.size()));
      }
      auto out = runOnce(*builder.session(workers), {input});
      ASSERT_TRUE(out.ok());
      results.push_back((*out)[0].bytes);
      // All replicas hold the same bits.
      for (size_t d = 1; d < 8; ++d)
        ASSERT_EQ(results[0].substr(0, results[0].size() / 8),
                  results.back().substr(d * results[0].size() / 8, results[0].size() / 8));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

// bf16 sums are accumulated in float32 and rounded once: 1 + 8 x 2^-9 keeps what adding one by one
// would lose.
TEST(CollectivesTest, SmallFloatsAreRoundedOnce) {
  ProgramBuilder builder({9});
  auto from = builder.addInput(program::BF16, {1}), to = builder.addOutput(program::BF16, {1});
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::BF16, {1}, from, to));
  ProgramBuilder::wait(builder.body(), 0);
  std::vector<uint16_t> input(9, floatToBf16(0x1p-9f));
  input[0] = floatToBf16(1.0f);
  auto out = runOnce(*builder.session(2), {bytesOf(input)});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(bf16ToFloat(valuesOf<uint16_t>((*out)[0].bytes)[0]), 1.0f + 0x1p-6f);
}

// 2^-127, the least number of f8E8M0FNU, is subnormal in float32, where it would count as zero.
TEST(CollectivesTest, LeastExponentsAreAdded) {
  ProgramBuilder builder({2});
  auto from = builder.addInput(program::F8E8M0FNU, {3});
  auto to = builder.addOutput(program::F8E8M0FNU, {3});
  ProgramBuilder::start(
      builder.body(), 0,
      builder.collective(Collective::ALL_REDUCE, {0}, program::F8E8M0FNU, {3}, from, to));
  ProgramBuilder::wait(builder.body(), 0);
  // 2^-127 + 2^-127, 1 + 2^-127, 1 + 2^-1: a tie, upwards.
  auto out = runOnce(*builder.session(2), {bytesOf(std::vector<uint8_t>{0, 127, 127, 0, 0, 126})});
  ASSERT_TRUE(out.ok());
  for (int device = 0; device < 2; ++device)
    EXPECT_EQ((*out)[0].bytes.substr(3 * device, 3), std::string({1, 127, char(128)}));
}

TEST(CollectivesTest, MaximumPassesNaNOn) {
  ProgramBuilder builder({4});
  auto from = builder.addInput(program::F32, {1}), to = builder.addOutput(program::F32, {1});
  auto c = builder.collective(Collective::ALL_REDUCE, {0}, program::F32, {1}, from, to);
  c.set_reduction(Collective::MAX);
  ProgramBuilder::start(builder.body(), 0, c);
  ProgramBuilder::wait(builder.body(), 0);
  for (int where = 0; where < 4; ++where) {
    std::vector<float> input = {1, 2, 3, 4};
    input[where] = NAN;
    auto out = runOnce(*builder.session(2), {bytesOf(input)});
    ASSERT_TRUE(out.ok());
    EXPECT_TRUE(std::isnan(valuesOf<float>((*out)[0].bytes)[0]));
  }
}

// Operand and result in one buffer, several operands of different sizes, and a sub-axis: 8 seen as
// 2 x 4.
TEST(CollectivesTest, InPlaceBucketsAlongASubAxis) {
  ProgramBuilder builder({8});
  auto in = builder.addInput(program::I32, {4}), out = builder.addOutput(program::I32, {4});
  auto scratch = builder.addArena(16), other = builder.addArena(64);
  auto *copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = in;
  *copy->mutable_to() = scratch;
  Collective c =
      builder.collective(Collective::ALL_REDUCE, {0}, program::I32, {4}, scratch, scratch);
  c.mutable_axes(0)->set_pre_size(2);
  c.mutable_axes(0)->set_size(4);
  c.add_shapes()->add_dims(16);
  *c.add_operands() = other;
  *c.add_results() = other;
  ProgramBuilder::start(builder.body(), 3, c);
  ProgramBuilder::wait(builder.body(), 3);
  copy = builder.body()->Add()->mutable_copy();
  *copy->mutable_from() = scratch;
  *copy->mutable_to() = out;
  std::vector<int32_t> input(32);
  for (int i = 0; i < 32; ++i)
    input[i] = 1 << (i / 4);
  auto session = builder.session(2);
  auto result = runOnce(*session, {bytesOf(input)});
  ASSERT_TRUE(result.ok()) << result.status().message();
  auto got = valuesOf<int32_t>((*result)[0].bytes);
  for (int d = 0; d < 8; ++d)
    EXPECT_EQ(got[4 * d], d < 4 ? 0x0f : 0xf0);
  EXPECT_EQ(session->counters().collectives, 1u);
  EXPECT_EQ(session->counters().collectiveBytes, 16u + 64u);
}

} // namespace
} // namespace tessera::runtime
