#include "runtime/library/Outside.h"
#include <map>
#include <mutex>

namespace tessera::runtime {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, OutsideFunction> functions;
};

Registry &registry() {
  static Registry *instance = new Registry; // outlives whatever a process ends with
  return *instance;
}

// A call as the function sees it, with what its pointers lead to.
struct Plan {
  OutsideCall call;
  std::vector<TesseraKernelArray> inputs, outputs;
  std::vector<TesseraKernelAttribute> attributes;
  TesseraKernelCall seen;

  Plan(OutsideCall &&from, void *user) : call(std::move(from)) {
    auto view = [](const std::vector<OutsideCall::Array> &arrays) {
      std::vector<TesseraKernelArray> views;
      for (const OutsideCall::Array &array : arrays)
        views.push_back({array.type.c_str(), array.shape.data(),
                         static_cast<uint32_t>(array.shape.size()), array.bytes});
      return views;
    };
    inputs = view(call.inputs);
    outputs = view(call.outputs);
    for (const auto &[name, value] : call.attributes)
      attributes.push_back({name.c_str(), value.data(), value.size()});
    seen = {call.name.c_str(),
            user,
            inputs.data(),
            outputs.data(),
            attributes.data(),
            static_cast<uint32_t>(inputs.size()),
            static_cast<uint32_t>(outputs.size()),
            static_cast<uint32_t>(attributes.size()),
            call.grid,
            call.scratchBytes};
  }
};

} // namespace

Status registerOutsideKernel(std::string name, const OutsideFunction &function) {
  std::lock_guard lock(registry().mutex);
  auto [at, isNew] = registry().functions.try_emplace(std::move(name), function);
  const OutsideFunction &had = at->second;
  if (!isNew && (had.function != function.function || had.user != function.user ||
                 had.scratchBytes != function.scratchBytes || had.check != function.check))
    return {Code::AlreadyExists,
            "kernel '" + at->first +
                "' is registered already, and programs may have it: choose another name"};
  return {};
}

Result<LibraryKernel> findOutsideKernel(OutsideCall call, const std::string &where) {
  OutsideFunction found;
  {
    std::lock_guard lock(registry().mutex);
    auto at = registry().functions.find(call.name);
    if (at == registry().functions.end())
      return Status(Code::NotFound,
                    where + ": calls kernel '" + call.name +
                        "', which is not the program's and not the runtime's: register a function "
                        "of this name (tessera_register_kernel) before the program is loaded");
    found = at->second;
  }
  if (call.scratchBytes < found.scratchBytes)
    return Status(Code::FailedPrecondition,
                  where + ": kernel '" + call.name + "' needs " +
                      std::to_string(found.scratchBytes) + " bytes of scratch, the call has " +
                      std::to_string(call.scratchBytes) +
                      ": give it the attribute scratch_bytes and compile again");
  auto plan = std::make_shared<const Plan>(std::move(call), found.user);
  if (const char *problem = found.check ? found.check(&plan->seen) : nullptr)
    return Status(Code::FailedPrecondition,
                  where + ": kernel '" + plan->call.name + "': " + problem);
  LibraryKernel kernel;
  kernel.function = found.function;
  kernel.grid = plan->call.grid;
  kernel.scratchBytes = plan->call.scratchBytes;
  kernel.plan = std::shared_ptr<const void>(plan, &plan->seen);
  return kernel;
}

} // namespace tessera::runtime
