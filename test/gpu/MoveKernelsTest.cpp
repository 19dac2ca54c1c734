// The kernels of collectives on the emulator, beside what the host's communicators compute.
#include "runtime/device/cuda/MoveKernels.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/Reduce.h"
#include "runtime/device/cuda/MoveTable.h"
#include "runtime/pool/NumericMode.h"
#include "test/gpu/emulator/Machine.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace tessera::runtime::device::cuda {
namespace {

using program::Collective;

// Devices of a group, each with an operand and a result of a collective.
class Group {
public:
  explicit Group(const Collective &collective, uint32_t size)
      : plan(*planCollective(collective, size)) {
    for (uint32_t rank = 0; rank < size; ++rank)
      for (bool isResult : {false, true})
        for (const Transfer &transfer : plan.transfers)
          buffers.push_back(memory.allocate(
              static_cast<size_t>(isResult ? transfer.resultBytes : transfer.operandBytes)));
  }
  uint64_t buffer(uint32_t rank, size_t i) const {
    return buffers[rank * 2 * plan.transfers.size() + i];
  }
  char *bytes(uint32_t rank, size_t i) {
    size_t of = i % plan.transfers.size();
    const Transfer &transfer = plan.transfers[of];
    return reinterpret_cast<char *>(memory.translate(
        buffer(rank, i),
        static_cast<size_t>(i == of ? transfer.operandBytes : transfer.resultBytes)));
  }
  // What went wrong.
  std::string run() {
    MoveTable table = moveTable(plan, [&](uint32_t rank, size_t i) { return buffer(rank, i); });
    for (const Fill &fill : table.zeros)
      std::memset(memory.translate(fill.address, fill.bytes), 0, fill.bytes);
    if (table.words.empty())
      return "";
    emulator::Module module;
    std::string ptx =
        plan.reduces() ? reducingPtx(plan.type, plan.reduction) : copyingPtx(table.unit);
    if (std::string problem = parse(ptx, module); !problem.empty())
      return problem;
    std::map<std::string, uint64_t> globals;
    for (const auto &[name, variable] : module.globals) {
      globals[name] = memory.allocate(variable.bytes);
      std::memcpy(memory.translate(globals[name], variable.bytes), variable.contents.data(),
                  variable.bytes);
    }
    size_t bytes = 8 * table.words.size();
    uint64_t parameter = memory.allocate(bytes);
    std::memcpy(memory.translate(parameter, bytes), table.words.data(), bytes);
    emulator::Machine machine(module, globals, memory, 3);
    return machine.run(module.kernels.at(kMoveKernel), {table.blocks, kMoveThreads, 0},
                       reinterpret_cast<const uint8_t *>(&parameter), 1, counts);
  }

  CollectivePlan plan;
  emulator::Memory memory;
  emulator::Counts counts;
  std::vector<uint64_t> buffers;
};

Collective collectiveOf(Collective::Kind kind, program::ElementType type,
                        const std::vector<std::vector<int64_t>> &shapes) {
  Collective made;
  made.set_kind(kind);
  made.set_type(type);
  for (const auto &shape : shapes) {
    auto *list = made.add_shapes();
    for (int64_t n : shape)
      list->add_dims(n);
    made.add_operands();
    made.add_results();
  }
  return made;
}

// Bytes of a value of the type: any bits, and numbers of moderate size, zeros, infinities and NaNs.
void fill(program::ElementType type, char *to, int64_t count, std::mt19937_64 &random) {
  int64_t size = byteSize(type);
  bool isComplex = type == program::C64 || type == program::C128;
  bool isFloat = type == program::F32 || type == program::F64 || isComplex;
  int64_t part = isComplex ? size / 2 : size;
  for (int64_t i = 0; i < count * size / part; ++i) {
    char *at = to + i * part;
    uint64_t bits = random();
    double value = (static_cast<double>(random() % 4096) - 2048) / 64;
    if (random() % 16 == 0)
      value = random() % 2 ? INFINITY : 0.0;
    float narrow = static_cast<float>(value);
    switch (type) {
    case program::I1:
      *at = static_cast<char>(bits & 1);
      break;
    case program::I2:
    case program::I4:
    case program::U2:
    case program::U4: {
      unsigned unused = type == program::I2 || type == program::U2 ? 6 : 4;
      auto top = static_cast<unsigned char>(bits << unused);
      bool isSigned = type == program::I2 || type == program::I4;
      *at = isSigned ? static_cast<char>(static_cast<signed char>(top) >> unused)
                     : static_cast<char>(top >> unused);
      break;
    }
    case program::F4E2M1FN:
      *at = static_cast<char>(bits & 0xf);
      break;
    case program::F6E2M3FN:
    case program::F6E3M2FN:
      *at = static_cast<char>(bits & 0x3f);
      break;
    default:
      if (isFloat && part == 4)
        std::memcpy(at, &narrow, 4);
      else if (isFloat)
        std::memcpy(at, &value, 8);
      else if (isSmallFloat(type) && random() % 2)
        fromFloat32(type, &narrow, at, 1);
      else
        std::memcpy(at, &bits, static_cast<size_t>(size));
    }
  }
}

// Whether both are the same value: NaNs may have other bits.
bool isSame(program::ElementType type, const char *a, const char *b) {
  auto size = static_cast<size_t>(byteSize(type));
  if (!std::memcmp(a, b, size))
    return true;
  auto isNan = [&](const char *value, size_t at) {
    if (type == program::F32 || type == program::C64) {
      float number;
      std::memcpy(&number, value + at, 4);
      return std::isnan(number);
    }
    if (type == program::F64 || type == program::C128) {
      double number;
      std::memcpy(&number, value + at, 8);
      return std::isnan(number);
    }
    float number = 0;
    if (isSmallFloat(type))
      toFloat32(type, value, &number, 1);
    return std::isnan(number);
  };
  bool isComplex = type == program::C64 || type == program::C128;
  size_t part = isComplex ? size / 2 : size;
  for (size_t at = 0; at < size; at += part)
    if (std::memcmp(a + at, b + at, part) && !(isNan(a, at) && isNan(b, at)))
      return false;
  return true;
}

class Reductions : public testing::TestWithParam<int> {};

TEST_P(Reductions, HaveTheHostsBits) {
  auto type = static_cast<program::ElementType>(GetParam());
  std::mt19937_64 random(GetParam());
  for (int r = Collective::SUM; r <= Collective::OR; ++r) {
    auto reduction = static_cast<Collective::Reduction>(r);
    for (uint32_t size : {1u, 2u, 5u}) {
      Collective collective = collectiveOf(Collective::ALL_REDUCE, type, {{7, 43}, {3}});
      collective.set_reduction(reduction);
      auto plan = planCollective(collective, size);
      if (!plan.ok())
        continue; // there is no such reduction
      Group group(collective, size);
      for (uint32_t rank = 0; rank < size; ++rank)
        for (size_t i : {0, 1})
          fill(type, group.bytes(rank, i), i ? 3 : 7 * 43, random);
      ASSERT_EQ(group.run(), "");
      for (size_t i : {0, 1}) {
        int64_t count = i ? 3 : 7 * 43;
        std::vector<char> expected(static_cast<size_t>(count * byteSize(type)));
        std::vector<const char *> sources;
        for (uint32_t rank = 0; rank < size; ++rank)
          sources.push_back(group.bytes(rank, i));
        char *target = expected.data();
        {
          NumericMode mode;
          reduceFunction(type, reduction)(sources.data(), size, &target, 1, count);
        }
        for (uint32_t rank = 0; rank < size; ++rank)
          for (int64_t e = 0; e < count; ++e) {
            const char *found = group.bytes(rank, 2 + i) + e * byteSize(type);
            ASSERT_TRUE(isSame(type, found, target + e * byteSize(type)))
                << nameOf(type) << ", reduction " << r << " of " << size << ", element " << e;
          }
      }
    }
  }
}

std::vector<int> types() {
  std::vector<int> list;
  for (int type = program::I1; type <= program::F6E3M2FN; ++type)
    list.push_back(type);
  return list;
}
INSTANTIATE_TEST_SUITE_P(MoveKernels, Reductions, testing::ValuesIn(types()), [](const auto &info) {
  return std::string(nameOf(static_cast<program::ElementType>(info.param)));
});

// Each byte of an operand says whose it is.
TEST(MoveKernels, BlocksGoWhereTheyBelong) {
  struct Case {
    Collective::Kind kind;
    program::ElementType type;
    std::vector<std::vector<int64_t>> shapes;
    uint32_t dim, concat;
    int64_t shift;
    bool wrap;
  };
  const Case cases[] = {{Collective::ALL_GATHER, program::F32, {{3, 5}, {2, 8}}, 1, 0, 0, false},
                        {Collective::ALL_GATHER, program::U8, {{3, 5}}, 0, 0, 0, false},
                        {Collective::ALL_TO_ALL, program::BF16, {{6, 4, 9}}, 0, 2, 0, false},
                        {Collective::ALL_TO_ALL, program::F64, {{6, 4, 9}}, 2, 1, 0, false},
                        {Collective::REDUCE_SCATTER, program::I32, {{4, 6, 5}}, 1, 0, 0, false},
                        {Collective::PERMUTE, program::F32, {{4, 4}, {5}}, 0, 0, 1, false},
                        {Collective::PERMUTE, program::C128, {{70}}, 0, 0, -1, true},
                        {Collective::BROADCAST, program::I16, {{33}}, 0, 0, 0, false},
                        {Collective::ALL_GATHER, program::F32, {{0, 5}}, 0, 0, 0, false}};
  for (const Case &one : cases) {
    constexpr uint32_t size = 3;
    Collective collective = collectiveOf(one.kind, one.type, one.shapes);
    collective.set_dim(one.dim);
    collective.set_concat_dim(one.concat);
    collective.set_shift(one.shift);
    collective.set_wrap(one.wrap);
    Group group(collective, size);
    const CollectivePlan &plan = group.plan;
    size_t count = plan.transfers.size();
    std::mt19937_64 random(5);
    for (uint32_t rank = 0; rank < size; ++rank)
      for (size_t i = 0; i < count; ++i)
        for (int64_t b = 0; b < plan.transfers[i].operandBytes; ++b)
          group.bytes(rank, i)[b] = static_cast<char>(random());
    ASSERT_EQ(group.run(), "");
    for (size_t i = 0; i < count; ++i) {
      const Transfer &transfer = plan.transfers[i];
      for (uint32_t target = 0; target < size; ++target) {
        std::vector<char> expected(static_cast<size_t>(transfer.resultBytes));
        std::vector<int32_t> sums(expected.size() / 4);
        for (uint32_t source = 0; source < size; ++source) {
          if (!plan.moves(source, target))
            continue;
          const char *from = group.bytes(source, i) + target * transfer.fromStep;
          if (!plan.reduces()) {
            copyBlock(transfer.block, from, expected.data() + source * transfer.toStep, 0,
                      transfer.block.bytes());
            continue;
          }
          std::vector<int32_t> part(sums.size());
          copyBlock(transfer.block, from, reinterpret_cast<char *>(part.data()), 0,
                    transfer.block.bytes());
          for (size_t e = 0; e < sums.size(); ++e)
            sums[e] = static_cast<int32_t>(static_cast<uint32_t>(sums[e]) +
                                           static_cast<uint32_t>(part[e]));
        }
        if (plan.reduces())
          std::memcpy(expected.data(), sums.data(), expected.size());
        EXPECT_EQ(std::memcmp(group.bytes(target, count + i), expected.data(), expected.size()), 0)
            << nameOf(one.kind) << " of " << nameOf(one.type) << ", rank " << target;
      }
    }
  }
}

// Contiguous blocks of even addresses go by 16 bytes, each read and written once.
TEST(MoveKernels, WideAccesses) {
  Group group(collectiveOf(Collective::ALL_GATHER, program::F32, {{64}}), 4);
  ASSERT_EQ(group.run(), "");
  EXPECT_EQ(group.counts.bytesWritten, 4u * 4 * 256);
  EXPECT_EQ(group.counts.sectorsWritten, 4u * 4 * 8);
}

} // namespace
} // namespace tessera::runtime::device::cuda
