// The back ends that this runtime has.
#pragma once

#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/device/Device.h"
#include <string>

namespace tessera::runtime {

class Transport;

// By the name of a program's target. TESSERA_TARGET=shadow runs programs for the cpu on shadow.
// Unsupported: there is none of the name.
Result<std::shared_ptr<device::Backend>> makeBackend(std::string target,
                                                     std::shared_ptr<Pool> pool);

// How logical devices that are all in this process reach each other: on the cores, or, where a back
// end has memory of its own, there. `channels`: made for the same back end, of all programs of a file.
std::shared_ptr<LocalChannels> makeChannels(device::Backend &backend, const LoadedProgram &file,
                                            Run &run);
Result<std::unique_ptr<Communicator>> makeCommunicator(device::Backend &backend,
                                                       const DeviceProgram &program, Run &run,
                                                       std::shared_ptr<const Links> links,
                                                       std::shared_ptr<LocalChannels> channels);
// The same of devices that have a process each. `session`: its number among those of the transport.
Result<std::unique_ptr<Communicator>> makeCommunicator(device::Backend &backend,
                                                       const DeviceProgram &program, Run &run,
                                                       Transport &transport, uint32_t session);

} // namespace tessera::runtime
