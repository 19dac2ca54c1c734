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

struct Law {
  llvm::StringLiteral op;
  uint32_t kinds;
  Form form;
  uint32_t operands;     // bits; all others must be whole
  bool combiner = false; // the region must combine by the same kind
  bool realOnly = false; // not for integers
};

constexpr Law laws[] = {
    {"stablehlo.add", sum, Form::Together, 0b11},
    {"stablehlo.add", max | min, Form::One, 0b11, false, true}, // integers wrap
    {"stablehlo.subtract", sum, Form::Together, 0b11},
    {"stablehlo.subtract", max | min, Form::One, 0b01, false, true},
    {"stablehlo.negate", sum, Form::One, 0b1},
    {"stablehlo.multiply", sum, Form::One, 0b11},
    {"stablehlo.multiply", product, Form::Together, 0b11},
    {"stablehlo.divide", sum, Form::One, 0b01, false, true},
    {"stablehlo.maximum", max, Form::Mixed, 0b11},
    {"stablehlo.minimum", min, Form::Mixed, 0b11},
    {"stablehlo.and", conjunction, Form::Mixed, 0b11},
    {"stablehlo.or", disjunction, Form::Mixed, 0b11},
    {"stablehlo.convert", sum | max | min, Form::One, 0b1, false, true},
    {"stablehlo.real", sum, Form::One, 0b1},
    {"stablehlo.imag", sum, Form::One, 0b1},
    {"stablehlo.complex", sum, Form::Together, 0b11},
    {"stablehlo.select", all, Form::Together, 0b110},
    // Ops that move elements.
    {"stablehlo.reshape", all, Form::One, 0b1},
    {"stablehlo.transpose", all, Form::One, 0b1},
    {"stablehlo.broadcast", all, Form::One, 0b1},
    {"stablehlo.broadcast_in_dim", all, Form::One, 0b1},
    {"stablehlo.slice", all, Form::One, 0b1},
    {"stablehlo.reverse", all, Form::One, 0b1},
    {"stablehlo.dynamic_slice", all, Form::One, 0b1},
    {"stablehlo.gather", all, Form::One, 0b1},
    {"stablehlo.pad", all, Form::Together, 0b11},
    {"stablehlo.concatenate", all, Form::Together, every},
    {"stablehlo.dynamic_update_slice", all, Form::Together, 0b11},
    // Contractions and reductions.
    {"stablehlo.dot_general", sum, Form::One, 0b11},
    {"stablehlo.dot", sum, Form::One, 0b11},
    {"stablehlo.convolution", sum, Form::One, 0b11},
    {"stablehlo.fft", sum, Form::One, 0b1},
    {"stablehlo.reduce", all, Form::Together, every, true},
    {"stablehlo.reduce_window", all, Form::Together, every, true},
    {"stablehlo.scatter", all, Form::Together, 0b101, true}, // operand and updates of one result
};

bool holds(const Law &law, const PartialQuery &query) {
  int64_t partial = 0;
  for (auto [i, state] : llvm::enumerate(query.operands)) {
    bool mayBePartial = i < 32 && (law.operands >> i & 1);
    if (state == OperandState::Partial) {
      if (!mayBePartial)
        return false;
      ++partial;
    } else if (mayBePartial && law.form == Form::Together && state == OperandState::Whole) {
      return false;
    }
  }
  return law.form == Form::One ? partial == 1 : partial > 0;
}

} // namespace

bool commutesWithReduction(const PartialQuery &query) {
  return llvm::any_of(laws, [&](const Law &law) {
    return law.op == query.op && (law.kinds & bit(query.kind)) &&
           !(law.combiner && query.combiner != query.kind) && !(law.realOnly && query.integer) &&
           holds(law, query);
  });
}

} // namespace tessera::sharding
