// The kernels of FusionGraph.h while they grow: which nodes are in which of them, and which may join.
#pragma once

#include "lib/fusion/GraphFacts.h"

namespace tessera::fusion {

enum class GroupKind : uint8_t { Elemental, Reduce, Contraction, Update, Alone };

// Which part of its kernel a node belongs to: what the dominant op's operands are computed by, or its
// epilogue.
enum class Side : uint8_t { Result, Reduced, Packed };

// A node in a kernel.
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
  int size = 0, cuts = 0;
  bool moves = false;  // has nodes of Movement, of more than a row
  bool paired = false; // yields complex numbers: no tiles of a real contraction are stored so
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

// Keeps references to what it is made of.
class KernelGroups {
public:
  KernelGroups(const GraphFacts &nodes, const Limits &limits);

  int size() const { return static_cast<int>(groups.size()); }
  const Group &operator[](int group) const { return groups[group]; }
  llvm::ArrayRef<Member> membersOf(int n) const { return members[n]; }
  bool isMember(int n, int group) const;
  bool isOutput(int n) const;

  // Whether n stays outside kernels though it is no Outside node.
  bool isKept(int n) const { return kept[n]; }

  // The kernels that go over array `array` (GraphFacts::arraysOf) at the index of results in `space`,
  // in the order in which they began to.
  llvm::ArrayRef<int> over(int array, uint32_t space) const;

  // Whether n, as `member`, may be computed in its group where it is used as `use`.
  bool fits(int n, Use use, const Member &member) const;

  // Whether n may join as a result for others.
  bool mayYieldBeside(int n, const Member &member);

  // n joins as a result for others, where it may.
  bool tryYield(int n, const Member &member);

  // A group of n alone; a collective waits for an urgent one.
  void start(int n, bool isUrgent);

  void keep(int n) { kept[n] = true; }

  void join(int n, const Member &member);

  // `yields`, and what is `between` it and a node that has just joined, leave their other groups for
  // that node's: `yields` is a result of it, as `member`.
  void yieldInstead(int yields, llvm::ArrayRef<int> between, const Member &member);

private:
  bool keepsRows(const Place &place, const Group &group) const;
  bool mayYield(int n, const Place &place, const Group &group) const;
  bool otherUsersReach(int n, int group);
  void addOutput(int n, int g);
  void leave(int n, int g);
  void leaveAllBut(int n, int g);

  const GraphFacts &nodes;
  const Limits &limits;
  std::vector<Group> groups;
  std::vector<llvm::SmallVector<Member, 1>> members;
  std::vector<bool> kept;
  llvm::DenseMap<std::pair<int, uint32_t>, llvm::SmallVector<int, 2>> byArray;
  std::vector<int> nodeSeen, groupSeen; // marks of otherUsersReach
  int stamp = 0;
  std::vector<bool> isFar; // of more nodes' ends than a search of otherUsersReach may see
};

} // namespace tessera::fusion
