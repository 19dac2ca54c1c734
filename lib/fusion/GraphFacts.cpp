#include "lib/fusion/GraphFacts.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::fusion {

GraphFacts::GraphFacts(llvm::ArrayRef<Node> nodes, const SumPartsTable &table)
    : nodes(nodes), table(table), users(nodes.size()), arrays(nodes.size()), withRows(nodes.size()),
      ofRows(nodes.size(), -1), ofProduct(nodes.size()) {
  for (auto [i, node] : llvm::enumerate(nodes)) {
    findArrays(static_cast<int>(i));
    for (const Edge &edge : node.operands)
      users[edge.node].push_back({static_cast<int>(i), edge.use});
    if (node.kind == NodeKind::Broadcast && node.reduced)
      spread.insert(node.reduced);
    if (node.kind == NodeKind::Reduce)
      ofRows[i] = node.reduced ? static_cast<int>(i) : -1;
    else if (node.kind == NodeKind::Pointwise || node.kind == NodeKind::Convert ||
             node.kind == NodeKind::Reshape)
      for (const Edge &edge : node.operands)
        if (nodes[edge.node].elements == node.elements && ofRows[edge.node] >= 0)
          ofRows[i] = ofRows[edge.node];
  }
  for (auto [i, node] : llvm::enumerate(nodes))
    ofProduct[i] = node.kind == NodeKind::Contraction ||
                   ((node.kind == NodeKind::Pointwise || node.kind == NodeKind::Convert) &&
                    llvm::any_of(node.operands, [&](const Edge &edge) {
                      return ofProduct[edge.node] && edge.use == Use::Once &&
                             nodes[edge.node].space == node.space && users[edge.node].size() == 1;
                    }));
}

void GraphFacts::findArrays(int n) {
  constexpr size_t most = 6;
  const Node &node = nodes[n];
  auto add = [&](int array) {
    if (arrays[n].size() < most && !llvm::is_contained(arrays[n], array))
      arrays[n].push_back(array);
  };
  if (!isPointwise(node.kind) && !partsOf(n))
    return;
  if (auto outside = table.arrays.find(n); outside != table.arrays.end())
    for (int array : outside->second)
      add(-1 - array);
  for (const Edge &edge : node.operands) {
    const Node &operand = nodes[edge.node];
    if (operand.kind == NodeKind::Broadcast && operand.reduced)
      withRows[n] = operand.reduced;
    if ((edge.use != Use::Once && edge.use != Use::Reduced) || operand.space != node.space)
      continue;
    if (withRows[edge.node])
      withRows[n] = withRows[edge.node];
    if (isPointwise(operand.kind))
      llvm::for_each(arrays[edge.node], add);
    else if (operand.kind != NodeKind::Constant && operand.kind != NodeKind::Broadcast)
      add(edge.node);
  }
}

std::optional<SumParts> GraphFacts::partsOf(int n) const {
  auto found = table.parts.find(n);
  return found == table.parts.end() ? std::nullopt : std::optional(found->second);
}

bool GraphFacts::fitsRows(uint32_t rows, int outer) const {
  return !rows || table.rowsFrom.lookup(rows) >= outer;
}

bool GraphFacts::narrowsType(int n) const {
  return nodes[n].narrows && nodes[n].kind == NodeKind::Convert;
}

bool GraphFacts::isStored(int n) const {
  const Node &node = nodes[n];
  if (!narrowsType(n) || node.operands.empty())
    return false;
  int wide = node.operands.front().node;
  NodeKind kind = nodes[wide].kind;
  bool isComputed =
      kind == NodeKind::Pointwise || kind == NodeKind::Reduce || kind == NodeKind::Contraction;
  return isComputed && llvm::all_of(users[wide], [&](const Edge &user) {
           return narrowsType(user.node) || user.use == Use::Reduced;
         });
}

// What n is a view of; below 0 an array from outside of the block.
int GraphFacts::arrayBehind(int n) const {
  while (nodes[n].kind == NodeKind::Reshape) {
    if (nodes[n].operands.empty()) {
      auto outside = table.arrays.find(n);
      return outside == table.arrays.end() ? n : -1 - outside->second.front();
    }
    n = nodes[n].operands.front().node;
  }
  return n;
}

bool GraphFacts::readsUpdated(int n, int update) const {
  constexpr int64_t smallPart = 4; // an update's elements times this are at most the array's
  auto outside = table.updated.find(update);
  int array = outside == table.updated.end() ? nodes.size() : -1 - outside->second;
  for (const Edge &edge : nodes[update].operands) {
    if (edge.use == Use::Whole)
      array = arrayBehind(edge.node);
    else if (edge.use == Use::Once &&
             nodes[edge.node].elements * smallPart > nodes[update].elements)
      return false;
  }
  if (nodes[n].kind == NodeKind::Reshape)
    return false; // a view
  auto read = table.arrays.find(n);
  return llvm::any_of(nodes[n].operands,
                      [&](const Edge &edge) { return arrayBehind(edge.node) == array; }) ||
         (read != table.arrays.end() && llvm::is_contained(read->second, -1 - array));
}

Place GraphFacts::placeOf(int n, Use use, int user, const Place &reader) const {
  const Node &by = nodes[user];
  if (partsOf(user))
    return use == Use::Reduced ? reader : Place{};
  switch (by.kind) {
  case NodeKind::Pointwise:
  case NodeKind::Convert:
    return use == Use::Once ? reader : Place{};
  case NodeKind::Reshape: // of a row's result; of others the index changes
    return reader.where == Place::RowOf ? reader : Place{};
  case NodeKind::Reduce:
    if (use != Use::Reduced || !by.reduced)
      return {};
    if (reader == Place{Place::RowOf, by.reduced})
      return {Place::Result};
    return reader.where == Place::Result && isSpread(by.reduced)
               ? Place{Place::ElementOf, by.reduced}
               : Place{};
  case NodeKind::Broadcast:
    if (!by.reduced || ofRows[n] < 0 || nodes[ofRows[n]].reduced != by.reduced)
      return {};
    if (reader == Place{Place::ElementOf, by.reduced})
      return {Place::Result};
    return reader.where == Place::Result ? Place{Place::RowOf, by.reduced} : Place{};
  default:
    return {};
  }
}

} // namespace tessera::fusion
