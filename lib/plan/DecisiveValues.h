// The few annotations that make propagation give all values the shardings that were planned.
//
//   x [{"a"}, {}]    w [{}, {"b"}]    h = x . w    y = relu(h)    z = y . v
// Arguments x, w and v say what h and y are; z, where rows could also be gathered, needs a constraint.
#pragma once

#include "lib/plan/Folded.h"

#include <functional>

namespace tessera::plan {

// How all values are to lie: each as `values` says of it, or of what it is folded into.
class Planned {
public:
  // Both are kept by reference.
  Planned(const Assignment &values) : values(values) {}
  Planned(const Assignment &folded, llvm::ArrayRef<int32_t> valueOf)
      : values(folded), valueOf(valueOf) {}

  const sharding::TensorSharding &operator[](size_t value) const {
    return values[valueOf.empty() ? value : size_t(valueOf[value])];
  }
  size_t size() const { return valueOf.empty() ? values.size() : valueOf.size(); }

private:
  const Assignment &values;
  llvm::ArrayRef<int32_t> valueOf;
};

// Where an annotation can stand, and the values that it speaks of: several for a line of a function
// that is called more than once.
struct AnnotationPlace {
  enum Kind { Argument, Result, Inside } kind = Inside;
  llvm::SmallVector<int32_t, 1> values;
};

// Propagates the annotations of a graph. Propagation may go more than one way (by size, by time, the
// state last): values are to come out as planned by each.
using Way = std::function<void(sharding::PropagationGraph &)>;

struct DecisivePlaces {
  std::vector<int32_t>
      places; // by number, in order; arguments and results that are sharded are all there
  std::vector<int32_t> others; // values that come out otherwise still: there is no place for them
};

// `annotated`: with what the user wrote. What is computed from constants alone may lie as it comes out.
// `also`: values that are to be annotated in any case. Without `fewest`, some of the places may be
// needless: to find out takes most of the time.
DecisivePlaces decisivePlaces(const sharding::PropagationGraph &annotated, const Planned &planned,
                              llvm::ArrayRef<AnnotationPlace> places, llvm::ArrayRef<Way> ways,
                              llvm::ArrayRef<int32_t> also = {}, bool fewest = true);

// Of a program whose equal layers are folded into one (`folded`, with its own ways, of which `planned` is an
// assignment): the fewest places of those, for every layer; and what propagation through all layers needs
// besides. To try each place takes as long as with one layer.
DecisivePlaces decisivePlacesOf(const sharding::PropagationGraph &annotated,
                                const Assignment &planned, llvm::ArrayRef<AnnotationPlace> places,
                                llvm::ArrayRef<Way> ways, llvm::ArrayRef<int32_t> also,
                                const Folded &folded, llvm::ArrayRef<Way> foldedWays);

// The same, to which nothing is to be added.
sharding::TensorSharding closed(sharding::TensorSharding sharding);

// Whether two shardings have the same axes on each dimension.
bool liesAlike(const sharding::TensorSharding &a, const sharding::TensorSharding &b);

} // namespace tessera::plan
