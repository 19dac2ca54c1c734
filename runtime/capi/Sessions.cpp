// Sessions and global arrays of the C interface.
#include "runtime/array/ParameterNames.h"
#include "runtime/capi/Handles.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include "runtime/trace/Profile.h"
#include "runtime/trace/Report.h"
#include <cstring>

using namespace tessera::runtime;

struct tessera_session {
  std::shared_ptr<Session> session;
  StepTimes steps;
  Counters most;
  std::string report;
  std::optional<StepProfiler> profiler; // where a profile was asked for
  std::optional<MachineSpeed> speed;    // once it has been measured
};

struct tessera_array {
  std::shared_ptr<Session> session;
  std::shared_ptr<Array> array;
  Described description;
};

extern "C" {

tessera_code tessera_session_create(const tessera_program *program,
                                    const tessera_session_options *given,
                                    tessera_session **session) {
  return guarded([&]() -> Status {
    tessera_session_options options = {};
    if (given)
      std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
    SessionOptions internal;
    internal.workers = options.workers;
    internal.timeLimit = options.time_limit;
    if (options.client) {
      internal.client = options.client->client;
    } else {
      auto transport = openTransport(options.communicator);
      if (!transport.ok())
        return transport.status();
      internal.transport = *transport;
      internal.ownGpus = ownGpusOf(options.communicator ? options.communicator : "");
    }
    Transport *processes =
        internal.client ? internal.client->transport() : internal.transport.get();
    // The other ranks wait to hear of what is wrong here.
    auto refuse = [&](const Status &status) {
      return processes ? agree(*processes, {status, {}}) : status;
    };
    if (!program || !session)
      return refuse(invalidArgument("tessera_session_create: a null argument"));
    if (options.topology) {
      auto links = parseTopology(options.topology, *program->loaded);
      if (!links.ok())
        return refuse(links.status());
      internal.links = *links;
    }
    auto created = Session::create(program->loaded, internal);
    if (!created.ok())
      return created.status();
    *session = new tessera_session{std::move(*created), {}, {}, {}, {}, {}};
    if (options.profile) {
      (*session)->profiler.emplace();
      (*session)->session->setTracing(true);
    }
    return {};
  });
}

void tessera_session_free(tessera_session *session) { delete session; }

int32_t tessera_session_process(const tessera_session *session) {
  if (!session)
    return without("tessera_session_process", -1);
  return session->session->transport() ? session->session->transport()->rank() : 0;
}

int32_t tessera_session_process_count(const tessera_session *session) {
  if (!session)
    return without("tessera_session_process_count", 0);
  return session->session->transport() ? session->session->transport()->size() : 1;
}

tessera_code tessera_session_execute(tessera_session *session, tessera_array *const *inputs,
                                     size_t input_count, tessera_array **outputs,
                                     size_t output_count) {
  return guarded([&]() -> Status {
    if (!session)
      return invalidArgument("tessera_session_execute: a null argument");
    // Before the step the other ranks hear of what keeps this one from it.
    auto refuse = [&](std::string message) {
      session->session->announce(message);
      return invalidArgument(std::move(message));
    };
    if ((input_count && !inputs) || (output_count && !outputs))
      return refuse("tessera_session_execute: a null argument");
    size_t expected = session->session->program().outputs().size();
    if (output_count != expected)
      return refuse("the program has " + std::to_string(expected) + " outputs, there is room for " +
                    std::to_string(output_count));
    std::vector<std::shared_ptr<Array>> arrays;
    std::vector<std::pair<std::shared_ptr<Array>, std::shared_ptr<Array>>> moved;
    for (size_t i = 0; i < input_count; ++i) {
      arrays.push_back(inputs[i] ? inputs[i]->array : nullptr);
      const auto &places = session->session->program().inputs();
      if (!arrays[i] || inputs[i]->session == session->session || i >= places.size())
        continue;
      auto adopted = session->session->adopt(arrays[i], places[i]);
      if (!adopted.ok())
        return refuse("input " + std::to_string(i) + ": " + adopted.status().message());
      moved.emplace_back(arrays[i], *adopted);
      arrays[i] = *adopted;
    }
    int64_t begin = Pool::now();
    auto results = session->session->execute(arrays);
    for (auto &[original, copy] : moved) // a copy that was donated stands for its original
      if (!copy->valid && original->valid)
        original->take();
    if (!results.ok())
      return results.status();
    int64_t end = Pool::now();
    session->steps.add(static_cast<double>(end - begin) * 1e-9);
    if (session->profiler) {
      session->profiler->add(session->session->traced(), {begin, end});
      session->session->forgetTraced();
    }
    session->most = larger(session->most, session->session->counters());
    std::vector<std::unique_ptr<tessera_array>> made;
    for (auto &result : *results) {
      Described description(result->parameter);
      made.push_back(std::make_unique<tessera_array>(session->session, std::move(result),
                                                     std::move(description)));
    }
    for (size_t i = 0; i < made.size(); ++i)
      outputs[i] = made[i].release();
    return {};
  });
}

tessera_code tessera_session_execute_named(tessera_session *session, const char *const *names,
                                           tessera_array *const *inputs, size_t input_count,
                                           tessera_array **outputs, size_t output_count) {
  std::vector<tessera_array *> ordered;
  tessera_code code = guarded([&]() -> Status {
    if (!session)
      return invalidArgument("tessera_session_execute_named: a null argument");
    auto refuse = [&](Status status) { // the other ranks hear of it
      session->session->announce(status.message());
      return status;
    };
    if (input_count && (!names || !inputs))
      return refuse(invalidArgument("tessera_session_execute_named: a null argument"));
    std::vector<std::string> given;
    for (size_t i = 0; i < input_count; ++i) {
      if (!names[i])
        return refuse(invalidArgument("tessera_session_execute_named: a null name"));
      given.emplace_back(names[i]);
    }
    auto order = matchNames(parametersOf(session->session->program().inputs()), "in", given);
    if (!order.ok())
      return refuse(order.status());
    for (size_t i : *order)
      ordered.push_back(inputs[i]);
    return {};
  });
  return code != TESSERA_OK ? code
                            : tessera_session_execute(session, ordered.data(), ordered.size(),
                                                      outputs, output_count);
}

void tessera_session_cancel(tessera_session *session) {
  guarded([&]() -> Status {
    if (!session)
      return invalidArgument("tessera_session_cancel: a null argument");
    session->session->cancel();
    return {};
  });
}

tessera_code tessera_session_counters(const tessera_session *session, tessera_counters *counters) {
  return guarded([&]() -> Status {
    if (!session || !counters)
      return invalidArgument("tessera_session_counters: a null argument");
    if (counters->struct_size < sizeof(tessera_counters))
      return invalidArgument("tessera_counters: set struct_size first");
    Counters now = session->session->counters();
    *counters = {counters->struct_size, now.collectives, now.collectiveBytes, now.peakBytes};
    return {};
  });
}

const char *tessera_session_report(tessera_session *session) {
  if (!session)
    return without("tessera_session_report", "");
  guarded([&]() -> Status {
    const LoadedProgram &program = session->session->program();
    std::string profile;
    if (session->profiler) {
      uint32_t cores = session->session->workers();
      if (!session->speed)
        session->speed = measureMachine(cores);
      profile =
          ",\"profile\":" + profileJson(session->profiler->profile(program, cores, *session->speed,
                                                                   session->session->code()),
                                        program);
    }
    session->report =
        reportJson(program, session->steps, session->most, profile, session->session->code());
    return {};
  });
  return session->report.c_str();
}

tessera_code tessera_array_place(tessera_session *session, size_t input, const void *data,
                                 size_t bytes, tessera_array **array) {
  return guarded([&]() -> Status {
    if (!session || !array || (bytes && !data))
      return invalidArgument("tessera_array_place: a null argument");
    const auto &inputs = session->session->program().inputs();
    if (input >= inputs.size())
      return invalidArgument("there is no input " + std::to_string(input));
    const auto &parameter = *inputs[input].parameter;
    Described description(parameter);
    if (bytes != description.bytes)
      return invalidArgument("input " + std::to_string(input) + " ('" + parameter.name() +
                             "') is " + describe(parameter) + " of " +
                             std::to_string(description.bytes) + " bytes, " +
                             std::to_string(bytes) + " are given");
    auto placed = session->session->place(inputs[input], data);
    if (!placed.ok())
      return placed.status();
    *array = new tessera_array{session->session, *placed, std::move(description)};
    return {};
  });
}

tessera_code tessera_array_read(tessera_array *array, void *data, size_t bytes) {
  return guarded([&]() -> Status {
    if (!array)
      return invalidArgument("tessera_array_read: a null argument");
    auto refuse = [&](std::string message) { // the other ranks read it
      array->session->announce(message);
      return invalidArgument(std::move(message));
    };
    if (bytes && !data)
      return refuse("tessera_array_read: a null argument");
    if (bytes != array->description.bytes)
      return refuse("the array has " + std::to_string(array->description.bytes) +
                    " bytes, there is room for " + std::to_string(bytes));
    auto host = array->session->fetch(*array->array);
    if (!host.ok())
      return host.status();
    std::memcpy(data, host->bytes.data(), host->bytes.size());
    return {};
  });
}

tessera_code tessera_array_describe(const tessera_array *array, tessera_parameter *parameter) {
  return guarded([&]() -> Status {
    return array ? array->description.fill(parameter)
                 : invalidArgument("tessera_array_describe: a null argument");
  });
}

int32_t tessera_array_is_valid(const tessera_array *array) {
  return array ? array->array->valid : without("tessera_array_is_valid", 0);
}

void tessera_array_free(tessera_array *array) { delete array; }

} // extern "C"
