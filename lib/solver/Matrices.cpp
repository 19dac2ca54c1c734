#include "lib/solver/Matrices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace tessera::solver {

namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

// Several at once, as each waits for the one before.
uint64_t contentHash(const Matrix &matrix) {
  constexpr size_t kLanes = 4;
  std::array<uint64_t, kLanes> lanes{1, 2, 3, 4};
  size_t count = matrix.costs.size(), i = 0;
  auto add = [&](size_t lane, size_t at) {
    lanes[lane] = mixed(lanes[lane], std::bit_cast<uint64_t>(matrix.costs[at]));
  };
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      add(lane, i + lane);
  for (; i < count; ++i)
    add(0, i);
  uint64_t hash = mixed(matrix.rows, matrix.columns);
  for (uint64_t lane : lanes)
    hash = mixed(hash, lane);
  return hash;
}

// Differences that are rounding only are none.
double withoutRounding(double rest, double of) {
  return rest != forbidden && std::abs(rest) <= 1e-14 * std::abs(of) ? 0 : rest;
}

} // namespace

size_t Matrices::Hash::operator()(const Key &key) const {
  uint64_t hash = mixed(mixed(mixed(0, key.what), key.a), key.b);
  for (uint64_t word : key.rest)
    hash = mixed(hash, word);
  return hash;
}

int32_t Matrices::add(Matrix matrix) {
  for (double &cost : matrix.costs)
    cost += 0.0; // one zero
  counted += static_cast<int64_t>(matrix.costs.size());
  uint64_t hash = contentHash(matrix);
  auto [first, last] = byContent.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Matrix &other = stored[at->second];
    if (other.rows == matrix.rows && other.columns == matrix.columns && other.costs == matrix.costs)
      return at->second;
  }
  int32_t id = static_cast<int32_t>(stored.size());
  stored.push_back(std::move(matrix));
  byContent.emplace(hash, id);
  return id;
}

int32_t Matrices::transposed(int32_t id) {
  if (auto at = turned.find(id); at != turned.end())
    return at->second;
  const Matrix &matrix = stored[id];
  Matrix result{matrix.columns, matrix.rows, std::vector<double>(matrix.costs.size())};
  for (int32_t i = 0; i < matrix.rows; ++i)
    for (int32_t j = 0; j < matrix.columns; ++j)
      result.costs[int64_t(j) * matrix.rows + i] = matrix.costs[int64_t(i) * matrix.columns + j];
  int32_t other = add(std::move(result));
  turned.emplace(id, other);
  turned.emplace(other, id);
  return other;
}

int32_t Matrices::scaled(int32_t id, double factor) {
  if (factor == 1)
    return id;
  Key key{0, id, 0, {std::bit_cast<uint64_t>(factor)}};
  if (auto at = made.find(key); at != made.end())
    return at->second;
  Matrix result = stored[id];
  for (double &cost : result.costs)
    if (cost != forbidden)
      cost *= factor;
  return made[std::move(key)] = add(std::move(result));
}

int32_t Matrices::sum(int32_t a, int32_t b) {
  Key key{1, std::min(a, b), std::max(a, b), {}};
  if (auto at = made.find(key); at != made.end())
    return at->second;
  Matrix result = stored[key.a];
  const Matrix &other = stored[key.b];
  for (size_t i = 0; i < result.costs.size(); ++i)
    result.costs[i] += other.costs[i];
  return made[std::move(key)] = add(std::move(result));
}

const Matrices::Parts &Matrices::parts(int32_t id) {
  if (auto at = split.find(id); at != split.end())
    return at->second;
  const Matrix &matrix = stored[id];
  int64_t m = matrix.rows, n = matrix.columns;
  Matrix rest = matrix;
  Parts parts{id, true, std::vector<double>(m), {}};
  for (int64_t i = 0; i < m; ++i) {
    double *row = &rest.costs[i * n];
    double least = parts.rows[i] = *std::min_element(row, row + n);
    for (int64_t j = 0; j < n; ++j)
      row[j] = least == forbidden ? 0 : withoutRounding(row[j] - least, least);
  }
  // Row by row, as they lie.
  parts.columns.assign(n, forbidden);
  for (int64_t i = 0; i < m; ++i)
    if (const double *row = &rest.costs[i * n]; parts.rows[i] != forbidden)
      for (int64_t j = 0; j < n; ++j)
        parts.columns[j] = row[j] < parts.columns[j] ? row[j] : parts.columns[j];
  for (int64_t i = 0; i < m; ++i) {
    double *row = &rest.costs[i * n];
    const double *whole = &matrix.costs[i * n];
    bool isOut = parts.rows[i] == forbidden;
    for (int64_t j = 0; j < n; ++j) {
      double least = parts.columns[j];
      row[j] = withoutRounding(isOut || least == forbidden ? 0 : row[j] - least, whole[j]);
      parts.zero &= row[j] == 0;
    }
  }
  parts.rest = add(std::move(rest));
  return split.emplace(id, std::move(parts)).first->second;
}

int32_t Matrices::pickedRows(int32_t id, const std::vector<int32_t> &rows) {
  Key key{2, id, 0, {rows.begin(), rows.end()}};
  if (auto at = made.find(key); at != made.end())
    return at->second;
  const Matrix &matrix = stored[id];
  Matrix result{static_cast<int32_t>(rows.size()), matrix.columns, {}};
  result.costs.reserve(rows.size() * matrix.columns);
  for (int32_t row : rows) {
    auto from = matrix.costs.begin() + int64_t(row) * matrix.columns;
    result.costs.insert(result.costs.end(), from, from + matrix.columns);
  }
  return made[std::move(key)] = add(std::move(result));
}

int32_t Matrices::product(int32_t a, const std::vector<double> &costs, int32_t b) {
  Key key{3, a, b, {}};
  key.rest.reserve(costs.size());
  for (double cost : costs)
    key.rest.push_back(std::bit_cast<uint64_t>(cost + 0.0));
  if (auto at = made.find(key); at != made.end())
    return at->second;
  const Matrix &left = stored[a], &right = stored[b];
  Matrix result{left.rows, right.columns, {}};
  result.costs.assign(int64_t(result.rows) * result.columns, forbidden);
  for (int32_t i = 0; i < left.rows; ++i) {
    double *row = &result.costs[int64_t(i) * result.columns];
    for (int32_t k = 0; k < left.columns; ++k) {
      double so = left.costs[int64_t(i) * left.columns + k] + costs[k];
      const double *then = &right.costs[int64_t(k) * right.columns];
      if (so != forbidden)
        for (int32_t j = 0; j < right.columns; ++j)
          row[j] = std::min(row[j], so + then[j]);
    }
  }
  counted += int64_t(left.rows) * left.columns * right.columns;
  return made[std::move(key)] = add(std::move(result));
}

const std::vector<int32_t> &Matrices::functionOf(int32_t id) {
  if (auto at = functions.find(id); at != functions.end())
    return at->second;
  const Matrix &matrix = stored[id];
  std::vector<int32_t> function;
  for (int32_t i = 0; i < matrix.rows; ++i) {
    int32_t free = 0;
    for (int32_t j = 0; j < matrix.columns; ++j)
      if (matrix.costs[int64_t(i) * matrix.columns + j] != forbidden) {
        ++free;
        if (free == 1)
          function.push_back(j);
      }
    if (free != 1) {
      function.clear();
      break;
    }
  }
  return functions.emplace(id, std::move(function)).first->second;
}

} // namespace tessera::solver
