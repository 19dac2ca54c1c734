#include "runtime/session/Session.h"
#include "include/tessera/container.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/device/HostAccess.h"
#include <algorithm>
#include <cstring>

namespace tessera::runtime {

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedProgram> program,
                                                 const SessionOptions &options) {
  ClientOptions forClient;
  forClient.device = program->target();
  forClient.workers = options.workers;
  forClient.transport = options.transport;
  Result<std::shared_ptr<Client>> client = options.client;
  std::string note;
  if (!options.client) {
    auto choice = chooseGpus(*program, options.ownGpus, options.transport.get());
    if (choice.ok()) {
      forClient.gpus = choice->gpus;
      note = choice->note;
    }
    client = choice.ok() ? Client::create(forClient) : choice.status();
  }
  Result<std::shared_ptr<const Executable>> executable =
      client.ok() ? Executable::make(*client, std::move(program)) : client.status();
  CallOptions forCall;
  forCall.links = options.links;
  forCall.timeLimit = options.timeLimit;
  forCall.facts = options.facts;
  Transport *transport = options.client ? options.client->transport() : options.transport.get();
  auto call = Call::prepare(executable, forCall, transport);
  if (!call.ok())
    return call.status();
  return std::unique_ptr<Session>(new Session(std::move(*call), std::move(note)));
}

Result<std::shared_ptr<Array>> Session::place(const LoadedProgram::Place &place,
                                              const void *global) {
  const Executable &executable = call_->executable();
  const program::Parameter &parameter = *place.parameter;
  auto array = std::make_shared<Array>(executable.shared(), place, ++made_);
  auto [begin, end] = executable.devicesOf(*place.program);
  for (size_t d = begin; d < end; ++d) {
    const Executable::Device &device = executable.devices()[d];
    uint32_t position = device.position;
    if (Status s = device.backend->health(); !s.ok())
      return s;
    auto tile = device.backend->allocate(spaceOf(parameter), localBytes(parameter));
    if (!tile)
      return Status(Code::ResourceExhausted,
                    "no memory for array '" + parameter.name() + "'" + device.backend->where());
    if (Status s = device::writeWhole(
            tile,
            [&](void *data) { scatterTile(parameter, array->mesh(), position, global, data); });
        !s.ok())
      return s;
    array->tiles.push_back(std::move(tile));
  }
  return array;
}

bool Session::fits(const Array &array, const LoadedProgram::Place &place) const {
  auto [begin, end] = call_->executable().devicesOf(*place.program);
  const MeshGrid &mesh = place.program->mesh();
  const auto &devices = call_->executable().devices();
  // Tiles are in the order of positions: those of another mesh may be permuted.
  if (array.tiles.size() != end - begin || !array.mesh().sameDevices(mesh))
    return false;
  for (size_t d = begin; d < end; ++d)
    if (!devices[d].backend->reaches(array.tiles[d - begin]->backend()))
      return false;
  return samePlacement(array.parameter, array.mesh(), *place.parameter, mesh);
}

Result<std::shared_ptr<Array>> Session::adopt(const std::shared_ptr<Array> &array,
                                              const LoadedProgram::Place &place) {
  if (!array->valid || fits(*array, place))
    return array;
  const program::Parameter &parameter = *place.parameter;
  if (array->parameter.type() != parameter.type() ||
      globalShape(array->parameter) != globalShape(parameter) ||
      array->file->deviceCount() != program().deviceCount() || transport())
    return invalidArgument("an array " + describe(array->parameter) + " cannot be used as '" +
                           parameter.name() + "', which is " + describe(parameter));
  auto host = fetch(*array);
  if (!host.ok())
    return host.status();
  return this->place(place, host->bytes.data());
}

Result<HostArray> Session::fetch(const Array &array) {
  if (transport() && !transport()->isHere())
    return invalidArgument("the processes of MPI are not those of a fork: read in the parent");
  auto host = gather(array);
  if (!host.ok())
    announce(host.status().message());
  return host;
}

void Session::announce(const std::string &failure) {
  if (transport() && transport()->isHere())
    transport()->announce(failure);
}

Result<HostArray> Session::gather(const Array &array) {
  if (!array.valid)
    return invalidArgument("array '" + array.parameter.name() +
                           "' was donated to a step and is no longer valid");
  HostArray host{array.parameter.type(), globalShape(array.parameter), {}};
  std::vector<int64_t> holders = firstReplicas(array.parameter, array.mesh());
  const Executable &executable = call_->executable();
  int32_t own = transport() ? transport()->rank() : 0;
  // Every device of this process's transport holds the whole array.
  bool everywhere = holders.size() == 1 && array.mesh().size() == program().deviceCount();
  bool root = own == 0 || everywhere;
  if (root)
    host.bytes.resize(elementCount(host.shape) * byteSize(host.type));
  // Holders come in the order of positions, as tiles do.
  int64_t passed = 0;
  size_t next = 0;
  for (int64_t position : holders) {
    for (; passed < position; ++passed)
      next += executable.processOf(array.mesh().deviceAt(passed)) == own;
    int32_t owner = executable.processOf(array.mesh().deviceAt(position));
    bool here = owner == own || everywhere;
    if (!root) {
      if (here)
        if (Status s = sendTile(array, array.tiles[next]); !s.ok())
          return s;
      continue;
    }
    auto tile = here ? device::readable(array.tiles[everywhere && owner != own ? 0 : next])
                     : receiveTile(array, owner);
    if (!tile.ok())
      return tile.status();
    gatherTile(array.parameter, array.mesh(), position, tile->get(), host.bytes.data());
  }
  return host;
}

// Tells arrays apart where ranks read them in different orders.
uint64_t Session::nameForRanks(const Array &array) const {
  std::string name = std::to_string(call_->number()) + " " + std::to_string(array.number) + " " +
                     describe(array.parameter);
  return container::hash(name);
}

Status Session::sendTile(const Array &array, const std::shared_ptr<device::Memory> &memory) {
  int32_t tag = transport()->tagOf(call_->number(), kFetchTag);
  auto name = std::make_shared<uint64_t>(nameForRanks(array));
  if (Status s = transport()->deliver(0, tag, name.get(), sizeof *name, name); !s.ok())
    return s;
  auto tile = device::readable(memory);
  if (!tile.ok())
    return tile.status();
  return transport()->deliver(0, tag, tile->get(), localBytes(array.parameter), *tile);
}

Result<std::shared_ptr<const void>> Session::receiveTile(const Array &array, int32_t owner) {
  int32_t tag = transport()->tagOf(call_->number(), kFetchTag);
  uint64_t right = nameForRanks(array);
  auto name = transport()->collect(owner, tag, sizeof right);
  if (!name.ok())
    return name.status();
  if (std::memcmp((*name)->data(), &right, sizeof right) != 0)
    return Status(Code::Internal, "rank " + std::to_string(owner) + " reads another array than '" +
                                      array.parameter.name() + "', which rank 0 reads");
  auto tile = transport()->collect(owner, tag, localBytes(array.parameter));
  if (!tile.ok())
    return tile.status();
  return std::shared_ptr<const void>(*tile, (*tile)->data());
}

bool Session::fitsInput(const Array &array, size_t index) {
  Fitting &last = fitting_[index];
  const device::Backend *backend = array.tiles.empty() ? nullptr : &array.tiles[0]->backend();
  if (last.parameter == &array.parameter && last.backend == backend)
    return true;
  if (!fits(array, program().inputs()[index]))
    return false;
  last = {&array.parameter, array.file, backend};
  return true;
}

Status Session::checkInput(size_t index, const Array *array) {
  const program::Parameter &expected = *program().inputs()[index].parameter;
  auto refuse = [&](const std::string &why) {
    return invalidArgument("input " + std::to_string(index) + " ('" + expected.name() + "') " +
                           why);
  };
  if (!array)
    return refuse("is null");
  if (!array->valid)
    return refuse("was donated to an earlier step and is no longer valid");
  if (!fitsInput(*array, index))
    return refuse("is " + describe(array->parameter) + ", the program expects " +
                  describe(expected));
  return {};
}

// An array that is taken over is given once.
Status Session::checkSharing(const std::vector<std::shared_ptr<Array>> &inputs) const {
  std::vector<std::pair<const Array *, size_t>> uses;
  for (size_t i = 0; i < inputs.size(); ++i)
    uses.emplace_back(inputs[i].get(), i);
  std::sort(uses.begin(), uses.end());
  for (size_t k = 1; k < uses.size(); ++k) {
    if (uses[k].first != uses[k - 1].first)
      continue;
    for (size_t given : {uses[k - 1].second, uses[k].second})
      if (call_->executable().takes(given))
        return invalidArgument(
            "input " + std::to_string(given) + " is donated, and given as input " +
            std::to_string(uses[k].second + uses[k - 1].second - given) + " too");
  }
  return {};
}

Status Session::bind(const std::vector<std::shared_ptr<Array>> &inputs) {
  size_t expected = bound_.size();
  if (inputs.size() != expected)
    return invalidArgument("the program has " + std::to_string(expected) + " inputs, " +
                           std::to_string(inputs.size()) + " are given");
  bool changed = false;
  for (size_t i = 0; i < expected; ++i) {
    if (Status s = checkInput(i, inputs[i].get()); !s.ok())
      return s;
    changed |= bound_[i] != inputs[i]->identity;
  }
  if (!changed)
    return {};
  if (Status s = checkSharing(inputs); !s.ok())
    return s;
  for (size_t i = 0; i < expected; ++i) {
    if (call_->executable().takes(i)) {
      call_->bind(i, inputs[i]->take());
    } else if (bound_[i] != inputs[i]->identity) {
      call_->bindUnheld(i, inputs[i]->tiles); // the caller has it until the step is over
      bound_[i] = inputs[i]->identity;
    }
  }
  return {};
}

Result<std::vector<std::shared_ptr<Array>>>
Session::execute(const std::vector<std::shared_ptr<Array>> &inputs) {
  auto outputs = step(inputs);
  if (!outputs.ok())
    announce(outputs.status().message());
  return outputs;
}

Result<std::vector<std::shared_ptr<Array>>>
Session::step(const std::vector<std::shared_ptr<Array>> &inputs) {
  if (Status s = call_->executable().client()->checkHere(); !s.ok())
    return s;
  if (call_->isExecuting())
    return Status(Code::FailedPrecondition, "the session is executing a step already");
  if (Status s = bind(inputs); !s.ok())
    return s;
  std::vector<Tiles> tiles;
  auto done = call_->start({}, tiles);
  if (!done.ok())
    return done.status();
  std::vector<std::shared_ptr<Array>> outputs;
  const auto &places = program().outputs();
  for (size_t i = 0; i < places.size(); ++i) {
    outputs.push_back(std::make_shared<Array>(call_->executable().shared(), places[i], ++made_));
    outputs.back()->tiles = std::move(tiles[i]);
  }
  if (const Status &s = (*done)->wait(); !s.ok())
    return s;
  return outputs;
}

} // namespace tessera::runtime
