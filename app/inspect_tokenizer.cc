// `isobit inspect tokenizer SRC`: how text becomes ids, step by step, and an example.
#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/inspect.h"
#include "app/loaded_model.h"
#include "app/step_words.h"
#include "base/shell_word.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"
#include "text/unicode.h"

namespace isobit::app {
namespace {

// Spaces, a contraction, digits, CJK, an emoji made of three characters, and a line break.
constexpr const char* kProbe =
    "  Don't panic: na\u00EFve caf\u00E9s, 12345 \u4ECA\u5929 \U0001F469\u200D\U0001F680\n";

struct InspectTokenizerArguments {
  std::string source, text;
  bool all = false;
  CLI::Option* text_option = nullptr;
};

std::string named_token(const Tokenizer& t, std::optional<int32_t> id, const std::string& from) {
  if (!id) return "none";
  return fmt::format("{} {}{}", *id, t.token_text(*id), from.empty() ? "" : " (from " + from + ")");
}

std::string tokens_of(const Tokenizer& t, const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", id, t.token_text(id));
  return out.empty() ? "nothing" : out;
}

std::string identity_listing(const Tokenizer& t) {
  std::string out = "tokenizer\n";
  out += fact("model", t.n_merges() ? fmt::format("{}, {} merges", t.model_kind(), t.n_merges())
                                    : std::string(t.model_kind()));
  out += fact("vocabulary", fmt::format("{} ids", t.vocab_size()));
  out += fact("BOS", named_token(t, t.bos_id(), t.bos_from()));
  out += fact("EOS", named_token(t, t.eos_id(), t.eos_from()));
  out += fact("padding", named_token(t, t.pad_id(), ""));
  out += fact("unknown", named_token(t, t.unknown_id(), ""));
  out += fact("put before a text", tokens_of(t, t.prefix_ids()));
  out += fact("put after a text", tokens_of(t, t.suffix_ids()));
  out += fact("digest", t.digest());
  return out;
}

std::string steps_listing(const std::string& title, const Json& steps) {
  std::string out = title + "\n";
  if (steps.empty()) return out + "  nothing\n";
  size_t n = 0;
  for (const Json& step : steps)
    out += fmt::format("  {}. {}", ++n, wrapped_words(printable(step_in_words(step)), 5));
  return out;
}

std::string flags_of(const AddedToken& token) {
  std::string out = token.special ? "special" : "ordinary";
  if (token.single_word) out += ", whole words only";
  if (token.lstrip) out += ", with the white space before";
  if (token.rstrip) out += ", with the white space after";
  if (token.normalized) out += ", found after normalization";
  return out;
}

std::string added_listing(const Tokenizer& t, bool all) {
  constexpr size_t kShown = 12;
  const std::vector<AddedToken>& added = t.added_tokens();
  std::string out = fmt::format("added tokens: {}\n", added.size());
  for (size_t i = 0; i < added.size() && (all || i < kShown); ++i)
    out += fmt::format("  {:>7}  {:<24}  {}\n", added[i].id, printable(added[i].content),
                       flags_of(added[i]));
  if (!all && added.size() > kShown)
    out += fmt::format("  ... and {} more (--all)\n", added.size() - kShown);
  return out;
}

std::string probe_listing(const Tokenizer& t, const std::string& text) {
  const std::vector<int32_t> ids = t.encode(text, AddSpecial::kYes);
  std::string out = fmt::format("probe: \"{}\"\n  ", printable(text));
  size_t column = 2;
  for (const int32_t id : ids) {
    const std::string word = fmt::format("{}[{}] ", printable(t.token_text(id)), id);
    if (column + display_width(word) > kTerminalColumns) {
      out += "\n  ";
      column = 2;
    }
    out += word;
    column += display_width(word);
  }
  out += fmt::format("\n  {} tokens; decoding gives {}\n", ids.size(),
                     t.round_trips(text) ? "the text back" : "another text back");
  return out;
}

std::string listing(const Tokenizer& t, const std::string& text, bool all) {
  const Tokenizer::Steps steps = t.steps();
  std::string out = identity_listing(t) + "\n";
  out += steps_listing("text is normalized by", steps.normalizer);
  out += steps_listing("then cut into pieces by", steps.pre_tokenizer);
  out += steps_listing("ids are decoded by", steps.decoder);
  out += "\n" + added_listing(t, all) + "\n" + probe_listing(t, text);
  for (const std::string& note : t.notes()) out += "note: " + wrapped_words(printable(note), 6);
  return out;
}

Json named_json(const Tokenizer& t, std::optional<int32_t> id, const std::string& from) {
  if (!id) return {};
  return {{"id", *id}, {"piece", json_text(t.token_text(*id))}, {"from", from}};
}

Json added_json(const Tokenizer& t) {
  Json out = Json::array();
  for (const AddedToken& token : t.added_tokens())
    out.push_back({{"id", token.id},
                   {"content", json_text(token.content)},
                   {"special", token.special},
                   {"single_word", token.single_word},
                   {"lstrip", token.lstrip},
                   {"rstrip", token.rstrip},
                   {"normalized", token.normalized}});
  return out;
}

Json tokenizer_json(const Tokenizer& t, const std::string& text) {
  const Tokenizer::Steps steps = t.steps();
  const std::vector<int32_t> ids = t.encode(text, AddSpecial::kYes);
  Json pieces = Json::array(), notes = Json::array();
  for (const int32_t id : ids) pieces.push_back(json_text(t.token_text(id)));
  for (const std::string& note : t.notes()) notes.push_back(json_text(note));
  return {{"model", t.model_kind()},
          {"n_merges", t.n_merges()},
          {"vocab_size", t.vocab_size()},
          {"bos", named_json(t, t.bos_id(), t.bos_from())},
          {"eos", named_json(t, t.eos_id(), t.eos_from())},
          {"pad", named_json(t, t.pad_id(), "")},
          {"unknown", named_json(t, t.unknown_id(), "")},
          {"prefix_ids", t.prefix_ids()},
          {"suffix_ids", t.suffix_ids()},
          {"normalizer", steps.normalizer},
          {"pre_tokenizer", steps.pre_tokenizer},
          {"decoder", steps.decoder},
          {"added_tokens", added_json(t)},
          {"digest", t.digest()},
          {"character_tables", text_library_versions()},
          {"probe", {{"text", text}, {"ids", ids}, {"pieces", pieces}}},
          {"notes", notes}};
}

int inspect(const InspectTokenizerArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.source);
  const Tokenizer& t = *loaded.tokenizer;
  const std::string text = a.text_option->count() > 0 ? a.text : kProbe;
  require_utf8(text, "--text");
  session.console.result(session.flags.json ? json_line(tokenizer_json(t, text)) + "\n"
                                            : listing(t, text, a.all));
  session.console.suggest(
      fmt::format("isobit tokens encode --tokenizer {} --text '...'", shell_word(a.source)));
  return kOk;
}

}  // namespace

std::function<int()> declare_inspect_tokenizer(CLI::App& app, Session& session) {
  auto a = std::make_shared<InspectTokenizerArguments>();
  app.add_option("SRC", a->source, "Checkpoint folder, tokenizer.json or .gguf")->required();
  a->text_option = app.add_option("--text", a->text, "Another sentence than the usual probe");
  app.add_flag("--all", a->all, "Every added token, not the first twelve");
  return [=, &session] { return inspect(*a, session); };
}

}  // namespace isobit::app
