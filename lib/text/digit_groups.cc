// Runs of digits cut into threes from the right, in one pass over the piece.
#include "text/piece_builder.h"
#include "text/unicode.h"

namespace isobit {
namespace {

struct DigitRun {
  std::vector<size_t> starts;  // where each digit begins
  size_t end;
};

bool is_digit(uint32_t c, DigitGroups groups) {
  return groups == DigitGroups::kOfNumbers ? is_numeric(c) : is_decimal_digit(c);
}

// The run that begins at `at`; empty when there is no digit.
void read_run(std::string_view piece, size_t at, DigitGroups groups, DigitRun& run) {
  run.starts.clear();
  while (at < piece.size()) {
    const CodePoint c = code_point_at(piece, at);
    if (!is_digit(c.value, groups)) break;
    run.starts.push_back(at);
    at += c.n_bytes;
  }
  run.end = at;
}

bool ends_a_word(std::string_view piece, size_t at) {
  return at == piece.size() || !is_word_character(code_point_at(piece, at).value);
}

}  // namespace

void split_digit_groups(std::string_view piece, DigitGroups groups,
                        std::vector<std::string_view>& out) {
  size_t done = 0;
  const auto cut = [&](size_t at) {
    if (at > done) out.push_back(piece.substr(done, at - done));
    done = at;
  };
  DigitRun run;
  for (size_t at = 0; at < piece.size();) {
    read_run(piece, at, groups, run);
    if (run.starts.empty()) {
      at += code_point_at(piece, at).n_bytes;
      continue;
    }
    at = run.end;
    if (groups == DigitGroups::kOfDigitsAtWordEnd && !ends_a_word(piece, run.end)) continue;
    const size_t n = run.starts.size();
    if (groups != DigitGroups::kCutBefore) cut(run.starts.front());
    for (size_t i = n % 3; i < n; i += 3) cut(run.starts[i]);
    if (groups != DigitGroups::kCutBefore) cut(run.end);
  }
  cut(piece.size());
}

}  // namespace isobit
