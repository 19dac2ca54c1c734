// What a device holds of an assignment: values where they lie, copies that ops read elsewhere, and what
// is made before it is reduced or moved.
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/Memory.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::TensorSharding;

namespace {

// Whether a value is summed where it is.
bool isReducedInPlace(const TensorSharding &from, const TensorSharding &to) {
  return to.unreduced.empty() && llvm::equal(from.dims, to.dims, [](const auto &a, const auto &b) {
           return a.axes == b.axes;
         });
}

// Whether each device has there what it needs: a slice, which its reader takes from where it is.
bool isPartOf(const TensorSharding &to, const TensorSharding &from) {
  return llvm::equal(to.unreduced, from.unreduced) &&
         llvm::all_of(llvm::zip_equal(to.dims, from.dims), [](const auto &dims) {
           const sharding::AxisRefs &finer = std::get<0>(dims).axes;
           const sharding::AxisRefs &axes = std::get<1>(dims).axes;
           return llvm::ArrayRef(finer).take_front(axes.size()) == llvm::ArrayRef(axes);
         });
}

} // namespace

double AssignmentPrices::peakBytes(const Assignment &assignment) const {
  auto bytesOf = [&](int32_t v, int32_t number) {
    return heldBytes(program, v, tables.lists.numbered(number));
  };
  std::vector<Held> besides;
  std::map<std::pair<int32_t, int32_t>, Held> brought; // of a value, to a sharding
  struct Read {
    int32_t here = -1, brought = -1, all = -1; // when the last op ends that does
  };
  std::vector<Read> reads(program.values.size());
  std::vector<bool> isWritten(program.values.size()); // though it would never leave its kernel
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    const OpFacts &facts = program.ops[index];
    for (auto [i, v] : llvm::enumerate(op.operands)) {
      bool isNeeded = i < uses.needed[index].size() && tables.isMoved(v);
      int32_t number = isNeeded ? uses.needed[index][i] : -1;
      bool isBrought = isNeeded && number != numbers[v] &&
                       !isPartOf(tables.lists.numbered(number), assignment[v]);
      for (const Turn &turn : facts.turns) {
        reads[v].all = std::max(reads[v].all, turn.ends);
        if (!isBrought) {
          reads[v].here = std::max(reads[v].here, turn.ends);
          continue;
        }
        auto [it, isNew] = brought.try_emplace(std::make_pair(turn.operands[i], number),
                                               Held{turn.at, turn.ends, bytesOf(v, number)});
        if (isNew)
          reads[v].brought = std::max(reads[v].brought, turn.at);
        it->second.last = std::max(it->second.last, turn.ends);
        if (program.values[v].times < facts.times) // until its loop ends
          it->second.last = std::max(it->second.last, program.values[v].last);
      }
      if (isBrought)
        isWritten[v] = isWritten[v] || program.values[v].inKernel;
    }
    for (auto [i, number] : llvm::enumerate(made[index])) {
      int32_t v = op.results[i];
      const TensorSharding &from = tables.lists.numbered(number);
      if (program.graph.values[v].free || number == numbers[v] || isPartOf(assignment[v], from))
        continue;
      bool isWithin = program.values[v].inKernel; // the kernel ends there
      isWritten[v] = isWritten[v] || isWithin;
      if (isReducedInPlace(from, assignment[v]))
        continue;
      for (const Turn &turn : facts.turns)
        besides.push_back(isWithin ? Held{turn.at, turn.at, bytesOf(v, number)}
                                   : Held{turn.ends, turn.ends, bytesOf(v, number)});
    }
  }
  for (const auto &[place, held] : brought)
    besides.push_back(held);
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    double bytes = heldBytes(program, int32_t(v), assignment[v]);
    if (isWritten[v])
      besides.push_back({facts.first, facts.last, bytes});
    // Where all that still reads it reads copies, it is not held any more.
    int32_t last = std::max({reads[v].here, reads[v].brought, facts.first});
    bool isTemporary = facts.argument < 0 && facts.result < 0 && facts.others.empty();
    if (isTemporary && (facts.stored || isWritten[v]) && reads[v].brought >= 0 &&
        reads[v].all == facts.last && last < facts.last)
      besides.push_back({last + 1, facts.last, -bytes});
  }
  return plan::peakBytes(program, assignment, besides);
}

} // namespace tessera::plan
