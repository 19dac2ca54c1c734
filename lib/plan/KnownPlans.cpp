#include "lib/plan/KnownPlans.h"

#include "lib/plan/States.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace tessera::plan {
namespace {

using sharding::AxisRef;
using sharding::DimSharding;
using sharding::Mesh;
using sharding::TensorSharding;

constexpr double kSmallState = 1. / 256; // of the largest weight: what is smaller stays whole

bool isOneOf(AxisRole role, std::initializer_list<AxisRole> list) {
  return llvm::is_contained(list, role);
}

bool splitsBatch(AxisRole role) {
  return isOneOf(
      role, {AxisRole::Data, AxisRole::Zero, AxisRole::Fsdp, AxisRole::Rows, AxisRole::Experts});
}

bool splitsContext(AxisRole role) {
  return isOneOf(role, {AxisRole::Context, AxisRole::ContextFsdp});
}

bool splitsTensor(AxisRole role) {
  return isOneOf(role, {AxisRole::Tensor, AxisRole::TensorSequence});
}

bool isPlain(AxisRole role) { return isOneOf(role, {AxisRole::Data, AxisRole::Fsdp}); }

llvm::SmallVector<AxisRef, 3> splittingAxes(const Mesh &mesh) {
  llvm::SmallVector<AxisRef, 3> axes;
  for (auto [i, axis] : llvm::enumerate(mesh.axes))
    if (axis.size > 1)
      axes.push_back(wholeAxis(mesh, i));
  return axes;
}

// Splits classes of dimensions along axes, one after another.
class Splitter {
public:
  explicit Splitter(const Program &program) : program(program) {
    for (const sharding::PropagatedValue &value : program.graph.values)
      assignment.push_back(value.sharding);
  }

  // Every dimension of a class, where the axis is free; but none of `except`.
  void split(const DimClasses &classes, int32_t number, const AxisRef &axis,
             const std::vector<bool> *except = nullptr) {
    for (const ValueDim &place : classes.places(number))
      if (!except || !(*except)[place.value])
        splitPlace(place, axis, classes.elements(place));
  }

  bool isFree(int32_t value, const AxisRef &axis) const {
    const TensorSharding &sharding = assignment[value];
    return !sharding::overlap({axis}, sharding.replicated) &&
           !sharding::overlap({axis}, sharding.unreduced) &&
           llvm::none_of(sharding.dims, [&](const DimSharding &dim) {
             return sharding::overlap({axis}, dim.axes);
           });
  }

  // Elements of each shard of a dimension.
  int64_t elementsOf(const ValueDim &place, int64_t elements) const {
    int64_t shards = sharding::shardCount(assignment[place.value].dims[place.dim].axes);
    return elements % shards ? 0 : elements / shards;
  }

  bool isClosed(const ValueDim &place) const {
    return assignment[place.value].dims[place.dim].closed;
  }

  Assignment take() {
    for (auto [v, value] : llvm::enumerate(program.graph.values)) {
      for (DimSharding &dim : assignment[v].dims)
        dim = {std::move(dim.axes), /*closed=*/true, std::nullopt};
      assignment[v].replicated.clear();
    }
    std::vector<int32_t> first; // of each group: its members are alike
    for (auto [v, value] : llvm::enumerate(program.graph.values)) {
      if (value.group < 0)
        continue;
      first.resize(std::max<size_t>(first.size(), value.group + 1), -1);
      if (first[value.group] < 0)
        first[value.group] = v;
      assignment[v] = assignment[first[value.group]];
    }
    giveBackAsTaken();
    return std::move(assignment);
  }

private:
  // A weight whose update is made in parts is whole again in the next step.
  void giveBackAsTaken() {
    for (auto [taken, given] : statesOf(program)) {
      const sharding::PropagatedValue &value = program.graph.values[given];
      if (value.mesh < 0 && value.group < 0)
        assignment[given] = assignment[taken];
    }
  }

  // What callers see has whole axes; other values also parts of one, as four heads over eight
  // devices.
  void splitPlace(const ValueDim &place, const AxisRef &axis, int64_t elements) {
    int64_t left = elementsOf(place, elements);
    if (left <= 1 || isClosed(place) || !isFree(place.value, axis))
      return;
    const ValueFacts &facts = program.values[place.value];
    int64_t size = std::gcd(left, axis.size);
    if (size == 1 || (size < axis.size && (facts.argument >= 0 || facts.result >= 0)))
      return;
    sharding::AxisRefs &axes = assignment[place.value].dims[place.dim].axes;
    axes.push_back({axis.axis, axis.preSize, size});
    axes = sharding::normalized(axes);
  }

  const Program &program;
  Assignment assignment;
};

constexpr double kUndivided =
    0.1; // of a class's bytes, that may stay whole: tokens of 97, of which
         // 96 are used

// Whether a class can be split so often nearly everywhere.
bool divides(const Program &program, const DimClasses &classes, int32_t number, int64_t shards) {
  double all = 0, whole = 0;
  for (const ValueDim &place : classes.places(number)) {
    double bytes = bytesOf(program.graph.values[place.value]);
    all += bytes;
    whole += classes.elements(place) % shards ? bytes : 0;
  }
  return whole <= kUndivided * all;
}

// Bytes of all state that has a dimension of each class.
std::vector<double> stateOfClasses(const Program &program, const DimRoles &dims) {
  std::vector<double> bytes(dims.all().size());
  for (int32_t v : dims.state())
    for (size_t d = 0; d < program.graph.values[v].shape.size(); ++d)
      if (int32_t number = dims.all().of(v, int32_t(d)); number >= 0)
        bytes[number] += bytesOf(program.graph.values[v]);
  return bytes;
}

// The dimension of a state value that is best split once more along an axis, of what no loop walks
// along: that which most state has, as a model's width, or else the largest; -1: none divides.
int32_t dimToSplit(const DimRoles &dims, llvm::ArrayRef<double> ofClasses, const Splitter &splitter,
                   int32_t value, size_t rank, const AxisRef &axis) {
  int32_t best = -1;
  std::pair<double, int64_t> most{0, 0};
  for (size_t d = 0; d < rank; ++d) {
    ValueDim place{value, static_cast<int32_t>(d)};
    if (dims.storage().of(place) < 0 || dims.isWalked(place) || splitter.isClosed(place))
      continue;
    int64_t elements = splitter.elementsOf(place, dims.storage().elements(place));
    int32_t number = dims.all().of(place);
    std::pair rated{number < 0 ? 0 : ofClasses[number], elements};
    if (elements > 0 && elements % axis.size == 0 && rated > most) {
      best = d;
      most = rated;
    }
  }
  return best;
}

void splitState(const Program &program, const DimRoles &dims, llvm::ArrayRef<double> ofClasses,
                Splitter &splitter, const AxisRef &axis, bool momentsOnly) {
  double least = 0;
  for (int32_t v : dims.state())
    least = std::max(least, kSmallState * bytesOf(program.graph.values[v]));
  for (int32_t v : dims.state()) {
    const sharding::PropagatedValue &value = program.graph.values[v];
    if (bytesOf(value) < least || (momentsOnly && !dims.isMoment(v)) || !splitter.isFree(v, axis))
      continue;
    if (int32_t d = dimToSplit(dims, ofClasses, splitter, v, value.shape.size(), axis); d >= 0)
      splitter.split(dims.storage(), dims.storage().of(v, d), axis,
                     momentsOnly ? &dims.weightSide() : nullptr);
  }
}

// Each role besides plain data once; few enough to look at all of them.
bool isSensible(const AxisRoles &roles) {
  auto count = [&](auto is) { return llvm::count_if(roles, is); };
  auto has = [&](AxisRole role) { return llvm::is_contained(roles, role); };
  if (count(splitsTensor) > 1 || count(splitsContext) > 1 ||
      llvm::count(roles, AxisRole::Experts) > 1 || llvm::count(roles, AxisRole::Rows) > 1)
    return false;
  if (has(AxisRole::TensorSequence) && count(splitsContext))
    return false;
  if (has(AxisRole::Zero) && (has(AxisRole::Fsdp) || has(AxisRole::ContextFsdp)))
    return false;
  if (has(AxisRole::Rows) && (has(AxisRole::Fsdp) || has(AxisRole::Experts)))
    return false;
  if (roles.size() < 3)
    return true;
  return llvm::count(roles, AxisRole::Data) <= 1 && llvm::count(roles, AxisRole::Fsdp) <= 1 &&
         !has(AxisRole::Zero) && !has(AxisRole::Rows) && !has(AxisRole::ContextFsdp);
}

llvm::StringRef nameOf(AxisRole role, bool spatial) {
  switch (role) {
  case AxisRole::Data:
    return "data";
  case AxisRole::Zero:
    return "zero";
  case AxisRole::Fsdp:
    return "fsdp";
  case AxisRole::Rows:
    return "rows";
  case AxisRole::Tensor:
    return "tensor";
  case AxisRole::TensorSequence:
    return "tensor+sequence";
  case AxisRole::Context:
    return spatial ? "spatial" : "context";
  case AxisRole::ContextFsdp:
    return spatial ? "spatial+fsdp" : "context+fsdp";
  case AxisRole::Experts:
    return "experts";
  }
  return "";
}

bool sameAssignment(const Assignment &a, const Assignment &b) {
  return llvm::equal(a, b, [](const TensorSharding &x, const TensorSharding &y) {
    return sharding::sameAxes(x, y);
  });
}

} // namespace

KnownPlans::KnownPlans(const Program &program)
    : program(program), dims(program), stateBytes(stateOfClasses(program, dims)) {
  for (const DataClass &data : dims.data()) {
    if (data.kind == DataClass::Kind::Batch && batch < 0) {
      batch = data.number;
    } else if (context < 0) {
      context = data.number;
      spatial = data.kind == DataClass::Kind::Spatial;
    }
  }
}

std::vector<AxisRoles> KnownPlans::on(const Mesh &mesh) const {
  llvm::SmallVector<AxisRef, 3> axes = splittingAxes(mesh);
  bool manual = llvm::any_of(program.graph.ops,
                             [](const sharding::PropagatedOp &op) { return op.viewed >= 0; });
  if (manual || axes.empty())
    return {};
  auto possible = [&](const AxisRef &axis) {
    std::vector<AxisRole> roles;
    if (batch >= 0) {
      roles.push_back(AxisRole::Data);
      if (llvm::any_of(dims.state(), [&](int32_t v) { return dims.isMoment(v); }))
        roles.push_back(AxisRole::Zero);
      if (!dims.state().empty())
        roles.push_back(AxisRole::Fsdp);
      if (!dims.rows().empty())
        roles.push_back(AxisRole::Rows);
      if (!dims.experts().empty())
        roles.push_back(AxisRole::Experts);
    }
    if (!dims.tensorClasses(axis.size).empty()) {
      roles.push_back(AxisRole::Tensor);
      if (context >= 0)
        roles.push_back(AxisRole::TensorSequence);
    }
    if (context >= 0) {
      roles.push_back(AxisRole::Context);
      if (!dims.state().empty())
        roles.push_back(AxisRole::ContextFsdp);
    }
    return roles;
  };
  std::vector<AxisRoles> all = {{}};
  for (const AxisRef &axis : axes) {
    std::vector<AxisRole> roles = possible(axis);
    std::vector<AxisRoles> longer;
    for (const AxisRoles &before : all)
      for (AxisRole role : roles) {
        longer.push_back(before);
        longer.back().push_back(role);
      }
    all = std::move(longer);
  }
  llvm::erase_if(all, [](const AxisRoles &roles) {
    return !isSensible(roles) || (roles.size() > 2 && !llvm::any_of(roles, isPlain));
  });
  return all;
}

std::string KnownPlans::name(const AxisRoles &roles) const {
  std::string name;
  llvm::StringRef last;
  for (AxisRole role : roles) {
    llvm::StringRef next = nameOf(role, spatial);
    if (next == last)
      continue;
    name += (name.empty() ? "" : " x ") + next.str();
    last = next;
  }
  return name;
}

std::optional<Assignment> KnownPlans::assignment(const Mesh &mesh, const AxisRoles &roles) const {
  auto axes = splittingAxes(mesh);
  int64_t batches = 1, contexts = 1;
  for (auto [axis, role] : llvm::zip_equal(axes, roles)) {
    batches *= splitsBatch(role) ? axis.size : 1;
    contexts *= splitsContext(role) || role == AxisRole::TensorSequence ? axis.size : 1;
  }
  if ((batches > 1 && !divides(program, dims.all(), batch, batches)) ||
      (contexts > 1 && !divides(program, dims.all(), context, contexts)))
    return std::nullopt;

  Splitter splitter(program);
  auto forAxes = [&](auto is, auto split) {
    for (auto [axis, role] : llvm::zip_equal(axes, roles))
      if (is(role))
        split(axis, role);
  };
  auto equals = [](AxisRole wanted) { return [=](AxisRole role) { return role == wanted; }; };
  // What has to be somewhere goes first; what takes any dimension comes last.
  forAxes(equals(AxisRole::Experts), [&](const AxisRef &axis, AxisRole) {
    for (int32_t number : dims.experts())
      splitter.split(dims.storage(), number, axis);
  });
  forAxes(splitsTensor, [&](const AxisRef &axis, AxisRole) {
    for (int32_t number : dims.tensorClasses(axis.size))
      splitter.split(dims.all(), number, axis);
  });
  forAxes(splitsBatch,
          [&](const AxisRef &axis, AxisRole) { splitter.split(dims.all(), batch, axis); });
  forAxes([](AxisRole role) { return splitsContext(role) || role == AxisRole::TensorSequence; },
          [&](const AxisRef &axis, AxisRole) { splitter.split(dims.all(), context, axis); });
  forAxes(equals(AxisRole::Rows), [&](const AxisRef &axis, AxisRole) {
    for (int32_t number : dims.rows())
      splitter.split(dims.storage(), number, axis);
  });
  forAxes(
      [](AxisRole role) {
        return isOneOf(role, {AxisRole::Fsdp, AxisRole::ContextFsdp, AxisRole::Zero});
      },
      [&](const AxisRef &axis, AxisRole role) {
        splitState(program, dims, stateBytes, splitter, axis,
                   /*momentsOnly=*/role == AxisRole::Zero);
      });
  return splitter.take();
}

Assignment KnownPlans::annotated() const { return Splitter(program).take(); }

std::vector<NamedAssignment> knownPlans(const Program &program, const Mesh &mesh) {
  KnownPlans known(program);
  std::vector<NamedAssignment> plans = {{"replicated", known.annotated()}};
  for (const AxisRoles &roles : known.on(mesh))
    if (std::optional<Assignment> made = known.assignment(mesh, roles))
      if (llvm::none_of(plans, [&](const NamedAssignment &plan) {
            return sameAssignment(plan.values, *made);
          }))
        plans.push_back({known.name(roles), std::move(*made)});
  return plans;
}

} // namespace tessera::plan
