#include "text/prompt_writer.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace isobit {
namespace {

constexpr size_t kShortAttempts = 48;
constexpr size_t kLongestShort = 44;  // tokens up to which a request needs no passage

}  // namespace

PromptWriter::PromptWriter(uint64_t seed) : state_(seed) {
  new_scene();
}

// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
uint64_t PromptWriter::next() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

size_t PromptWriter::below(size_t n) {
  return static_cast<size_t>(next() % n);
}

void PromptWriter::new_scene() {
  hero_ = pick(slot_words("person"));
  place_ = pick(slot_words("town"));
}

std::string PromptWriter::slot(std::string_view name) {
  const auto between = [&](size_t low, size_t high) {
    return std::to_string(low + below(high - low + 1));
  };
  if (name == "small") return between(2, 12);
  if (name == "number") return between(13, 98);
  if (name == "large") return between(120, 990);
  if (name == "year") return between(1850, 2015);
  if (name == "hero") return std::string(hero_);
  if (name == "place") return std::string(place_);
  const WordList words = slot_words(name);
  ISOBIT_REQUIRE(!words.empty());
  return std::string(pick(words));
}

std::string PromptWriter::fill(std::string_view pattern) {
  std::string out;
  std::vector<std::string> used;  // "a fox and a fox" says nothing
  while (!pattern.empty()) {
    const size_t open = pattern.find('{');
    out += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = pattern.find('}', open);
    const std::string_view name = pattern.substr(open + 1, close - open - 1);
    std::string word = slot(name);
    while (!slot_words(name).empty() && std::find(used.begin(), used.end(), word) != used.end())
      word = slot(name);
    const bool vowel = std::string_view("aeiou").find(word[0]) != std::string_view::npos;
    if (vowel && (out == "A " || out.ends_with(" a "))) out.insert(out.size() - 1, "n");
    out += word;
    used.push_back(std::move(word));
    pattern.remove_prefix(close + 1);
  }
  return out;
}

std::string PromptWriter::passage(size_t n_tokens) {
  std::string text;
  const auto subjects = passage_subjects();
  size_t subject = below(subjects.size());
  while (true) {
    const WordList sentences = subjects[subject].sentences;
    // The first sentence says where we are; the rest come in any order.
    std::vector<size_t> order(sentences.size() - 1);
    std::iota(order.begin(), order.end(), size_t{1});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    order.insert(order.begin(), 0);
    for (const size_t i : order) {
      const std::string sentence = fill(sentences[i]);
      const size_t with = estimate_tokens(text) + estimate_tokens(sentence);
      if (!text.empty() && with > n_tokens + estimate_tokens(sentence) / 2) return text;
      if (!text.empty()) text += text.ends_with('\n') ? "" : " ";
      text += sentence;
    }
    text += "\n\n";
    subject = (subject + 1) % subjects.size();
    new_scene();
  }
}

// Of several requests the one whose length comes nearest.
std::string PromptWriter::short_request(const PromptKind& kind, size_t target_tokens) {
  std::string best;
  size_t best_distance = SIZE_MAX;
  for (size_t attempt = 0; attempt < kShortAttempts; ++attempt) {
    std::string text = fill(pick(kind.short_patterns));
    if (below(2) == 1) text += " " + fill(pick(extra_requests()));
    const size_t n = estimate_tokens(text);
    const size_t distance = n > target_tokens ? n - target_tokens : target_tokens - n;
    if (distance < best_distance) {
      best_distance = distance;
      best = std::move(text);
    }
  }
  return best;
}

std::string PromptWriter::long_request(const PromptKind& kind, size_t target_tokens) {
  if (target_tokens <= kLongestShort) return short_request(kind, target_tokens);
  new_scene();
  const std::string request = fill(pick(kind.long_patterns));
  const size_t used = estimate_tokens(request) + 2;
  if (!kind.on_code)
    return request + "\n\n" + passage(target_tokens > used ? target_tokens - used : 1);
  std::string text = request + "\n";
  const WordList fragments = code_fragments();
  for (size_t at = below(fragments.size()); estimate_tokens(text) < target_tokens;
       at = (at + 1) % fragments.size()) {
    text += "\n```python\n" + std::string(fragments[at]) + "```\n";
  }
  return text;
}

size_t estimate_tokens(std::string_view text) {
  size_t n = 0;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    size_t end = at + 1;
    if (std::isalpha(c)) {
      while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
      n += 1 + (end - at) / 9;  // long words are often two tokens
    } else if (std::isspace(c)) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end]))) ++end;
      if (c == '\n' || end - at > 1) ++n;  // a single space belongs to the word after it
    } else {
      ++n;
    }
    at = end;
  }
  return n;
}

}  // namespace isobit
