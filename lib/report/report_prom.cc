// Gauges for the textfile collector of node_exporter: what a dashboard shows over time, and what an
// alert fires on. examples/monitoring has both.
//
// Every series is labelled with the deployment, so that files of several deployments may lie in one
// folder. A figure that was not recorded has no series: a missing line is seen, a 0 would be
// believed.
#include <fmt/format.h>

#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

constexpr size_t kLabelCharacters = 200;

using Labels = std::vector<std::pair<const char*, std::string>>;

class Exposition {
 public:
  explicit Exposition(const RunSide& run)
      : deployment_(run.label.empty() ? run.target : run.label) {}

  void gauge(const char* name, const char* help) {
    name_ = name;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  }

  void value(const Labels& labels, double value) {
    text_ += head_;  // only of a gauge that has a value
    head_.clear();
    text_ += fmt::format("{}{{deployment=\"{}\"", name_, label(deployment_));
    for (const auto& [key, text] : labels) text_ += fmt::format(",{}=\"{}\"", key, label(text));
    text_ += fmt::format("}} {}\n", value);
  }

  void value(const Labels& labels, const std::optional<double>& maybe) {
    if (maybe) value(labels, *maybe);
  }

  std::string text() && { return std::move(text_); }

 private:
  static std::string label(const std::string& text) {
    return prometheus_label(bounded_name(text, kLabelCharacters));
  }

  std::string deployment_;
  std::string name_;
  std::string head_;
  std::string text_;
};

std::optional<double> rate(const Proportion& match) {
  if (match.trials == 0) return std::nullopt;
  return static_cast<double>(match.matches) / static_cast<double>(match.trials);
}

void add_verdict(Exposition& out, const ReportInput& input) {
  const RunComparison& c = input.comparison;
  out.gauge("isobit_run_info", "What the figures are of; always 1.");
  out.value({{"base", c.base.id},
             {"candidate", c.candidate.id},
             {"target", c.candidate.target},
             {"fingerprint", c.candidate.fingerprint.id},
             {"policy", input.verdict.policy.name}},
            1.0);
  out.gauge("isobit_verdict", "1 for the outcome of the verdict, 0 for every other outcome.");
  for (const Outcome outcome :
       {Outcome::kPass, Outcome::kWarn, Outcome::kFail, Outcome::kInconclusive,
        Outcome::kIncomparable, Outcome::kUnsupported, Outcome::kIncomplete})
    out.value({{"outcome", name(outcome)}}, outcome == input.verdict.outcome ? 1.0 : 0.0);
}

void add_totals(Exposition& out, const ReportInput& input) {
  const RunComparison& c = input.comparison;
  out.gauge("isobit_consistency_ratio",
            "Share of prompts whose answers are the same in every cell: in tokens, in bits.");
  out.value({{"same", "tokens"}}, rate(c.token_match));
  out.value({{"same", "bits"}}, rate(c.bit_match));
  out.gauge("isobit_answers", "Pairs of answers, by what came of comparing them.");
  for (const auto& [state, n] :
       {std::pair{"all", c.totals.n_pairs}, std::pair{"other_tokens", c.totals.token_divergences},
        std::pair{"other_bits", c.totals.numeric_divergences},
        std::pair{"suspicious_flip", c.totals.suspicious_flips},
        std::pair{"missing", c.totals.missing + c.totals.errors}})
    out.value({{"state", state}}, static_cast<double>(n));
}

void add_axes(Exposition& out, const ReportInput& input) {
  const auto each = [&](const auto& add) {
    for (const AxisSummary& axis : input.comparison.axes) {
      for (const AxisValueSummary& value : axis.values) {
        if (value.n_cells > 0) add(axis, value);
      }
    }
  };
  out.gauge("isobit_axis_consistency_ratio",
            "Share of prompts and cells with the same tokens, by value of an axis.");
  each([&](const AxisSummary& axis, const AxisValueSummary& value) {
    out.value({{"axis", axis.axis}, {"value", value.value}}, rate(value.token_match));
  });
  out.gauge("isobit_axis_divergences", "Answers that differ, by value of an axis.");
  each([&](const AxisSummary& axis, const AxisValueSummary& value) {
    const Labels labels = {{"axis", axis.axis}, {"value", value.value}};
    for (const auto& [kind, n] : {std::pair{"tokens", value.counts.token_divergences},
                                  std::pair{"bits", value.counts.numeric_divergences}}) {
      Labels with_kind = labels;
      with_kind.emplace_back("differs", kind);
      out.value(with_kind, static_cast<double>(n));
    }
  });
}

void add_measures(Exposition& out, const RunMeasures& measures) {
  out.gauge("isobit_prefix_cache_hit_ratio",
            "Share of prompt tokens taken from the prefix cache, in cells that use it.");
  out.value({}, measures.prefix_cache_hit_ratio());
  out.gauge("isobit_non_finite_ratio", "Share of answers with a NaN or an infinity in the logits.");
  out.value({}, measures.non_finite_ratio());
}

constexpr double kMsPerSecond = 1000;

std::optional<double> p95_seconds(const std::optional<Times>& times) {
  if (!times) return std::nullopt;
  return times->p95 / kMsPerSecond;
}

void add_prices(Exposition& out, const RunComparison& comparison) {
  out.gauge("isobit_tokens_per_second", "Generated tokens per second, by cell.");
  for (const CellComparison& cell : comparison.cells)
    out.value({{"cell", cell.name}}, cell.price.tokens_per_s);
  out.gauge("isobit_latency_p95_seconds", "95th percentile of the time of an answer, by cell.");
  for (const CellComparison& cell : comparison.cells)
    out.value({{"cell", cell.name}}, p95_seconds(cell.price.latency_ms));
  out.gauge("isobit_first_token_p95_seconds",
            "95th percentile of the time to the first token, by cell.");
  for (const CellComparison& cell : comparison.cells)
    out.value({{"cell", cell.name}}, p95_seconds(cell.price.ttft_ms));
}

}  // namespace

std::string prometheus_report(const ReportInput& input) {
  Exposition out(input.comparison.candidate);
  add_verdict(out, input);
  add_totals(out, input);
  add_axes(out, input);
  add_measures(out, input.measures);
  add_prices(out, input.comparison);
  return std::move(out).text();
}

}  // namespace isobit
