// A file's description as lines for people.
#include "lib/text/Quantity.h"
#include "runtime/tool/ProgramInfo.h"
#include <algorithm>

namespace tessera::runtime {

namespace {

// Names come from files: what a terminal would take for a command is shown as '?'.
std::string shown(const std::string &text) {
  std::string out;
  for (char c : text)
    out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out;
}

std::string joined(const std::vector<std::string> &list, const char *separator = ", ") {
  std::string text;
  for (const std::string &each : list)
    text += (text.empty() ? "" : separator) + shown(each);
  return text;
}

std::string listed(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? "," : "") + std::to_string(numbers[i]);
  return text + "]";
}

std::string devicesText(const std::vector<std::pair<int64_t, int64_t>> &ranges) {
  std::string text;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (i == 16)
      return text + ", ..";
    auto [begin, end] = ranges[i];
    text += (i ? ", " : "") + std::to_string(begin) +
            (end > begin + 1 ? "-" + std::to_string(end - 1) : "");
  }
  return text;
}

bool isWhole(const ParameterInfo &parameter) {
  return std::all_of(parameter.sharding.begin(), parameter.sharding.end(),
                     [](const auto &axes) { return axes.empty(); });
}

//   params['w']  f32[8,16]  sharded [data, model:(1)2], tiles [4,8]  donated
std::string parameterLine(const ParameterInfo &parameter, size_t width) {
  std::string name = shown(parameter.name), line = "  " + name;
  line.append(width > name.size() ? width - name.size() : 0, ' ');
  line += "  " + parameter.type + listed(parameter.shape);
  if (isWhole(parameter)) {
    line += "  whole on every device";
  } else {
    line += "  sharded [";
    for (size_t d = 0; d < parameter.sharding.size(); ++d)
      line += (d ? ", " : "") +
              (parameter.sharding[d].empty() ? "-" : joined(parameter.sharding[d], "*"));
    line += "], tiles " + listed(parameter.tile);
  }
  if (parameter.onHost)
    line += "  in the host's memory";
  if (parameter.donated)
    line += "  donated";
  if (!parameter.alias.empty())
    line += "  in the buffer of " + shown(parameter.alias);
  return line + "\n";
}

std::string parametersText(const char *title, const std::vector<ParameterInfo> &parameters) {
  size_t width = 0;
  for (const auto &parameter : parameters)
    width = std::max(width, std::min<size_t>(parameter.name.size(), 40));
  std::string text = title + (" (" + std::to_string(parameters.size())) + "):\n";
  for (const auto &parameter : parameters)
    text += parameterLine(parameter, width);
  return text;
}

std::string programText(const ProgramInfo &program, bool isOnly) {
  std::string text = isOnly ? "" : "\nprogram " + shown(program.name) + "\n";
  text += "devices: " + devicesText(program.devices);
  if (!program.mesh.empty()) {
    text += ", mesh";
    for (const auto &[axis, size] : program.mesh)
      text += " " + shown(axis) + "=" + std::to_string(size);
  }
  text +=
      "\n" + parametersText("inputs", program.inputs) + parametersText("outputs", program.outputs);
  text += "memory of a device: inputs " + text::bytes(program.inputBytes) + ", outputs " +
          text::bytes(program.outputBytes) + ", arena " + text::bytes(program.arena) +
          ", scratch " + text::bytes(program.scratch) + ", constants " +
          text::bytes(program.constants);
  if (program.host)
    text += ", on the host " + text::bytes(program.host);
  if (program.file)
    text += ", in a file " + text::bytes(program.file);
  text += "\ninstructions: " + std::to_string(program.instructions) + "\n";
  if (program.moves.empty())
    text += "moves nothing between devices\n";
  for (const auto &[kind, moved] : program.moves)
    text += kind + ": " + std::to_string(moved.count) + " from " +
            text::counted(moved.sites, "place") + ", " + text::bytes(moved.bytes) +
            (moved.known ? "" : " for each trip of loops that data ends") + "\n";
  return text;
}

std::string predictionText(const PredictionInfo &predicted) {
  std::string text = "predicted for " + shown(predicted.topology) + ": " +
                     text::seconds(predicted.seconds) + " a step, " +
                     text::seconds(predicted.compute) + " computing";
  for (auto [seconds, what] : {std::pair(predicted.exposed, " waiting for what moves"),
                               {predicted.overhead, " of launches and instructions"}})
    if (seconds > 0)
      text += ", " + text::seconds(seconds) + what;
  return text + "; peak " + text::bytes(predicted.peakBytes) + " a device\n";
}

} // namespace

std::string infoText(const FileInfo &info) {
  std::string text = shown(info.path) + ": a program of version " + std::to_string(info.version) +
                     " for " + text::counted(info.devices, "device") + "\n" +
                     "sha256: " + info.sha256 + "\n";
  for (const ImageInfo &image : info.images)
    text += "code for " + shown(image.target) + " " + shown(image.cpu) +
            (image.isChosen ? ", which this machine takes: " : ": ") +
            (image.features.empty() ? "no features" : joined(image.features, " ")) + "\n";
  text += "kernels: " + std::to_string(info.kernels);
  if (!info.library.empty())
    text += ", of the runtime: " + joined(info.library);
  if (!info.outside.empty())
    text += ", to be registered: " + joined(info.outside);
  text += "\n";
  if (info.predicted)
    text += predictionText(*info.predicted);
  for (const ProgramInfo &program : info.programs)
    text += programText(program, info.programs.size() == 1);
  for (const ChannelInfo &channel : info.channels)
    text += "channel " + shown(channel.name) + ": from " + shown(channel.from) + " to " +
            shown(channel.to) + ", " + channel.type + listed(channel.shape) + "\n";
  return text;
}

} // namespace tessera::runtime
