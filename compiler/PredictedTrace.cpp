#include "compiler/PredictedTrace.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/text/Json.h"
#include "passes/package/StepWork.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace tessera {
namespace {

constexpr size_t kMostEvents = 200'000; // of loops that have more, the first trips
constexpr int kProcess = 1000;          // behind the ranks of a run: the two can be one file
constexpr int kDeviceRow = 1, kStepRow = 2, kFirstLinkRow = 3;

class Writer {
public:
  Writer(const StepWork &work, const cost::Topology &topology, const sharding::Mesh *mesh)
      : work(work), topology(topology), mesh(mesh) {}

  std::string write(const cost::Prediction &step) {
    name("process_name", 0, "predicted for " + topology.name);
    name("thread_name", kDeviceRow, "each device");
    name("thread_name", kStepRow, "steps");
    for (const cost::Event &event : step.events)
      add(event);
    slice("step", kStepRow, 0, step.time.seconds, "\"copies_left_out\":0");
    return "[" + text + "\n]\n";
  }

private:
  void add(const cost::Event &event) {
    const cost::Work &what = work.blocks[event.block][event.work];
    mlir::Operation *op = work.ops[event.block][event.work];
    std::string details =
        "\"location\":" + text::quoted(llvm::json::fixUTF8(locationText(op->getLoc())));
    if (auto start = llvm::dyn_cast<exec::StartOp>(op))
      titles[what.site] = exec::stringifyCollectiveKind(start.getKind()).str();
    else if (what.kind == cost::Work::Start)
      titles[what.site] = "copy";
    if (what.kind != cost::Work::Start) {
      slice(titleOf(what, op), kDeviceRow, event.begin, event.end, details);
      return;
    }
    for (uint64_t rest = what.links; rest; rest &= rest - 1)
      slice(titles[what.site], rowOf(llvm::countr_zero(rest)), event.begin, event.end, details);
  }

  std::string titleOf(const cost::Work &what, mlir::Operation *op) {
    if (auto dispatch = llvm::dyn_cast<exec::DispatchOp>(op))
      return dispatch.getKernel().str();
    if (auto call = llvm::dyn_cast<exec::CallOp>(op))
      return call.getFunction().str();
    return what.kind == cost::Work::Wait ? "wait " + titles[what.site] : "copy";
  }

  // Of a link, named when it is first used.
  int rowOf(int link) {
    auto [row, isNew] = rows.try_emplace(link, kFirstLinkRow + int(rows.size()));
    if (isNew)
      name("thread_name", row->second, linkName(link));
    return row->second;
  }

  std::string linkName(int link) const {
    uint64_t bit = uint64_t{1} << link;
    if (bit & cost::kToHost)
      return "copies to the host";
    if (bit & cost::kFromHost)
      return "copies from the host";
    size_t level = link - links::kLevelLinks;
    if (link >= links::kLevelLinks && level < topology.network.levels.size())
      return "links of " + topology.network.levels[level].name;
    if (mesh && link < links::kAxisLinks && size_t(link) < mesh->axes.size())
      return "links along " + mesh->axes[link].name;
    return "links";
  }

  void slice(const std::string &title, int row, double begin, double end,
             const std::string &details) {
    put(llvm::formatv(R"({{"name":{0},"ph":"X","pid":{1},"tid":{2},"ts":{3:f3},"dur":{4:f3},)"
                      R"("args":{{{5}}})",
                      text::quoted(llvm::json::fixUTF8(title)), kProcess, row, begin * 1e6,
                      (end - begin) * 1e6, details));
  }
  void name(const char *kind, int row, const std::string &text) {
    put(llvm::formatv(R"({{"name":"{0}","ph":"M","pid":{1},"tid":{2},"args":{{"name":{3}}})", kind,
                      kProcess, row, text::quoted(llvm::json::fixUTF8(text))));
  }
  void put(const std::string &event) { text += (text.empty() ? "\n" : ",\n") + event; }

  const StepWork &work;
  const cost::Topology &topology;
  const sharding::Mesh *mesh;
  std::map<int64_t, std::string> titles; // of what was started last, by site
  std::map<int, int> rows;               // by link
  std::string text;
};

} // namespace

std::string predictedTrace(mlir::ModuleOp module) {
  cost::Topology topology = topologyOf(module);
  sdy::MeshTable meshes(module);
  StepWork longest;
  cost::Prediction step;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    StepWork work = stepWork(program, topology, meshes.main());
    cost::Prediction own = predictStep(work, topology, kMostEvents);
    if (longest.blocks.empty() || own.time.seconds > step.time.seconds) {
      longest = std::move(work);
      step = std::move(own);
    }
  }
  return longest.blocks.empty() ? "" : Writer(longest, topology, meshes.main()).write(step);
}

} // namespace tessera
