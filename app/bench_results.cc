// The figures of a benchmark as JSON and as text. The price of invariance comes first: everything
// else is detail to it.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/bench.h"
#include "report/text_table.h"
#include "report/text_wrap.h"

namespace isobit::app {
namespace {

// How much slower `cpu` is than the fastest other runner, per phase of a point: rate of the other
// over rate of cpu, minus 1. Negative: cpu is faster.
struct Price {
  BenchPoint point;
  const char* phase;
  std::string other;
  double price = 0;
  double smallest = 0, largest = 0;  // of one round
};

struct Phase {
  const char* name;
  std::vector<double> BenchSeries::*rates;
};
constexpr Phase kPhases[] = {{"prefill", &BenchSeries::prefill}, {"decode", &BenchSeries::decode}};

const BenchSeries* cpu_series(const std::vector<BenchSeries>& all, const BenchPoint& point) {
  for (const BenchSeries& s : all) {
    if (s.point == point && s.runner == "cpu") return &s;
  }
  return nullptr;
}

Price price_against(const BenchSeries& cpu, const BenchSeries& other, const Phase& phase) {
  const std::vector<double>&ours = cpu.*phase.rates, &theirs = other.*phase.rates;
  Price p{.point = cpu.point,
          .phase = phase.name,
          .other = other.runner,
          .price = median(theirs) / median(ours) - 1};
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const double one = theirs[i] / ours[i] - 1;
    p.smallest = i == 0 ? one : std::min(p.smallest, one);
    p.largest = i == 0 ? one : std::max(p.largest, one);
  }
  return p;
}

// One per point and phase where cpu and another runner were measured: the fastest other.
std::vector<Price> prices(const std::vector<BenchSeries>& all) {
  std::vector<Price> out;
  for (const Phase& phase : kPhases) {
    for (const BenchSeries& other : all) {
      const BenchSeries* cpu = cpu_series(all, other.point);
      if (cpu == nullptr || cpu == &other) continue;
      const Price p = price_against(*cpu, other, phase);
      const auto same = std::find_if(out.begin(), out.end(), [&](const Price& q) {
        return q.point == p.point && q.phase == p.phase;
      });
      if (same == out.end())
        out.push_back(p);
      else if (same->price < p.price)
        *same = p;
    }
  }
  return out;
}

std::string others_named(const std::vector<BenchSeries>& all) {
  std::vector<std::string> names;
  for (const BenchSeries& s : all) {
    if (s.runner != "cpu" && std::find(names.begin(), names.end(), s.runner) == names.end())
      names.push_back(s.runner);
  }
  return names.size() == 1 ? names[0] : fmt::format("the faster of {}", fmt::join(names, " and "));
}

// "5 % more", "12 % less"
std::string more_or_less(double share) {
  return fmt::format("{:.0f} % {}", std::abs(share) * 100, share < 0 ? "less" : "more");
}

// "5 % to 30 % less" or "5 % less to 30 % more": `least` is the smaller share.
std::string range_words(double least, double most) {
  if (least < 0 && most >= 0) return more_or_less(least) + " to " + more_or_less(most);
  const double near = least < 0 ? most : least, far = least < 0 ? least : most;
  return fmt::format("{:.0f} % to {}", std::abs(near) * 100, more_or_less(far));
}

std::string price_line(const BenchResults& r) {
  const std::vector<Price> all = prices(r.series);
  if (all.empty())
    return "price of invariance: not measured; it needs cpu and another runner "
           "(--kernel-set cpu,cpu-adaptive, or --llama)";
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [](const Price& a, const Price& b) { return a.price < b.price; });
  const bool none = high->price < 0;
  return fmt::format("price of invariance: {}cpu takes {} time than {}, over {} figures{}",
                     none ? "none; " : "", range_words(low->price, high->price),
                     others_named(r.series), all.size(),
                     none ? ""
                          : fmt::format(" (worst: {} of {} at {})", high->phase,
                                        high->point.weights, high->point.concurrency));
}

// Least squares of the time of one step over the context in the middle of the decode.
struct DecodeCost {
  BenchPoint point;  // of the first length
  std::string runner;
  double ms_per_step = 0;           // at context 0
  double us_per_context_token = 0;  // per sequence
};

std::vector<DecodeCost> decode_costs(const BenchResults& r, int gen_tokens) {
  struct Sums {
    const BenchSeries* first;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  };
  std::map<std::tuple<std::string, int, int, std::string>, Sums> groups;
  for (const BenchSeries& s : r.series) {
    Sums& g = groups
                  .try_emplace({s.point.model, s.point.threads, s.point.concurrency, s.runner},
                               Sums{.first = &s})
                  .first->second;
    const double context = s.point.prompt_tokens + gen_tokens / 2.0;
    const double ms = s.point.concurrency / median(s.decode) * 1e3;
    g.n += 1, g.x += context, g.y += ms, g.xx += context * context, g.xy += context * ms;
  }
  std::vector<DecodeCost> out;
  for (const auto& [key, g] : groups) {
    const double spread = g.n * g.xx - g.x * g.x;
    if (g.n < 2 || spread <= 0) continue;
    const double slope = (g.n * g.xy - g.x * g.y) / spread;
    out.push_back({.point = g.first->point,
                   .runner = g.first->runner,
                   .ms_per_step = (g.y - slope * g.x) / g.n,
                   .us_per_context_token = slope * 1e3 / g.first->point.concurrency});
  }
  return out;
}

Json point_json(const BenchPoint& p) {
  return {{"model", p.model},
          {"weights", p.weights},
          {"threads", p.threads},
          {"prompt_tokens", p.prompt_tokens},
          {"concurrency", p.concurrency}};
}

Json series_json(const BenchSeries& s, const BenchArguments& arguments) {
  Json out = {{"kernel_set", s.runner}, {"isa", s.isa}};
  out.update(point_json(s.point));
  out["gen_tokens"] = arguments.gen_tokens;
  out["rounds"] = arguments.rounds;
  for (const Phase& phase : kPhases) {
    const std::vector<double>& rates = s.*phase.rates;
    const std::string key = fmt::format("{}_tokens_per_s", phase.name);
    out[key] = median(rates);
    out[key + "_min"] = *std::min_element(rates.begin(), rates.end());
    out[key + "_max"] = *std::max_element(rates.begin(), rates.end());
  }
  if (!s.share_of_fma.empty()) out["prefill_share_of_fma_roof"] = median(s.share_of_fma);
  return out;
}

Json price_json(const Price& p) {
  Json out = point_json(p.point);
  out.update({{"phase", p.phase},
              {"against", p.other},
              {"price", p.price},
              {"price_min", p.smallest},
              {"price_max", p.largest}});
  return out;
}

std::string spread(const std::vector<double>& v) {
  return fmt::format("{:.0f} ({:.0f}-{:.0f})", median(v), *std::min_element(v.begin(), v.end()),
                     *std::max_element(v.begin(), v.end()));
}

// cpu's rate over this runner's, with the rounds' smallest and largest.
std::string ratio_text(const BenchSeries* cpu, const BenchSeries& s, const Phase& phase) {
  if (cpu == nullptr || cpu == &s) return "";
  const Price p = price_against(*cpu, s, phase);
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", 1 / (1 + p.price), 1 / (1 + p.largest),
                     1 / (1 + p.smallest));
}

std::vector<std::string> phase_row(const BenchResults& r, const BenchSeries& s,
                                   const Phase& phase) {
  const bool has_share = phase.rates == &BenchSeries::prefill && !s.share_of_fma.empty();
  return {s.point.weights,
          s.isa.empty() ? s.runner : s.runner + " " + s.isa,
          std::to_string(s.point.threads),
          std::to_string(s.point.prompt_tokens),
          std::to_string(s.point.concurrency),
          spread(s.*phase.rates),
          has_share ? fmt::format("{:.0f} %", median(s.share_of_fma) * 100) : "",
          ratio_text(cpu_series(r.series, s.point), s, phase)};
}

// One table for each phase: both in one would not fit a terminal.
std::string generation_tables(const BenchResults& r) {
  std::string out;
  for (const Phase& phase : kPhases) {
    std::vector<std::vector<std::string>> rows;
    for (const BenchSeries& s : r.series) rows.push_back(phase_row(r, s, phase));
    out += "\n" + text_table({{"weights", Align::kLeft},
                              {"kernel set", Align::kLeft},
                              {"threads", Align::kRight},
                              {"prompt", Align::kRight},
                              {"conc.", Align::kRight},
                              {fmt::format("{} tok/s", phase.name), Align::kRight},
                              {"of roof", Align::kRight},
                              {"cpu/this", Align::kRight}},
                             rows);
  }
  return out;
}

std::string decode_cost_lines(const BenchResults& r, int gen_tokens) {
  std::string out;
  for (const DecodeCost& c : decode_costs(r, gen_tokens)) {
    out += wrapped_text(fmt::format(
        "decode cost, {} {}, {} at once, {} threads: {:.2f} ms a step + {:.3f} us per token of "
        "context and sequence",
        c.point.weights, c.runner, c.point.concurrency, c.point.threads, c.ms_per_step,
        c.us_per_context_token));
  }
  return out;
}

std::string kernel_table(const BenchResults& r) {
  if (r.kernels.empty()) return "";
  std::string out;
  for (const RoofRate& roof : r.roofs) {
    out += fmt::format(
        "roof, {} at {} threads: {:.1f} Gflop/s by fma; {:.1f} GB/s reading {:.1f} MB\n", roof.isa,
        roof.threads, roof.gflops, roof.gbytes_per_s, static_cast<double>(roof.read_bytes) * 1e-6);
  }
  out += fmt::format("{:<9} {:>7} {:>6} {:>9} {:>9} {:>12} {:>9}\n", "matrix", "threads", "rows",
                     "Gflop/s", "of roof", "weights GB/s", "of roof");
  for (const KernelRate& k : r.kernels) {
    out += fmt::format("{:<9} {:>7} {:>6} {:>9.1f} {:>8.0f}% {:>12.1f} {:>8.0f}%\n", k.matrix,
                       k.threads, k.n_rows, k.gflops, k.share_of_fma * 100, k.weights_gbytes_per_s,
                       k.share_of_read * 100);
  }
  return out;
}

std::string recording_lines(const BenchResults& r) {
  std::string out;
  for (const RecordingCost& c : r.recording) {
    out += wrapped_text(fmt::format(
        "recording (top 20, margins, hashes, store) of {} at {} takes {:.1f} % {}; rounds: "
        "{:+.1f} to {:+.1f} %",
        c.point.weights, c.point.concurrency, std::abs(median(c.cost)) * 100,
        median(c.cost) < 0 ? "less time, which is noise" : "more time",
        *std::min_element(c.cost.begin(), c.cost.end()) * 100,
        *std::max_element(c.cost.begin(), c.cost.end()) * 100));
  }
  return out;
}

}  // namespace

Json bench_json(const BenchResults& r, const BenchArguments& arguments) {
  Json out = {{"price_of_invariance", Json::array()}, {"results", Json::array()}};
  for (const Price& p : prices(r.series)) out["price_of_invariance"].push_back(price_json(p));
  for (const BenchSeries& s : r.series) out["results"].push_back(series_json(s, arguments));
  for (const DecodeCost& c : decode_costs(r, arguments.gen_tokens)) {
    out["decode_cost"].push_back({{"model", c.point.model},
                                  {"weights", c.point.weights},
                                  {"threads", c.point.threads},
                                  {"concurrency", c.point.concurrency},
                                  {"kernel_set", c.runner},
                                  {"ms_per_step", c.ms_per_step},
                                  {"us_per_context_token", c.us_per_context_token}});
  }
  for (const RoofRate& roof : r.roofs) {
    out["roofs"].push_back({{"isa", roof.isa},
                            {"threads", roof.threads},
                            {"gflops", roof.gflops},
                            {"gbytes_per_s", roof.gbytes_per_s},
                            {"read_bytes", roof.read_bytes}});
  }
  for (const KernelRate& k : r.kernels) {
    out["kernels"].push_back({{"model", k.model},
                              {"matrix", k.matrix},
                              {"isa", k.isa},
                              {"threads", k.threads},
                              {"rows", k.n_rows},
                              {"gflops", k.gflops},
                              {"share_of_fma_roof", k.share_of_fma},
                              {"weights_gbytes_per_s", k.weights_gbytes_per_s},
                              {"share_of_read_roof", k.share_of_read}});
  }
  for (const RecordingCost& c : r.recording) {
    Json row = point_json(c.point);
    row.update({{"cost", median(c.cost)}, {"cost_per_round", c.cost}});
    out["recording"].push_back(row);
  }
  return out;
}

std::string bench_text(const BenchResults& r, const BenchArguments& arguments) {
  std::string out = r.series.empty() ? "" : wrapped_text(price_line(r)) + generation_tables(r);
  return out + decode_cost_lines(r, arguments.gen_tokens) + kernel_table(r) + recording_lines(r);
}

}  // namespace isobit::app
