#include "runtime/device/cuda/MoveTable.h"
#include "runtime/device/cuda/MoveKernels.h"
#include <numeric>

namespace tessera::runtime::device::cuda {

using program::Collective;

namespace {

constexpr uint64_t kMostBlocks = 4096; // of a part: threads take several elements then

using Buffer = std::function<uint64_t(uint32_t rank, size_t i)>;

// Operand i of the collective.
MovePart partOf(const CollectivePlan &plan, size_t i, const Buffer &buffer,
                std::vector<Fill> &zeros) {
  const Transfer &transfer = plan.transfers[i];
  size_t count = plan.transfers.size();
  uint32_t g = plan.groupSize;
  MovePart part;
  part.block = transfer.block;
  auto operand = [&](uint32_t rank) { return buffer(rank, i); };
  auto result = [&](uint32_t rank) { return buffer(rank, count + i); };
  auto from = [&](uint32_t source, uint64_t block) {
    part.addresses.push_back(operand(source) + block * static_cast<uint64_t>(transfer.fromStep));
  };
  auto to = [&](uint32_t target, uint64_t block) {
    part.addresses.push_back(result(target) + block * static_cast<uint64_t>(transfer.toStep));
  };
  switch (plan.kind) {
  case Collective::ALL_REDUCE:
    part.jobs = 1, part.sources = part.targets = g;
    for (uint32_t r = 0; r < g; ++r)
      from(r, 0);
    for (uint32_t r = 0; r < g; ++r)
      to(r, 0);
    return part;
  case Collective::REDUCE_SCATTER:
    part.jobs = part.sources = g;
    for (uint32_t target = 0; target < g; ++target) {
      for (uint32_t r = 0; r < g; ++r)
        from(r, target);
      to(target, 0);
    }
    return part;
  case Collective::PERMUTE:
    for (uint32_t target = 0; target < g; ++target) {
      int64_t source = plan.permutation.sourceOf(target);
      if (source < 0) {
        zeros.push_back({result(target), static_cast<uint64_t>(transfer.resultBytes)});
        continue;
      }
      ++part.jobs;
      from(static_cast<uint32_t>(source), 0);
      to(target, 0);
    }
    return part;
  case Collective::BROADCAST:
    part.jobs = 1, part.targets = g;
    from(0, 0);
    for (uint32_t r = 0; r < g; ++r)
      to(r, 0);
    return part;
  default:
    part.jobs = uint64_t{g} * g;
    for (uint32_t target = 0; target < g; ++target)
      for (uint32_t source = 0; source < g; ++source) {
        from(source, target);
        to(target, source);
      }
    return part;
  }
}

// The widest access that all addresses, rows and steps allow.
uint32_t unitOf(const std::vector<MovePart> &parts) {
  uint64_t all = 16;
  auto take = [&](uint64_t number) { all = std::gcd(all, number); };
  for (const MovePart &part : parts) {
    take(static_cast<uint64_t>(part.block.row));
    for (size_t d = 0; d < part.block.extent.size(); ++d) {
      take(static_cast<uint64_t>(part.block.from[d]));
      take(static_cast<uint64_t>(part.block.to[d]));
    }
    for (uint64_t address : part.addresses)
      take(address);
  }
  return static_cast<uint32_t>(all);
}

} // namespace

MoveTable moveTable(std::vector<MovePart> parts, uint32_t unit) {
  MoveTable table;
  std::erase_if(parts, [](const MovePart &part) { return !part.jobs || !part.block.bytes(); });
  if (parts.empty())
    return table;
  table.unit = unit ? unit : unitOf(parts);
  std::vector<uint64_t> &words = table.words;
  words.resize(2 + 2 * parts.size());
  words[0] = parts.size();
  for (size_t p = 0; p < parts.size(); ++p) {
    const MovePart &part = parts[p];
    const Block &block = part.block;
    uint64_t each = static_cast<uint64_t>(block.bytes()) / table.unit, all = part.jobs * each;
    table.blocks += static_cast<uint32_t>(
        std::min<uint64_t>((all + kMoveThreads - 1) / kMoveThreads, kMostBlocks));
    words[2 + p] = table.blocks;
    words[2 + parts.size() + p] = 8 * words.size();
    words.insert(words.end(), {all, each, part.sources, part.targets,
                               static_cast<uint64_t>(block.row) / table.unit, block.extent.size()});
    for (size_t d = block.extent.size(); d-- > 0;)
      for (int64_t number : {block.extent[d], block.from[d], block.to[d]})
        words.push_back(static_cast<uint64_t>(number));
    words.insert(words.end(), part.addresses.begin(), part.addresses.end());
  }
  return table;
}

MoveTable moveTable(const CollectivePlan &plan, const Buffer &buffer) {
  std::vector<Fill> zeros;
  std::vector<MovePart> parts;
  for (size_t i = 0; i < plan.transfers.size(); ++i)
    parts.push_back(partOf(plan, i, buffer, zeros));
  std::erase_if(zeros, [](const Fill &fill) { return !fill.bytes; });
  MoveTable table =
      moveTable(std::move(parts), plan.reduces() ? reducedUnit(plan.type, plan.reduction) : 0);
  table.zeros = std::move(zeros);
  return table;
}

} // namespace tessera::runtime::device::cuda
