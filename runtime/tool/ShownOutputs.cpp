#include "runtime/tool/ShownOutputs.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/ParameterNames.h"
#include "runtime/array/Placement.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tessera::runtime {

namespace {

bool isNumber(const program::Parameter &parameter) {
  return elementCount(globalShape(parameter)) == 1;
}

// result['loss'] is shown as loss; what has no word for a last part as it is.
std::string labelOf(const std::string &name) {
  std::string_view word = lastWord(name);
  bool isWord = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0]));
  return isWord ? std::string(word) : name;
}

Result<size_t> findOutput(const Parameters &outputs, const std::string &name) {
  auto index = indexOfName(outputs, "out", name);
  if (index.ok())
    return index;
  std::vector<size_t> meant;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (isNumber(*outputs[i]) && lastWord(outputs[i]->name()) == name)
      meant.push_back(i);
  if (meant.size() == 1)
    return meant[0];
  if (meant.size() > 1)
    return invalidArgument("several outputs end in '" + name + "': '" + outputs[meant[0]]->name() +
                           "' and '" + outputs[meant[1]]->name() + "'");
  std::string numbers;
  for (const program::Parameter *output : outputs)
    if (isNumber(*output) && numbers.size() < 400)
      numbers += (numbers.empty() ? "" : ", ") + output->name();
  return Status(Code::NotFound, "there is no output '" + name + "'; single numbers are " +
                                    (numbers.empty() ? "none" : numbers));
}

std::string floatText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

template <class T> T valueOf(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

} // namespace

std::string elementText(program::ElementType type, const char *bytes) {
  using namespace program;
  if (isSmallFloat(type)) {
    float value;
    toFloat32(type, bytes, &value, 1);
    return floatText(value);
  }
  switch (type) {
  case F32:
    return floatText(valueOf<float>(bytes));
  case F64:
    return floatText(valueOf<double>(bytes));
  case C64:
    return floatText(valueOf<float>(bytes)) + " + " + floatText(valueOf<float>(bytes + 4)) + "i";
  case C128:
    return floatText(valueOf<double>(bytes)) + " + " + floatText(valueOf<double>(bytes + 8)) + "i";
  case I1:
    return *bytes ? "true" : "false";
  case I16:
    return std::to_string(valueOf<int16_t>(bytes));
  case U16:
    return std::to_string(valueOf<uint16_t>(bytes));
  case I32:
    return std::to_string(valueOf<int32_t>(bytes));
  case U32:
    return std::to_string(valueOf<uint32_t>(bytes));
  case I64:
    return std::to_string(valueOf<int64_t>(bytes));
  case U64:
    return std::to_string(valueOf<uint64_t>(bytes));
  case U2:
  case U4:
  case U8:
    return std::to_string(static_cast<unsigned char>(*bytes));
  default:
    return std::to_string(static_cast<signed char>(*bytes));
  }
}

Result<ShownOutputs> ShownOutputs::find(const std::string &list, const LoadedProgram &program) {
  ShownOutputs shown;
  Parameters outputs = parametersOf(program.outputs());
  auto add = [&](size_t output) {
    shown.shown_.push_back({output, labelOf(outputs[output]->name())});
  };
  for (const std::string &name : splitNames(list)) {
    auto output = findOutput(outputs, name);
    if (!output.ok() && name == "all") {
      for (size_t i = 0; i < outputs.size(); ++i)
        if (isNumber(*outputs[i]))
          add(i);
      if (shown.empty())
        return invalidArgument("--show=all: no output is a single number");
      continue;
    }
    if (!output.ok())
      return Status(output.status().code(), "--show: " + output.status().message());
    if (!isNumber(*outputs[*output]))
      return invalidArgument("--show: output '" + outputs[*output]->name() + "' is " +
                             describeGlobal(*outputs[*output]) + ", not a single number");
    add(*output);
  }
  return shown;
}

Result<std::string> ShownOutputs::line(Session &session, int64_t step,
                                       const std::vector<std::shared_ptr<Array>> &outputs) const {
  std::string text;
  for (const Shown &each : shown_) {
    auto host = session.fetch(*outputs[each.output]);
    if (!host.ok())
      return host.status();
    text += (text.empty() ? "" : ", ") + each.label + " ";
    text += host->bytes.empty() ? "" : elementText(host->type, host->bytes.data());
  }
  return "step " + std::to_string(step) + ": " + text;
}

} // namespace tessera::runtime
