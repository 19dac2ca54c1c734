// An explanation as text: for the program, for a value, for a line of source.
#include "compiler/explain/Explanation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::explain {
namespace {

std::string amount(double bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 10000 && unit < 4; ++unit)
    bytes /= 1000;
  return llvm::formatv(unit ? "{0:f1} {1}" : "{0:f0} {1}", bytes, units[unit]).str();
}

std::string duration(double seconds) {
  if (seconds >= 1)
    return llvm::formatv("{0:f2} s", seconds).str();
  if (seconds >= 1e-3)
    return llvm::formatv("{0:f2} ms", seconds * 1e3).str();
  return llvm::formatv("{0:f1} us", seconds * 1e6).str();
}

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
    double seconds = 0;
    int64_t count = 0, wire = 0;
    for (const Collective &each : explanation.collectives) {
      seconds += each.seconds;
      count += each.count;
      wire += each.wireBytes;
    }
    stream << explanation.name << ": " << explanation.devices << " devices, " << explanation.mesh
           << "; topology \"" << explanation.topology << "\"\n"
           << count << " collectives at " << explanation.collectives.size() << " places send "
           << amount(wire) << " a device, " << duration(seconds) << " predicted\n";
  }

  void collective(size_t index, llvm::StringRef indent) {
    const Collective &each = explanation.collectives[index];
    stream << indent << "#" << index + 1 << " " << each.kind << " over " << each.axes << ", ";
    if (!each.trips)
      stream << "a trip of a loop that data ends";
    else
      stream << each.count << (each.count == 1 ? " time" : " times");
    stream << ": " << amount(each.bytes) << ", " << amount(each.wireBytes) << " sent, "
           << duration(each.seconds);
    if (!each.location.empty())
      stream << "  " << each.location;
    stream << "\n";
    if (!each.cause.empty())
      stream << indent << "   why: " << each.cause << "\n";
    for (const std::string &remedy : each.remedies)
      stream << indent << "   try: " << remedy << "\n";
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

std::string placeOf(const Value &value) {
  if (value.frames.empty() || value.frames.back().file.empty())
    return "";
  return value.frames.back().file + ":" + std::to_string(value.frames.back().line);
}

std::string programText(const Explanation &explanation) {
  Writer writer(explanation);
  writer.head();
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

std::string valueText(const Explanation &explanation, llvm::StringRef name) {
  Writer writer(explanation);
  name.consume_front("%");
  for (auto [i, value] : llvm::enumerate(explanation.values)) {
    llvm::StringRef own = value.name;
    own.consume_front("%");
    llvm::StringRef scope = llvm::StringRef(value.scope).rsplit('/').second;
    llvm::StringRef inner = own.rsplit('/').second; // of %call/%value
    inner.consume_front("%");
    if (own == name || own.split('#').first == name || inner == name || scope == name)
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
