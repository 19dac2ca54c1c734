// What is held in each step, less the room there is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::solver {

// A tree over steps: adding to and the most of an interval take O(log steps).
class Profile {
public:
  explicit Profile(const std::vector<int64_t> &room) {
    while (leaves < static_cast<int32_t>(room.size()))
      leaves *= 2;
    most.assign(2 * leaves, none);
    added.assign(2 * leaves, 0);
    for (size_t t = 0; t < room.size(); ++t)
      most[leaves + t] = -room[t];
    for (int32_t n = leaves - 1; n > 0; --n)
      most[n] = std::max(most[2 * n], most[2 * n + 1]);
  }

  void add(int32_t begin, int32_t end, int64_t bytes) {
    if (bytes && begin < end)
      add(1, 0, leaves, begin, end, bytes);
  }
  // Over all steps; at most 0 where everything has room.
  int64_t over() const { return most[1]; }
  int64_t over(int32_t begin, int32_t end) const {
    return begin < end ? over(1, 0, leaves, begin, end) : none;
  }
  // The first step that has the most.
  int32_t worstStep() const {
    int32_t n = 1;
    while (n < leaves)
      n = 2 * n + (most[2 * n + 1] > most[2 * n]);
    return n - leaves;
  }

private:
  static constexpr int64_t none = INT64_MIN / 4;
  int32_t leaves = 1;
  std::vector<int64_t> most, added; // most: with what is added here and below

  void add(int32_t n, int32_t from, int32_t to, int32_t begin, int32_t end, int64_t bytes) {
    if (begin <= from && to <= end) {
      most[n] += bytes;
      added[n] += bytes;
      return;
    }
    int32_t middle = (from + to) / 2;
    if (begin < middle)
      add(2 * n, from, middle, begin, end, bytes);
    if (end > middle)
      add(2 * n + 1, middle, to, begin, end, bytes);
    most[n] = std::max(most[2 * n], most[2 * n + 1]) + added[n];
  }
  int64_t over(int32_t n, int32_t from, int32_t to, int32_t begin, int32_t end) const {
    if (begin <= from && to <= end)
      return most[n];
    int32_t middle = (from + to) / 2;
    int64_t result = none;
    if (begin < middle)
      result = over(2 * n, from, middle, begin, end);
    if (end > middle)
      result = std::max(result, over(2 * n + 1, middle, to, begin, end));
    return result + added[n];
  }
};

} // namespace tessera::solver
