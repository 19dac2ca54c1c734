// Says of each value in which memory it lies. Passes.td shows an example.
#include "dialects/tessera/Marks.h"
#include "passes/import/MemoryKinds.h"
#include "passes/import/Passes.h"
#include "passes/placement/MemorySpaces.h"

namespace tessera {
#define GEN_PASS_DEF_PLACEVALUES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

constexpr llvm::StringLiteral kKind = "mhlo.memory_kind";

// What the signature says of an argument or result; nothing where it says nothing.
FailureOr<std::optional<comm::Space>> saidOf(DictionaryAttr attributes, Location loc) {
  auto kind = attributes ? attributes.getAs<StringAttr>(kKind) : StringAttr();
  if (!kind)
    return std::optional<comm::Space>();
  std::optional<comm::Space> space = import::spaceOfKind(kind.getValue());
  if (!space)
    return emitError(loc) << import::unknownKind(kind.getValue());
  return space;
}

LogicalResult place(func::FuncOp function) {
  std::vector<std::optional<comm::Space>> results;
  {
    sdy::SignatureAttributes signature(function);
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto said = saidOf(signature.ofArgument(i), argument.getLoc());
      if (failed(said))
        return failure();
      if (*said)
        setMemoryOfArgument(signature, i, **said);
      signature.removeArgument(i, kKind);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto said = saidOf(signature.ofResult(i), function.getLoc());
      if (failed(said))
        return failure();
      results.push_back(*said);
      signature.removeResult(i, kKind);
    }
  }
  placement::makeTransfersExplicit(function, results, /*keepsHolds=*/true);
  return success();
}

struct PlaceValues : impl::PlaceValuesBase<PlaceValues> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(place(function)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
