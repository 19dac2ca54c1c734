#include "compiler/calibrate/Text.h"

namespace tessera::calibration {

std::string meshText(int64_t devices) {
  return devices == 1 ? "" : "  sdy.mesh @mesh = <[\"d\"=" + std::to_string(devices) + "]>\n";
}

std::string looped(int64_t devices, int64_t trips, llvm::ArrayRef<Carried> carried,
                   const std::string &body) {
  std::string arguments, types, initial, loopTypes, results, next, comma;
  for (size_t i = 0; i < carried.size(); ++i) {
    std::string n = std::to_string(i);
    arguments += (i ? ", %a" : "%a") + n + ": " + carried[i].type;
    initial += ", %x" + n + " = %a" + n;
    loopTypes += ", " + carried[i].type;
    next += ", " + carried[i].next;
    if (carried[i].next == "%x" + n)
      continue;
    results += comma + "%loop#" + std::to_string(i + 1);
    types += comma + carried[i].type;
    comma = ", ";
  }
  return "module {\n" + meshText(devices) + "  func.func public @main(" + arguments + ") -> (" +
         types + ") {\n    %zero = stablehlo.constant dense<0> : tensor<i32>\n    %loop:" +
         std::to_string(carried.size() + 1) + " = stablehlo.while(%i = %zero" + initial +
         ") : tensor<i32>" + loopTypes + "\n    cond {\n      %trips = stablehlo.constant dense<" +
         std::to_string(trips) +
         "> : tensor<i32>\n      %more = stablehlo.compare LT, %i, %trips : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n      stablehlo.return %more : tensor<i1>\n    } do {\n" +
         body +
         "      %one = stablehlo.constant dense<1> : tensor<i32>\n      %after = stablehlo.add %i, "
         "%one : tensor<i32>\n      stablehlo.return %after" +
         next + " : tensor<i32>" + loopTypes + "\n    }\n    return " + results + " : " + types +
         "\n  }\n}\n";
}

std::string tensor(llvm::ArrayRef<int64_t> shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

} // namespace tessera::calibration
