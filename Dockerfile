# Images of Tessera on Debian 12:
#   docker build -t tessera .                           compiler and runtime
#   docker build -t tessera-runtime --target runtime .  what runs compiled programs, over MPI too: no LLVM
#   docker run --rm -v "$PWD:/work" tessera compile step.mlir -o step.tsr
FROM debian:12 AS build
WORKDIR /tessera
COPY . .
RUN scripts/package

FROM debian:12-slim AS runtime
RUN --mount=type=bind,from=build,source=/tessera/build/packages,target=/packages \
    apt-get update && apt-get install -y --no-install-recommends /packages/tessera-runtime_*.deb /packages/tessera-mpi_*.deb \
      libopenblas0-pthread openmpi-bin && rm -rf /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["tessera"]

FROM runtime
RUN --mount=type=bind,from=build,source=/tessera/build/packages,target=/packages \
    apt-get update && apt-get install -y --no-install-recommends /packages/tessera-compiler_*.deb && rm -rf /var/lib/apt/lists/*
