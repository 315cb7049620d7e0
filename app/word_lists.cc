#include "app/word_lists.h"

#include <charconv>

#include "base/error.h"

namespace isobit::app {

std::vector<std::string> split_words(const std::string& text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  for (size_t at; (at = text.find(separator, start)) != std::string::npos; start = at + 1)
    out.push_back(text.substr(start, at - start));
  out.push_back(text.substr(start));
  return out;
}

std::vector<int> positive_numbers(const std::string& flag, const std::string& text) {
  std::vector<int> out;
  for (const std::string& word : split_words(text)) {
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1) {
      throw Error(ErrorCode::usage, flag + ": '" + word + "' is not a whole number from 1");
    }
    out.push_back(value);
  }
  return out;
}

}  // namespace isobit::app
