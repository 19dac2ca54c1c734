// Compiles one exec.kernel from text and runs it in this process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

using Floats = std::vector<float>;

// The kernel's outputs; numbers of all types travel as f32, like its inputs. `body` is what stands
// between the braces; its last line yields. With `inplace`, output i takes the buffer of input
// inplace[i]. The grid is run back to front, in as many parts as there are cells; unwritten
// elements come back as -777.
std::vector<Floats> runKernel(const std::string &signature, const std::string &body,
                              std::vector<Floats> inputs, std::vector<int64_t> inplace = {});

// n numbers in [-1, 1), the same each time.
Floats numbers(int64_t n, unsigned seed = 1);

} // namespace tessera::test
