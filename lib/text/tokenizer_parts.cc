#include "text/tokenizer_parts.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "text/unicode.h"

namespace isobit {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what);
}

}  // namespace

void require_token_id(int64_t id, size_t n_tokens, const std::string& where) {
  // Gaps are allowed (they exist), but not a vocabulary that is nearly all gap.
  const int64_t highest =
      std::min<int64_t>(kMaxTokenId, static_cast<int64_t>(n_tokens) * 4 + 65536);
  if (id < 0 || id > highest) {
    fail(where, "token id " + std::to_string(id) + " is out of range (0 to " +
                    std::to_string(highest) + " for " + std::to_string(n_tokens) + " tokens)");
  }
}

void check_added_tokens(std::vector<AddedToken>& tokens, const std::string& where) {
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  std::set<std::string_view> contents;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const AddedToken& token = tokens[i];
    const std::string label = "added token " + std::to_string(token.id);
    if (token.content.empty()) fail(where, label + " has no content");
    if (token.content.size() > kMaxAddedTokenBytes) {
      fail(where, label + " is " + std::to_string(token.content.size()) + " bytes long (at most " +
                      std::to_string(kMaxAddedTokenBytes) + ")");
    }
    if (find_invalid_utf8(token.content)) fail(where, label + " is not valid UTF-8");
    if (i > 0 && tokens[i - 1].id == token.id) {
      fail(where, label + " is listed twice: \"" + tokens[i - 1].content + "\" and \"" +
                      token.content + "\"");
    }
    if (!contents.insert(token.content).second)
      fail(where, label + " repeats the content \"" + token.content + "\"");
  }
}

}  // namespace isobit
