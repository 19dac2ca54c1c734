// The loops of reductions give the same bits on every instruction set: for all bit patterns, NaN,
// infinities and subnormal numbers among them. Guards against a variant that fuses a product and a
// sum, or that takes the other operand of two NaNs.
#include "runtime/comm/ReduceVariants.h"
#include <gtest/gtest.h>
#include <random>

namespace tessera::runtime {
namespace {

using Pick = ReduceFunction (*)(char kind, int size, int op);

// Bytes of half a dozen kinds of numbers: any, small ones, and those with all bits of an exponent.
std::string randomBytes(size_t size, std::mt19937 &random) {
  std::string bytes(size, 0);
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = (uint64_t(random()) << 32) | random();
    switch (random() % 4) {
    case 0:
      word |= 0x7f807f807f807f80; // NaN and infinity
      break;
    case 1:
      word &= 0x807f807f807f807f; // zeros and subnormal numbers
      break;
    default:
      break;
    }
    for (size_t k = 0; k < 8 && i + k < size; ++k)
      bytes[i + k] = static_cast<char>(word >> (8 * k));
  }
  return bytes;
}

std::string reduceWith(Pick pick, char kind, int size, int op,
                       const std::vector<std::string> &sources) {
  std::string target(sources[0].size(), '\x55');
  std::vector<const char *> from;
  for (const std::string &source : sources)
    from.push_back(source.data());
  char *to = target.data();
  pick(kind, size, op)(from.data(), from.size(), &to, 1,
                       static_cast<int64_t>(target.size()) / size);
  return target;
}

TEST(ReduceTest, TheSameBitsOnEveryInstructionSet) {
  std::vector<std::pair<const char *, Pick>> here;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    here.emplace_back("avx2", avx2::pick);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    here.emplace_back("avx512", avx512::pick);
#endif
  std::mt19937 random(7);
  struct {
    char kind;
    std::vector<int> sizes;
    int ops;
  } const kinds[] = {
      {'f', {4, 8}, 4}, {'h', {2}, 4}, {'i', {1, 2, 4, 8}, 6}, {'u', {1, 2, 4, 8}, 6}};
  for (const auto &[kind, sizes, ops] : kinds)
    for (int size : sizes)
      for (int op = 0; op < ops; ++op)
        for (size_t count : {1, 5, 16, 63, 64, 200, 1031})
          for (size_t sourceCount : {1, 2, 3, 8}) {
            std::vector<std::string> sources;
            for (size_t s = 0; s < sourceCount; ++s)
              sources.push_back(randomBytes(count * size, random));
            std::string expected = reduceWith(baseline::pick, kind, size, op, sources);
            for (auto [name, pick] : here)
              ASSERT_EQ(reduceWith(pick, kind, size, op, sources), expected)
                  << name << " " << kind << size << " op " << op << " count " << count << " of "
                  << sourceCount;
          }
}

} // namespace
} // namespace tessera::runtime
