// For tests: collectives by mesh axes as StableHLO's, over replicas, so that another compiler can
// run what localize made. Passes.td shows an example.
#include "passes/localize/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_COMMTOSTABLEHLO
#include "passes/localize/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::localize {
namespace {

StringRef combinerOf(comm::ReductionKind kind) {
  switch (kind) {
  case comm::ReductionKind::Sum:
    return "add";
  case comm::ReductionKind::Product:
    return "multiply";
  case comm::ReductionKind::Max:
    return "maximum";
  case comm::ReductionKind::Min:
    return "minimum";
  case comm::ReductionKind::And:
    return "and";
  case comm::ReductionKind::Or:
    return "or";
  }
  llvm_unreachable("every case is above");
}

struct Lowering {
  const sharding::Mesh &mesh;
  OpBuilder b;
  Location loc;

  // Groups in the order of their first device, ranks in order.
  SmallVector<SmallVector<int64_t>> groups(comm::AxesAttr axes) {
    sharding::AxisRefs refs = axes.toAxisRefs(mesh);
    SmallVector<SmallVector<int64_t>> groups;
    llvm::DenseMap<int64_t, int64_t> byKey;
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      int64_t rank = sharding::indexAlong(mesh, device, refs), key = rest(device, refs);
      auto [it, fresh] = byKey.try_emplace(key, groups.size());
      if (fresh)
        groups.emplace_back(axes.getGroupSize(), -1);
      groups[it->second][rank] = device;
    }
    return groups;
  }

  // The device's coordinates with those along `refs` taken out, as one number.
  int64_t rest(int64_t device, ArrayRef<sharding::AxisRef> refs) {
    int64_t key = 0;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      int64_t size = mesh.axes[axis].size;
      int64_t index = sharding::indexAlong(mesh, device, sharding::wholeAxis(mesh, axis));
      for (const sharding::AxisRef &ref : refs)
        if (ref.axis == int64_t(axis)) {
          int64_t post = size / (ref.preSize * ref.size);
          index -= (index / post) % ref.size * post;
        }
      key = key * size + index;
    }
    return key;
  }

  DenseIntElementsAttr table(ArrayRef<SmallVector<int64_t>> rows, int64_t columns) {
    SmallVector<int64_t> flat;
    for (const SmallVector<int64_t> &row : rows)
      flat.append(row.begin(), row.end());
    return DenseIntElementsAttr::get(
        RankedTensorType::get({int64_t(rows.size()), columns}, b.getI64Type()), flat);
  }

  Operation *make(StringRef name, ValueRange operands, TypeRange types,
                  ArrayRef<NamedAttribute> attributes, unsigned regions = 0) {
    OperationState state(loc, ("stablehlo." + name).str(), operands, types, attributes);
    for (unsigned i = 0; i < regions; ++i)
      state.addRegion();
    return b.create(state);
  }

  NamedAttribute named(StringRef name, Attribute value) { return {b.getStringAttr(name), value}; }
  Attribute channel() {
    return stablehlo::ChannelHandleAttr::get(b.getContext(), ++lastChannel, 0);
  }

  void combiner(Region &region, Type element, comm::ReductionKind kind) {
    OpBuilder::InsertionGuard guard(b);
    auto scalar = RankedTensorType::get({}, element);
    Block *block = b.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
    Value combined = make(combinerOf(kind), block->getArguments(), {scalar}, {})->getResult(0);
    stablehlo::ReturnOp::create(b, loc, combined);
  }

  SmallVector<Value> collective(Operation *op, comm::AxesAttr axes) {
    SmallVector<Value> results;
    SmallVector<SmallVector<int64_t>> members = groups(axes);
    auto replicas = named("replica_groups", table(members, axes.getGroupSize()));
    auto number = [&](StringRef name, int64_t value) {
      return named(name, b.getI64IntegerAttr(value));
    };
    auto pairs = [&](function_ref<int64_t(int64_t)> target) {
      SmallVector<SmallVector<int64_t>> rows;
      for (auto &group : members)
        for (int64_t r = 0, g = group.size(); r < g; ++r)
          if (int64_t to = target(r); to >= 0)
            rows.push_back({group[r], group[to]});
      return named("source_target_pairs", table(rows, 2));
    };
    for (auto [input, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
      Type type = result.getType();
      Type element = cast<RankedTensorType>(type).getElementType();
      Operation *made =
          TypeSwitch<Operation *, Operation *>(op)
              .Case([&](comm::AllReduceOp reduce) {
                Operation *made = make("all_reduce", input, type,
                                       {replicas, named("channel_handle", channel())}, 1);
                combiner(made->getRegion(0), element, reduce.getReduction());
                return made;
              })
              .Case([&](comm::ReduceScatterOp reduce) {
                Operation *made = make("reduce_scatter", input, type,
                                       {replicas, number("scatter_dimension", reduce.getDim())}, 1);
                combiner(made->getRegion(0), element, reduce.getReduction());
                return made;
              })
              .Case([&](comm::AllGatherOp gather) {
                return make("all_gather", input, type,
                            {replicas, number("all_gather_dim", gather.getDim())});
              })
              .Case([&](comm::AllToAllOp all) {
                return make("all_to_all", input, type,
                            {replicas, number("split_dimension", all.getDim()),
                             number("concat_dimension", all.getConcatDim()),
                             number("split_count", axes.getGroupSize())});
              })
              .Case([&](comm::PermuteOp permute) {
                return make("collective_permute", input, type, {pairs([&](int64_t r) {
                              for (size_t i = 0; i < permute.getPairs().size(); i += 2)
                                if (permute.getPairs()[i] == r)
                                  return permute.getPairs()[i + 1];
                              return int64_t(-1);
                            })});
              })
              .Case([&](comm::ShiftOp shift) {
                int64_t g = axes.getGroupSize();
                return make(
                    "collective_permute", input, type, {pairs([&](int64_t r) {
                      int64_t to = r + int64_t(shift.getOffset());
                      return shift.getWrap() ? ((to % g) + g) % g : to >= 0 && to < g ? to : -1;
                    })});
              })
              .Case([&](comm::BroadcastOp) { // a sum to which only rank 0 has something to add
                auto tensor = cast<RankedTensorType>(type);
                auto bits = tensor.clone(b.getI1Type());
                Value zero = stablehlo::zeros(b, loc, tensor);
                Value first = make("compare", {axisIndex(axes), i32(0)},
                                   {RankedTensorType::get({}, b.getI1Type())},
                                   {named("comparison_direction",
                                          stablehlo::ComparisonDirectionAttr::get(
                                              b.getContext(), stablehlo::ComparisonDirection::EQ))})
                                  ->getResult(0);
                Value mask =
                    stablehlo::BroadcastInDimOp::create(b, loc, bits, first, ArrayRef<int64_t>{});
                Value mine = make("select", {mask, input, zero}, {type}, {})->getResult(0);
                Operation *made = make("all_reduce", mine, type,
                                       {replicas, named("channel_handle", channel())}, 1);
                combiner(made->getRegion(0), element,
                         element.isInteger(1) ? comm::ReductionKind::Or : comm::ReductionKind::Sum);
                return made;
              })
              .Default([](Operation *) { return nullptr; });
      if (!made) {
        op->emitError("has no form in StableHLO");
        return {};
      }
      results.push_back(made->getResult(0));
    }
    return results;
  }

  Value i32(int64_t value) {
    auto type = RankedTensorType::get({}, b.getI32Type());
    return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, int32_t(value)));
  }

  // The index of each device, looked up by replica.
  Value axisIndex(comm::AxesAttr axes) {
    sharding::AxisRefs refs = axes.toAxisRefs(mesh);
    SmallVector<int32_t> indices;
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      indices.push_back(sharding::indexAlong(mesh, device, refs));
    auto type = RankedTensorType::get({int64_t(indices.size())}, b.getI32Type());
    auto unsignedType = RankedTensorType::get({}, b.getIntegerType(32, false));
    Value id = make("replica_id", {}, {unsignedType}, {})->getResult(0);
    Value all =
        stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(indices)));
    Value one = make("dynamic_slice", {all, id}, {type.clone({1})},
                     {named("slice_sizes", b.getDenseI64ArrayAttr({1}))})
                    ->getResult(0);
    return make("reshape", one, {type.clone(ArrayRef<int64_t>{})}, {})->getResult(0);
  }

  Value slice(comm::SliceOp slice) {
    auto type = cast<RankedTensorType>(slice.getOutput().getType());
    int64_t dim = slice.getDim();
    SmallVector<Value> operands{slice.getInput()};
    for (int64_t d = 0; d < type.getRank(); ++d)
      operands.push_back(d == dim ? make("multiply",
                                         {axisIndex(slice.getAxes()), i32(type.getDimSize(dim))},
                                         {RankedTensorType::get({}, b.getI32Type())}, {})
                                        ->getResult(0)
                                  : i32(0));
    return make("dynamic_slice", operands, {type},
                {named("slice_sizes", b.getDenseI64ArrayAttr(type.getShape()))})
        ->getResult(0);
  }

  int64_t lastChannel = 0;
};

bool isOurs(StringAttr name) {
  return isa_and_nonnull<sdy::SdyDialect, TesseraDialect>(name.getReferencedDialect());
}

// What only Tessera reads.
void dropOwnAttributes(ModuleOp module) {
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  auto kept = [&](DictionaryAttr attributes) {
    NamedAttrList list;
    for (NamedAttribute attribute : attributes)
      if (!isOurs(attribute.getName()))
        list.push_back(attribute);
    return list.getDictionary(module.getContext());
  };
  module.walk([&](Operation *op) {
    op->setDiscardableAttrs(kept(op->getDiscardableAttrDictionary()));
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    sdy::SignatureAttributes attributes(function);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      attributes.replaceArgument(i, kept(attributes.ofArgument(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      attributes.replaceResult(i, kept(attributes.ofResult(i)));
  });
}

struct CommToStablehlo : impl::CommToStablehloBase<CommToStablehlo> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    sdy::MeshTable meshes(module);
    sharding::Mesh none{"mesh", {}, {}};
    Lowering lowering{meshes.main() ? *meshes.main() : none, OpBuilder(&getContext()),
                      module.getLoc()};
    bool failed = false;
    module.walk([&](Operation *op) {
      if (!isa_and_nonnull<comm::CommDialect>(op->getDialect()) || failed)
        return;
      lowering.b.setInsertionPoint(op);
      lowering.loc = op->getLoc();
      SmallVector<Value> results;
      if (auto index = dyn_cast<comm::AxisIndexOp>(op))
        results = {lowering.axisIndex(index.getAxes())};
      else if (auto slice = dyn_cast<comm::SliceOp>(op))
        results = {lowering.slice(slice)};
      else if (auto transfer = dyn_cast<comm::TransferOp>(op)) // values are the same anywhere
        results = {transfer.getInput()};
      else if (auto axes = op->getInherentAttr("axes"))
        results = lowering.collective(op, cast<comm::AxesAttr>(*axes));
      failed |= results.empty();
      if (failed)
        return;
      op->replaceAllUsesWith(results);
      op->erase();
    });
    if (failed)
      return signalPassFailure();
    dropOwnAttributes(module);
  }
};

} // namespace
} // namespace tessera::localize
