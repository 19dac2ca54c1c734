// The smallest program that embeds the runtime: loads a compiled program and runs two steps of it
// on arrays that stay on the devices.
//
//   embed P.tsr [COMMUNICATOR]       P.tsr: its outputs fit its inputs, one for one
//   mpirun -n N embed P.tsr mpi      the same, one device a process
#include "tessera/runtime.h"

#include <cstdio>
#include <exception>

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: embed P.tsr [COMMUNICATOR]\n");
    return 1;
  }
  try {
    tessera::Program program = tessera::Program::fromFile(argv[1]);
    tessera::SessionSettings settings;
    settings.communicator = argc > 2 ? argv[2] : "local";
    tessera::Session session(program, settings);
    std::vector<tessera::Array> arrays;
    for (const tessera::Parameter &input : program.inputs())
      arrays.push_back(session.place(arrays.size(), std::vector<char>(input.bytes))); // zeros
    for (int step = 0; step < 2; ++step)
      arrays = session.execute(arrays);
    for (const tessera::Array &array : arrays)
      if (array.parameter().type == "f32") {
        std::vector<float> values = array.read<float>(); // on process 0
        if (session.process() == 0)
          std::printf("%s[0] = %g\n", array.parameter().name.c_str(),
                      values.empty() ? 0.0 : values[0]);
      }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
