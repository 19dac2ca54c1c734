// An explanation as text: for the program, for a value, for a line of source.
#include "compiler/explanation/Explanation.h"
#include "lib/text/Quantity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::explain {
namespace {

constexpr size_t kGroups = 10, kBars = 40; // shown

std::string amount(double bytes) { return text::bytes(uint64_t(bytes)); }
std::string duration(double seconds) { return text::seconds(seconds); }
using text::counted;

bool endsInPath(llvm::StringRef path, llvm::StringRef end) {
  return path == end || (path.ends_with(end) && path.drop_back(end.size()).ends_with("/"));
}

class Writer {
public:
  explicit Writer(const Explanation &explanation) : explanation(explanation), stream(text) {
    of.resize(explanation.values.size());
    for (auto [i, collective] : llvm::enumerate(explanation.collectives))
      if (collective.value >= 0)
        of[collective.value].push_back(i);
  }

  std::string take() { return std::move(text); }

  void head() {
    int64_t count = 0, wire = 0;
    for (const Collective &each : explanation.collectives) {
      count += each.count;
      wire += each.wireBytes;
    }
    stream << explanation.name << ": " << counted(explanation.devices, "device") << ", "
           << explanation.mesh << "; topology \"" << explanation.topology << "\"\n"
           << counted(count, "collective") << " at "
           << counted(uint64_t(explanation.collectives.size()), "place") << " send"
           << (count == 1 ? "s " : " ") << amount(double(wire)) << " a device\n"
           << duration(step()) << " a step predicted: " << duration(explanation.compute)
           << " computing";
    if (explanation.flops > 1.05 * explanation.evenFlops)
      stream << llvm::formatv(" ({0:f1} times an even share of the operations)",
                              explanation.flops / explanation.evenFlops);
    stream << ", " << duration(explanation.communication) << " moving";
    if (explanation.communication > 0)
      stream << " (" << duration(explanation.exposed) << " of it not beside computing)";
    if (explanation.overhead > 0)
      stream << ", " << duration(explanation.overhead) << " of launches and instructions";
    if (int64_t peak = held())
      stream << "; a device holds " << amount(double(peak));
    stream << "\n";
    for (auto [i, kind] : llvm::enumerate(explanation.byKind))
      stream << (i ? ", " : "computing: ") << kind.first << " " << duration(kind.second);
    stream << (explanation.byKind.empty() ? "" : "\n");
    llvm::ArrayRef<AtPeak> atPeak = explanation.memory.atPeak;
    for (const AtPeak &each : atPeak.take_front(3))
      stream << (&each == atPeak.begin() ? "at the peak: " : ", ") << each.name << " "
             << amount(double(each.bytes)) << (each.place.empty() ? "" : " at ") << each.place;
    stream << (atPeak.empty() ? "" : atPeak.size() > 3 ? ", ..: --memory\n" : "\n");
  }

  double step() const { return explanation.seconds; }
  int64_t held() const {
    const Memory &memory = explanation.memory;
    return memory.arguments + memory.outputs + memory.arena;
  }

  void group(size_t index) {
    const Group &each = explanation.groups[index];
    int64_t times = 0;
    for (int32_t c : each.collectives)
      times += explanation.collectives[c].count;
    stream << "  #" << index + 1 << " " << each.what;
    if (!each.place.empty())
      stream << " at " << each.place;
    if (times > 1)
      stream << ", " << times << " times";
    if (each.collectives.size() > 1)
      stream << " in " << each.collectives.size() << " places";
    stream << ": ";
    if (each.wireBytes)
      stream << amount(double(each.wireBytes)) << " sent, ";
    stream << duration(each.seconds) << share(each.seconds) << "\n";
    if (!each.scope.empty())
      stream << "     scope: " << each.scope << "\n";
    if (!each.cause.empty())
      stream << "     why: " << each.cause << "\n";
    for (auto [i, mend] : llvm::enumerate(each.mends))
      stream << (i ? "       or: " : "     mend: ") << mend.text << "\n           " << effect(mend)
             << "\n";
  }

  std::string share(double seconds) const {
    return step() > 0 ? llvm::formatv(" ({0:f0}%)", 100 * seconds / step()).str() : "";
  }

  std::string effect(const Mend &mend) const {
    std::string text = duration(mend.seconds) + " a step less" + share(mend.seconds);
    auto change = [&](double by, double of, const char *what) {
      if (by != 0 && std::abs(by) >= 0.01 * of)
        text += std::string(", ") + amount(std::abs(by)) + (by < 0 ? " less " : " more ") + what;
    };
    double wire = 0;
    for (const Collective &each : explanation.collectives)
      wire += double(each.wireBytes);
    change(mend.wireBytes, wire, "sent");
    change(mend.bytes, double(held()), "held");
    if (explanation.flops > 0 && std::abs(mend.flops) >= 0.01 * explanation.flops)
      text +=
          llvm::formatv(", {0:f0}% {1} operations", 100 * std::abs(mend.flops) / explanation.flops,
                        mend.flops < 0 ? "fewer" : "more");
    return text;
  }

  void collective(size_t index, llvm::StringRef indent) {
    const Collective &each = explanation.collectives[index];
    stream << indent << each.kind << " over " << each.axes << ", ";
    if (!each.trips)
      stream << "a trip of a loop that data ends";
    else
      stream << counted(each.count, "time");
    stream << ": " << amount(double(each.bytes)) << ", " << amount(double(each.wireBytes))
           << " sent, " << duration(each.seconds);
    if (!each.location.empty())
      stream << "  " << each.location;
    stream << "\n";
    if (!each.cause.empty())
      stream << indent << "   why: " << each.cause << "\n";
  }

  void line(const Value &value) {
    stream << "  " << llvm::left_justify(value.name, 14) << " " << llvm::left_justify(value.op, 20)
           << " " << llvm::left_justify(value.sharding, 28) << " " << value.type;
    if (std::string place = placeOf(value); !place.empty())
      stream << "  " << place;
    stream << "\n";
  }

  void whole(size_t index) {
    const Value &value = explanation.values[index];
    stream << value.name << " = " << value.op << " : " << value.type << "\n"
           << "  sharding " << value.sharding << "\n";
    for (auto [i, frame] : llvm::enumerate(llvm::reverse(value.frames))) {
      stream << (i ? "  from " : "  at ") << frame.file << ":" << frame.line;
      if (!frame.function.empty())
        stream << " in " << frame.function;
      stream << "\n";
    }
    if (!value.scope.empty())
      stream << "  scope " << value.scope << "\n";
    if (value.origins.empty())
      stream << "  no annotation reaches it: whole on every device\n";
    for (const std::string &origin : value.origins)
      stream << "  " << origin << "\n";
    for (const std::string &conflict : value.conflicts)
      stream << "  conflict: " << conflict << "\n";
    for (int32_t operand : value.operands) {
      const Value &from = explanation.values[operand];
      stream << "  operand " << from.name << " = " << from.op << " " << from.sharding << "\n";
    }
    for (size_t i : of[index])
      collective(i, "  ");
  }

  const Explanation &explanation;
  std::vector<std::vector<size_t>> of; // collectives of each value
  std::string text;
  llvm::raw_string_ostream stream;
};

} // namespace

std::string programText(const Explanation &explanation, bool all) {
  Writer writer(explanation);
  writer.head();
  size_t shown = all ? explanation.groups.size() : std::min(kGroups, explanation.groups.size());
  bool mends =
      llvm::any_of(explanation.groups, [](const Group &each) { return !each.mends.empty(); });
  if (shown)
    writer.stream << "\nWhat it costs" << (mends ? ", what can be mended first" : "") << "\n";
  for (size_t i = 0; i < shown; ++i)
    writer.group(i);
  if (explanation.tried)
    writer.stream << "\n"
                  << counted(explanation.tried, "change") << " of the program "
                  << (explanation.tried == 1 ? "was" : "were") << " compiled"
                  << (mends ? "" : "; none makes a step faster by 1%")
                  << (explanation.untried ? " (" + std::to_string(explanation.untried) +
                                                " more were left out: it is a large program)"
                                          : "")
                  << "\n";
  if (!explanation.decisions.empty())
    writer.stream << "\nWhat was decided, and what other choices would cost\n"
                  << decisionsText(explanation.decisions, all) << "\n";
  if (!all) {
    if (shown < explanation.groups.size())
      writer.stream << counted(uint64_t(explanation.groups.size() - shown), "more reason")
                    << " with --all; ";
    writer.stream << "every collective, conflict and sharding with --all\n";
    return writer.take();
  }
  if (!explanation.collectives.empty())
    writer.stream << "\nCollectives, by time\n";
  for (size_t i = 0; i < explanation.collectives.size(); ++i)
    writer.collective(i, "  ");
  bool first = true;
  for (const Value &value : explanation.values)
    for (const std::string &conflict : value.conflicts) {
      writer.stream << (first ? "\nConflicts\n" : "");
      first = false;
      writer.line(value);
      writer.stream << "    " << conflict << "\n";
    }
  writer.stream << "\nShardings\n";
  for (const Value &value : explanation.values) {
    writer.line(value);
    for (const std::string &origin : value.origins)
      writer.stream << "    " << origin << "\n";
  }
  return writer.take();
}

static std::string frontierText(llvm::ArrayRef<LessMemory> frontier) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (frontier.size() > 1)
    stream << "\nWhat less memory costs, as values are computed again\n";
  else if (!frontier.empty())
    stream << "\nNothing that could be computed again would make it less\n";
  for (const LessMemory &point : frontier.take_front(frontier.size() > 1 ? kBars : 0)) {
    stream << "  " << llvm::right_justify(amount(double(point.bytes)), 10) << "  "
           << llvm::left_justify(duration(point.seconds) + " a step", 16);
    double more = 100 * (point.seconds / frontier.front().seconds - 1);
    if (&point == &frontier.front())
      stream << "as it is\n";
    else
      stream << "--memory=" << point.bytes << ": " << counted(size_t(point.computedAgain), "value")
             << ", " << llvm::format("%.1f%% ", more < 0 ? -more : more)
             << (more < 0 ? "shorter" : "longer") << "\n";
  }
  return text;
}

std::string memoryText(const Explanation &explanation) {
  Writer writer(explanation);
  const Memory &memory = explanation.memory;
  writer.head();
  writer.stream << "\nMemory of a device: " << amount(double(memory.arguments)) << " arguments, "
                << amount(double(memory.outputs)) << " results, " << amount(double(memory.arena))
                << " beside them\n";
  if (memory.hostArguments + memory.hostOutputs + memory.hostArena > 0)
    writer.stream << "Of the host's memory: " << amount(double(memory.hostArguments))
                  << " arguments, " << amount(double(memory.hostOutputs)) << " results, "
                  << amount(double(memory.hostArena)) << " beside them\n";
  writer.stream << frontierText(memory.frontier);
  if (!memory.atPeak.empty())
    writer.stream << "\nWhat is there at the peak beside the arguments, largest first\n";
  for (const AtPeak &each : memory.atPeak)
    writer.stream << "  " << llvm::right_justify(amount(double(each.bytes)), 10) << "  "
                  << each.name << (each.place.empty() ? "" : " at " + each.place) << "\n";
  int64_t most = 1;
  for (const Held &each : memory.overStep)
    most = std::max(most, each.bytes);
  if (!memory.overStep.empty())
    writer.stream << "\nOver a step, results and what is beside them\n";
  size_t every = (memory.overStep.size() + kBars - 1) / kBars;
  for (size_t i = 0; i < memory.overStep.size(); i += every) {
    const Held *top = &memory.overStep[i];
    for (size_t k = i; k < std::min(i + every, memory.overStep.size()); ++k)
      top = memory.overStep[k].bytes > top->bytes ? &memory.overStep[k] : top;
    writer.stream << "  " << llvm::right_justify(amount(double(top->bytes)), 10) << "  "
                  << llvm::left_justify(std::string(size_t(40 * top->bytes / most), '#'), 41)
                  << top->place << "\n";
  }
  return writer.take();
}

// `layer/attn` of `jit(step)/layer/attn/dot`, whose ops are all meant, as are those of a whole scope.
static bool isInScope(llvm::StringRef scope, llvm::StringRef name) {
  return ("/" + scope + "/").str().find(("/" + name + "/").str()) != std::string::npos;
}

std::string valueText(const Explanation &explanation, llvm::StringRef name) {
  Writer writer(explanation);
  name.consume_front("%");
  for (auto [i, value] : llvm::enumerate(explanation.values)) {
    llvm::StringRef own = value.name;
    own.consume_front("%");
    llvm::StringRef inner = own.rsplit('/').second; // of %call/%value
    inner.consume_front("%");
    if (own == name || own.split('#').first == name || inner == name ||
        isInScope(value.scope, name))
      writer.whole(i);
  }
  return writer.take();
}

std::string lineText(const Explanation &explanation, llvm::StringRef file, int64_t line) {
  Writer writer(explanation);
  for (auto [i, value] : llvm::enumerate(explanation.values))
    if (llvm::any_of(value.frames, [&](const Frame &frame) {
          return frame.line == line && endsInPath(frame.file, file);
        }))
      writer.whole(i);
  return writer.take();
}

} // namespace tessera::explain
