#include <memory>

#include <fmt/format.h>

#include "app/bench.h"
#include "app/bench_roofs.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "checkpoint/tensor_names.h"
#include "kernels/registry.h"

namespace isobit::app {
namespace {

constexpr int64_t kRows[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

// One kind of matrix of every layer, as Model packs it.
struct Sweep {
  std::string name;
  std::vector<std::unique_ptr<PackedMatrix>> matrices;
  double n_weights = 0;
  size_t n_bytes = 0;

  void add(const KernelSet& kernels, const Checkpoint& checkpoint,
           const std::vector<std::string>& tensors, int64_t n_segments, ThreadPool& pool) {
    std::vector<MatrixPart> parts;
    for (const std::string& tensor : tensors) {
      const TensorView& weight = checkpoint.tensor(tensor);
      if (!engine_supports(weight.dtype)) {
        throw Error(ErrorCode::environment,
                    fmt::format("tensor '{}' is stored as {}, for which there is no kernel", tensor,
                                isobit::name(weight.dtype)),
                    "--kernels measures the stored formats; run without it");
      }
      parts.push_back({.weight = &weight, .bias = {}});
    }
    matrices.push_back(kernels.pack(parts, n_segments, pool));
    const PackedMatrix& m = *matrices.back();
    n_weights += static_cast<double>(m.n_out) * static_cast<double>(m.n_in);
    n_bytes += m.packed_bytes;
  }
};

struct SweepShape {
  const char* name;
  std::vector<std::string> tensors;  // of a layer
  int64_t n_segments;
};

std::vector<Sweep> sweeps_of(const Checkpoint& checkpoint, const KernelSet& kernels,
                             ThreadPool& pool) {
  const ModelConfig& c = checkpoint.config();
  const bool fused = has_fused_projections(c);
  using Names = std::vector<std::string>;
  const Names qkv = fused ? Names{"self_attn.qkv_proj.weight"}
                          : Names{"self_attn.q_proj.weight", "self_attn.k_proj.weight",
                                  "self_attn.v_proj.weight"};
  const Names gate_up = fused ? Names{"mlp.gate_up_proj.weight"}
                              : Names{"mlp.gate_proj.weight", "mlp.up_proj.weight"};
  const SweepShape shapes[] = {{"qkv", qkv, 1},
                               {"o", {"self_attn.o_proj.weight"}, c.n_segments()},
                               {"gate_up", gate_up, 1},
                               {"down", {"mlp.down_proj.weight"}, c.n_segments()}};
  std::vector<Sweep> out;
  for (const SweepShape& shape : shapes) {
    Sweep sweep{.name = shape.name, .matrices = {}};
    for (int64_t layer = 0; layer < c.n_layers; ++layer) {
      std::vector<std::string> names;
      for (const std::string& tensor : shape.tensors)
        names.push_back(layer_tensor_name(layer, tensor));
      if (!checkpoint.find(names[0])) continue;  // a layer of experts
      sweep.add(kernels, checkpoint, names, shape.n_segments, pool);
    }
    if (!sweep.matrices.empty()) out.push_back(std::move(sweep));
  }
  Sweep head{.name = "head", .matrices = {}};
  head.add(kernels, checkpoint, {c.tied_head ? "model.embed_tokens.weight" : "lm_head.weight"}, 1,
           pool);
  out.push_back(std::move(head));
  return out;
}

struct Measured {
  std::vector<double> gflops, gbytes, fma_roof, read_roof, share_of_fma, share_of_read;
};

void measure_rows(const KernelSet& kernels, const Sweep& sweep, int64_t n_rows, const Roofs& roofs,
                  const std::vector<std::byte>& buffer, ThreadPool& pool, Measured& out) {
  int64_t widest_in = 0, widest_out = 0;
  for (const auto& m : sweep.matrices) {
    widest_in = std::max(widest_in, m->n_in);
    widest_out = std::max(widest_out, m->n_out);
  }
  std::vector<float> x(static_cast<size_t>(n_rows * widest_in));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 251) * 0.01f - 1.25f;
  std::vector<float> y(static_cast<size_t>(n_rows * widest_out));
  const double t = seconds([&] {
    for (const auto& m : sweep.matrices) kernels.matmul(*m, x.data(), n_rows, y.data(), pool);
  });
  const double gflops = 2 * sweep.n_weights * static_cast<double>(n_rows) / t * 1e-9;
  const double gbytes = static_cast<double>(sweep.n_bytes) / t * 1e-9;
  const double fma_roof = roofs.gflops(), read_roof = roofs.gbytes_per_s(buffer);
  out.gflops.push_back(gflops);
  out.gbytes.push_back(gbytes);
  out.fma_roof.push_back(fma_roof);
  out.read_roof.push_back(read_roof);
  out.share_of_fma.push_back(gflops / fma_roof);
  out.share_of_read.push_back(gbytes / read_roof);
}

}  // namespace

void bench_kernels(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                   BenchResults& out) {
  const KernelSet& kernels = kernel_set("cpu", arguments.isa);
  ThreadPool packing(arguments.threads.back());
  const std::vector<Sweep> sweeps = sweeps_of(*loaded.checkpoint, kernels, packing);
  const auto n_all = static_cast<int64_t>(arguments.threads.size() * sweeps.size());
  int64_t n_done = 0;
  for (const int threads : arguments.threads) {
    ThreadPool pool(threads);
    const Roofs roofs(cpu_roofs(kernels.isa), pool);
    for (const Sweep& sweep : sweeps) {
      const std::vector<std::byte> buffer(sweep.n_bytes, std::byte{1});
      std::vector<double> fma_roof, read_roof;
      for (const int64_t n_rows : kRows) {
        Measured m, warm_up;
        measure_rows(kernels, sweep, n_rows, roofs, buffer, pool, warm_up);
        for (int round = 0; round < arguments.rounds; ++round)
          measure_rows(kernels, sweep, n_rows, roofs, buffer, pool, m);
        out.kernels.push_back({.model = loaded.source,
                               .matrix = sweep.name,
                               .isa = kernels.isa,
                               .threads = threads,
                               .n_rows = n_rows,
                               .gflops = median(m.gflops),
                               .weights_gbytes_per_s = median(m.gbytes),
                               .share_of_fma = median(m.share_of_fma),
                               .share_of_read = median(m.share_of_read)});
        fma_roof.insert(fma_roof.end(), m.fma_roof.begin(), m.fma_roof.end());
        read_roof.insert(read_roof.end(), m.read_roof.begin(), m.read_roof.end());
      }
      out.roofs.push_back({.isa = kernels.isa,
                           .threads = threads,
                           .gflops = median(fma_roof),
                           .gbytes_per_s = median(read_roof),
                           .read_bytes = static_cast<int64_t>(sweep.n_bytes)});
      console.progress_of(++n_done, n_all,
                          fmt::format("matrices  {}, {} at {} threads", printable(loaded.source),
                                      sweep.name, threads));
    }
  }
}

}  // namespace isobit::app
