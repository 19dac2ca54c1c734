// Candidate shardings, and tables of prices beside the search that they stand for.
#include "lib/plan/ReshardPrices.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using sharding::Mesh;
using sharding::TensorSharding;

TEST(Layouts, AllWaysOfTwoAxes) {
  Mesh mesh{"mesh", {{"x", 2}, {"y", 4}}, {}};
  LayoutLists lists(mesh);
  // Neither, one of them on one of two dimensions, each on one, both on one in two orders.
  EXPECT_EQ(lists[lists.candidates({{64, 512}, {}, false, 0})].size(), 1u + 4 + 2 + 4);
  // Of 6 rows y splits 2; of what callers hold it does not.
  EXPECT_EQ(lists[lists.candidates({{6}, {}, false, uint64_t{1}})].size(), 2u);
  EXPECT_EQ(lists[lists.candidates({{6}, {}, true, uint64_t{1}})].size(), 1u);
  // Closed dimensions are as they are.
  TensorSharding rows = TensorSharding::replicatedOver(2);
  rows.dims[0].axes = {wholeAxis(mesh, 0)};
  rows.dims[1].closed = false;
  const auto &open = lists[lists.candidates({{64, 512}, rows, false, 0})];
  ASSERT_EQ(open.size(), 2u);
  for (const TensorSharding &each : open)
    EXPECT_EQ(each.dims[0].axes, rows.dims[0].axes);
}

// Two shardings of one dimension are not one of three.
TEST(Layouts, ListsOfOtherRanksAreOthers) {
  Mesh mesh{"mesh", {{"x", 2}}, {}};
  LayoutLists lists(mesh);
  int32_t two = lists.intern({2, TensorSharding::replicatedOver(1)});
  int32_t one = lists.intern({TensorSharding::replicatedOver(3)});
  EXPECT_NE(two, one);
  EXPECT_EQ(lists[one].front().dims.size(), 3u);
}

// Of two axes every price is that of the search; of three hardly ever more than twice that, or
// less.
TEST(ReshardPrices, AreThoseOfTheSearch) {
  cost::Topology topology = cost::defaultTopology();
  for (const auto &axes :
       {std::vector<sharding::MeshAxis>{{"x", 2}, {"y", 4}}, {{"x", 2}, {"y", 2}, {"z", 2}}}) {
    Mesh mesh{"mesh", axes, {}};
    LayoutLists lists(mesh);
    sharding::ReshardPlanner planner(mesh, topology);
    Weights weights;
    ReshardPrices prices(lists, planner, weights);
    sharding::Shape shape{64, 256};
    int32_t list = lists.candidates({shape, {}, false, 0});
    const Matrix &matrix = prices.between(list, list, shape, 4);
    size_t wrong = 0, low = 0, all = 0;
    for (size_t i = 0; i < matrix.rows; ++i)
      for (size_t j = 0; j < matrix.columns; ++j, ++all) {
        const TensorSharding &from = lists[list][i], &to = lists[list][j];
        double exact =
            planner.plan(shape, 4, canonicalLayout(shape, from), canonicalLayout(shape, to))
                .seconds;
        EXPECT_LE(matrix(i, j), prices.seconds(shape, 4, from, to));
        wrong += matrix(i, j) > 2 * exact + 1e-9;
        low += matrix(i, j) < 0.99 * exact - 1e-9;
        if (axes.size() == 2)
          EXPECT_NEAR(matrix(i, j), exact, 0.02 * exact + 1e-12) << i << " to " << j;
      }
    EXPECT_LE(wrong * 20, all);
    EXPECT_LE(low * 20, all);
  }
}

// What computing beside is long enough for counts as much as is asked for; the rest, and that a kernel falls
// in two, counts once.
TEST(ReshardPrices, HiddenPartsAreWeighted) {
  cost::Topology topology = cost::defaultTopology();
  Mesh mesh{"mesh", {{"x", 4}}, {}};
  LayoutLists lists(mesh);
  sharding::ReshardPlanner planner(mesh, topology);
  Weights all, quarter{1, 0.25};
  ReshardPrices whole(lists, planner, all), weighted(lists, planner, quarter);
  sharding::Shape shape{64, 256};
  int32_t list = lists.candidates({shape, {}, false, 0});
  const Matrix &plain = whole.between(list, list, shape, 4, {true, 5e-6});
  EXPECT_EQ(plain.at, whole.between(list, list, shape, 4, {true, 0}).at);
  const Matrix &matrix = weighted.between(list, list, shape, 4, {true, 5e-6});
  const Matrix &exposed = weighted.between(list, list, shape, 4, {true, 0});
  EXPECT_EQ(plain.at, exposed.at);
  bool isLong = false;
  for (size_t i = 0; i < matrix.rows; ++i)
    for (size_t j = 0; j < matrix.columns; ++j) {
      const TensorSharding &from = lists[list][i], &to = lists[list][j];
      MovingTime time = weighted.timeOf(shape, 4, from, to, {true, 5e-6});
      EXPECT_LE(time.hidden, 5e-6);
      EXPECT_NEAR(matrix(i, j), plain(i, j) - 0.75 * time.hidden, 1e-12);
      EXPECT_NEAR(matrix(i, j), weighted.seconds(shape, 4, from, to, {true, 5e-6}), 1e-12);
      isLong |= time.exposed > 0 && time.hidden == 5e-6;
    }
  EXPECT_TRUE(isLong);
}

} // namespace
} // namespace tessera::plan
