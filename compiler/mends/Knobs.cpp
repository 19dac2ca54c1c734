#include "compiler/mends/Knobs.h"

#include "compiler/mends/Arguments.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/mends/SpecAlternatives.h"
#include "lib/mends/SpecText.h"
#include "lib/mends/Split.h"
#include "lib/sharding/FactorAxes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace tessera::mends {

using namespace mlir;
using sharding::TensorSharding;

namespace {

constexpr size_t kMoves = 12; // values that move, for which constraints are tried
constexpr size_t kTried = 8;  // other shardings of one constraint or value

template <typename T> std::string printed(T &&what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

class Knobs {
public:
  Knobs(ModuleOp program, const Sites &sites, const Observations &seen, const sharding::Mesh &mesh)
      : program(program), seen(seen), mesh(mesh), ops(numberedOps(program)), sites(sites) {}

  std::vector<Knob> take() {
    for (size_t i = 0; i < ops.size(); ++i)
      alike[groupOf(i)].push_back(int32_t(i));
    std::vector<std::vector<Knob>> kinds(4);
    addReshapes(kinds[0]);
    addArgumentKnobs(program, seen, kinds[1]);
    addMoves(kinds[2]);
    addConstraints(kinds[3]);
    // In turns: of a large program the first of each kind are tried.
    std::vector<Knob> knobs;
    for (size_t i = 0; llvm::any_of(kinds, [&](const auto &kind) { return i < kind.size(); }); ++i)
      for (std::vector<Knob> &kind : kinds)
        if (i < kind.size())
          knobs.push_back(std::move(kind[i]));
    return knobs;
  }

private:
  // Ops that one line of the source makes, called from the same lines, of one kind and type: in
  // layer after layer.
  std::string groupOf(size_t number) const {
    Operation *op = ops[number];
    std::string key = op->getName().getStringRef().str() + "|" + sites.ofOp(int32_t(number));
    for (Type type : op->getResultTypes())
      key += "|" + printed(type);
    return key;
  }

  std::string nameOf(int32_t number) const {
    Operation *op = ops[number];
    SourcePlace place = placeOf(op->getLoc());
    std::string text = place.name.empty() ? op->getName().stripDialect().str() : place.name;
    return text;
  }

  std::string whereOf(ArrayRef<int32_t> group) const {
    SourcePlace place = placeOf(ops[group.front()]->getLoc());
    std::string text = explain::whereText(place.frames);
    text = text.empty() ? "" : " at " + text;
    if (group.size() > 1)
      text += " (in " + std::to_string(group.size()) + " places)";
    return text;
  }

  // Among several factors of a dimension the most major one is split first: if the axes do not
  // divide it, another one that they divide could stand there.
  void addReshapes(std::vector<Knob> &knobs) {
    llvm::DenseSet<int32_t> near;
    for (const MovedValue &moved : seen.moved) {
      near.insert(moved.op);
      near.insert(moved.user);
    }
    std::map<std::string, std::vector<int32_t>> groups;
    for (auto [number, op] : llvm::enumerate(ops))
      if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
        if (std::optional<Split> split = splitOfOp(reshape))
          groups[lineOf(int32_t(number)) + shapeText(split->factors)].push_back(int32_t(number));
    for (const auto &[key, group] : groups) {
      if (llvm::none_of(group, [&](int32_t number) { return near.contains(number); }))
        continue;
      auto reshape = cast<stablehlo::ReshapeOp>(ops[group.front()]);
      Split split = *splitOfOp(reshape);
      Knob knob;
      for (int64_t factor = 1; factor < int64_t(split.factors.size()); ++factor)
        if (isBetterFirst(split.factors.front(), split.factors[factor]))
          knob.changes.push_back(reordered(group, split, factor));
      if (!knob.changes.empty())
        knobs.push_back(std::move(knob));
    }
  }

  static std::optional<Split> splitOfOp(stablehlo::ReshapeOp op) {
    auto from = cast<RankedTensorType>(op.getOperand().getType());
    auto to = cast<RankedTensorType>(op.getType());
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return std::nullopt;
    std::optional<Split> split = splitOf(from.getShape(), to.getShape());
    return split && !llvm::is_contained(split->factors, 1) ? split : std::nullopt;
  }

  // A reshape and its way back in the gradient stand on one line.
  std::string lineOf(int32_t number) const {
    const SourcePlace place = placeOf(ops[number]->getLoc());
    return isSource(place.frames) ? explain::placeText(place.frames) + "|" : "|";
  }

  bool isBetterFirst(int64_t first, int64_t other) const {
    return llvm::any_of(mesh.axes, [&](const sharding::MeshAxis &axis) {
      return axis.size > 1 && first % axis.size && other % axis.size == 0;
    });
  }

  Change reordered(ArrayRef<int32_t> group, const Split &split, int64_t factor) const {
    Change change;
    for (int32_t number : group)
      change.edits.push_back({EditKind::Reorder, number, 0, {}, factor});
    auto reshape = cast<stablehlo::ReshapeOp>(ops[group.front()]);
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(split.inverse ? reshape.getOperand().getType() : reshape.getType())
            .getShape();
    llvm::SmallVector<int64_t> to;
    for (int64_t d : orderWithFirst(split, shape.size(), factor))
      to.push_back(shape[d]);
    change.text = "reshape" + whereOf(group) + " with " + shapeText(to) + " instead of " +
                  shapeText(shape) +
                  ", and what makes the values in that order: the columns of a weight";
    return change;
  }

  // A value that moves: constrained to what it is needed as, or otherwise; alone, or with those
  // that are made alike beside it, as keys beside queries.
  void addMoves(std::vector<Knob> &knobs) {
    llvm::DenseSet<int32_t> known;
    size_t tried = 0;
    for (const MovedValue &moved : seen.moved) {
      if (tried == kMoves)
        break;
      if (moved.op < 0 || size_t(moved.op) >= ops.size() || !known.insert(moved.op).second)
        continue;
      Operation *op = ops[moved.op];
      auto type = moved.result < op->getNumResults()
                      ? dyn_cast<RankedTensorType>(op->getResult(moved.result).getType())
                      : RankedTensorType();
      if (!type || type.getRank() != int64_t(moved.to.dims.size()) ||
          isa<sdy::ShardingConstraintOp>(op))
        continue;
      const std::vector<int32_t> &group = alike.lookup(groupOf(moved.op));
      known.insert(group.begin(), group.end());
      ++tried;
      Knob knob;
      std::vector<TensorSharding> targets;
      if (!moved.partial && !sameAxes(moved.to, moved.from))
        targets.push_back(moved.to);
      for (TensorSharding &to : alternatives(mesh, type.getShape(), moved.from))
        if (targets.size() < kTried)
          targets.push_back(std::move(to));
      std::vector<int32_t> beside = besides(moved.op);
      for (const TensorSharding &to : targets) {
        knob.changes.push_back(constrained(group, moved.result, to));
        if (beside.size() > group.size())
          knob.changes.push_back(constrained(beside, moved.result, to));
      }
      knobs.push_back(std::move(knob));
    }
  }

  // Ops of the same kind, type and function.
  std::vector<int32_t> besides(int32_t number) const {
    auto functionOf = [&](int32_t each) {
      const SourcePlace place = placeOf(ops[each]->getLoc());
      const explain::Frame *frame = explain::userFrame(place.frames);
      return frame ? frame->function : std::string();
    };
    std::string function = functionOf(number);
    std::vector<int32_t> found;
    if (function.empty())
      return found;
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops[i]->getName() == ops[number]->getName() &&
          ops[i]->getResultTypes() == ops[number]->getResultTypes() &&
          functionOf(int32_t(i)) == function)
        found.push_back(int32_t(i));
    return found;
  }

  Change constrained(ArrayRef<int32_t> group, unsigned result, const TensorSharding &to) const {
    Change change;
    for (int32_t number : group)
      change.edits.push_back({EditKind::Constrain, number, result, to});
    change.text = "with_sharding_constraint(" + nameOf(group.front()) + ", " + specText(mesh, to) +
                  ")" + whereOf(group) + ", the result of " +
                  ops[group.front()]->getName().stripDialect().str();
    return change;
  }

  void addConstraints(std::vector<Knob> &knobs) {
    std::map<std::string, std::vector<int32_t>> groups;
    for (auto [number, op] : llvm::enumerate(ops))
      if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
        groups[groupOf(number) + printed(constraint.getSharding())].push_back(int32_t(number));
    for (const auto &[key, group] : groups) {
      auto constraint = cast<sdy::ShardingConstraintOp>(ops[group.front()]);
      auto type = dyn_cast<RankedTensorType>(constraint.getType());
      sdy::MeshTable meshes(program);
      if (!type || !type.hasStaticShape() ||
          meshes.lookup(constraint.getSharding()) != meshes.main())
        continue;
      TensorSharding now =
          sharding::withoutUnitAxes(sdy::toSharding(constraint.getSharding(), mesh));
      std::string what = nameOf(constraintInput(constraint)) + whereOf(group);
      Knob knob;
      Change without{{}, "no constraint on " + what + " to " + specText(mesh, now)};
      for (int32_t number : group)
        without.edits.push_back({EditKind::Unconstrain, number, 0, {}});
      knob.changes.push_back(std::move(without));
      for (const TensorSharding &to : alternatives(mesh, type.getShape(), now)) {
        Change change{{},
                      "the constraint on " + what + " to " + specText(mesh, to) + " instead of " +
                          specText(mesh, now)};
        for (int32_t number : group)
          change.edits.push_back({EditKind::Reconstrain, number, 0, to});
        if (knob.changes.size() <= kTried)
          knob.changes.push_back(std::move(change));
      }
      knobs.push_back(std::move(knob));
    }
  }

  int32_t constraintInput(sdy::ShardingConstraintOp op) const {
    Operation *made = op.getInput().getDefiningOp();
    auto at = made ? llvm::find(ops, made) : llvm::find(ops, op.getOperation());
    return int32_t(at - ops.begin());
  }

  ModuleOp program;
  const Observations &seen;
  const sharding::Mesh &mesh;
  std::vector<Operation *> ops;
  const Sites &sites;
  llvm::StringMap<std::vector<int32_t>> alike;
};

} // namespace

std::vector<Knob> knobsOf(ModuleOp program, const Sites &sites, const Observations &seen) {
  sdy::MeshTable meshes(program);
  if (!meshes.main())
    return {};
  return Knobs(program, sites, seen, *meshes.main()).take();
}

} // namespace tessera::mends
