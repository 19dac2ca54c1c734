// The back ends that this runtime has.
#pragma once

#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/device/Device.h"
#include <string>

namespace tessera::runtime {

class Transport;

// By the name of a program's target. TESSERA_TARGET=shadow runs programs for the cpu on shadow.
// Unsupported: there is none of the name. `gpus`: how many GPUs this process wants, one each for
// its devices; of them that of the number. Back ends of other kinds serve any number of devices.
// `sharers`: of how many processes of the machine, this one included, each reaches the others' memory.
Result<std::shared_ptr<device::Backend>> makeBackend(std::string target, std::shared_ptr<Pool> pool,
                                                     uint32_t number = 0, uint32_t gpus = 1,
                                                     uint32_t sharers = 1);

// A device of this process that runs a program.
struct DeviceHere {
  uint32_t position; // on the program's mesh
  device::Backend *backend;
};

// How logical devices that are all in this process reach each other: on the cores, or, where a back
// end has memory of its own, there, or from GPU to GPU. `channels`: made for the same back end, of all
// programs of a file.
std::shared_ptr<LocalChannels> makeChannels(device::Backend &backend, const LoadedProgram &file,
                                            Run &run);
Result<std::unique_ptr<Communicator>> makeCommunicator(const std::vector<DeviceHere> &here,
                                                       const DeviceProgram &program, Run &run,
                                                       std::shared_ptr<const Links> links,
                                                       std::shared_ptr<LocalChannels> channels);
// The same of devices of several processes. `session`: its number among those of the transport.
Result<std::unique_ptr<Communicator>> makeCommunicator(const std::vector<DeviceHere> &here,
                                                       const DeviceProgram &program, Run &run,
                                                       Transport &transport, uint32_t session);

} // namespace tessera::runtime
