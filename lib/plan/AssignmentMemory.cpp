// What a device holds of an assignment: values where they lie, copies that ops read elsewhere, and what
// is made before it is reduced or moved.
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/Memory.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

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

// What is held of the assignment that was priced last.
struct AssignmentPrices::Holding {
  // A value as ops read it elsewhere than where it lies, from the first of them to the last.
  struct Copy {
    int32_t value, number; // of the program; of the sharding
    Held held;
  };
  struct Read {
    int32_t copy, at, ends;
    double times; // that it would be brought for this one alone
    bool operator<(const Read &other) const {
      return std::tie(copy, at, ends) < std::tie(other.copy, other.at, other.ends);
    }
  };
  HeldOver over;
  std::vector<Copy> copies;
  std::vector<Read> reads;
  std::vector<bool> isLeft; // of each value: not held any more where copies of it are
};

AssignmentPrices::Holding AssignmentPrices::holding(const Assignment &assignment) const {
  auto bytesOf = [&](int32_t v, int32_t number) {
    return heldBytes(program, v, tables.lists.numbered(number));
  };
  Holding all;
  all.over.addValues(program, assignment);
  std::map<std::pair<int32_t, int32_t>, int32_t> copyOf; // of a value, to a sharding
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
        auto [it, isNew] = copyOf.try_emplace(std::make_pair(turn.operands[i], number),
                                              int32_t(all.copies.size()));
        if (isNew) {
          all.copies.push_back({int32_t(v), number, {turn.at, turn.ends, bytesOf(v, number)}});
          reads[v].brought = std::max(reads[v].brought, turn.at);
        }
        int32_t ends = turn.ends;
        double rounds = facts.times / double(facts.turns.size());
        if (program.values[v].times < rounds) // until its loop ends
          ends = std::max(ends, program.values[v].last);
        Held &held = all.copies[it->second].held;
        held.last = std::max(held.last, ends);
        all.reads.push_back(
            {it->second, turn.at, ends, facts.operandTimes[i] / double(facts.turns.size())});
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
        all.over.add(isWithin ? Held{turn.at, turn.at, bytesOf(v, number)}
                              : Held{turn.ends, turn.ends, bytesOf(v, number)});
    }
  }
  for (const Holding::Copy &copy : all.copies)
    all.over.add(copy.held);
  all.isLeft.resize(program.values.size());
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    double bytes = heldBytes(program, int32_t(v), assignment[v]);
    if (isWritten[v])
      all.over.add({facts.first, facts.last, bytes});
    // Where all that still reads it reads copies, it is not held any more.
    int32_t last = std::max({reads[v].here, reads[v].brought, facts.first});
    bool isTemporary = facts.argument < 0 && facts.result < 0 && facts.others.empty();
    if (isTemporary && (facts.stored || isWritten[v]) && reads[v].brought >= 0 &&
        reads[v].all == facts.last && last < facts.last) {
      all.over.add({last + 1, facts.last, -bytes});
      all.isLeft[v] = true;
    }
  }
  return all;
}

double AssignmentPrices::peakBytes(const Assignment &assignment) const {
  return holding(assignment).over.peakBytes();
}

AssignmentPrices::Fitted AssignmentPrices::fitted(const Assignment &assignment, double capacity) {
  Holding all = holding(assignment);
  double bytes = all.over.peakBytes();
  if (bytes <= capacity)
    return {bytes, 0};
  // Copies of one value, to one sharding, are given up together: those of equal layers.
  struct Idle {
    double seconds = 0, bytes = 0;
    std::vector<Held> spans;
  };
  std::map<std::pair<int32_t, int32_t>, Idle> idleOf;
  llvm::sort(all.reads);
  for (auto it = all.reads.begin(), end = all.reads.end(); it != end;) {
    const Holding::Copy &copy = all.copies[it->copy];
    Held longest;
    double times = 0; // that it is brought behind that
    int32_t busy = it->ends;
    for (int32_t number = it->copy; it != end && it->copy == number; ++it) {
      if (it->at - busy > longest.last - longest.first) {
        longest = {busy, it->at, copy.held.bytes};
        times = it->times;
      }
      busy = std::max(busy, it->ends);
    }
    bool isIdle = copy.held.bytes > 0 && longest.last - longest.first >= 2;
    if (all.isLeft[copy.value] || !isIdle)
      continue;
    Idle &idle = idleOf[{copy.value, copy.number}];
    idle.seconds +=
        times * moving(copy.value, assignment[copy.value], tables.lists.numbered(copy.number));
    idle.bytes += copy.held.bytes;
    idle.spans.push_back({longest.first + 1, longest.last - 1, -copy.held.bytes});
  }
  std::vector<Idle> cheapestFirst;
  for (auto &[place, idle] : idleOf)
    cheapestFirst.push_back(std::move(idle));
  llvm::stable_sort(cheapestFirst, [](const Idle &a, const Idle &b) {
    return a.seconds * b.bytes < b.seconds * a.bytes;
  });
  auto withThose = [&](size_t count) {
    Fitted fitted;
    HeldOver over = all.over;
    for (const Idle &idle : llvm::ArrayRef(cheapestFirst).take_front(count)) {
      for (const Held &span : idle.spans)
        over.add(span);
      fitted.seconds += idle.seconds;
    }
    fitted.bytes = over.peakBytes();
    return fitted;
  };
  size_t few = 0, enough = cheapestFirst.size(); // too few, and enough if any number is
  while (enough - few > 1) {
    size_t middle = few + (enough - few) / 2;
    (withThose(middle).bytes <= capacity ? enough : few) = middle;
  }
  return withThose(enough);
}

} // namespace tessera::plan
