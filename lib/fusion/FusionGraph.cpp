#include "lib/fusion/FusionGraph.h"

#include "lib/fusion/KernelGroups.h"
#include "lib/fusion/MadeAgain.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::fusion {
namespace {

class Planner {
public:
  Planner(llvm::ArrayRef<Node> graph, const SumPartsTable &table, const Limits &limits)
      : nodes(graph, table), limits(limits), kernels(nodes, limits), urgent(graph.size()),
        copyDepth(graph.size()) {}

  Plan run() {
    for (int n = static_cast<int>(nodes.size()) - 1; n >= 0; --n)
      if (nodes[n].kind != NodeKind::Outside)
        place(n);
    return finish();
  }

private:
  // A kernel that uses node n, with how n would be a member of it.
  struct Target {
    Member member;
    bool fits = true;
  };

  void place(int n) {
    const Node &node = nodes[n];
    llvm::SmallVector<Target, 4> targets;
    bool inMemory = false; // someone reads it as an array
    bool feedsCollective = false;
    for (const Edge &user : nodes.usersOf(n)) {
      const Node &by = nodes[user.node];
      if (by.kind == NodeKind::Outside || kernels.isKept(user.node)) {
        inMemory = true;
        feedsCollective |= by.collective || urgent[user.node];
      }
      for (const Member &reader : kernels.membersOf(user.node))
        merge(targets, asMember(n, user.use, user.node, reader));
    }
    bool used = inMemory || !targets.empty();
    if (!used)
      return; // dead
    bool all = llvm::all_of(targets, [](const Target &t) { return t.fits; });

    if (node.kind == NodeKind::Reshape || node.kind == NodeKind::Constant) {
      for (const Target &target : targets)
        if (target.fits)
          kernels.join(n, target.member);
      if (all && !inMemory)
        return;
      if (node.kind == NodeKind::Reshape || node.free) {
        kernels.keep(n); // a view, or data in the constant section
        urgent[n] = feedsCollective;
      } else {
        kernels.start(n, false);
      }
      return;
    }
    if (!inMemory && all && (targets.size() == 1 || mayCopy(n, targets))) {
      for (const Target &target : targets)
        kernels.join(n, target.member);
      if (targets.size() > 1)
        copyDepth[n] = 1 + deepestCopy(n);
      return;
    }
    if (!inMemory && all && makesAgain(n, targets)) {
      for (const Target &target : targets)
        kernels.join(n, target.member);
      return;
    }
    if (!feedsCollective &&
        ((!inMemory && joinNarrowed(n, targets)) || joinAsOutput(n, targets) ||
         joinBeside(n, targets) || joinParts(n, targets) || joinRows(n, targets)))
      return;
    kernels.start(n, feedsCollective);
  }

  static void merge(llvm::SmallVectorImpl<Target> &targets, Target with) {
    for (Target &target : targets)
      if (target.member.group == with.member.group) {
        // Read from both sides of a reduction: only what is free may be on both.
        target.fits &= with.fits && target.member.side == with.member.side;
        if (target.member.place != with.member.place)
          target.member.place = {};
        target.member.reread |= with.member.reread;
        return;
      }
    targets.push_back(with);
  }

  // Node n as a member of `reader.group`, where `user` reads it.
  Target asMember(int n, Use use, int user, const Member &reader) const {
    Place place = nodes.placeOf(n, use, user, reader.place);
    bool inRows = place.where != Place::Elsewhere;
    Target target{
        {reader.group, reader.side, place, reader.reread || (use == Use::Reread && !inRows)}};
    if (use == Use::Reduced || inRows)
      target.member.side = inRows ? Side::Result : Side::Reduced;
    if (use == Use::Packed)
      target.member.side = Side::Packed;
    target.fits = kernels.fits(n, use, target.member) && !endsRows(n, use, target.member.place);
    return target;
  }

  // Whether n, which is computed of what rows are reduced to, stays with those: a sum over rows that are
  // no rows of its kernel reads a number each.
  bool endsRows(int n, Use use, const Place &place) const {
    return use == Use::Reduced && place.where == Place::Elsewhere && nodes.reductionOf(n) >= 0 &&
           nodes[n].kind == NodeKind::Pointwise &&
           nodes.isSpread(nodes[nodes.reductionOf(n)].reduced);
  }

  // Whether computing n in each of the targets costs less than writing and reading it.
  bool mayCopy(int n, llvm::ArrayRef<Target> targets) const {
    const Node &node = nodes[n];
    if (!mayBeCopied(node))
      return false;
    if (node.kind == NodeKind::Broadcast)
      return true;
    bool packed =
        llvm::all_of(targets, [](const Target &t) { return t.member.side == Side::Packed; });
    if (packed && readsThrough(node.kind))
      return true; // what is stored does not fit there
    if (nodes.isStored(n) && !mayBeCopied(nodes[node.operands.front().node]))
      return false;
    if (node.kind == NodeKind::Transpose)
      return false;
    if (node.elements == 1)
      return targets.size() <= 16;
    int reads = 0;
    for (const Edge &edge : node.operands)
      reads += nodes[edge.node].elements >= node.elements &&
               nodes[edge.node].kind != NodeKind::Constant &&
               nodes[edge.node].kind != NodeKind::Broadcast;
    return reads <= 2 && static_cast<int>(targets.size()) <= limits.copies &&
           deepestCopy(n) < limits.copyDepth;
  }

  bool makesAgain(int n, llvm::ArrayRef<Target> targets) const {
    llvm::SmallVector<Member, 4> members;
    for (const Target &target : targets)
      members.push_back(target.member);
    return isOfWhatAllRead(nodes, kernels, n, members, limits);
  }

  int deepestCopy(int n) const {
    int deepest = 0;
    for (const Edge &user : nodes.usersOf(n))
      deepest = std::max(deepest, static_cast<int>(copyDepth[user.node]));
    return deepest;
  }

  // Puts n into one of the kernels that use it and lets the others read it from there: the one that
  // does most, so that a row's sum is with what goes over the row's elements, not with its logarithm.
  bool joinAsOutput(int n, llvm::SmallVectorImpl<Target> &targets) {
    llvm::stable_sort(targets, [&](const Target &a, const Target &b) {
      return kernels[a.member.group].elements > kernels[b.member.group].elements;
    });
    return llvm::any_of(targets, [&](const Target &target) {
      return target.fits && kernels.tryYield(n, target.member);
    });
  }

  // What a kernel yields instead of a value, where others make no more of that than something of
  // fewer bytes: the signs of a product, for the gradient of a maximum.
  //
  //   product -+- max .. -> A            product, max, sign -> A, sign
  //            +- sign -- select -> B    select -> B
  struct Narrowed {
    int yields = -1;
    llvm::SmallVector<int, 4> between; // what both compute on the way
  };

  // Of n as a member of group g; none where others read n as it is.
  bool collectNarrowed(int n, int g, Narrowed &found) const {
    constexpr size_t most = 8;
    if (found.between.size() > most)
      return false;
    for (const Edge &edge : nodes.usersOf(n)) {
      int user = edge.node;
      bool isNone = kernels.membersOf(user).empty() && !kernels.isKept(user) &&
                    nodes[user].kind != NodeKind::Outside;
      if (isNone || user == found.yields || llvm::is_contained(found.between, user) ||
          llvm::all_of(kernels.membersOf(user), [&](const Member &m) { return m.group == g; }))
        continue;
      bool mayMove = isPointwise(nodes[user].kind) && edge.use == Use::Once &&
                     nodes[user].space == nodes[n].space && !kernels.isOutput(user);
      bool isMadeHere = llvm::all_of(nodes[user].operands, [&](const Edge &other) {
        return other.node == n || nodes[other.node].kind == NodeKind::Constant ||
               llvm::is_contained(found.between, other.node);
      });
      if (kernels.isMember(user, g) && mayMove) {
        found.between.push_back(user);
        if (!collectNarrowed(user, g, found))
          return false;
      } else if (kernels.isMember(user, g) || !mayMove || !isMadeHere || !nodes[user].narrows ||
                 found.yields >= 0) {
        return false;
      } else {
        found.yields = user;
      }
    }
    return true;
  }

  bool joinNarrowed(int n, llvm::ArrayRef<Target> targets) {
    for (const Target &target : targets) {
      int g = target.member.group;
      Narrowed found;
      if (!target.fits || target.member.side != Side::Result || !target.member.aligned() ||
          kernels[g].byRows || !collectNarrowed(n, g, found) || found.yields < 0 ||
          !kernels.mayYieldBeside(n, target.member))
        continue;
      kernels.join(n, target.member);
      kernels.yieldInstead(found.yields, found.between, target.member);
      return true;
    }
    return false;
  }

  // Puts n into a kernel that computes what n reads, too, for others: what would be written to memory
  // for the two only is not. One that reads n itself does so elsewhere than where it could be made.
  bool joinBeside(int n, llvm::ArrayRef<Target> targets) {
    for (const Edge &edge : nodes[n].operands) {
      if (nodes[edge.node].kind != NodeKind::Pointwise || !nodes[edge.node].expensive)
        continue;
      for (const Edge &user : nodes.usersOf(edge.node))
        for (const Member &reader : kernels.membersOf(user.node)) {
          bool isReader = llvm::any_of(
              targets, [&](const Target &t) { return t.member.group == reader.group; });
          Place read = nodes.placeOf(edge.node, user.use, user.node, reader.place);
          if (!isReader && joinWith(n, edge.use, read, reader.group))
            return true;
        }
    }
    return false;
  }

  // Puts a sum's parts into a kernel that goes over the same arrays anyway, or what such a kernel may
  // compute beside them.
  bool joinParts(int n, llvm::ArrayRef<Target> targets) {
    const Node &node = nodes[n];
    std::optional<SumParts> parts = nodes.partsOf(n);
    if (!(parts || isPointwise(node.kind)) || nodes.isOfProduct(n))
      return false;
    auto isReader = [&](int g) { // elsewhere than where n could be made
      return llvm::any_of(targets, [&](const Target &t) { return t.member.group == g; });
    };
    constexpr size_t mostOutputs = 12, mostKernels = 8;
    for (int array : nodes.arraysOf(n)) {
      llvm::ArrayRef<int> last = kernels.over(array, node.space).take_back(mostKernels);
      for (int g : llvm::reverse(last)) {
        const Group &group = kernels[g];
        bool isFree =
            !group.moves && !group.turns && !group.regroups && !group.ofProduct && !group.urgent &&
            group.outputs.size() < mostOutputs && group.size < limits.nodes &&
            (group.kind == GroupKind::Elemental || (group.kind == GroupKind::Reduce && group.rows));
        bool fitsParts = !parts ? group.parts && nodes.fitsRows(nodes.rowsBeside(n), group.outer)
                         : group.parts ? group.parts == parts->window
                                       : nodes.fitsRows(group.rows, parts->outer);
        if (!isFree || !fitsParts || isReader(g))
          continue;
        if (kernels.tryYield(n, {g, Side::Result, {Place::Result}, false}))
          return true;
      }
    }
    return false;
  }

  // Puts what is computed of a row's reductions into a kernel that makes them for the row's elements.
  bool joinRows(int n, llvm::ArrayRef<Target> targets) {
    int reduction = nodes.reductionOf(n);
    if (reduction < 0 || !isPointwise(nodes[n].kind))
      return false;
    uint32_t rows = nodes[reduction].reduced;
    for (const Edge &user : nodes.usersOf(reduction))
      for (const Member &reader : kernels.membersOf(user.node)) {
        Place place = nodes.placeOf(reduction, user.use, user.node, reader.place);
        bool isReader =
            llvm::any_of(targets, [&](const Target &t) { return t.member.group == reader.group; });
        Member member{reader.group, Side::Result, {Place::RowOf, rows}, false};
        if (!isReader && place == member.place && kernels.fits(n, Use::Once, member) &&
            kernels.tryYield(n, member))
          return true;
      }
    return false;
  }

  // Where `read` is the place of what n reads, in a kernel.
  bool joinWith(int n, Use use, const Place &read, int g) {
    const Node &node = nodes[n];
    Place place;
    if (isPointwise(node.kind) && use == Use::Once)
      place = read;
    else if (node.kind == NodeKind::Reduce && use == Use::Reduced && node.reduced) {
      if (read.where == Place::Result && nodes.isSpread(node.reduced))
        place = {Place::RowOf, node.reduced};
      else if (read == Place{Place::ElementOf, node.reduced})
        place = {Place::Result};
    }
    Member member{g, Side::Result, place, false};
    return kernels.fits(n, use, member) && kernels.tryYield(n, member);
  }

  // Reshapes of values that are in memory anyway leave their kernels: they are views.
  Plan finish() {
    Plan plan;
    std::vector<bool> view(nodes.size(), false);
    for (int g = 0; g < kernels.size(); ++g) {
      Kernel kernel;
      std::vector<int> members = kernels[g].nodes;
      llvm::sort(members);
      for (int n : members) {
        if (nodes[n].kind == NodeKind::Reshape) {
          // An operand from outside of the block is no node.
          const auto &from = nodes[n].operands;
          if (from.empty() || !llvm::is_contained(kernel.nodes, from.front().node)) {
            view[n] = true;
            continue;
          }
        }
        kernel.nodes.push_back(n);
      }
      kernel.outputs = kernels[g].outputs;
      llvm::sort(kernel.outputs);
      plan.kernels.push_back(std::move(kernel));
    }
    for (int n = 0; n < nodes.size(); ++n)
      if (nodes[n].kind == NodeKind::Reshape && (view[n] || kernels.isKept(n)))
        plan.views.push_back(n);
    return plan;
  }

  const GraphFacts nodes;
  const Limits &limits;
  KernelGroups kernels;
  std::vector<bool> urgent; // kept, and read by a collective
  std::vector<uint8_t> copyDepth;
};

} // namespace

Plan planKernels(llvm::ArrayRef<Node> nodes, const Limits &limits) {
  return Planner(nodes, SumPartsTable(), limits).run();
}

Plan planKernels(llvm::ArrayRef<Node> nodes, const SumPartsTable &table, const Limits &limits) {
  return Planner(nodes, table, limits).run();
}

} // namespace tessera::fusion
