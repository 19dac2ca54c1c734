// What a loop puts away in each trip: an array that it carries for nothing but to update a part of it.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/Views.h"

#include <optional>

namespace tessera::fuse {

struct FilledStack {
  unsigned carried = 0; // its number among what the loop carries
  stablehlo::DynamicUpdateSliceOp update;

  // Of the loop's body, that a slot holds, maybe in another shape.
  mlir::Value value() const {
    return originOf(stablehlo::DynamicUpdateSliceOp(update).getUpdate());
  }
};

// The stack that a loop carries as its `i`th value; none where it does something else with that.
inline std::optional<FilledStack> filledStack(stablehlo::WhileOp loop, unsigned i) {
  mlir::Block &body = loop.getBody().front();
  mlir::BlockArgument argument = body.getArgument(i);
  auto update =
      body.getTerminator()->getOperand(i).getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  bool isStack = update && update.getOperand() == argument && argument.hasOneUse() &&
                 update->hasOneUse() && loop.getCond().front().getArgument(i).use_empty();
  if (!isStack)
    return std::nullopt;
  return FilledStack{i, update};
}

} // namespace tessera::fuse
