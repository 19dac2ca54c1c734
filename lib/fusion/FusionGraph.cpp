#include "lib/fusion/FusionGraph.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::fusion {
namespace {

enum class GroupKind : uint8_t { Elemental, Reduce, Contraction, Update, Alone };

// Which part of its kernel a node belongs to: what the dominant op's operands are computed by, or its
// epilogue.
enum class Side : uint8_t { Result, Reduced, Packed };

struct Member {
  int group;
  Side side;
  bool aligned; // computed at the index of the kernel's result, for that element only
  bool reread;  // computed several times for each of its elements
};

struct Group {
  GroupKind kind;
  uint32_t space;
  uint32_t reduced = 0;
  int64_t elements;
  int size = 0, movements = 0;
  bool movesElements =
      false; // more than elements at the result's index and broadcasts: no epilogue
  std::vector<int> nodes = {}, outputs = {};
};

class Planner {
public:
  Planner(llvm::ArrayRef<Node> nodes, const Limits &limits)
      : nodes(nodes), limits(limits), members(nodes.size()), users(nodes.size()),
        kept(nodes.size()), urgent(nodes.size()), copyDepth(nodes.size()), nodeSeen(nodes.size()) {
    for (auto [i, node] : llvm::enumerate(nodes))
      for (const Edge &edge : node.operands)
        users[edge.node].push_back({static_cast<int>(i), edge.use});
  }

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
    for (const Edge &user : users[n]) {
      const Node &by = nodes[user.node];
      if (by.kind == NodeKind::Outside || kept[user.node]) {
        inMemory = true;
        feedsCollective |= by.collective || urgent[user.node];
      }
      for (const Member &reader : members[user.node])
        merge(targets, asMember(n, user.use, user.node, reader));
    }
    bool used = inMemory || !targets.empty();
    if (!used)
      return; // dead
    bool all = llvm::all_of(targets, [](const Target &t) { return t.fits; });

    if (node.kind == NodeKind::Reshape || node.kind == NodeKind::Constant) {
      for (const Target &target : targets)
        if (target.fits)
          join(n, target.member);
      if (all && !inMemory)
        return;
      if (node.kind == NodeKind::Reshape || node.free) {
        kept[n] = true; // a view, or data in the constant section
        urgent[n] = feedsCollective;
      } else {
        start(n);
      }
      return;
    }
    if (!inMemory && all && (targets.size() == 1 || mayCopy(n, targets))) {
      for (const Target &target : targets)
        join(n, target.member);
      if (targets.size() > 1)
        copyDepth[n] = 1 + deepestCopy(n);
      return;
    }
    if (!feedsCollective && joinAsOutput(n, targets))
      return;
    start(n);
  }

  static void merge(llvm::SmallVectorImpl<Target> &targets, Target with) {
    for (Target &target : targets)
      if (target.member.group == with.member.group) {
        // Read from both sides of a reduction: only what is free may be on both.
        target.fits &= with.fits && target.member.side == with.member.side;
        target.member.aligned &= with.member.aligned;
        target.member.reread |= with.member.reread;
        return;
      }
    targets.push_back(with);
  }

  // Node n as a member of `reader.group`, where `user` reads it.
  Target asMember(int n, Use use, int user, const Member &reader) const {
    const Node &by = nodes[user];
    const Group &group = groups[reader.group];
    bool pointwise = by.kind == NodeKind::Pointwise || by.kind == NodeKind::Convert;
    Target target{{reader.group, reader.side, reader.aligned && use == Use::Once && pointwise,
                   reader.reread || use == Use::Reread}};
    if (use == Use::Reduced)
      target.member.side = Side::Reduced;
    if (use == Use::Packed)
      target.member.side = Side::Packed;
    target.fits = fits(n, use, target.member, group);
    return target;
  }

  bool fits(int n, Use use, const Member &member, const Group &group) const {
    const Node &node = nodes[n];
    if (use == Use::Memory)
      return false;
    if (use == Use::Whole && !(group.kind == GroupKind::Alone && node.kind == NodeKind::Constant))
      return false;
    if (group.size >= limits.nodes && node.kind != NodeKind::Constant)
      return false;
    if (group.kind == GroupKind::Alone)
      return node.kind == NodeKind::Constant;
    if (member.side == Side::Packed)
      return readsThrough(node.kind) || (node.elements == 1 && (node.kind == NodeKind::Constant ||
                                                                node.kind == NodeKind::Pointwise));
    if (member.reread && node.expensive)
      return false;
    if (use == Use::Piece && node.expensive)
      return false;
    switch (node.kind) {
    case NodeKind::Outside:
    case NodeKind::Update:
    case NodeKind::Alone:
      return false;
    case NodeKind::Constant:
      return true;
    case NodeKind::Contraction:
      return group.kind == GroupKind::Elemental && member.aligned && !group.movesElements &&
             node.space == group.space;
    case NodeKind::Reduce:
      return member.aligned && member.side == Side::Result && node.space == group.space &&
             (group.kind == GroupKind::Elemental ||
              (group.kind == GroupKind::Reduce && group.reduced == node.reduced));
    case NodeKind::Pointwise:
      return group.kind != GroupKind::Contraction || member.aligned;
    case NodeKind::Convert:
    case NodeKind::Broadcast:
    case NodeKind::Reshape:
      return true;
    case NodeKind::Movement:
      return group.kind != GroupKind::Contraction && group.movements < limits.movements;
    case NodeKind::Transpose:
    case NodeKind::Slice:
      return group.kind != GroupKind::Contraction;
    }
    return false;
  }

  // What the operand of a contraction may be read through.
  static bool readsThrough(NodeKind kind) {
    return kind == NodeKind::Transpose || kind == NodeKind::Reshape || kind == NodeKind::Convert ||
           kind == NodeKind::Slice || kind == NodeKind::Broadcast;
  }

  // Whether computing n in each of the targets costs less than writing and reading it.
  bool mayCopy(int n, llvm::ArrayRef<Target> targets) const {
    const Node &node = nodes[n];
    if (node.kind == NodeKind::Reduce || node.kind == NodeKind::Contraction || node.expensive)
      return false;
    if (node.kind == NodeKind::Broadcast)
      return true;
    bool packed =
        llvm::all_of(targets, [](const Target &t) { return t.member.side == Side::Packed; });
    if (packed && readsThrough(node.kind))
      return true;
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

  int deepestCopy(int n) const {
    int deepest = 0;
    for (const Edge &user : users[n])
      deepest = std::max(deepest, static_cast<int>(copyDepth[user.node]));
    return deepest;
  }

  // Puts n into one of the kernels that use it and lets the others read it from there.
  bool joinAsOutput(int n, llvm::ArrayRef<Target> targets) {
    for (const Target &target : targets) {
      const Group &group = groups[target.member.group];
      bool sameResult = target.member.aligned && nodes[n].space == group.space &&
                        target.member.side == Side::Result && group.kind != GroupKind::Update &&
                        group.kind != GroupKind::Alone;
      if (!target.fits || !sameResult || otherUsersReach(n, target.member.group))
        continue;
      join(n, target.member);
      groups[target.member.group].outputs.push_back(n);
      return true;
    }
    return false;
  }

  // Whether the result of `group` depends on a user of n that is not in it.
  bool otherUsersReach(int n, int group) {
    ++stamp;
    int steps = 0;
    llvm::SmallVector<int, 16> work; // nodes whose value is read
    auto readers = [&](int node) {
      // Pushes what is computed from `node`; true when that includes `group`.
      for (const Edge &user : users[node]) {
        if (nodes[user.node].kind == NodeKind::Outside || kept[user.node]) {
          if (std::exchange(nodeSeen[user.node], stamp) != stamp)
            work.push_back(user.node);
        }
        for (const Member &member : members[user.node]) {
          if (node != n && member.group == group && !isMember(node, group))
            return true;
          if (member.group == group || isMember(node, member.group))
            continue;
          if (std::exchange(groupSeen[member.group], stamp) != stamp)
            for (int output : groups[member.group].outputs)
              work.push_back(output);
        }
      }
      return false;
    };
    readers(n);
    while (!work.empty()) {
      if (++steps > limits.searchSteps)
        return true;
      if (readers(work.pop_back_val()))
        return true;
    }
    return false;
  }

  bool isMember(int n, int group) const {
    return llvm::any_of(members[n], [&](const Member &m) { return m.group == group; });
  }

  void join(int n, const Member &member) {
    Group &group = groups[member.group];
    const Node &node = nodes[n];
    members[n].push_back(member);
    group.nodes.push_back(n);
    group.size += node.kind != NodeKind::Constant;
    group.movements += node.kind == NodeKind::Movement;
    group.movesElements |= node.kind == NodeKind::Movement || node.kind == NodeKind::Slice ||
                           node.kind == NodeKind::Transpose || node.kind == NodeKind::Reshape ||
                           (node.kind == NodeKind::Pointwise && !member.aligned);
    if (node.kind == NodeKind::Reduce) {
      group.kind = GroupKind::Reduce;
      group.reduced = node.reduced;
    } else if (node.kind == NodeKind::Contraction) {
      group.kind = GroupKind::Contraction;
    }
  }

  void start(int n) {
    const Node &node = nodes[n];
    GroupKind kind = node.kind == NodeKind::Update  ? GroupKind::Update
                     : node.kind == NodeKind::Alone ? GroupKind::Alone
                                                    : GroupKind::Elemental;
    groups.push_back({kind, node.space, 0, node.elements});
    groupSeen.push_back(0);
    groups.back().outputs.push_back(n);
    join(n, {static_cast<int>(groups.size()) - 1, Side::Result, true, false});
  }

  // Reshapes of values that are in memory anyway leave their kernels: they are views.
  Plan finish() {
    Plan plan;
    std::vector<bool> view(nodes.size(), false);
    for (auto [g, group] : llvm::enumerate(groups)) {
      Kernel kernel;
      std::sort(group.nodes.begin(), group.nodes.end());
      for (int n : group.nodes) {
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
      kernel.outputs = group.outputs;
      std::sort(kernel.outputs.begin(), kernel.outputs.end());
      plan.kernels.push_back(std::move(kernel));
    }
    for (size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n].kind == NodeKind::Reshape && (view[n] || kept[n]))
        plan.views.push_back(static_cast<int>(n));
    return plan;
  }

  llvm::ArrayRef<Node> nodes;
  const Limits &limits;
  std::vector<llvm::SmallVector<Member, 1>> members;
  std::vector<llvm::SmallVector<Edge, 2>> users;
  std::vector<bool> kept;   // stays outside kernels though it is no Outside node
  std::vector<bool> urgent; // kept, and read by a collective
  std::vector<uint8_t> copyDepth;
  std::vector<Group> groups;
  std::vector<int> nodeSeen, groupSeen;
  int stamp = 0;
};

} // namespace

Plan planKernels(llvm::ArrayRef<Node> nodes, const Limits &limits) {
  return Planner(nodes, limits).run();
}

} // namespace tessera::fusion
