// The text of small programs: a loop's body, line by line, and the function around it.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace tessera::calibration {

// What a loop carries: its type, and what the next trip gets.
struct Carried {
  std::string type, next;
};

// Of one axis, "d"; nothing for one device.
std::string meshText(int64_t devices);

// A function that runs `body` so many times. In it %0, %1, .. are called %x0, %x1, .. Results are
// what changes.
std::string looped(int64_t devices, int64_t trips, llvm::ArrayRef<Carried> carried,
                   const std::string &body);

std::string tensor(llvm::ArrayRef<int64_t> shape, const std::string &element = "f32");

// Lines of a loop's body.
class Body {
public:
  std::string text;

  std::string add(const std::string &line) { return raw("stablehlo." + line); }
  std::string raw(const std::string &line) {
    std::string name = "%v" + std::to_string(count++);
    text += "      " + name + " = " + line + "\n";
    return name;
  }
  std::string unary(const std::string &op, const std::string &x, const std::string &type) {
    return add(op + " " + x + " : " + type);
  }
  std::string binary(const std::string &op, const std::string &x, const std::string &y,
                     const std::string &type) {
    return add(op + " " + x + ", " + y + " : " + type);
  }
  std::string number(const std::string &value, const std::string &type) {
    return add("constant dense<" + value + "> : " + type);
  }
  std::string broadcast(const std::string &x, const std::string &from, const std::string &dims,
                        const std::string &to) {
    return add("broadcast_in_dim " + x + ", dims = [" + dims + "] : (" + from + ") -> " + to);
  }
  std::string transpose(const std::string &x, const std::string &order, const std::string &from,
                        const std::string &to) {
    return add("transpose " + x + ", dims = [" + order + "] : (" + from + ") -> " + to);
  }
  std::string reduce(const std::string &how, const std::string &x, const std::string &from,
                     const std::string &dim, const std::string &to) {
    std::string start = number(how == "maximum" ? "0xFF800000" : "0.0", "tensor<f32>");
    return add("reduce(" + x + " init: " + start + ") applies stablehlo." + how +
               " across dimensions = [" + dim + "] : (" + from + ", tensor<f32>) -> " + to);
  }
  std::string dot(const std::string &a, const std::string &b, const std::string &numbers,
                  const std::string &aType, const std::string &bType, const std::string &to) {
    return add("dot_general " + a + ", " + b + ", " + numbers + " : (" + aType + ", " + bType +
               ") -> " + to);
  }
  // Keeps values near one.
  std::string damped(const std::string &x, const std::string &type) {
    return binary("add", binary("multiply", x, number("5.000000e-01", type), type),
                  number("2.500000e-01", type), type);
  }

private:
  int count = 0;
};

} // namespace tessera::calibration
