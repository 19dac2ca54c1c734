#include "lib/plan/DecisiveValues.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace tessera::plan {

using namespace sharding;

bool liesAlike(const TensorSharding &a, const TensorSharding &b) {
  return llvm::equal(a.dims, b.dims,
                     [](const DimSharding &p, const DimSharding &q) { return p.axes == q.axes; });
}

TensorSharding closed(TensorSharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim = {dim.axes, /*closed=*/true, std::nullopt};
  return sharding;
}

namespace {

bool isSharded(const TensorSharding &sharding) {
  return llvm::any_of(sharding.dims, [](const DimSharding &dim) { return !dim.axes.empty(); });
}

// What makes values the same thing in several layers: what makes them, and how all around is planned.
using Likeness = std::vector<int64_t>;

class Decisive {
public:
  Decisive(const PropagationGraph &annotated, const Planned &planned,
           llvm::ArrayRef<AnnotationPlace> places, llvm::ArrayRef<Way> ways,
           llvm::ArrayRef<int32_t> also)
      : given(annotated.values), graph(annotated), planned(planned), places(places), ways(ways),
        placeOf(planned.size(), -1), maker(planned.size(), -1), isWrong(planned.size()),
        also(also) {
    for (auto [number, place] : llvm::enumerate(places)) {
      bool agree = llvm::all_of(place.values, [&](int32_t value) {
        return liesAlike(planned[value], planned[place.values.front()]);
      });
      if (agree)
        for (int32_t value : place.values)
          placeOf[value] = int32_t(number);
    }
    for (auto [number, op] : llvm::enumerate(graph.ops))
      for (int32_t result : op.results)
        if (maker[result] < 0)
          maker[result] = int32_t(number);
  }

  DecisivePlaces run(bool fewest) {
    begin();
    return finish(fewest);
  }

  // From these places on.
  DecisivePlaces runFrom(llvm::ArrayRef<int32_t> begun) {
    isAnnotated.assign(places.size(), false);
    for (int32_t place : begun)
      isAnnotated[place] = true;
    return finish(/*fewest=*/false);
  }

private:
  DecisivePlaces finish(bool fewest) {
    settle();
    if (fewest) {
      drop();
      settle(); // other ways than the first may need what was dropped
    }
    return result();
  }

  static constexpr int kRounds = 60;

  struct Group {
    std::vector<int32_t> places;
    bool isKept = false;
  };

  // What the program takes and gives.
  void begin() {
    Group sharded{{}, /*isKept=*/true};
    std::map<Likeness, Group> whole;
    for (auto [number, place] : llvm::enumerate(places)) {
      if (place.kind == AnnotationPlace::Inside || planned[place.values.front()].dims.empty())
        continue;
      bool lies = isSharded(planned[place.values.front()]);
      (lies ? sharded : whole[likenessOf(place.values.front())]).places.push_back(int32_t(number));
    }
    for (int32_t value : also)
      if (placeOf[value] >= 0)
        sharded.places.push_back(placeOf[value]);
    groups.push_back(std::move(sharded));
    for (auto &[likeness, group] : whole)
      groups.push_back(std::move(group));
    isAnnotated.assign(places.size(), false);
    for (const Group &group : groups)
      for (int32_t place : group.places)
        isAnnotated[place] = true;
  }

  // Adds what is needed, until all values that can be are as planned by every way.
  void settle() {
    bool more = true;
    for (int round = 0; more && round < kRounds; ++round) {
      more = false;
      others.assign(planned.size(), false);
      for (const Way &way : ways) {
        propagateBy(way);
        if (!noteWrong())
          continue;
        more |= add(round + 1 == kRounds);
        for (size_t value = 0; value < isWrong.size(); ++value)
          others[value] = others[value] || isWrong[value];
      }
    }
  }

  void propagateBy(const Way &way) {
    for (size_t value = 0; value < given.size(); ++value) {
      graph.values[value].sharding = given[value].sharding;
      graph.values[value].mesh = given[value].mesh;
      graph.values[value].last = false;
    }
    for (auto [number, place] : llvm::enumerate(places))
      if (isAnnotated[number])
        for (int32_t value : place.values) {
          graph.values[value].sharding = closed(planned[value]);
          graph.values[value].mesh = std::max(graph.values[value].mesh, 0);
        }
    graph.seconds = nullptr;
    way(graph);
  }

  bool noteWrong() {
    bool any = false;
    for (size_t value = 0; value < planned.size(); ++value) {
      isWrong[value] =
          !graph.values[value].free && !liesAlike(graph.values[value].sharding, planned[value]);
      any |= isWrong[value];
    }
    return any;
  }

  bool canAnnotate(int32_t value) const {
    return placeOf[value] >= 0 && !isAnnotated[placeOf[value]];
  }

  // Adds the places where what is wrong begins, and those that are like them; all, where asked for.
  bool add(bool all) {
    std::map<Likeness, Group> added;
    auto begins = [&](int32_t value) {
      if (!isWrong[value] || !canAnnotate(value))
        return false;
      // Of a loop's value what is carried comes later.
      return all || maker[value] < 0 ||
             llvm::all_of(
                 graph.ops[maker[value]].operands,
                 [&](int32_t operand) {
                   return operand >= value || !isWrong[operand] || !canAnnotate(operand);
                 });
    };
    for (size_t value = 0; value < planned.size(); ++value)
      if (begins(int32_t(value)))
        added[likenessOf(int32_t(value))];
    if (added.empty())
      return false;
    for (size_t value = 0; value < planned.size(); ++value)
      if (isWrong[value] && canAnnotate(int32_t(value)))
        if (auto it = added.find(likenessOf(int32_t(value))); it != added.end()) {
          it->second.places.push_back(placeOf[value]);
          isAnnotated[placeOf[value]] = true;
        }
    for (auto &[likeness, group] : added)
      groups.push_back(std::move(group));
    return true;
  }

  // The last that was added first: what stands inside of the program is less usual than what stands on
  // its arguments. By the first way alone: there are many to try.
  void drop() {
    size_t checks = std::clamp<size_t>(kChecked / (graph.ops.size() + 1), 4, 400);
    for (Group &group : llvm::reverse(groups)) {
      if (group.isKept || !checks)
        continue;
      --checks;
      for (int32_t place : group.places)
        isAnnotated[place] = false;
      propagateBy(ways.front());
      noteWrong();
      bool isNeeded = false;
      for (size_t value = 0; value < isWrong.size(); ++value)
        isNeeded |= isWrong[value] && !others[value];
      for (int32_t place : group.places)
        isAnnotated[place] = isNeeded;
    }
  }

  static constexpr size_t kChecked = 1000000; // ops

  DecisivePlaces result() const {
    DecisivePlaces result;
    for (size_t number = 0; number < places.size(); ++number)
      if (isAnnotated[number])
        result.places.push_back(int32_t(number));
    for (size_t value = 0; value < others.size(); ++value)
      if (others[value])
        result.others.push_back(int32_t(value));
    return result;
  }

  Likeness likenessOf(int32_t value) const {
    Likeness likeness;
    auto note = [&](const TensorSharding &sharding) {
      likeness.push_back(-1);
      for (const DimSharding &dim : sharding.dims) {
        likeness.push_back(-2);
        for (const AxisRef &axis : dim.axes)
          likeness.insert(likeness.end(), {axis.axis, axis.preSize, axis.size});
      }
    };
    auto noteShape = [&](int32_t of) {
      likeness.push_back(-3);
      llvm::append_range(likeness, graph.values[of].shape);
    };
    noteShape(value);
    note(planned[value]);
    if (maker[value] < 0)
      return likeness;
    const PropagatedOp &op = graph.ops[maker[value]];
    likeness.insert(likeness.end(), {-4, op.rule, int64_t(op.opClass), int64_t(op.flops),
                                     llvm::find(op.results, value) - op.results.begin()});
    for (int32_t operand : op.operands)
      note(planned[operand]);
    return likeness;
  }

  const std::vector<PropagatedValue> &given;
  PropagationGraph graph;
  const Planned planned;
  llvm::ArrayRef<AnnotationPlace> places;
  llvm::ArrayRef<Way> ways;
  std::vector<int32_t> placeOf, maker; // of each value
  std::vector<bool> isWrong, others, isAnnotated;
  llvm::ArrayRef<int32_t> also;
  std::vector<Group> groups;
};

} // namespace

DecisivePlaces decisivePlaces(const PropagationGraph &annotated, const Planned &planned,
                              llvm::ArrayRef<AnnotationPlace> places, llvm::ArrayRef<Way> ways,
                              llvm::ArrayRef<int32_t> also, bool fewest) {
  return Decisive(annotated, planned, places, ways, also).run(fewest);
}

DecisivePlaces decisivePlacesOf(const PropagationGraph &annotated, const Assignment &planned,
                                llvm::ArrayRef<AnnotationPlace> places, llvm::ArrayRef<Way> ways,
                                llvm::ArrayRef<int32_t> also, const Folded &folded,
                                llvm::ArrayRef<Way> foldedWays) {
  std::vector<AnnotationPlace> foldedPlaces;
  std::vector<std::vector<int32_t>> placesOf; // of each of these
  std::map<std::vector<int32_t>, size_t> numbers;
  for (auto [number, place] : llvm::enumerate(places)) {
    std::vector<int32_t> key;
    for (int32_t value : place.values)
      key.push_back(folded.valueOf[value]);
    llvm::sort(key);
    key.erase(std::unique(key.begin(), key.end()), key.end());
    llvm::SmallVector<int32_t, 1> values(key.begin(), key.end());
    key.push_back(int32_t(place.kind));
    auto [it, isNew] = numbers.try_emplace(std::move(key), placesOf.size());
    if (isNew) {
      foldedPlaces.push_back({place.kind, std::move(values)});
      placesOf.emplace_back();
    }
    placesOf[it->second].push_back(int32_t(number));
  }
  llvm::SmallVector<int32_t> foldedAlso;
  for (int32_t value : also)
    if (!llvm::is_contained(foldedAlso, folded.valueOf[value]))
      foldedAlso.push_back(folded.valueOf[value]);
  std::vector<int32_t> begun;
  for (int32_t place :
       decisivePlaces(folded.program.graph, planned, foldedPlaces, foldedWays, foldedAlso).places)
    llvm::append_range(begun, placesOf[place]);
  return Decisive(annotated, {planned, folded.valueOf}, places, ways, also).runFrom(begun);
}

} // namespace tessera::plan
