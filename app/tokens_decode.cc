// `isobit tokens decode`: token ids to the text they stand for.
#include <unistd.h>

#include <charconv>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/text_input.h"
#include "app/tokens_encode.h"
#include "base/digest.h"
#include "base/error.h"
#include "report/report.h"
#include "report/untrusted_text.h"
#include "text/unicode.h"

namespace isobit::app {
namespace {

struct DecodeArguments {
  std::string tokenizer, ids;
  bool skip_special = false, raw = false;
  CLI::Option* ids_option = nullptr;
};

// "1,2,3", "1 2 3" and "[1, 2, 3]" are one list.
std::vector<int32_t> parse_ids(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\r\n[]";
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    int32_t id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || stop != word.data() + word.size())
      throw Error(ErrorCode::usage, "--ids: '" + std::string(word) + "' is not a token id",
                  "a list of numbers is expected: 1,2,3");
    ids.push_back(id);
    at = end;
  }
  return ids;
}

// Lines stay lines; what could steer a terminal does not reach one.
std::string for_terminal(std::string_view text) {
  std::string out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += visible_text(text.substr(at, end - at));
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

Json decoded_json(const Tokenizer& tokenizer, const std::vector<int32_t>& ids,
                  const std::string& text) {
  Json pieces = Json::array();
  for (const int32_t id : ids)
    pieces.push_back({{"id", id},
                      {"piece", json_text(tokenizer.token_text(id))},
                      {"text", json_text(tokenizer.token_bytes(id))},
                      {"special", tokenizer.is_special(id)}});
  Json out = {{"text", json_text(text)},
              {"valid_utf8", !find_invalid_utf8(text).has_value()},
              {"tokens", pieces}};
  if (find_invalid_utf8(text))
    out["hex"] = hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return out;
}

int decode(const DecodeArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.tokenizer);
  const std::vector<int32_t> ids =
      parse_ids(a.ids_option->count() > 0 ? a.ids : read_piped_input("give --ids, or pipe ids in"));
  const std::string text =
      loaded.tokenizer->decode(ids, a.skip_special ? SkipSpecial::kYes : SkipSpecial::kNo);
  if (session.flags.json) {
    session.console.result(json_line(decoded_json(*loaded.tokenizer, ids, text)) + "\n");
  } else if (a.raw) {
    session.console.raw_result(text);
  } else {
    session.console.raw_result((::isatty(STDOUT_FILENO) ? for_terminal(text) : text) + "\n");
    if (find_invalid_utf8(text))
      session.console.say("the ids end or begin inside a character: the text is not valid UTF-8");
  }
  return kOk;
}

}  // namespace

std::function<int()> declare_tokens_decode(CLI::App& app, Session& session) {
  auto a = std::make_shared<DecodeArguments>();
  app.add_option("--tokenizer", a->tokenizer, "Checkpoint folder, tokenizer.json or .gguf")
      ->required();
  a->ids_option = app.add_option("--ids", a->ids,
                                 "Token ids, a list: 1,2,3; without it they are read from "
                                 "standard input");
  app.add_flag("--skip-special,--no-special", a->skip_special, "Leave special tokens out");
  app.add_flag("--raw", a->raw, "The bytes alone, without a newline after them");
  app.footer("Example:\n  isobit tokens decode --tokenizer examples/tiny-kjv --ids 1,2,3");
  return [=, &session] { return decode(*a, session); };
}

}  // namespace isobit::app
