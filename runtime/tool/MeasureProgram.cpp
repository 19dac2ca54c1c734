#include "runtime/tool/MeasureProgram.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/session/Session.h"
#include "runtime/tool/RandomInputs.h"

namespace tessera {

namespace {

using namespace runtime;

std::shared_ptr<Transport> connected; // until it is disconnected

std::string connect(command::Process &process) {
  auto transport = Transport::open("mpi");
  if (!transport.ok())
    return transport.status().message();
  connected = *transport;
  process = {connected->rank(), connected->size()};
  return "";
}

void disconnect() {
  connected.reset();
  Transport::closeAll();
}

Status run(const command::ProgramToMeasure &asked, std::vector<double> &seconds) {
  auto program = LoadedProgram::load(asked.bytes, nullptr);
  if (!program.ok())
    return program.status();
  SessionOptions options;
  options.workers = asked.workers;
  if (asked.overProcesses)
    options.transport = connected;
  auto session = Session::create(*program, options);
  if (!session.ok())
    return session.status();
  std::vector<std::shared_ptr<Array>> inputs;
  for (size_t i = 0; i < (*program)->inputs().size(); ++i) {
    const LoadedProgram::Place &place = (*program)->inputs()[i];
    auto array = (*session)->place(place, randomInput(*place.parameter, i).bytes.data());
    if (!array.ok())
      return array.status();
    inputs.push_back(*array);
  }
  int64_t began = Pool::now();
  for (int64_t step = -1; step < asked.steps; ++step) {
    int64_t begin = Pool::now();
    auto outputs = (*session)->execute(inputs);
    if (!outputs.ok())
      return outputs.status();
    int64_t end = Pool::now();
    if (step >= 0)
      seconds.push_back(static_cast<double>(end - begin) * 1e-9);
    if (step + 1 >= asked.leastSteps && !asked.overProcesses &&
        static_cast<double>(end - began) * 1e-9 > asked.seconds)
      break;
  }
  return {};
}

std::string measure(const command::ProgramToMeasure &program, std::vector<double> &seconds) {
  return run(program, seconds).message();
}

} // namespace

const command::Measuring &measuring() {
  static const command::Measuring all{measure, connect, disconnect};
  return all;
}

} // namespace tessera
