#include "lib/fusion/KernelGroups.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::fusion {

KernelGroups::KernelGroups(const GraphFacts &nodes, const Limits &limits)
    : nodes(nodes), limits(limits), members(nodes.size()), kept(nodes.size()),
      nodeSeen(nodes.size()), isFar(nodes.size()) {}

llvm::ArrayRef<int> KernelGroups::over(int array, uint32_t space) const {
  auto found = byArray.find({array, space});
  return found == byArray.end() ? llvm::ArrayRef<int>() : llvm::ArrayRef(found->second);
}

bool KernelGroups::isMember(int n, int group) const {
  return llvm::any_of(members[n], [&](const Member &m) { return m.group == group; });
}

bool KernelGroups::isOutput(int n) const {
  return llvm::any_of(members[n], [&](const Member &member) {
    return llvm::is_contained(groups[member.group].outputs, n);
  });
}

bool KernelGroups::fits(int n, Use use, const Member &member) const {
  const Node &node = nodes[n];
  const Group &group = groups[member.group];
  if (use == Use::Memory)
    return false;
  if (use == Use::Whole && !(group.kind == GroupKind::Alone && node.kind == NodeKind::Constant))
    return false;
  if (group.kind == GroupKind::Update && nodes.readsUpdated(n, group.outputs.front()))
    return false;
  if (group.size >= limits.nodes && node.kind != NodeKind::Constant)
    return false;
  if (group.kind == GroupKind::Alone)
    return node.kind == NodeKind::Constant;
  if (member.side == Side::Packed)
    return (readsThrough(node.kind) && !nodes.isStored(n)) ||
           (node.elements == 1 &&
            (node.kind == NodeKind::Constant || node.kind == NodeKind::Pointwise));
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
    return !group.parts && group.kind == GroupKind::Elemental && member.aligned() &&
           !group.movesElements && node.space == group.space && group.paired == nodes.isPaired(n);
  case NodeKind::Reduce:
    if (member.side != Side::Result ||
        !(group.kind == GroupKind::Elemental ||
          (group.kind == GroupKind::Reduce && group.reduced == node.reduced)))
      return false;
    return member.aligned() ? node.space == group.space && !group.rows && !group.parts
                            : keepsRows(member.place, group);
  case NodeKind::Pointwise:
    return group.kind != GroupKind::Contraction || member.aligned();
  case NodeKind::Convert:
  case NodeKind::Broadcast:
    return true;
  case NodeKind::Reshape:
    return !group.parts || member.place.where == Place::RowOf;
  case NodeKind::Movement:
    return group.kind != GroupKind::Contraction &&
           (nodes.takesOfRow(n, member.place) ||
            ((!node.cuts || group.cuts < limits.cuts) && !group.byRows));
  case NodeKind::Transpose:
    return group.kind != GroupKind::Contraction && !group.byRows;
  case NodeKind::Slice:
    return group.kind != GroupKind::Contraction;
  }
  return false;
}

// Whether `group` can go over its result row by row, with what is computed once a row.
bool KernelGroups::keepsRows(const Place &place, const Group &group) const {
  if (place.where != Place::RowOf || group.kind == GroupKind::Contraction)
    return false;
  if (group.parts && !nodes.fitsRows(place.rows, group.outer))
    return false;
  return group.rows ? group.rows == place.rows : !group.moves && !group.turns;
}

// Whether what is computed at `place` may be a result beside those of `group`.
bool KernelGroups::mayYield(int n, const Place &place, const Group &group) const {
  switch (place.where) {
  case Place::Result:
    // A contraction's epilogue costs nothing where it is.
    return nodes[n].space == group.space && !((group.rows || group.parts) && nodes.isOfProduct(n));
  case Place::RowOf:
    return keepsRows(place, group);
  case Place::ElementOf:
    return !nodes.isOfProduct(n) && (group.byRows || (!group.moves && !group.turns));
  case Place::Elsewhere:
    return false;
  }
  return false;
}

// Whether the result of `group` depends on a user of n that is not in it. Where more is computed of n than the budget
// allows to look at, so it is of all that n is computed of: in a deep network that is nearly everything, and known at once.
bool KernelGroups::otherUsersReach(int n, int group) {
  ++stamp;
  int steps = 0;
  llvm::SmallVector<int, 16> work; // nodes whose value is read
  auto readers = [&](int node) {
    // Pushes what is computed from `node`; true when that includes `group`.
    for (const Edge &user : nodes.usersOf(node)) {
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
    int node = work.pop_back_val();
    if (isFar[node] || ++steps > limits.searchSteps) {
      isFar[n] = true;
      return true;
    }
    if (readers(node))
      return true;
  }
  return false;
}

bool KernelGroups::mayYieldBeside(int n, const Member &member) {
  const Group &group = groups[member.group];
  return member.side == Side::Result && group.kind != GroupKind::Update &&
         group.kind != GroupKind::Alone && mayYield(n, member.place, group) &&
         !otherUsersReach(n, member.group);
}

bool KernelGroups::tryYield(int n, const Member &member) {
  if (!mayYieldBeside(n, member))
    return false;
  join(n, member);
  Group &group = groups[member.group];
  group.outputs.push_back(n);
  group.byRows |= !member.aligned();
  if (member.place.where == Place::RowOf)
    group.rows = member.place.rows;
  addOutput(n, member.group);
  return true;
}

// What joinParts asks of a kernel that yields n.
void KernelGroups::addOutput(int n, int g) {
  Group &group = groups[g];
  group.paired |= nodes.isPaired(n);
  group.ofProduct |= nodes.isOfProduct(n);
  if (std::optional<SumParts> parts = nodes.partsOf(n)) {
    group.parts = parts->window;
    group.outer = parts->outer;
    group.byRows = true; // a row after the other
  }
  if (nodes[n].space == group.space)
    for (int array : nodes.arraysOf(n))
      if (!llvm::is_contained(group.arrays, array)) {
        group.arrays.push_back(array);
        byArray[{array, group.space}].push_back(g);
      }
}

void KernelGroups::start(int n, bool isUrgent) {
  const Node &node = nodes[n];
  GroupKind kind = node.kind == NodeKind::Update                       ? GroupKind::Update
                   : node.kind == NodeKind::Alone && !nodes.partsOf(n) ? GroupKind::Alone
                                                                       : GroupKind::Elemental;
  groups.push_back(
      {.kind = kind, .space = node.space, .elements = node.elements, .urgent = isUrgent});
  groupSeen.push_back(0);
  groups.back().outputs.push_back(n);
  join(n, {static_cast<int>(groups.size()) - 1, Side::Result, {Place::Result}, false});
  addOutput(n, static_cast<int>(groups.size()) - 1);
}

void KernelGroups::join(int n, const Member &member) {
  Group &group = groups[member.group];
  const Node &node = nodes[n];
  members[n].push_back(member);
  group.nodes.push_back(n);
  group.size += node.kind != NodeKind::Constant;
  if (node.kind == NodeKind::Movement && !nodes.takesOfRow(n, member.place)) {
    group.moves = true;
    group.cuts += node.cuts;
  }
  group.movesElements |= node.kind == NodeKind::Movement || node.kind == NodeKind::Slice ||
                         node.kind == NodeKind::Transpose || node.kind == NodeKind::Reshape ||
                         (node.kind == NodeKind::Pointwise && !member.aligned());
  group.turns |= node.kind == NodeKind::Transpose;
  group.regroups |= node.kind == NodeKind::Reshape && member.place.where != Place::RowOf;
  if (node.kind == NodeKind::Reduce) {
    group.kind = GroupKind::Reduce;
    group.reduced = node.reduced;
    if (!member.aligned()) {
      group.rows = node.reduced;
      group.byRows = true;
    }
  } else if (node.kind == NodeKind::Contraction) {
    group.kind = GroupKind::Contraction;
  }
}

// With what it alone reads there.
void KernelGroups::leave(int n, int g) {
  llvm::SmallVector<int, 4> work{n};
  while (!work.empty()) {
    int node = work.pop_back_val();
    if (!isMember(node, g))
      continue;
    llvm::erase(groups[g].nodes, node);
    groups[g].size -= nodes[node].kind != NodeKind::Constant;
    llvm::erase_if(members[node], [&](const Member &m) { return m.group == g; });
    for (const Edge &edge : nodes[node].operands) {
      bool isRead = llvm::any_of(nodes.usersOf(edge.node),
                                 [&](const Edge &user) { return isMember(user.node, g); });
      if (!isRead && !isOutput(edge.node))
        work.push_back(edge.node);
    }
  }
}

void KernelGroups::leaveAllBut(int n, int g) {
  for (const Edge &edge : nodes[n].operands)
    if (nodes[edge.node].kind == NodeKind::Constant && !members[edge.node].empty() &&
        !isMember(edge.node, g))
      join(edge.node, {g, Side::Result, {Place::Result}, false});
  llvm::SmallVector<int, 2> left;
  for (const Member &member : members[n])
    if (member.group != g)
      left.push_back(member.group);
  for (int group : left)
    leave(n, group);
}

void KernelGroups::yieldInstead(int yields, llvm::ArrayRef<int> between, const Member &member) {
  for (int n : between)
    leaveAllBut(n, member.group);
  leaveAllBut(yields, member.group);
  join(yields, member);
  groups[member.group].outputs.push_back(yields);
}

} // namespace tessera::fusion
