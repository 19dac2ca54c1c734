// Programs of products for tests of plans, and machines for them.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/Program.h"

namespace tessera::plan {

// Programs of products: value numbers in order of their making.
class Products {
public:
  int32_t argument(sharding::Shape shape) {
    int32_t v = value(std::move(shape));
    program.values[v].argument = arguments++;
    return v;
  }

  // a [m, k] . b [k, n]
  int32_t product(int32_t a, int32_t b) {
    int64_t m = shapeOf(a)[0], k = shapeOf(a)[1], n = shapeOf(b)[1];
    int32_t out = value({m, n});
    sharding::FactorRule rule;
    rule.factors = {{m}, {n}, {k, sharding::FactorKind::Reduction}};
    rule.operands = {{{0}, {2}}, {{2}, {1}}};
    rule.results = {{{0}, {1}}};
    op(std::move(rule), {a, b}, out, 2.0 * double(m * n * k), false);
    return out;
  }

  void give(int32_t v) {
    int32_t out = value(shapeOf(v));
    program.values[out].result = 0;
    sharding::FactorRule rule;
    rule.factors = {{shapeOf(v)[0]}, {shapeOf(v)[1]}};
    rule.operands = rule.results = {{{0}, {1}}};
    op(std::move(rule), {v}, out, 0, true);
    program.values[v].stored = false; // it lies where the result does
    for (ValueFacts &facts : program.values)
      if (facts.argument >= 0 || facts.result >= 0)
        facts.last = int32_t(program.ops.size()) - 1;
  }

  Program program;

private:
  sharding::Shape shapeOf(int32_t v) const { return program.graph.values[v].shape; }

  int32_t value(sharding::Shape shape) {
    sharding::PropagatedValue &made = program.graph.values.emplace_back();
    made.sharding.dims.resize(shape.size(), {{}, false, {}});
    made.shape = std::move(shape);
    program.values.emplace_back();
    return int32_t(program.values.size()) - 1;
  }

  void op(sharding::FactorRule rule, llvm::SmallVector<int32_t, 4> operands, int32_t result,
          double flops, bool moves) {
    auto index = int32_t(program.ops.size());
    sharding::PropagatedOp &made = program.graph.ops.emplace_back();
    made.rule = int32_t(program.graph.rules.size());
    program.graph.rules.push_back(std::move(rule));
    made.operands = operands;
    made.results = {result};
    made.flops = flops;
    OpFacts &facts = program.ops.emplace_back();
    facts.moves = moves;
    facts.flops = flops;
    facts.isProduct = true;
    facts.operandTimes.assign(operands.size(), 1);
    facts.reads.assign(operands.size(), 1);
    facts.writes = {1};
    facts.turns = {{index, index, operands}};
    for (int32_t v : operands) {
      program.graph.values[v].ops.push_back(index);
      program.values[v].last = index;
    }
    program.graph.values[result].ops.push_back(index);
    program.values[result].first = program.values[result].last = index;
  }

  int32_t arguments = 0;
};

inline sharding::Mesh meshOf(std::vector<int64_t> sizes) {
  sharding::Mesh mesh{"mesh", {}, {}};
  for (int64_t size : sizes)
    mesh.axes.push_back({std::string(1, char('x' + mesh.axes.size())), size});
  return mesh;
}

inline cost::Topology fastLinks() {
  cost::Topology topology = cost::defaultTopology();
  topology.network.link = {1e-6, 1e11};
  topology.device.flopsPerSecond = 1e13;
  topology.device.bytesPerSecond = 1e11;
  return topology;
}

inline std::string text(const sharding::Mesh &mesh, const sharding::TensorSharding &sharding) {
  std::string out;
  for (const sharding::DimSharding &dim : sharding.dims) {
    out += "{";
    for (const sharding::AxisRef &axis : dim.axes)
      out += mesh.axes[axis.axis].name;
    out += "}";
  }
  return out;
}

} // namespace tessera::plan
