#include "lib/fusion/MadeAgain.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::fusion {
namespace {

// Computes its kernel's elements one by one, each once.
bool isInStep(const Member &member, const KernelGroups &kernels) {
  return member.aligned() && member.side == Side::Result && !member.reread &&
         !kernels[member.group].byRows;
}

} // namespace

bool isOfWhatAllRead(const GraphFacts &nodes, const KernelGroups &kernels, int n,
                     llvm::ArrayRef<Member> members, const Limits &limits) {
  constexpr size_t mostNodes = 12;
  constexpr int mostExpensive = 2; // an exponential and a division
  if (!isPointwise(nodes[n].kind) || nodes[n].elements < limits.madeAgainFrom ||
      static_cast<int>(members.size()) > limits.copies ||
      !llvm::all_of(members, [&](const Member &m) { return isInStep(m, kernels); }))
    return false;

  llvm::SmallVector<int, mostNodes> made{n}; // and what is computed for it
  auto readsOtherwise = [&](const Edge &user, int group) {
    return user.use == Use::Once && !llvm::is_contained(made, user.node) &&
           llvm::any_of(kernels.membersOf(user.node),
                        [&](const Member &m) { return m.group == group && isInStep(m, kernels); });
  };
  // Whether nobody but `members` reads an operand, at the same places: otherwise it may have to be
  // written for others, and held for these.
  auto isTheirsAlone = [&](int operand) {
    return llvm::all_of(nodes.usersOf(operand), [&](const Edge &user) {
      if (llvm::is_contained(made, user.node))
        return true;
      return user.use == Use::Once && nodes[user.node].kind != NodeKind::Outside &&
             !kernels.isKept(user.node) &&
             llvm::all_of(kernels.membersOf(user.node), [&](const Member &reader) {
               return isInStep(reader, kernels) && llvm::any_of(members, [&](const Member &m) {
                        return m.group == reader.group;
                      });
             });
    });
  };
  int expensive = 0;
  for (size_t next = 0; next < made.size(); ++next) {
    const Node &node = nodes[made[next]];
    expensive += node.expensive;
    if (made.size() > mostNodes || expensive > mostExpensive || nodes.readsOutside(made[next]))
      return false;
    for (const Edge &edge : node.operands) {
      const Node &operand = nodes[edge.node];
      if (operand.kind == NodeKind::Constant || llvm::is_contained(made, edge.node))
        continue;
      if (edge.use != Use::Once || operand.space != node.space)
        return false;
      bool isReadByAll = llvm::all_of(members, [&](const Member &member) {
        return llvm::any_of(nodes.usersOf(edge.node),
                            [&](const Edge &user) { return readsOtherwise(user, member.group); });
      });
      if (isReadByAll)
        continue;
      if (!isPointwise(operand.kind) || !isTheirsAlone(edge.node))
        return false;
      made.push_back(edge.node);
    }
  }
  return true;
}

} // namespace tessera::fusion
