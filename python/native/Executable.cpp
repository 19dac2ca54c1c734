#include "Executable.h"
#include "Program.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace tessera::python {

namespace {

// Steps of an executable that may be on their way: one executes, the next is ready to. More would
// take memory for their outputs, and nothing would be faster.
constexpr size_t kMostCalls = 2;

tessera::Arena arenaOf(const tessera::Executable &executable) {
  const tessera::Executable *one = &executable;
  return tessera::Arena({&one, 1});
}

std::shared_ptr<const Placement> placementOf(const tessera::Executable &executable, bool isInput,
                                             size_t index, const Parameter &global,
                                             const Parameter &tile) {
  Placement made{&typeNamed(global.type), global.shape, tile.shape};
  auto [first, count] = isInput ? executable.inputDevices(index) : executable.outputDevices(index);
  made.firstDevice = first;
  for (size_t d = 0; d < count; ++d) {
    auto part = isInput ? executable.inputPart(index, d) : executable.outputPart(index, d);
    made.parts.push_back({part.start, part.extent});
  }
  return intern(std::move(made));
}

} // namespace

Executable::Executable(std::shared_ptr<ClientState> client, const tessera::Program &program,
                       nb::list inputShardings, nb::list outputShardings)
    : client_(std::move(client)), executable_(client_->client, program),
      arena_(arenaOf(executable_)) {
  std::vector<Parameter> inputs = program.inputs(), outputs = program.outputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Parameter tile = executable_.inputTile(i);
    inputs_.push_back({inputs[i].name, placementOf(executable_, true, i, inputs[i], tile),
                       tile.donated, inputShardings[i]});
    numbers_[inputs[i].name] = i;
    takes_ |= tile.donated;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs_.push_back({placementOf(executable_, false, i, outputs[i], executable_.outputTile(i)),
                        outputShardings[i]});
    buffers_ += outputs_.back().placement->parts.size();
  }
}

std::string Executable::who(size_t input) const {
  return "input " + std::to_string(input) + " ('" + inputs_[input].name + "')";
}

Executable::Given Executable::lookAt(size_t input, nb::handle value) {
  const Input &expected = inputs_[input];
  Array *array = nullptr;
  if (!nb::try_cast(value, array, false) || !array)
    return {placeObject(client_, expected.placement, value, who(input)), 1};
  if (array->isDeleted())
    throwPrecondition(who(input) + (array->contents
                                        ? " was donated to a step, and is no longer valid"
                                        : " has been deleted"));
  std::shared_ptr<Contents> contents = array->contents;
  if (contents->placement == expected.placement && contents->client == client_)
    return {std::move(contents), 2};
  const Placement &given = *array->placement;
  if (given.type != expected.placement->type)
    throw ArgumentTypeError(who(input) + " is " + describe(given) + ", the program expects " +
                            describe(*expected.placement));
  if (given.shape != expected.placement->shape)
    throwInvalid(who(input) + " is " + describe(given) + ", the program expects " +
                 describe(*expected.placement));
  return {replace(*contents, client_, expected.placement), 1};
}

std::vector<Executable::Given> Executable::look(nb::handle inputs) {
  // A tuple of our own: while something is copied, others may change a list.
  nb::object fixed = nb::steal(PySequence_Tuple(inputs.ptr()));
  if (!fixed)
    throw nb::python_error();
  auto count = static_cast<size_t>(PyTuple_GET_SIZE(fixed.ptr()));
  if (count != inputs_.size())
    throwInvalid("the program has " + std::to_string(inputs_.size()) + " inputs, " +
                 std::to_string(count) + " are given");
  std::vector<Given> given;
  given.reserve(count);
  for (size_t i = 0; i < count; ++i)
    given.push_back(lookAt(i, PyTuple_GET_ITEM(fixed.ptr(), static_cast<Py_ssize_t>(i))));
  return given;
}

// What is taken over is given once, and still there: other threads may have been faster.
void Executable::checkDonated(const std::vector<Given> &given, bool donate) const {
  uint64_t mark = Contents::nextNumber();
  for (size_t i = 0; i < given.size(); ++i) {
    Contents &contents = *given[i].contents;
    if (contents.isTaken)
      throwPrecondition(who(i) + " was donated to a step meanwhile");
    if (!donate || !inputs_[i].isTaken)
      continue;
    if (contents.mark == mark)
      throwInvalid(who(i) + " is donated, and given twice");
    contents.mark = mark;
  }
  if (donate)
    for (size_t i = 0; i < given.size(); ++i)
      if (!inputs_[i].isTaken && given[i].contents->mark == mark)
        throwInvalid(who(i) + " is given as an input that is donated, too");
}

std::shared_ptr<PreparedCall> Executable::makeCall() {
  auto call = std::make_shared<PreparedCall>(PreparedCall{
      tessera::Call(executable_, {.arena = &arena_, .isQueued = true, .isUnheld = true})});
  call->bound.resize(inputs_.size());
  calls_.push_back(call);
  return call;
}

// One that is free; claimed. Waits for the older of the steps where there is none.
std::shared_ptr<PreparedCall> Executable::acquire() {
  while (true) {
    client_->sweep();
    std::shared_ptr<Step> oldest;
    std::shared_ptr<PreparedCall> free;
    for (const auto &call : calls_) {
      if (call->claimed)
        continue;
      std::shared_ptr<Step> busy;
      for (const auto &step : client_->steps)
        if (step->call == call)
          busy = step;
      if (!busy)
        free = call;
      else if (!oldest || busy->number < oldest->number)
        oldest = busy;
    }
    if (!free && calls_.size() < kMostCalls)
      free = makeCall();
    if (free) {
      free->claimed = true;
      return free;
    }
    if (!oldest) { // other threads are starting theirs
      nb::gil_scoped_release unlocked;
      usleep(20);
    } else {
      waitForTurn(*client_, *oldest);
    }
  }
}

void Executable::bind(PreparedCall &call, const std::vector<Given> &given, bool donate) {
  std::vector<tessera::Buffer> shares;
  for (size_t i = 0; i < given.size(); ++i) {
    Contents &contents = *given[i].contents;
    if (!inputs_[i].isTaken) {
      if (call.bound[i] != contents.number) {
        call.bound[i] = 0;
        call.call.bind(i, contents.tiles);
        call.bound[i] = contents.number;
      }
      continue;
    }
    bool isShared = !donate || given[i].contents.use_count() > given[i].own;
    if (!isShared) {
      contents.isTaken = true;
      call.call.bind(i, contents.tiles);
      continue;
    }
    shares.clear();
    for (const tessera::Buffer &tile : contents.tiles)
      shares.push_back(tile.share());
    call.call.bind(i, shares); // not alone: the step works on a copy
    contents.isTaken = donate && given[i].own == 2;
  }
}

nb::list Executable::start(const std::shared_ptr<PreparedCall> &call,
                           const std::vector<Given> &given, bool donate) {
  auto step = std::make_shared<Step>(
      Step{tessera::Event(nullptr), Contents::nextNumber(), takes_ && donate});
  for (size_t i = 0; i < given.size(); ++i) {
    const auto &contents = given[i].contents;
    if (contents->step && !isReady(*contents)) {
      step->after.push_back(contents->step);
      if (step->takes)
        markNeeded(*contents->step);
    }
    if (!inputs_[i].isTaken || contents.use_count() > given[i].own)
      step->reads.push_back(contents);
  }
  std::vector<tessera_buffer *> raw(buffers_);
  tessera_event *done = nullptr;
  {
    nb::gil_scoped_release unlocked; // copies of what is shared are made here
    throwUnlessOk(tessera_call_start(call->call.get(), raw.data(), raw.size(), &done));
  }
  step->done = tessera::Event(done);
  step->call = call;
  call->step = step->number;
  // A short step is over by now: there is nothing to wait for, or to hold.
  bool isOver = tessera_event_is_ready(done) && tessera_event_wait(done, 0) == TESSERA_OK;
  if (!isOver)
    client_->steps.push_back(step);
  nb::list arrays;
  size_t next = 0;
  for (const Output &output : outputs_) {
    auto contents = std::make_shared<Contents>();
    contents->client = client_;
    contents->placement = output.placement;
    contents->step = isOver ? nullptr : step;
    contents->number = Contents::nextNumber();
    contents->tiles.reserve(output.placement->parts.size());
    for (size_t d = 0; d < output.placement->parts.size(); ++d)
      contents->tiles.emplace_back(raw[next++]);
    arrays.append(Array{std::move(contents), output.placement, output.sharding, output.kind});
  }
  return arrays;
}

nb::list Executable::execute(nb::handle inputs, bool donate) {
  if (getpid() != client_->process)
    throwPrecondition("the client was made before this process was forked: its workers are threads "
                      "of the parent; make another here");
  std::vector<Given> given = look(inputs);
  std::shared_ptr<PreparedCall> call = acquire();
  struct Claim {
    PreparedCall &call;
    ~Claim() { call.claimed = false; }
  } claim{*call};
  checkDonated(given, donate);
  bind(*call, given, donate);
  return start(call, given, donate);
}

nb::list Executable::call(nb::args positional, nb::kwargs named) {
  if (named.size() == 0)
    return execute(positional, true);
  nb::list all;
  for (nb::handle value : positional)
    all.append(value);
  auto expected = [&] {
    std::string names;
    for (const Input &input : inputs_)
      names += (names.empty() ? "" : ", ") + input.name;
    return "; the program's inputs are " + names;
  };
  size_t given = positional.size(), byName = 0;
  auto checkNames = [&] {
    for (auto [key, value] : named) {
      auto name = nb::cast<std::string>(key);
      auto found = numbers_.find(name);
      if (found == numbers_.end())
        throw Error(TESSERA_NOT_FOUND, ("there is no input '" + name + "'" + expected()).c_str());
      if (found->second < given)
        throwInvalid("input '" + name + "' is given by number and by name");
    }
  };
  for (size_t i = given; i < inputs_.size(); ++i) {
    nb::object value = nb::borrow(PyDict_GetItemString(named.ptr(), inputs_[i].name.c_str()));
    if (!value) {
      checkNames(); // a name that is misspelt is the cause
      throw Error(TESSERA_NOT_FOUND,
                  ("no input '" + inputs_[i].name + "' is given" + expected()).c_str());
    }
    all.append(value);
    ++byName;
  }
  if (byName == named.size())
    return execute(all, true);
  checkNames();
  throwInvalid("too many inputs" + expected());
}

void Executable::setKinds(const nb::list &kinds) {
  for (size_t i = 0; i < outputs_.size(); ++i)
    outputs_[i].kind = kinds[i];
}

void Executable::cancel() {
  for (const auto &call : calls_)
    call->call.cancel();
}

void bindExecutable(nb::module_ &m) {
  nb::class_<Executable>(m, "Executable")
      .def(nb::init<std::shared_ptr<ClientState>, const tessera::Program &, nb::list, nb::list>(),
           nb::arg("client"), nb::arg("program"), nb::arg("input_shardings"),
           nb::arg("output_shardings"))
      .def("execute", &Executable::execute, nb::arg("inputs"), nb::kw_only(),
           nb::arg("donate") = true)
      .def("__call__", &Executable::call, nb::arg("inputs"), nb::arg("by_name"))
      .def("_set_kinds", &Executable::setKinds, nb::arg("kinds"))
      .def("cancel", &Executable::cancel)
      .def_prop_ro("client", &Executable::client);
}

} // namespace tessera::python
