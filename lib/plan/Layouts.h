// The shardings that a value may get.
//
//   [64, 512] on x=2, y=4    [{}, {}]  [{x}, {}]  [{}, {x}]  [{y}, {}] ..  [{x,y}, {}]  [{y,x}, {}]
//                            [{x}, {y}]  [{y}, {x}]  ..
//   [6, 512] on y=4          [{}, {}]  [{y:(1)2}, {}]  [{}, {y}]
//
// Each axis shards one dimension or none; dimensions divide evenly, by a part of an axis where the
// whole does not. Uneven shards cost padding, and callers hold even ones only.
#pragma once

#include "lib/sharding/ContentKey.h"
#include "lib/sharding/FactorAxes.h"

#include <deque>
#include <map>
#include <string>
#include <unordered_map>

namespace tessera::plan {

using sharding::appendKey;

struct LayoutQuery {
  sharding::Shape shape;
  sharding::TensorSharding annotation; // closed dimensions are as they say, open ones begin so
  bool wholeAxes = false;              // of what callers hold: no parts of axes
  uint64_t unusable = 0;               // axes of the mesh, by bit
};

// Interned lists of shardings: equal lists have one number, so that tables can be shared.
class LayoutLists {
public:
  explicit LayoutLists(const sharding::Mesh &mesh) : mesh(mesh) {}

  int32_t candidates(const LayoutQuery &query);
  int32_t intern(std::vector<sharding::TensorSharding> list);
  const std::vector<sharding::TensorSharding> &operator[](int32_t list) const {
    return *lists[list];
  }

  // Shardings that place values alike have one number, whatever list they are in.
  int32_t numberOf(const sharding::TensorSharding &sharding);
  llvm::ArrayRef<int32_t> numbersOf(int32_t list) const { return members[list]; }
  const sharding::TensorSharding &numbered(int32_t number) const { return distinct[number]; }

private:
  const sharding::Mesh &mesh;
  std::map<std::string, int32_t> numbers; // by content
  std::map<std::string, int32_t> asked;   // by query
  std::vector<const std::vector<sharding::TensorSharding> *> lists;
  std::map<int32_t, std::vector<sharding::TensorSharding>> storage;
  std::vector<std::vector<int32_t>> members; // of each list its shardings, by number
  std::unordered_map<std::string, int32_t> numberByKey;
  std::deque<sharding::TensorSharding> distinct;
};

} // namespace tessera::plan
