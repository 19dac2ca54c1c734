#include "lib/fusion/FusionGraph.h"

#include "lib/fusion/SumParts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::fusion {
namespace {

enum class GroupKind : uint8_t { Elemental, Reduce, Contraction, Update, Alone };

// Which part of its kernel a node belongs to: what the dominant op's operands are computed by, or its
// epilogue.
enum class Side : uint8_t { Result, Reduced, Packed };

// At which index it is computed, seen from the kernel's result.
struct Place {
  enum Where : uint8_t {
    Result,    // at the result's, for that element only
    RowOf,     // once for each row of the result
    ElementOf, // for each element of a row; the result has an element for the row
    Elsewhere,
  } where = Elsewhere;
  uint32_t rows = 0; // RowOf, ElementOf: which rows, Node::reduced
  bool operator==(const Place &) const = default;
};

struct Member {
  int group;
  Side side;
  Place place;
  bool reread; // computed several times for each of its elements
  bool aligned() const { return place.where == Place::Result; }
};

struct Group {
  GroupKind kind;
  uint32_t space;
  uint32_t reduced = 0;
  uint32_t rows = 0; // that stay, when the result's elements are elements of them
  int64_t elements;
  int size = 0, movements = 0;
  bool turns = false;  // reads arrays across their rows
  bool byRows = false; // has results for rows and for their elements: takes a row after the other
  bool movesElements =
      false;              // more than elements at the result's index and broadcasts: no epilogue
  uint32_t parts = 0;     // of sums over columns that it makes beside: of which windows
  int outer = 0;          // where those columns begin
  bool regroups = false;  // its elements' index changes on the way
  bool ofProduct = false; // yields a contraction's epilogue
  bool urgent = false;    // a collective waits for it
  llvm::SmallVector<int, 4> arrays = {}; // that its results are computed of element by element
  std::vector<int> nodes = {}, outputs = {};
};

class Planner {
public:
  Planner(llvm::ArrayRef<Node> nodes, const SumPartsTable &table, const Limits &limits)
      : nodes(nodes), table(table), limits(limits), members(nodes.size()), users(nodes.size()),
        kept(nodes.size()), urgent(nodes.size()), copyDepth(nodes.size()), ofRows(nodes.size()),
        ofProduct(nodes.size()), arrays(nodes.size()), withRows(nodes.size()),
        nodeSeen(nodes.size()) {
    for (auto [i, node] : llvm::enumerate(nodes)) {
      findArrays(static_cast<int>(i));
      for (const Edge &edge : node.operands)
        users[edge.node].push_back({static_cast<int>(i), edge.use});
      if (node.kind == NodeKind::Broadcast && node.reduced)
        spread.insert(node.reduced);
      if (node.kind == NodeKind::Reduce)
        ofRows[i] = node.reduced;
      else if (node.kind == NodeKind::Pointwise || node.kind == NodeKind::Convert ||
               node.kind == NodeKind::Reshape)
        for (const Edge &edge : node.operands)
          if (nodes[edge.node].elements == node.elements && ofRows[edge.node])
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

  bool makesParts(int n) const { return table.parts.contains(n); }
  uint32_t windowOf(int n) const { return table.parts.lookup(n).window; }

  // The arrays that node n is computed of element by element: a few of them.
  void findArrays(int n) {
    constexpr size_t most = 6;
    const Node &node = nodes[n];
    auto add = [&](int array) {
      if (arrays[n].size() < most && !llvm::is_contained(arrays[n], array))
        arrays[n].push_back(array);
    };
    if (!isPointwise(node.kind) && !makesParts(n))
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
    if (!feedsCollective && ((!inMemory && joinNarrowed(n, targets)) || joinAsOutput(n, targets) ||
                             joinBeside(n, targets) || joinParts(n, targets)))
      return;
    start(n);
    groups.back().urgent = feedsCollective;
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

  // Whether these are rows that stay: some broadcast gives each of their elements the row's.
  bool isSpread(uint32_t rows) const { return spread.contains(rows); }

  // Where node n is computed when `user` reads it and is itself computed at `reader`.
  Place placeOf(int n, Use use, int user, const Place &reader) const {
    const Node &by = nodes[user];
    if (makesParts(user))
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
      if (!by.reduced || ofRows[n] != by.reduced)
        return {};
      if (reader == Place{Place::ElementOf, by.reduced})
        return {Place::Result};
      return reader.where == Place::Result ? Place{Place::RowOf, by.reduced} : Place{};
    default:
      return {};
    }
  }

  // Node n as a member of `reader.group`, where `user` reads it.
  Target asMember(int n, Use use, int user, const Member &reader) const {
    const Group &group = groups[reader.group];
    Place place = placeOf(n, use, user, reader.place);
    bool inRows = place.where != Place::Elsewhere;
    Target target{
        {reader.group, reader.side, place, reader.reread || (use == Use::Reread && !inRows)}};
    if (use == Use::Reduced || inRows)
      target.member.side = inRows ? Side::Result : Side::Reduced;
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
      return (readsThrough(node.kind) && !isStored(n)) ||
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
             !group.movesElements && node.space == group.space;
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
      return group.kind != GroupKind::Contraction && group.movements < limits.movements &&
             !group.byRows;
    case NodeKind::Transpose:
      return group.kind != GroupKind::Contraction && !group.byRows;
    case NodeKind::Slice:
      return group.kind != GroupKind::Contraction;
    }
    return false;
  }

  // Whether `group` can go over its result row by row, with what is computed once a row.
  bool keepsRows(const Place &place, const Group &group) const {
    if (place.where != Place::RowOf || group.kind == GroupKind::Contraction)
      return false;
    if (group.parts && !fitsRows(place.rows, group.outer))
      return false;
    return group.rows ? group.rows == place.rows : !group.movements && !group.turns;
  }

  // Whether what is computed at `place` may be a result beside those of `group`.
  bool mayYield(int n, const Place &place, const Group &group) const {
    switch (place.where) {
    case Place::Result:
      // A contraction's epilogue costs nothing where it is.
      return nodes[n].space == group.space && !((group.rows || group.parts) && ofProduct[n]);
    case Place::RowOf:
      return keepsRows(place, group);
    case Place::ElementOf:
      return !ofProduct[n] && (group.byRows || (!group.movements && !group.turns));
    case Place::Elsewhere:
      return false;
    }
    return false;
  }

  // Whether n narrows what nobody needs in memory as wide as it is: then n is what is stored.
  bool isStored(int n) const {
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

  bool narrowsType(int n) const { return nodes[n].narrows && nodes[n].kind == NodeKind::Convert; }

  // What the operand of a contraction may be read through.
  static bool readsThrough(NodeKind kind) {
    return kind == NodeKind::Transpose || kind == NodeKind::Reshape || kind == NodeKind::Convert ||
           kind == NodeKind::Slice || kind == NodeKind::Broadcast;
  }

  static bool mayBeCopied(const Node &node) {
    return node.kind != NodeKind::Reduce && node.kind != NodeKind::Contraction && !node.expensive;
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
    if (isStored(n) && !mayBeCopied(nodes[node.operands.front().node]))
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

  int deepestCopy(int n) const {
    int deepest = 0;
    for (const Edge &user : users[n])
      deepest = std::max(deepest, static_cast<int>(copyDepth[user.node]));
    return deepest;
  }

  // Puts n into one of the kernels that use it and lets the others read it from there: the one that
  // does most, so that a row's sum is with what goes over the row's elements, not with its logarithm.
  bool joinAsOutput(int n, llvm::SmallVectorImpl<Target> &targets) {
    llvm::stable_sort(targets, [&](const Target &a, const Target &b) {
      return groups[a.member.group].elements > groups[b.member.group].elements;
    });
    return llvm::any_of(
        targets, [&](const Target &target) { return target.fits && tryYield(n, target.member); });
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
    for (const Edge &edge : users[n]) {
      int user = edge.node;
      bool isNone = members[user].empty() && !kept[user] && nodes[user].kind != NodeKind::Outside;
      if (isNone || user == found.yields || llvm::is_contained(found.between, user) ||
          llvm::all_of(members[user], [&](const Member &m) { return m.group == g; }))
        continue;
      bool mayMove = isPointwise(nodes[user].kind) && edge.use == Use::Once &&
                     nodes[user].space == nodes[n].space && !isOutput(user);
      bool isMadeHere = llvm::all_of(nodes[user].operands, [&](const Edge &other) {
        return other.node == n || nodes[other.node].kind == NodeKind::Constant ||
               llvm::is_contained(found.between, other.node);
      });
      if (isMember(user, g) && mayMove) {
        found.between.push_back(user);
        if (!collectNarrowed(user, g, found))
          return false;
      } else if (isMember(user, g) || !mayMove || !isMadeHere || !nodes[user].narrows ||
                 found.yields >= 0) {
        return false;
      } else {
        found.yields = user;
      }
    }
    return true;
  }

  bool isOutput(int n) const {
    return llvm::any_of(members[n], [&](const Member &member) {
      return llvm::is_contained(groups[member.group].outputs, n);
    });
  }

  bool joinNarrowed(int n, llvm::ArrayRef<Target> targets) {
    for (const Target &target : targets) {
      int g = target.member.group;
      Narrowed found;
      if (!target.fits || target.member.side != Side::Result || !target.member.aligned() ||
          groups[g].byRows || !collectNarrowed(n, g, found) || found.yields < 0 ||
          !mayYieldBeside(n, target.member))
        continue;
      join(n, target.member);
      for (int between : found.between)
        leaveAllBut(between, g);
      leaveAllBut(found.yields, g);
      join(found.yields, target.member);
      groups[g].outputs.push_back(found.yields);
      return true;
    }
    return false;
  }

  void leaveAllBut(int n, int g) {
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

  // With what it alone reads there.
  void leave(int n, int g) {
    llvm::SmallVector<int, 4> work{n};
    while (!work.empty()) {
      int node = work.pop_back_val();
      if (!isMember(node, g))
        continue;
      llvm::erase(groups[g].nodes, node);
      groups[g].size -= nodes[node].kind != NodeKind::Constant;
      llvm::erase_if(members[node], [&](const Member &m) { return m.group == g; });
      for (const Edge &edge : nodes[node].operands) {
        bool isRead = llvm::any_of(users[edge.node],
                                   [&](const Edge &user) { return isMember(user.node, g); });
        if (!isRead && !isOutput(edge.node))
          work.push_back(edge.node);
      }
    }
  }

  // Puts n into a kernel that computes what n reads, too, for others: what would be written to memory
  // for the two only is not. One that reads n itself does so elsewhere than where it could be made.
  bool joinBeside(int n, llvm::ArrayRef<Target> targets) {
    for (const Edge &edge : nodes[n].operands) {
      if (nodes[edge.node].kind != NodeKind::Pointwise || !nodes[edge.node].expensive)
        continue;
      for (const Edge &user : users[edge.node])
        for (const Member &reader : members[user.node]) {
          bool isReader = llvm::any_of(
              targets, [&](const Target &t) { return t.member.group == reader.group; });
          Place read = placeOf(edge.node, user.use, user.node, reader.place);
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
    bool isParts = makesParts(n);
    if (!(isParts || isPointwise(node.kind)) || ofProduct[n])
      return false;
    auto isReader = [&](int g) { // elsewhere than where n could be made
      return llvm::any_of(targets, [&](const Target &t) { return t.member.group == g; });
    };
    constexpr size_t mostOutputs = 12, mostKernels = 8;
    for (int array : arrays[n]) {
      auto found = byArray.find({array, node.space});
      if (found == byArray.end())
        continue;
      llvm::ArrayRef<int> last = llvm::ArrayRef(found->second).take_back(mostKernels);
      for (int g : llvm::reverse(last)) {
        const Group &group = groups[g];
        bool isFree =
            !group.movements && !group.turns && !group.regroups && !group.ofProduct &&
            !group.urgent && group.outputs.size() < mostOutputs && group.size < limits.nodes &&
            (group.kind == GroupKind::Elemental || (group.kind == GroupKind::Reduce && group.rows));
        bool fitsParts = !isParts      ? group.parts && fitsRows(withRows[n], group.outer)
                         : group.parts ? group.parts == windowOf(n)
                                       : fitsRows(group.rows, table.parts.lookup(n).outer);
        if (!isFree || !fitsParts || isReader(g))
          continue;
        if (tryYield(n, {g, Side::Result, {Place::Result}, false}))
          return true;
      }
    }
    return false;
  }

  // Whether rows, if there are some, lie within columns that begin with dimension `outer`: otherwise a
  // row would be summed over.
  bool fitsRows(uint32_t rows, int outer) const {
    return !rows || table.rowsFrom.lookup(rows) >= outer;
  }

  // Where `read` is the place of what n reads, in a kernel.
  bool joinWith(int n, Use use, const Place &read, int g) {
    const Node &node = nodes[n];
    Place place;
    if (isPointwise(node.kind) && use == Use::Once)
      place = read;
    else if (node.kind == NodeKind::Reduce && use == Use::Reduced && node.reduced) {
      if (read.where == Place::Result && isSpread(node.reduced))
        place = {Place::RowOf, node.reduced};
      else if (read == Place{Place::ElementOf, node.reduced})
        place = {Place::Result};
    }
    Member member{g, Side::Result, place, false};
    return fits(n, use, member, groups[g]) && tryYield(n, member);
  }

  static bool isPointwise(NodeKind kind) {
    return kind == NodeKind::Pointwise || kind == NodeKind::Convert;
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

  // Whether n may join as a result for others.
  bool mayYieldBeside(int n, const Member &member) {
    const Group &group = groups[member.group];
    return member.side == Side::Result && group.kind != GroupKind::Update &&
           group.kind != GroupKind::Alone && mayYield(n, member.place, group) &&
           !otherUsersReach(n, member.group);
  }

  bool tryYield(int n, const Member &member) {
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
  void addOutput(int n, int g) {
    Group &group = groups[g];
    group.ofProduct |= ofProduct[n];
    if (makesParts(n)) {
      group.parts = windowOf(n);
      group.outer = table.parts.lookup(n).outer;
      group.byRows = true; // a row after the other
    }
    if (nodes[n].space == group.space)
      for (int array : arrays[n])
        if (!llvm::is_contained(group.arrays, array)) {
          group.arrays.push_back(array);
          byArray[{array, group.space}].push_back(g);
        }
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

  void start(int n) {
    const Node &node = nodes[n];
    GroupKind kind = node.kind == NodeKind::Update                    ? GroupKind::Update
                     : node.kind == NodeKind::Alone && !makesParts(n) ? GroupKind::Alone
                                                                      : GroupKind::Elemental;
    groups.push_back({.kind = kind, .space = node.space, .elements = node.elements});
    groupSeen.push_back(0);
    groups.back().outputs.push_back(n);
    join(n, {static_cast<int>(groups.size()) - 1, Side::Result, {Place::Result}, false});
    addOutput(n, static_cast<int>(groups.size()) - 1);
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
  const SumPartsTable &table;
  const Limits &limits;
  std::vector<llvm::SmallVector<Member, 1>> members;
  std::vector<llvm::SmallVector<Edge, 2>> users;
  std::vector<bool> kept;   // stays outside kernels though it is no Outside node
  std::vector<bool> urgent; // kept, and read by a collective
  std::vector<uint8_t> copyDepth;
  llvm::DenseSet<uint32_t> spread;
  std::vector<uint32_t> ofRows; // what is computed of reductions along rows: Node::reduced
  std::vector<bool> ofProduct;  // a contraction's result, or its epilogue's
  std::vector<llvm::SmallVector<int, 2>>
      arrays; // that are read element by element; from outside: < 0
  std::vector<uint32_t>
      withRows; // of what each element is computed with its row's value: of which rows
  // Kernels by what they read element by element, and in which space.
  llvm::DenseMap<std::pair<int, uint32_t>, llvm::SmallVector<int, 2>> byArray;
  std::vector<Group> groups;
  std::vector<int> nodeSeen, groupSeen;
  int stamp = 0;
};

} // namespace

Plan planKernels(llvm::ArrayRef<Node> nodes, const Limits &limits) {
  return Planner(nodes, SumPartsTable(), limits).run();
}

Plan planKernels(llvm::ArrayRef<Node> nodes, const SumPartsTable &table, const Limits &limits) {
  return Planner(nodes, table, limits).run();
}

} // namespace tessera::fusion
