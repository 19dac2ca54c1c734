// Plans that people know, found in small programs from the rules of their ops alone.
#include "lib/plan/KnownPlans.h"
#include "EinsumProgram.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using sharding::Mesh;
using sharding::OpClass;

Mesh meshOf(std::vector<int64_t> sizes) {
  Mesh mesh;
  for (int64_t size : sizes)
    mesh.axes.push_back({std::string(1, char('x' + mesh.axes.size())), size});
  return mesh;
}

// "x,-,y": the axes of each dimension.
std::string text(const Mesh &mesh, const sharding::TensorSharding &sharding) {
  std::string all;
  for (const sharding::DimSharding &dim : sharding.dims) {
    all += all.empty() ? "" : ",";
    for (const sharding::AxisRef &axis : dim.axes)
      all +=
          mesh.axes[axis.axis].name + (isWhole(mesh, axis) ? "" : ":" + std::to_string(axis.size));
    all += dim.axes.empty() ? "-" : "";
  }
  return all;
}

struct Found {
  Mesh mesh;
  std::vector<NamedAssignment> plans;

  Found(const EinsumProgram &p, std::vector<int64_t> sizes)
      : mesh(meshOf(std::move(sizes))), plans(knownPlans(p.program, mesh)) {}

  bool has(llvm::StringRef kind) const {
    return llvm::any_of(plans, [&](const NamedAssignment &plan) { return plan.kind == kind; });
  }
  std::string operator()(llvm::StringRef kind, int32_t value) const {
    for (const NamedAssignment &plan : plans)
      if (plan.kind == kind)
        return text(mesh, plan.values[value]);
    return "no " + kind.str();
  }
};

// Two layers with a residual connection, the gradient of the first weight, and its momentum.
struct Training : EinsumProgram {
  int32_t x = argument({32, 64}), up = argument({64, 256}), down = argument({256, 64}),
          momentum = argument({64, 256});
  int32_t hidden = pointwise({einsum("bd,df->bf", {x, up})});
  int32_t y = pointwise({einsum("bf,fd->bd", {hidden, down}), x});
  int32_t back = pointwise({einsum("bd,fd->bf", {y, down}), hidden});
  int32_t gradient = einsum("bd,bf->df", {x, back});
  int32_t moved = pointwise({momentum, gradient});
  int32_t updated = pointwise({up, moved});
  int32_t newUp = result(updated), newMomentum = result(moved);
};

TEST(DimClasses, RulesTieDimensions) {
  Training p;
  DimClasses classes(p.program.graph, Ties::All);
  EXPECT_EQ(classes.of(p.x, 0), classes.of(p.back, 0));
  EXPECT_EQ(classes.of(p.up, 1), classes.of(p.down, 0));
  EXPECT_EQ(classes.of(p.up, 0), classes.of(p.down, 1)); // the residual stream
  EXPECT_NE(classes.of(p.up, 0), classes.of(p.up, 1));
}

TEST(DimClasses, StorageTiesAWeightToItsUpdateOnly) {
  Training p;
  DimClasses classes(p.program.graph, Ties::Storage);
  EXPECT_EQ(classes.of(p.up, 1), classes.of(p.newMomentum, 1));
  EXPECT_NE(classes.of(p.up, 1), classes.of(p.hidden, 1));
  EXPECT_NE(classes.of(p.up, 0), classes.of(p.x, 1));
}

TEST(DimClasses, AFlattenedDimensionIsAboutItsMajorFactor) {
  EinsumProgram p;
  int32_t x = p.argument({4, 6, 8});
  int32_t flat = p.reshape("bsd->(bs)d", x, {{'b', 4}, {'s', 6}, {'d', 8}});
  DimClasses classes(p.program.graph, Ties::All);
  EXPECT_EQ(classes.of(flat, 0), classes.of(x, 0));
  EXPECT_EQ(classes.elements({flat, 0}), 4);
  EXPECT_EQ(classes.elements({flat, 1}), 8);
}

// Products have keys first, what sums along them has queries alone: by keys, scores would be exchanged
// among all devices.
TEST(DimClasses, OfScoresQueriesComeFirst) {
  EinsumProgram p;
  int32_t x = p.argument({64, 16}), w = p.argument({16, 4, 8}), v = p.argument({16, 8});
  int32_t q = p.einsum("tm,mhc->thc", {x, w}), k = p.einsum("sm,mc->sc", {x, v});
  int32_t product = p.einsum("sc,thc->sth", {k, q});
  int32_t scores = p.einsum("sth->hts", {product}), sums = p.einsum("hts->ht", {scores});
  int32_t parts = p.einsum("hts,ht->hts", {scores, sums});
  p.result(p.einsum("sc,hts->cht", {k, parts}));
  DimClasses classes(p.program.graph, Ties::All);
  int32_t sequence = classes.of(x, 0);
  ASSERT_EQ(classes.of(product, 0), sequence);
  ASSERT_EQ(classes.of(product, 1), sequence);
  for (auto [value, dim] : {std::pair(product, 1), std::pair(scores, 1), std::pair(parts, 1)}) {
    auto place = llvm::find_if(classes.places(sequence), [value = value](const ValueDim &each) {
      return each.value == value;
    });
    EXPECT_EQ(place->dim, dim) << "value " << value;
  }
}

TEST(KnownPlans, DataKeepsWeightsWhole) {
  Training p;
  Found found(p, {8});
  EXPECT_EQ(found("data", p.x), "x,-");
  EXPECT_EQ(found("data", p.back), "x,-");
  EXPECT_EQ(found("data", p.up), "-,-");
  EXPECT_EQ(found("data", p.gradient), "-,-");
}

TEST(KnownPlans, FsdpSplitsStateAndItsGradients) {
  Training p;
  Found found(p, {8});
  EXPECT_EQ(found("fsdp", p.x), "x,-");
  EXPECT_EQ(found("fsdp", p.up), "-,x");
  EXPECT_EQ(found("fsdp", p.down), "x,-");
  EXPECT_EQ(found("fsdp", p.gradient), "-,x");
  EXPECT_EQ(found("fsdp", p.newUp), "-,x");
}

// The width of a model is in all of its weights, and is what people divide; not the largest of each.
TEST(KnownPlans, FsdpSplitsWhatMostWeightsHave) {
  EinsumProgram p;
  int32_t x = p.argument({64, 128}), up = p.argument({128, 512}), down = p.argument({512, 128}),
          out = p.argument({128, 1024});
  int32_t y = p.einsum("bh,hd->bd", {p.einsum("bd,dh->bh", {x, up}), down});
  p.result(p.einsum("bd,dv->bv", {p.pointwise({x, y}), out}));
  Found found(p, {8});
  EXPECT_EQ(found("fsdp", up), "x,-");
  EXPECT_EQ(found("fsdp", down), "-,x");
  EXPECT_EQ(found("fsdp", out), "x,-");
}

TEST(KnownPlans, ZeroSplitsMomentsOnly) {
  Training p;
  Found found(p, {8});
  EXPECT_EQ(found("zero", p.up), "-,-");
  EXPECT_EQ(found("zero", p.newUp), "-,-");
  EXPECT_EQ(found("zero", p.momentum), "-,x");
  EXPECT_EQ(found("zero", p.newMomentum), "-,x");
  EXPECT_EQ(found("zero", p.gradient), "-,x");
  EXPECT_EQ(found("zero", p.updated), "-,x"); // gathered once, when it is given back
}

// The next step takes it where this one did, in whatever parts it was made.
TEST(KnownPlans, WhatTakesAnArgumentsPlaceLiesAsTheArgument) {
  Training p;
  p.program.values[p.up].donatedTo = p.program.values[p.newMomentum].result;
  Found found(p, {8});
  EXPECT_EQ(found("zero", p.up), "-,-");
  EXPECT_EQ(found("zero", p.newMomentum), "-,-");
}

TEST(KnownPlans, TensorSplitsColumnsThenRows) {
  Training p;
  Found found(p, {8});
  EXPECT_EQ(found("tensor", p.up), "-,x");
  EXPECT_EQ(found("tensor", p.down), "x,-");
  EXPECT_EQ(found("tensor", p.hidden), "-,x");
  EXPECT_EQ(found("tensor", p.y), "-,-");
}

TEST(KnownPlans, MixturesUseEachAxisForOneThing) {
  Training p;
  Found found(p, {2, 4});
  EXPECT_EQ(found("data x tensor", p.x), "x,-");
  EXPECT_EQ(found("data x tensor", p.up), "-,y");
  EXPECT_EQ(found("fsdp x tensor", p.up), "x,y"); // 64 rows are more than 256/4 columns
  EXPECT_EQ(found("fsdp x tensor", p.hidden), "x,y");
  EXPECT_EQ(found("data", p.x), "xy,-");
}

TEST(KnownPlans, WhatDoesNotDivideIsLeftOut) {
  EinsumProgram p;
  int32_t x = p.argument({6, 64}), w = p.argument({64, 64});
  p.result(p.einsum("bk,kn->bn", {x, w}));
  EXPECT_FALSE(Found(p, {4}).has("data"));
  EXPECT_TRUE(Found(p, {2}).has("data"));
}

TEST(KnownPlans, AnnotationsHold) {
  Training p;
  sharding::PropagatedValue &up = p.program.graph.values[p.up];
  for (sharding::DimSharding &dim : up.sharding.dims)
    dim.closed = true;
  Found found(p, {8});
  EXPECT_EQ(found("fsdp", p.up), "-,-");
  EXPECT_EQ(found("tensor", p.up), "-,-");
  EXPECT_EQ(found("tensor", p.down), "x,-");
}

// Queries, keys and values of [batch, sequence, heads, channels] with weights of two dimensions.
struct Attention : EinsumProgram {
  int32_t x, query, output, q, scores, y;

  explicit Attention(int64_t batch, int64_t sequence = 128) {
    x = argument({batch, sequence, 64});
    query = argument({64, 64});
    int32_t key = argument({64, 64});
    output = argument({64, 64});
    auto heads = [&](int32_t weight) {
      return reshape("bs(hc)->bshc", einsum("bsd,dn->bsn", {x, weight}),
                     {{'b', batch}, {'s', sequence}, {'h', 4}, {'c', 16}});
    };
    q = heads(query);
    int32_t k = heads(key);
    scores = einsum("bshc,bthc->bhst", {q, k});
    int32_t mixed = einsum("bhst,bthc->bshc", {scores, k});
    int32_t flat =
        reshape("bshc->bs(hc)", mixed, {{'b', batch}, {'s', sequence}, {'h', 4}, {'c', 16}});
    y = pointwise({einsum("bsn,nd->bsd", {flat, output}), x});
    result(y);
  }
};

TEST(KnownPlans, HeadsAreWhatTensorSplits) {
  Attention p(8);
  Found found(p, {4});
  EXPECT_EQ(found("tensor", p.query), "-,x");
  EXPECT_EQ(found("tensor", p.q), "-,-,x,-");
  EXPECT_EQ(found("tensor", p.scores), "-,x,-,-");
  EXPECT_EQ(found("tensor", p.output), "x,-");
  EXPECT_EQ(found("tensor", p.y), "-,-,-");
}

TEST(KnownPlans, SequencesAreSplitBetweenTensorParts) {
  Attention p(8);
  Found found(p, {4});
  EXPECT_EQ(found("tensor+sequence", p.y), "-,x,-");
  EXPECT_EQ(found("tensor+sequence", p.q), "-,-,x,-");
}

TEST(KnownPlans, ContextSplitsQueriesOfOneSequence) {
  Attention p(1);
  Found found(p, {8});
  EXPECT_FALSE(found.has("data"));
  EXPECT_EQ(found("context", p.x), "-,x,-");
  EXPECT_EQ(found("context", p.scores), "-,-,x,-");
  EXPECT_EQ(found("context", p.query), "-,-");
}

TEST(KnownPlans, ContextIsNotTheBatch) {
  Attention p(8);
  Found found(p, {8});
  EXPECT_EQ(found("data", p.scores), "x,-,-,-");
  EXPECT_EQ(found("context", p.scores), "-,-,x,-");
}

TEST(KnownPlans, ExpertsKeepTheirAxisWhereTheyCompute) {
  EinsumProgram p;
  int32_t x = p.argument({8, 32, 64}), router = p.argument({64, 32}), up = p.argument({8, 64, 128}),
          down = p.argument({8, 128, 64});
  int32_t send = p.reshape("gt(ec)->gtec", p.einsum("gtd,dn->gtn", {x, router}),
                           {{'g', 8}, {'t', 32}, {'e', 8}, {'c', 4}});
  int32_t sent = p.einsum("gtec,gtd->gecd", {send, x});
  int32_t hidden = p.pointwise({p.einsum("gecd,edf->gecf", {sent, up})});
  int32_t done = p.einsum("gecf,efd->gecd", {hidden, down});
  int32_t y = p.einsum("gtec,gecd->gtd", {send, done});
  p.result(y);
  Found found(p, {8});
  EXPECT_EQ(found("experts", up), "x,-,-");
  EXPECT_EQ(found("experts", sent), "-,x,-,-");
  EXPECT_EQ(found("experts", done), "-,x,-,-");
  EXPECT_EQ(found("experts", send), "x,-,-,-");
  EXPECT_EQ(found("experts", y), "x,-,-");
  Found mixed(p, {2, 4});
  EXPECT_EQ(mixed("data x experts", sent), "x,y,-,-");
  EXPECT_EQ(mixed("data x experts", x), "xy,-,-");
}

TEST(KnownPlans, RowsOfTables) {
  EinsumProgram p;
  int32_t table = p.argument({1000, 16}), ids = p.argument({64, 1}), w = p.argument({16, 32});
  int32_t found = p.einsum("vd,bi->bd", {table, ids}); // as a gather's rule has it
  p.program.graph.ops.back().flops = 64 * 16;          // not of the whole table
  p.result(p.einsum("bd,dn->bn", {found, w}));
  Found plans(p, {8});
  EXPECT_EQ(plans("rows", table), "x,-");
  EXPECT_EQ(plans("rows", found), "x,-");
  EXPECT_EQ(plans("rows", w), "-,-");
}

TEST(KnownPlans, ImagesOfOneAreSplitInSpace) {
  EinsumProgram p;
  int32_t x = p.argument({1, 256, 256, 8}), w = p.argument({8, 8}), v = p.argument({8, 8});
  int32_t y = x;
  for (int32_t kernel : {w, v}) {
    y = p.pointwise({p.einsum("bhwi,io->bhwo", {y, kernel})});
    for (sharding::Factor &factor : p.program.graph.rules[p.program.graph.rules.size() - 2].factors)
      if (factor.size == 256)
        factor.kind = sharding::FactorKind::Permutation; // a convolution's
  }
  p.result(y);
  Found found(p, {8});
  EXPECT_EQ(found("spatial", x), "-,x,-,-");
  EXPECT_EQ(found("spatial", w), "-,-");
}

TEST(KnownPlans, GroupsAreSplitAlike) {
  Training p;
  p.program.graph.values[p.x].group = p.program.graph.values[p.y].group = 0;
  Found found(p, {8});
  EXPECT_EQ(found("data", p.x), found("data", p.y));
}

TEST(KnownPlans, StackedLayersAreNotSplitByLayer) {
  EinsumProgram p;
  int32_t x = p.argument({32, 64}), stacked = p.argument({1024, 64, 64});
  int32_t layer = p.argument({1});
  int32_t slice = p.einsum("ldf,o->odf", {stacked, layer}, OpClass::Slice);
  int32_t w = p.einsum("odf->df", {slice}, OpClass::PassThrough);
  p.result(p.einsum("bd,df->bf", {x, w}));
  Found found(p, {8});
  EXPECT_EQ(found("fsdp", stacked), "-,x,-");
}

} // namespace
} // namespace tessera::plan
