// A file's description as JSON.
#include "lib/text/Json.h"
#include "runtime/tool/ProgramInfo.h"

namespace tessera::runtime {

namespace {

std::string listed(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}

template <class List, class F> std::string array(const List &list, F each) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "" : ", ") + each(item);
  return "[" + text + "]";
}

std::string parametersJson(const std::vector<ParameterInfo> &parameters) {
  return array(parameters, [](const ParameterInfo &p) {
    return "\n      {\"name\": " + text::quoted(p.name) + ", \"type\": " + text::quoted(p.type) +
           ", \"shape\": " + listed(p.shape) + ", \"tile\": " + listed(p.tile) +
           ", \"sharding\": " +
           array(p.sharding, [](const auto &axes) { return array(axes, text::quoted); }) +
           ", \"donated\": " + (p.donated ? "true" : "false") +
           ", \"memory\": " + (p.onHost ? "\"host\"" : "\"device\"") +
           (p.alias.empty() ? "" : ", \"alias\": " + text::quoted(p.alias)) + "}";
  });
}

std::string programJson(const ProgramInfo &program) {
  auto number = [](uint64_t n) { return std::to_string(n); };
  return "\n    {\"name\": " + text::quoted(program.name) + ",\n     \"devices\": " +
         array(program.devices, [](auto range) { return listed({range.first, range.second}); }) +
         ",\n     \"mesh\": " +
         array(program.mesh,
               [](const auto &axis) {
                 return "{\"axis\": " + text::quoted(axis.first) +
                        ", \"size\": " + std::to_string(axis.second) + "}";
               }) +
         ",\n     \"inputs\": " + parametersJson(program.inputs) +
         ",\n     \"outputs\": " + parametersJson(program.outputs) +
         ",\n     \"memory\": {\"arguments\": " + number(program.inputBytes) +
         ", \"outputs\": " + number(program.outputBytes) + ", \"arena\": " + number(program.arena) +
         ", \"scratch\": " + number(program.scratch) +
         ", \"constants\": " + number(program.constants) + ", \"host\": " + number(program.host) +
         ", \"file\": " + number(program.file) +
         "},\n     \"instructions\": " + number(program.instructions) +
         ",\n     \"collectives\": " +
         array(program.moves,
               [&](const auto &entry) {
                 const Moved &moved = entry.second;
                 return "{\"kind\": " + text::quoted(entry.first) +
                        ", \"sites\": " + number(moved.sites) +
                        ", \"count\": " + number(moved.count) +
                        ", \"bytes\": " + number(moved.bytes) +
                        ", \"trips\": " + (moved.known ? "\"known\"" : "\"unknown\"") + "}";
               }) +
         "}";
}

} // namespace

static std::string predictionJson(const PredictionInfo &predicted) {
  std::string json = "{\"topology\": " + text::quoted(predicted.topology);
  auto add = [&](const char *name, double value) {
    char number[64];
    std::snprintf(number, sizeof number, ", \"%s\": %.9g", name, value);
    json += number;
  };
  add("seconds", predicted.seconds);
  add("compute", predicted.compute);
  add("communication", predicted.communication);
  add("exposed", predicted.exposed);
  add("overhead", predicted.overhead);
  return json + ", \"peak_bytes\": " + std::to_string(predicted.peakBytes) + "}";
}

std::string infoJson(const FileInfo &info) {
  return "{\"version\": " + std::to_string(info.version) +
         ",\n \"sha256\": " + text::quoted(info.sha256) +
         ",\n \"devices\": " + std::to_string(info.devices) + ",\n \"images\": " +
         array(info.images,
               [](const ImageInfo &image) {
                 return "\n    {\"target\": " + text::quoted(image.target) +
                        ", \"cpu\": " + text::quoted(image.cpu) +
                        ", \"features\": " + array(image.features, text::quoted) +
                        ", \"chosen\": " + (image.isChosen ? "true" : "false") + "}";
               }) +
         ",\n \"kernels\": {\"count\": " + std::to_string(info.kernels) +
         ", \"library\": " + array(info.library, text::quoted) +
         ", \"outside\": " + array(info.outside, text::quoted) + "}" +
         (info.predicted ? ",\n \"predicted\": " + predictionJson(*info.predicted) : "") +
         ",\n \"programs\": " + array(info.programs, programJson) + ",\n \"channels\": " +
         array(info.channels,
               [](const ChannelInfo &channel) {
                 return "\n    {\"name\": " + text::quoted(channel.name) +
                        ", \"from\": " + text::quoted(channel.from) +
                        ", \"to\": " + text::quoted(channel.to) +
                        ", \"type\": " + text::quoted(channel.type) +
                        ", \"shape\": " + listed(channel.shape) + "}";
               }) +
         "}\n";
}

} // namespace tessera::runtime
