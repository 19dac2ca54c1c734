#include "runtime/program/Moves.h"
#include <algorithm>
#include <vector>

namespace tessera::runtime {

namespace {

using Moves = std::map<std::string, Moved>;

uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Instructions [begin, end) of a loop.
struct Region {
  uint32_t begin, end;
  uint64_t trips;
  bool known;
};

class Counter {
public:
  explicit Counter(const Decoded &decoded) : decoded_(decoded) {
    const auto &code = decoded.code;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].opcode == Opcode::EnterLoop)
        regions_.push_back({pc + 1, code[pc].b, code[pc].c, true});
      else if (code[pc].opcode == Opcode::Jump && code[pc].b <= pc)
        regions_.push_back({code[pc].b, pc + 1, 1, false});
    }
    std::sort(regions_.begin(), regions_.end(), [](const Region &a, const Region &b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }

  Moves count() {
    const auto &functions = decoded_.functions;
    auto size = static_cast<uint32_t>(decoded_.code.size());
    for (size_t f = 0; f < functions.size(); ++f) // which call only those before them
      functions_.push_back(
          count(functions[f].entry, f + 1 < functions.size() ? functions[f + 1].entry : size));
    return count(0, functions.empty() ? size : functions[0].entry);
  }

private:
  Moves count(uint32_t begin, uint32_t end) {
    Moves moves;
    std::vector<Region> around{{begin, end, 1, true}}; // trips: of it and all outside of it
    auto next = std::lower_bound(regions_.begin(), regions_.end(), begin,
                                 [](const Region &r, uint32_t at) { return r.begin < at; });
    for (uint32_t pc = begin; pc < end; ++pc) {
      while (around.size() > 1 && around.back().end <= pc)
        around.pop_back();
      for (; next != regions_.end() && next->begin == pc; ++next) {
        Region inner = *next;
        inner.trips = times(inner.trips, around.back().trips);
        inner.known = inner.known && around.back().known;
        if (inner.begin < inner.end)
          around.push_back(inner);
      }
      add(moves, decoded_.code[pc], around.back());
    }
    return moves;
  }

  void add(Moves &moves, const Instruction &instruction, const Region &around) {
    if (instruction.opcode == Opcode::Call) {
      for (const auto &[kind, called] : functions_[instruction.a])
        add(moves[kind], called, around);
      return;
    }
    bool isStart = instruction.opcode == Opcode::Start;
    if (!isStart && instruction.opcode != Opcode::Transfer)
      return;
    const CollectivePlan &plan =
        isStart ? decoded_.collectives[instruction.a] : decoded_.transfers[instruction.a];
    if (plan.groupSize > 1)
      add(moves[nameOf(plan)], {1, 1, static_cast<uint64_t>(plan.bytes), true}, around);
  }

  static void add(Moved &to, const Moved &once, const Region &around) {
    to.sites = plus(to.sites, once.sites);
    to.count = plus(to.count, times(once.count, around.trips));
    to.bytes = plus(to.bytes, times(once.bytes, around.trips));
    to.known = to.known && once.known && around.known;
  }

  const Decoded &decoded_;
  std::vector<Region> regions_;
  std::vector<Moves> functions_; // of one call
};

} // namespace

std::map<std::string, Moved> movesOf(const Decoded &decoded) { return Counter(decoded).count(); }

} // namespace tessera::runtime
