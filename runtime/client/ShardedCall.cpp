#include "runtime/client/ShardedCall.h"
#include "runtime/array/Placement.h"

namespace tessera::runtime {

namespace {

std::string typeText(const Buffer &buffer) {
  std::string text = std::string(nameOf(buffer.type())) + "[";
  for (size_t i = 0; i < buffer.dims().size(); ++i)
    text += (i ? "," : "") + std::to_string(buffer.dims()[i]);
  return text + "]";
}

// The call that makes an output holds its memory until the step is over. Buffers hold it by a count
// of their own, so that one who alone has the output of a step that is being executed can give it to
// the next one without a copy.
struct Counted {
  std::shared_ptr<device::Memory> memory;
  void operator()(device::Memory *) const {}
};
std::shared_ptr<device::Memory> countedApart(const std::shared_ptr<device::Memory> &tile) {
  const auto *before = std::get_deleter<Counted>(tile);
  const auto &memory = before ? before->memory : tile;
  return {memory.get(), Counted{memory}};
}

} // namespace

Status ShardedCall::check(size_t input, const std::vector<Buffer *> &tiles) const {
  const auto &inputs = call_->program().inputs();
  if (input >= inputs.size())
    return {Code::OutOfRange, "there is no input " + std::to_string(input) + ": the program has " +
                                  std::to_string(inputs.size())};
  const program::Parameter &expected = *inputs[input].parameter;
  auto refuse = [&](const std::string &why) {
    return invalidArgument("input " + std::to_string(input) + " ('" + expected.name() +
                           "'): " + why);
  };
  auto [begin, end] = call_->executable().devicesOf(*inputs[input].program);
  size_t devices = end - begin;
  if (tiles.size() != devices)
    return refuse(std::to_string(tiles.size()) + " buffers are given, this process has " +
                  std::to_string(devices) + " devices");
  std::vector<int64_t> shape = localShape(expected);
  for (size_t d = 0; d < devices; ++d) {
    const Buffer *tile = tiles[d];
    std::string who = "the buffer of device " + std::to_string(begin + d) + " ";
    if (!tile)
      return refuse(who + "is null");
    if (!tile->isValid())
      return refuse(who + "was taken over by a step and is no longer valid");
    if (tile->client() != call_->executable().client())
      return refuse(who + "belongs to another client");
    if (tile->device() != begin + d)
      return refuse(who + "lies on device " + std::to_string(tile->device()));
    if (tile->type() != expected.type() || tile->dims() != shape)
      return refuse(who + "is " + typeText(*tile) + ", the program expects " + describe(expected));
    for (size_t e = 0; call_->executable().takes(input) && e < d; ++e)
      if (tiles[e] == tile)
        return refuse(who + "is given twice");
  }
  return {};
}

Status ShardedCall::bind(size_t input, const std::vector<Buffer *> &tiles) {
  if (call_->isExecuting())
    return {Code::FailedPrecondition, "a step of the call is being executed"};
  if (Status s = check(input, tiles); !s.ok())
    return s;
  Tiles memory;
  pending_[input].clear();
  for (Buffer *tile : tiles) {
    if (!tile->ready()->ready() || !tile->ready()->status().ok())
      pending_[input].push_back(tile->ready());
    memory.push_back(call_->executable().takes(input) ? tile->take() : tile->memory());
  }
  if (holds_ || call_->executable().takes(input))
    call_->bind(input, std::move(memory));
  else
    call_->bindUnheld(input, memory);
  return {};
}

Result<std::shared_ptr<device::Event>>
ShardedCall::start(std::vector<std::unique_ptr<Buffer>> &outputs) {
  std::vector<std::shared_ptr<device::Event>> after;
  for (auto &events : pending_) {
    std::erase_if(events, [](const auto &e) { return e->ready() && e->status().ok(); });
    after.insert(after.end(), events.begin(), events.end());
  }
  std::vector<Tiles> tiles;
  auto done = call_->start(after, tiles);
  if (!done.ok())
    return done.status();
  const auto &places = call_->program().outputs();
  outputs.clear();
  for (size_t i = 0; i < places.size(); ++i) {
    const program::Parameter &parameter = *places[i].parameter;
    size_t first = call_->executable().devicesOf(*places[i].program).begin;
    for (size_t d = 0; d < tiles[i].size(); ++d)
      outputs.push_back(std::make_unique<Buffer>(
          call_->executable().client(), static_cast<uint32_t>(first + d), parameter.type(),
          localShape(parameter), countedApart(tiles[i][d]), *done));
  }
  return done;
}

} // namespace tessera::runtime
