#include "runtime/tool/StepInputs.h"
#include "runtime/tool/RandomInputs.h"

namespace tessera::runtime {

namespace {

Status about(const std::string &path, const Status &status) {
  return {status.code(), path + ": " + status.message()};
}

Signature signatureOf(const LoadedProgram &program) {
  Signature signature{parametersOf(program.inputs()), parametersOf(program.outputs()), {}};
  for (const LoadedProgram::Place &output : program.outputs())
    signature.alias.push_back(output.alias);
  return signature;
}

} // namespace

Status StepInputs::findCarried(const RunOptions &options, const LoadedProgram &program) {
  isCarried_.resize(program.inputs().size());
  if (!options.carries())
    return {};
  Signature signature = signatureOf(program);
  bool isListed = !options.carry.empty() && options.carry != "auto";
  auto carried = isListed ? readCarried(options.carry, signature) : runtime::findCarried(signature);
  if (!carried.ok())
    return carried.status();
  carried_ = std::move(*carried);
  for (const CarriedTree &tree : carried_)
    for (const Carried &leaf : tree.leaves)
      isCarried_[leaf.input] = true;
  return {};
}

Status StepInputs::read(const RunOptions &options, const LoadedProgram &program) {
  hosts_.resize(program.inputs().size());
  isRead_.resize(program.inputs().size());
  arrays_.resize(program.inputs().size());
  if (!options.resume.empty())
    if (Status s = readResumed(options.resume, program); !s.ok())
      return s;
  if (!options.batches.empty())
    if (Status s = readBatches(options.batches, program); !s.ok())
      return s;
  return readRest(options, program);
}

Status StepInputs::readResumed(const std::string &path, const LoadedProgram &program) {
  auto file = ArrayFile::open(path);
  if (!file.ok())
    return file.status();
  Parameters outputs = parametersOf(program.outputs());
  std::vector<std::string> names = (*file)->names();
  std::vector<bool> isNeeded(outputs.size());
  for (const CarriedTree &tree : carried_)
    for (const Carried &leaf : tree.leaves)
      isNeeded[leaf.output] = true;
  isNeeded.flip(); // to those that may be missing
  auto order = matchNames(outputs, "out", names, isNeeded);
  if (!order.ok())
    return about(path, order.status());
  for (const CarriedTree &tree : carried_)
    for (const Carried &leaf : tree.leaves) {
      auto host =
          (*file)->read(names[(*order)[leaf.output]], *program.inputs()[leaf.input].parameter);
      if (!host.ok())
        return host.status();
      hosts_[leaf.input] = std::move(*host);
      isRead_[leaf.input] = true;
    }
  return {};
}

Status StepInputs::readBatches(const std::string &path, const LoadedProgram &program) {
  auto file = ArrayFile::open(path);
  if (!file.ok())
    return file.status();
  batchFile_ = std::move(*file);
  Parameters inputs = parametersOf(program.inputs());
  std::vector<std::string> names = batchFile_->names();
  auto order = matchNames(inputs, "in", names, std::vector<bool>(inputs.size(), true));
  if (!order.ok())
    return about(path, order.status());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if ((*order)[i] == kNotGiven)
      continue;
    const std::string &name = names[(*order)[i]];
    std::string who = path + ": array '" + name + "' ";
    if (isCarried_[i])
      return invalidArgument(who + "is an input that goes on from an output of the step before");
    auto count = batchFile_->countEntries(name, *inputs[i]);
    if (!count.ok())
      return count.status();
    if (!batches_.empty() && *count != batchCount_)
      return invalidArgument(who + "is for " + std::to_string(*count) + " steps, array '" +
                             batches_[0].name + "' for " + std::to_string(batchCount_));
    batchCount_ = *count;
    batches_.push_back({i, name});
    isRead_[i] = true;
  }
  if (batchCount_ == 0)
    return invalidArgument(path + ": there is no batch in it");
  return {};
}

Status StepInputs::readRest(const RunOptions &options, const LoadedProgram &program) {
  Parameters inputs = parametersOf(program.inputs());
  if (options.inputs.empty()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (isRead_[i])
        continue;
      if (!options.resume.empty())
        return invalidArgument("input '" + inputs[i]->name() + "' is not in " + options.resume +
                               (options.batches.empty() ? "" : " nor in " + options.batches) +
                               ": --inputs has to give it");
      hosts_[i] = randomInput(*inputs[i], static_cast<uint64_t>(i));
    }
    return {};
  }
  auto file = ArrayFile::open(options.inputs);
  if (!file.ok())
    return file.status();
  std::vector<std::string> names = (*file)->names();
  auto order = matchNames(inputs, "in", names, isRead_);
  if (!order.ok())
    return about(options.inputs, order.status());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isRead_[i])
      continue;
    auto host = (*file)->read(names[(*order)[i]], *inputs[i]);
    if (!host.ok())
      return host.status();
    hosts_[i] = std::move(*host);
  }
  return {};
}

int64_t StepInputs::countSteps(const RunOptions &options) const {
  return options.repeat ? options.repeat : std::max<int64_t>(batchCount_, 1);
}

Status StepInputs::carry(Session &session, const Arrays &outputs) {
  const auto &places = session.program().inputs();
  for (const CarriedTree &tree : carried_)
    for (const Carried &leaf : tree.leaves) {
      auto array = session.adopt(outputs[leaf.output], places[leaf.input]);
      if (!array.ok())
        return invalidArgument("--carry=" + tree.from + ":" + tree.to + ": " +
                               array.status().message());
      arrays_[leaf.input] = *array;
    }
  return {};
}

Result<const Arrays *> StepInputs::next(Session &session, int64_t step, Arrays &outputs) {
  const auto &places = session.program().inputs();
  if (!outputs.empty())
    if (Status s = carry(session, outputs); !s.ok())
      return s;
  outputs.clear(); // their memory serves the step
  for (const Batch &batch : batches_) {
    auto host =
        batchFile_->readEntry(batch.name, *places[batch.input].parameter, step % batchCount_);
    if (!host.ok())
      return host.status();
    hosts_[batch.input] = std::move(*host);
    arrays_[batch.input] = nullptr;
  }
  // Those that the last step took over are placed anew.
  for (size_t i = 0; i < places.size(); ++i) {
    if (arrays_[i] && arrays_[i]->valid)
      continue;
    auto array = session.place(places[i], hosts_[i].bytes.data());
    if (!array.ok())
      return array.status();
    arrays_[i] = *array;
    if (isCarried_[i])
      hosts_[i] = {}; // it comes from the devices from now on
  }
  return &arrays_;
}

} // namespace tessera::runtime
