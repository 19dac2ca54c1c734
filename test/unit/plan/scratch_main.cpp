#include "compiler/Registration.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "lib/machines/Machines.h"
#include "lib/plan/Search.h"
#include "lib/plan/Formulation.h"
#include "passes/import/Passes.h"
#include "passes/plan/PlanProgram.h"
#include "compiler/TopologyFile.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <chrono>
#include <cstdio>
#include <cstring>
using namespace mlir; using namespace tessera;
static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static void strip(ModuleOp m) {
  m.walk([](Operation *op) {
    if (auto f = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < f.getNumArguments(); ++i) f.removeArgAttr(i, StringAttr::get(f.getContext(), "sdy.sharding"));
      for (unsigned i = 0; i < f.getNumResults(); ++i) f.removeResultAttr(i, StringAttr::get(f.getContext(), "sdy.sharding"));
    } else { op->removeAttr("sdy.sharding"); }
    if (auto c = dyn_cast<sdy::ShardingConstraintOp>(op)) { c.getResult().replaceAllUsesWith(c.getInput()); c->erase(); }
  });
}
static std::string text(const sharding::Mesh &mesh, const sharding::TensorSharding &s) {
  std::string t = "[";
  for (auto &d : s.dims) { t += "{"; for (auto &a : d.axes) { t += mesh.axes[a.axis].name; if (a.size != mesh.axes[a.axis].size) t += ":(" + std::to_string(a.preSize) + ")" + std::to_string(a.size); } t += "}"; }
  t += "]"; if (!s.unreduced.empty()) t += "U"; return t;
}
int main(int argc, char **argv) {
  const char *file = argv[1]; std::string spec = argc > 2 ? argv[2] : "x=8"; std::string topo = argc > 3 ? argv[3] : "host";
  bool verbose = argc > 4 && strchr(argv[4], 'v'); bool known = argc > 4 && strchr(argv[4], 'k');
  long memory = argc > 5 ? atol(argv[5]) : 0;
  DialectRegistry registry; registerDialects(registry); registerPasses();
  MLIRContext context(registry); context.loadAllAvailableDialects();
  double t0 = now();
  auto module = parseSourceFile<ModuleOp>(file, &context);
  if (!module) return 1;
  { PassManager pm(&context); pm.enableVerifier(false); ImportOptions o; buildImportPipeline(pm, o); if (failed(pm.run(*module))) return 1; }
  cost::Topology topology = cost::defaultTopology();
  if (topo != "host") { auto t = parseTopologyFile(UnknownLoc::get(&context), std::string(machines::topologyText(topo))); if (!t || !*t) return 2; setTopology(*module, *t); topology = topologyOf(*module); }
  double t1 = now();
  sharding::Mesh mesh; mesh.name = "mesh";
  size_t at = 0;
  while (at < spec.size()) { size_t e = spec.find('=', at), c = spec.find(',', at); if (c == std::string::npos) c = spec.size(); mesh.axes.push_back({spec.substr(at, e - at), atol(spec.substr(e + 1, c - e - 1).c_str())}); at = c + 1; }
  printf("parse+import %.2f s\n", t1 - t0);
  {
    PlanProgram hand(*module);
    if (hand.isValid() && hand.annotatedMesh()) {
      sharding::PropagationGraph g = hand.program.graph; propagate(g);
      plan::Assignment a; for (auto &v : g.values) { auto s = withoutUnitAxes(v.sharding); s.replicated.clear(); a.push_back(s); }
      printf("hand-annotated (%s): %.6g ms\n", spec.c_str(), 1e3 * plan::assignmentSeconds(hand.program, *hand.annotatedMesh(), topology, a));
    }
  }
  strip(*module);
  double t2 = now();
  PlanProgram program(*module);
  if (!program.isValid()) return 3;
  double t3 = now();
  printf("program: %zu values, %zu ops, %zu rules: %.2f s\n", program.program.graph.values.size(), program.program.graph.ops.size(), program.program.graph.rules.size(), t3 - t2);
  { sharding::ReshardPlanner planner(mesh, topology); plan::Formulation f(program.program, planner);
    size_t mb = 0; for (auto &m : f.graph.matrices) mb += m.costs.size() * 8; size_t most = 0; for (auto &v : f.graph.costs) most = std::max(most, v.size());
    printf("formulation: %zu vertices, %zu edges, %zu matrices (%.1f MB), most choices %zu: %.2f s\n", f.graph.costs.size(), f.graph.edges.size(), f.graph.matrices.size(), mb / 1e6, most, now() - t3); }
  double t4 = now();
  plan::Options options; options.memory = memory;
  plan::Plan p = plan::planOnMesh(program.program, mesh, topology, options);
  printf("plan %s: %.6g ms, bound %.6g ms, peak %.4g MB: %.2f s\n", spec.c_str(), 1e3 * p.seconds, 1e3 * p.lowerBound, p.peakBytes / 1e6, now() - t4);
  double t5 = now();
  plan::Assignment r; for (auto &v : program.program.graph.values) r.push_back(sharding::TensorSharding::replicatedOver(v.shape.size()));
  printf("replicated: %.6g ms: %.2f s\n", 1e3 * plan::assignmentSeconds(program.program, mesh, topology, r), now() - t5);
  for (size_t v = 0; v < p.values.size(); ++v) { auto &f = program.program.values[v];
    if (f.argument >= 0 || f.result >= 0 || verbose) { std::string shape; for (auto s : program.program.graph.values[v].shape) shape += std::to_string(s) + "x";
      printf("  v%zu %s%d %s %s %s donates %d  [%d,%d] %s\n", v, f.argument >= 0 ? "arg" : f.result >= 0 ? "res" : "-", f.argument >= 0 ? f.argument : f.result, f.name.c_str(), shape.c_str(), text(mesh, p.values[v]).c_str(), f.donatedTo, f.first, f.last, f.stored ? "" : "fused"); } }
}
