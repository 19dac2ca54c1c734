// Products of bf16 by oneDNN, for kernels.py. Each line of the input is `batch m n k a b repeat`,
// where a and b say whether that operand lies transposed (0 or 1); it is answered by a line with
// the seconds of the quickest of `repeat`.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <dnnl.hpp>
#include <iostream>

using Dims = dnnl::memory::dims;

static dnnl::matmul product(const dnnl::engine &engine, const dnnl::memory::desc &a,
                            const dnnl::memory::desc &b, const dnnl::memory::desc &c) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul({engine, a, b, c});
#else
  return dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine));
#endif
}

int main() {
  using Clock = std::chrono::steady_clock;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  int64_t batch, m, n, k, repeat;
  bool turnsA, turnsB;
  while (std::cin >> batch >> m >> n >> k >> turnsA >> turnsB >> repeat) {
    auto type = dnnl::memory::data_type::bf16;
    dnnl::memory::desc a({batch, m, k}, type, turnsA ? Dims{m * k, 1, m} : Dims{m * k, k, 1});
    dnnl::memory::desc b({batch, k, n}, type, turnsB ? Dims{n * k, 1, k} : Dims{n * k, n, 1});
    dnnl::memory::desc c({batch, m, n}, type, Dims{m * n, n, 1});
    dnnl::memory x(a, engine), y(b, engine), z(c, engine);
    std::memset(x.get_data_handle(), 0x3d, a.get_size());
    std::memset(y.get_data_handle(), 0x3d, b.get_size());
    dnnl::matmul primitive = product(engine, a, b, c);
    double best = 1e30;
    for (int64_t i = 0; i <= repeat; ++i) {
      auto start = Clock::now();
      primitive.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}});
      stream.wait();
      double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (i > 0) // the first finds its pages
        best = std::min(best, seconds);
    }
    std::cout << best << std::endl;
  }
}
