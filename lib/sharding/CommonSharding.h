// What annotations that are to be one come to.
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::sharding {

// The sharding that says all that `a` and `b` say, none when they contradict each other: along a
// dimension one's axes must begin with the other's, which must be open where it has fewer; no axis
// may stand in two dimensions, nor where the other is replicated; and both are unreduced alike.
//   [{"x", ?}, {?}]  [{?}, {"y"}]     [{"x", ?}, {"y"}]
//   [{"x"}, {?}]     [{"x", "y"}, {}]  none
// Of one rank. A dimension of the result is closed where one is.
std::optional<TensorSharding> commonSharding(const TensorSharding &a, const TensorSharding &b);

// What a member of a sharding group is annotated with, on the mesh of that number; none where that is negative.
struct GroupMember {
  int32_t mesh;
  const TensorSharding *sharding;
};

struct GroupSharding {
  int32_t mesh = -1;                      // -1: no member is annotated
  TensorSharding sharding;                // that says all that they say,
  llvm::SmallVector<unsigned> contradict; // but these, each of which contradicts those before it
};

GroupSharding groupSharding(llvm::ArrayRef<GroupMember> members);

} // namespace tessera::sharding
