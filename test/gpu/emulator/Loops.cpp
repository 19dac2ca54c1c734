#include "test/gpu/emulator/Loops.h"

#include "test/gpu/emulator/Ptx.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::emulator {

namespace {

// Runs of instructions that jumps neither leave nor enter within.
struct Blocks {
  std::vector<uint32_t> first;  // instruction; behind the last block's, the number of them
  std::vector<uint32_t> number; // by instruction
  std::vector<std::vector<uint32_t>> next, before;
};

bool endsBlock(const Instruction &i) { return i.code == Code::Bra || i.code == Code::Ret; }

Blocks blocksOf(const Kernel &kernel) {
  auto size = static_cast<uint32_t>(kernel.instructions.size());
  std::set<uint32_t> firsts = {0, size};
  for (uint32_t at = 0; at < size; ++at) {
    const Instruction &i = kernel.instructions[at];
    if (i.code == Code::Bra)
      firsts.insert(i.target);
    if (endsBlock(i))
      firsts.insert(at + 1);
  }
  Blocks blocks;
  blocks.first.assign(firsts.begin(), firsts.end());
  size_t count = blocks.first.size() - 1;
  blocks.next.resize(count), blocks.before.resize(count);
  for (size_t block = 0; block < count; ++block)
    blocks.number.insert(blocks.number.end(), blocks.first[block + 1] - blocks.first[block],
                         static_cast<uint32_t>(block));
  for (uint32_t block = 0; block < count; ++block) {
    const Instruction &last = kernel.instructions[blocks.first[block + 1] - 1];
    auto go = [&](uint32_t target) {
      if (target == size)
        return;
      blocks.next[block].push_back(blocks.number[target]);
      blocks.before[blocks.number[target]].push_back(block);
    };
    if (last.code == Code::Bra)
      go(last.target);
    if (!endsBlock(last) || last.guard >= 0)
      go(blocks.first[block + 1]);
  }
  return blocks;
}

// Each block's place in an order in which it comes behind those that dominate it; kNone: nothing leads to it.
std::vector<uint32_t> orderOf(const Blocks &blocks) {
  std::vector<uint32_t> place(blocks.next.size(), Loops::kNone);
  std::vector<std::pair<uint32_t, size_t>> open = {{0, 0}};
  std::vector<bool> seen(blocks.next.size());
  seen[0] = true;
  auto left = static_cast<uint32_t>(blocks.next.size());
  while (!open.empty()) {
    auto &[block, edge] = open.back();
    if (edge == blocks.next[block].size()) {
      place[block] = --left;
      open.pop_back();
      continue;
    }
    uint32_t to = blocks.next[block][edge++];
    if (!seen[to]) {
      seen[to] = true;
      open.push_back({to, 0});
    }
  }
  return place;
}

// The nearest block that dominates each (Cooper, Harvey, Kennedy 2001, A simple, fast dominance algorithm).
std::vector<uint32_t> dominatorsOf(const Blocks &blocks, const std::vector<uint32_t> &place) {
  std::vector<uint32_t> inOrder, above(place.size(), Loops::kNone);
  for (uint32_t block = 0; block < place.size(); ++block)
    if (place[block] != Loops::kNone)
      inOrder.push_back(block);
  std::sort(inOrder.begin(), inOrder.end(),
            [&](uint32_t a, uint32_t b) { return place[a] < place[b]; });
  above[0] = 0;
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t block : inOrder) {
      if (block == 0)
        continue;
      uint32_t found = Loops::kNone;
      for (uint32_t from : blocks.before[block]) {
        if (above[from] == Loops::kNone)
          continue;
        uint32_t a = found == Loops::kNone ? from : found, b = from;
        while (a != b)
          (place[a] > place[b] ? a : b) = above[place[a] > place[b] ? a : b];
        found = a;
      }
      changes |= found != above[block];
      above[block] = found;
    }
  }
  return above;
}

} // namespace

Loops loopsOf(const Kernel &kernel) {
  Loops loops;
  size_t size = kernel.instructions.size();
  loops.begins.assign(size, Loops::kNone);
  loops.around.assign(size, Loops::kNone);
  if (!size)
    return loops;
  Blocks blocks = blocksOf(kernel);
  std::vector<uint32_t> place = orderOf(blocks), above = dominatorsOf(blocks, place);
  auto dominates = [&](uint32_t a, uint32_t b) {
    while (place[b] > place[a])
      b = above[b];
    return a == b;
  };
  // What goes back to a block that dominates it, and all from where it is reached without that one.
  std::map<uint32_t, std::set<uint32_t>> inside; // by the loop's first block
  for (uint32_t block = 0; block < place.size(); ++block)
    for (uint32_t to : blocks.next[block]) {
      if (place[block] == Loops::kNone || !dominates(to, block))
        continue;
      std::set<uint32_t> &body = inside[to];
      body.insert(to);
      std::vector<uint32_t> open = {block};
      while (!open.empty()) {
        uint32_t at = open.back();
        open.pop_back();
        if (body.insert(at).second)
          for (uint32_t from : blocks.before[at])
            if (place[from] != Loops::kNone)
              open.push_back(from);
      }
    }
  // The largest first: each lies in what was last around its first block.
  std::vector<std::pair<size_t, uint32_t>> bySize;
  for (auto &[first, body] : inside)
    bySize.push_back({body.size(), first});
  std::sort(bySize.rbegin(), bySize.rend());
  for (auto [count, first] : bySize) {
    auto loop = static_cast<uint32_t>(loops.parent.size());
    loops.parent.push_back(loops.around[blocks.first[first]]);
    loops.begins[blocks.first[first]] = loop;
    for (uint32_t block : inside[first])
      std::fill(loops.around.begin() + blocks.first[block],
                loops.around.begin() + blocks.first[block + 1], loop);
  }
  return loops;
}

} // namespace tessera::emulator
