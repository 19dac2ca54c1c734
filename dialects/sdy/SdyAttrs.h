// Attributes of the sdy dialect.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include <optional>

#include "dialects/sdy/SdyEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sdy/SdyAttrs.h.inc"

namespace tessera::sdy {

inline constexpr llvm::StringLiteral kShardingAttr = "sdy.sharding";
inline constexpr llvm::StringLiteral kShardingRuleAttr = "sdy.sharding_rule";

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic(const llvm::Twine &)>;

// Whether the axes exist in the mesh, are as large as they can be written, and use no part of it
// twice.
mlir::LogicalResult verifyAxes(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh,
                               EmitError emitError);

// Whether a value of this type can have this sharding. `from` is where the search for the mesh
// begins.
mlir::LogicalResult verifySharding(TensorShardingAttr sharding, mlir::Type type,
                                   mlir::Operation *from, EmitError emitError);

// The same for several values; without `types`, only what holds for any.
mlir::LogicalResult verifyShardings(TensorShardingPerValueAttr shardings, mlir::TypeRange types,
                                    mlir::Operation *from, EmitError emitError);

// That what is unreduced before and after is combined alike.
mlir::LogicalResult verifyKeptReduction(TensorShardingAttr before, TensorShardingAttr after,
                                        EmitError emitError);

mlir::LogicalResult verifyRule(OpShardingRuleAttr rule, mlir::Operation *op, EmitError emitError);

} // namespace tessera::sdy
