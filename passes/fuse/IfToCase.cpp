// A branch on a boolean is one on a number. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/OpsWithin.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_IFTOCASE
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static void convert(stablehlo::IfOp branch) {
  OpBuilder b(branch);
  Location loc = branch.getLoc();
  auto type = RankedTensorType::get({}, b.getI32Type());
  auto constant = [&](int32_t value) -> Value {
    return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  };
  Value index =
      stablehlo::SelectOp::create(b, loc, type, branch.getPred(), constant(0), constant(1));
  auto made =
      stablehlo::CaseOp::create(b, loc, branch.getResultTypes(), index, /*branchesCount=*/2);
  made.getBranches()[0].takeBody(branch.getTrueBranch());
  made.getBranches()[1].takeBody(branch.getFalseBranch());
  branch->replaceAllUsesWith(made.getResults());
  branch.erase();
}

namespace {
struct IfToCase : impl::IfToCaseBase<IfToCase> {
  void runOnOperation() override {
    for (stablehlo::IfOp branch : opsWithin<stablehlo::IfOp>(getOperation()))
      convert(branch);
  }
};
} // namespace
} // namespace tessera
