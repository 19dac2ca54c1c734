#include "lib/sharding/PartialLaw.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::sharding {
namespace {

constexpr uint32_t bit(ReductionKind kind) { return 1u << unsigned(kind); }
constexpr uint32_t sum = bit(ReductionKind::Sum), product = bit(ReductionKind::Product),
                   max = bit(ReductionKind::Max), min = bit(ReductionKind::Min),
                   conjunction = bit(ReductionKind::And), disjunction = bit(ReductionKind::Or);
constexpr uint32_t all = sum | product | max | min | conjunction | disjunction;

enum class Form {
  One,      // exactly one of `operands` is partial
  Together, // each of `operands` is partial or neutral
  Mixed,    // any may be partial: the op is the reduction itself, and idempotent
};

constexpr uint32_t every = ~0u;

struct Entry {
  PartialLaw law;
  uint32_t kinds;
  Form form;
  uint32_t operands;     // bits; all others must be whole
  bool combiner = false; // the region must combine by the same kind
  bool realOnly = false; // not for integers
};

constexpr Entry table[] = {
    {PartialLaw::Add, sum, Form::Together, 0b11},
    {PartialLaw::Add, max | min, Form::One, 0b11, false, true}, // integers wrap
    {PartialLaw::Subtract, sum, Form::Together, 0b11},
    {PartialLaw::Subtract, max | min, Form::One, 0b01, false, true},
    {PartialLaw::Multiply, sum, Form::One, 0b11},
    {PartialLaw::Multiply, product, Form::Together, 0b11},
    {PartialLaw::Divide, sum, Form::One, 0b01, false, true},
    {PartialLaw::Maximum, max, Form::Mixed, 0b11},
    {PartialLaw::Minimum, min, Form::Mixed, 0b11},
    {PartialLaw::And, conjunction, Form::Mixed, 0b11},
    {PartialLaw::Or, disjunction, Form::Mixed, 0b11},
    {PartialLaw::Convert, sum | max | min, Form::One, 0b1, false, true},
    {PartialLaw::Linear, sum, Form::One, 0b1},
    {PartialLaw::Pair, sum, Form::Together, 0b11},
    {PartialLaw::Select, all, Form::Together, 0b110},
    {PartialLaw::Move, all, Form::One, 0b1},
    {PartialLaw::Insert, all, Form::Together, 0b11},
    {PartialLaw::Concatenate, all, Form::Together, every},
    {PartialLaw::Contract, sum, Form::One, 0b11},
    {PartialLaw::Reduce, all, Form::Together, every, true},
    {PartialLaw::Scatter, all, Form::Together, 0b101, true}, // one result
};

bool holds(const Entry &entry, const PartialQuery &query) {
  int64_t partial = 0;
  for (auto [i, state] : llvm::enumerate(query.operands)) {
    bool mayBePartial = i < 32 && (entry.operands >> i & 1);
    if (state == OperandState::Partial) {
      if (!mayBePartial)
        return false;
      ++partial;
    } else if (mayBePartial && entry.form == Form::Together && state == OperandState::Whole) {
      return false;
    }
  }
  return entry.form == Form::One ? partial == 1 : partial > 0;
}

} // namespace

bool commutesWithReduction(const PartialQuery &query) {
  return !query.rewraps && llvm::any_of(table, [&](const Entry &entry) {
    return entry.law == query.law && (entry.kinds & bit(query.kind)) &&
           !(entry.combiner && query.combiner != query.kind) &&
           !(entry.realOnly && query.integer) && holds(entry, query);
  });
}

} // namespace tessera::sharding
