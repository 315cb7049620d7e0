#include "compare/text_agreement.h"

#include <algorithm>
#include <cmath>

#include "compare/run_comparison.h"

namespace isobit {
namespace {

constexpr size_t kMaxOrder = 6;
constexpr double kBeta = 2;

size_t levenshtein(std::span<const TracePosition> a, std::span<const TracePosition> b) {
  std::vector<size_t> row(b.size() + 1);  // distances of a's prefix to every prefix of b
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i].token_id == b[j].token_id ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Takes what both share at the ends off: it never costs an edit.
void strip_common_ends(std::span<const TracePosition>& a, std::span<const TracePosition>& b) {
  while (!a.empty() && !b.empty() && a.front().token_id == b.front().token_id) {
    a = a.subspan(1);
    b = b.subspan(1);
  }
  while (!a.empty() && !b.empty() && a.back().token_id == b.back().token_id) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
}

bool is_white_space(char32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// A byte that begins no valid sequence counts as a character of its own, outside Unicode.
char32_t next_character(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t n = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  char32_t c = n == 1 ? lead : lead & (0x7Fu >> n);
  bool valid = (lead < 0x80 || lead >= 0xC0) && n <= text.size();
  for (size_t i = 1; valid && i < n; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    c = (c << 6) | (byte(i) & 0x3F);
  }
  text.remove_prefix(valid ? n : 1);
  return valid ? c : 0x110000u + lead;
}

std::u32string characters(std::string_view text) {
  std::u32string all;
  while (!text.empty()) {
    const char32_t c = next_character(text);
    if (!is_white_space(c)) all.push_back(c);
  }
  return all;
}

using NGrams = std::vector<std::u32string_view>;

NGrams n_grams(const std::u32string& text, size_t order) {
  NGrams grams;
  for (size_t i = 0; i + order <= text.size(); ++i)
    grams.push_back(std::u32string_view(text).substr(i, order));
  std::sort(grams.begin(), grams.end());
  return grams;
}

// Each occurrence is matched at most once.
size_t n_matches(const NGrams& a, const NGrams& b) {
  size_t n = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) {
      ++n, ++x, ++y;
    } else if (*x < *y) {
      ++x;
    } else {
      ++y;
    }
  }
  return n;
}

double ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Summary {
 public:
  void add(std::optional<double> value) {
    if (!value) return;
    ++n_;
    sum_ += *value;
    min_ = n_ == 1 ? *value : std::min(min_, *value);
  }
  int64_t n() const { return n_; }
  std::optional<AgreementSummary> result() const {
    if (n_ == 0) return std::nullopt;
    return AgreementSummary{.n = n_, .mean = sum_ / static_cast<double>(n_), .min = min_};
  }

 private:
  int64_t n_ = 0;
  double sum_ = 0;
  double min_ = 0;
};

}  // namespace

double edit_similarity(std::span<const TracePosition> a, std::span<const TracePosition> b) {
  const size_t longer = std::max(a.size(), b.size());
  strip_common_ends(a, b);
  if (a.empty() && b.empty()) return 1;
  return 1 - static_cast<double>(levenshtein(a, b)) / static_cast<double>(longer);
}

double chrf(std::string_view reference, std::string_view candidate) {
  if (reference == candidate) return 1;
  const std::u32string r = characters(reference);
  const std::u32string c = characters(candidate);
  if (r == c) return 1;
  double precision = 0;
  double recall = 0;
  double n_orders = 0;
  for (size_t order = 1; order <= kMaxOrder; ++order) {
    const NGrams of_reference = n_grams(r, order);
    const NGrams of_candidate = n_grams(c, order);
    if (of_reference.empty() || of_candidate.empty()) break;
    const size_t matches = n_matches(of_reference, of_candidate);
    precision += ratio(matches, of_candidate.size());
    recall += ratio(matches, of_reference.size());
    ++n_orders;
  }
  if (precision + recall == 0) return 0;
  precision /= n_orders;
  recall /= n_orders;
  return (1 + kBeta * kBeta) * precision * recall / (kBeta * kBeta * precision + recall);
}

std::optional<double> cosine(std::span<const float> a, std::span<const float> b) {
  if (a.empty() || a.size() != b.size()) return std::nullopt;
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  const double value = dot / std::sqrt(aa * bb);
  return std::isfinite(value) ? std::optional(std::clamp(value, -1.0, 1.0)) : std::nullopt;
}

TextAgreement text_agreement(const Trace& reference, const Trace& candidate) {
  TextAgreement agreement{
      .edit_similarity = edit_similarity(reference.positions, candidate.positions),
      .cosine = cosine(reference.embedding, candidate.embedding)};
  const auto has_text = [](const Trace& t) { return !t.text.empty() || t.positions.empty(); };
  if (has_text(reference) && has_text(candidate))
    agreement.chrf = chrf(reference.text, candidate.text);
  return agreement;
}

CellAgreement cell_agreement(const CellComparison& cell, const std::string& reason_without_texts) {
  Summary edit, characters, cosines;
  int64_t n_pairs = 0;
  for (const PairComparison& pair : cell.pairs) {
    if (!pair.agreement) continue;
    ++n_pairs;
    edit.add(pair.agreement->edit_similarity);
    characters.add(pair.agreement->chrf);
    cosines.add(pair.agreement->cosine);
  }
  CellAgreement found{
      .edit_similarity = edit.result(), .chrf = characters.result(), .cosine = cosines.result()};
  if (characters.n() < n_pairs) found.chrf_absent = reason_without_texts;
  if (cosines.n() < n_pairs)
    found.cosine_absent = "no embedding of the answer was recorded on both sides";
  return found;
}

}  // namespace isobit
