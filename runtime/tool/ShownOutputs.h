// Outputs of a step as a line for people: `step 20: loss 3.1416, accuracy 0.5`.
#pragma once

#include "runtime/session/Session.h"
#include "runtime/tool/RunOptions.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

// An element as people read it: six digits of a float.
std::string elementText(program::ElementType type, const char *bytes);

class ShownOutputs {
public:
  // Outputs of one element each, by number, by name, or by a name's last word; `all`: all such.
  static Result<ShownOutputs> find(const std::string &list, const LoadedProgram &program);

  bool empty() const { return shown_.empty(); }
  // With several processes all call, and rank 0 gets the line.
  Result<std::string> line(Session &session, int64_t step,
                           const std::vector<std::shared_ptr<Array>> &outputs) const;

private:
  struct Shown {
    size_t output;
    std::string label;
  };
  std::vector<Shown> shown_;
};

} // namespace tessera::runtime
