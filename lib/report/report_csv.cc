// The CSV report: a flat row per pair, for spreadsheets and data frames.
#include <fmt/format.h>

#include "compare/bits.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

// Builds one row; numbers are ours and go in bare, every text is guarded.
class CsvRow {
 public:
  void text(std::string_view value) { field(csv_text(value)); }
  void number(double value) { field(fmt::format("{}", value)); }
  void count(int64_t value) { field(fmt::format("{}", value)); }
  void empty() { field({}); }
  template <typename T>
  void optional_count(const std::optional<T>& value) {
    value ? count(static_cast<int64_t>(*value)) : empty();
  }
  template <typename T>
  void optional_number(const std::optional<T>& value) {
    value ? number(static_cast<double>(*value)) : empty();
  }
  void bits(std::optional<float> value) { value ? field(bits_text(*value)) : empty(); }
  std::string finish() && { return std::move(row_) + "\n"; }

 private:
  void field(const std::string& value) {
    if (n_fields_++ > 0) row_ += ',';
    row_ += value;
  }
  std::string row_;
  int n_fields_ = 0;
};

constexpr const char* kHeader =
    "cell,reference,exercised,prompt,request,sample_index,repeat,state,level1,level2,evidence,gaps,"
    "numeric_position,differs,reference_logprob,candidate_logprob,reference_bits,candidate_bits,"
    "ulp,nats,"
    "token_position,reference_token,reference_text,candidate_token,candidate_text,reference_margin,"
    "candidate_margin,flip,"
    "candidate_rank_in_reference,reference_rank_in_candidate,top_agreement,top_agreement_before,"
    "max_drift_nats,max_drift_ulp,reference_length,candidate_length,reference_finish,candidate_"
    "finish\n";

std::string gaps_text(const Divergence& d) {
  std::string text;
  for (const EvidenceGap& gap : d.gaps) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}:{}", name(gap.side), name(gap.kind));
    if (gap.position) text += fmt::format("@{}", *gap.position);
  }
  return text;
}

std::string differs_text(const NumericDivergence& d) {
  std::string text;
  for (const auto& [differs, what] :
       {std::pair{d.logits_hash_differs, "logits_hash"}, std::pair{d.logprob_differs, "logprob"},
        std::pair{d.top_differs, "top"}}) {
    if (differs) text += (text.empty() ? "" : "+") + std::string(what);
  }
  return text;
}

void add_numeric(CsvRow& row, const Divergence& d) {
  const NumericDivergence n = d.numeric.value_or(NumericDivergence{});
  d.numeric ? row.count(n.position) : row.empty();
  row.text(differs_text(n));
  row.optional_number(n.reference_logprob);
  row.optional_number(n.candidate_logprob);
  row.bits(n.reference_logprob);
  row.bits(n.candidate_logprob);
  row.optional_count(n.ulp);
  row.optional_number(n.nats);
}

void add_token(CsvRow& row, std::optional<int32_t> token_id,
               const std::map<int32_t, std::string>& texts) {
  row.optional_count(token_id);
  const auto text = token_id ? texts.find(*token_id) : texts.end();
  text == texts.end() ? row.empty() : row.text(text->second);
}

void add_flip(CsvRow& row, const PairComparison& pair,
              const std::map<int32_t, std::string>& texts) {
  const auto& d = pair.divergence;
  const TokenDivergence t = d.token.value_or(TokenDivergence{});
  d.token ? row.count(t.position) : row.empty();
  add_token(row, t.reference_token, texts);
  add_token(row, t.candidate_token, texts);
  row.optional_number(t.reference_margin);
  row.optional_number(t.candidate_margin);
  row.text(pair.flip ? name(*pair.flip) : "");
  row.optional_count(t.candidate_token_rank_in_reference);
  row.optional_count(t.reference_token_rank_in_candidate);
  row.optional_number(t.top_agreement);
  row.optional_number(d.top_agreement_before);
}

void add_extent(CsvRow& row, const PairComparison& pair) {
  const Divergence& d = pair.divergence;
  d.max_drift ? row.number(d.max_drift->nats) : row.empty();
  d.max_drift ? row.count(d.max_drift->ulp) : row.empty();
  const bool compared = pair.state == PairState::kCompared;
  compared ? row.count(d.reference_length) : row.empty();
  compared ? row.count(d.candidate_length) : row.empty();
  row.text(compared ? name(d.reference_finish) : "");
  row.text(compared ? name(d.candidate_finish) : "");
}

std::string pair_row(const CellComparison& cell, const PairComparison& pair,
                     const std::map<int32_t, std::string>& texts) {
  CsvRow row;
  row.text(cell.name);
  row.text(cell.reference_name);
  row.text(cell.exercised ? "yes" : "no");
  row.count(pair.prompt_index);
  row.text(pair.request_id);
  row.count(pair.sample_index);
  row.count(pair.repeat);
  row.text(name(pair.state));
  row.text(name(pair.sameness(Level::kRequestReproducible)));
  row.text(name(pair.sameness(Level::kBitwise)));
  row.text(name(pair.divergence.evidence));
  row.text(gaps_text(pair.divergence));
  add_numeric(row, pair.divergence);
  add_flip(row, pair, texts);
  add_extent(row, pair);
  return std::move(row).finish();
}

}  // namespace

std::string csv_report(const ReportInput& input) {
  std::string out = kHeader;
  for (const CellComparison& cell : input.comparison.cells) {
    for (const PairComparison& pair : cell.pairs) out += pair_row(cell, pair, input.token_texts);
  }
  return out;
}

}  // namespace isobit
