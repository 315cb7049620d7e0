#include "app/text_probes.h"

#include "base/digest.h"
#include "base/error.h"

namespace isobit::app {
namespace {

struct Sentence {
  const char* name;
  const char* text;
};

// Each meets a part of tokenizers that differs between versions: cases and contractions, digits,
// white space, other scripts and composed characters, and symbols.
constexpr Sentence kSentences[] = {
    {"code", "def f(x):\n    return x**2  # twice\n\n\n\nif (a && b) {\t->}\r\n"},
    {"numbers", "In 2024, 12345678 of 1,000,000.5 (\u00BD, \u0663\u0664) is 0x1F."},
    {"scripts",
     "na\u00EFve cafe\u0301 \u4ECA\u5929 \u6771\u4EAC\u30BF\u30EF\u30FC "
     "\u041C\u043E\u0441\u043A\u0432\u0430 \u05E9\u05DC\u05D5\u05DD "
     "\U0001F469\u200D\U0001F680"},
    {"sentence", "The quick brown fox DOESN'T jump over 'tis lazy dog; it's what we've said."},
    {"white_space", "  two  spaces\n\n \tand\u00A0more   "},
};

TextProbe probe_of(const Tokenizer& tokenizer, const char* name, const std::string& text,
                   AddSpecial add_special) {
  TextProbe probe{
      .name = name, .text = text, .ids = tokenizer.encode(text, add_special), .pieces = {}};
  for (const int32_t id : probe.ids) probe.pieces.emplace_back(tokenizer.token_text(id));
  return probe;
}

std::string rendered_conversation(const LoadedText& text) {
  const Json conversation =
      Json::array({{{"role", "system"}, {"content", "Answer briefly."}},
                   {{"role", "user"},
                    {"content", "What is 2 + 2? Say it in words, na\u00EFvely: \u4E8C + \u4E8C."}},
                   {{"role", "assistant"}, {"content", "Four."}},
                   {{"role", "user"}, {"content", "  And 3?\n"}}});
  return text.chat.render({.messages = conversation}).text;
}

void add_conversation(const LoadedText& text, TextInputs& out) {
  std::string rendered;
  try {
    rendered = rendered_conversation(text);
  } catch (const Error& e) {
    out.rendered_probe_digest = "refused: " + e.message();  // no system role, say
    return;
  }
  const TextProbe probe = probe_of(*text.tokenizer, "conversation", rendered, AddSpecial::kNo);
  Sha256 digest;
  digest.update_framed(rendered);
  for (const int32_t id : probe.ids) digest.update_framed(std::to_string(id));
  out.rendered_probe_digest = hex(digest.finish());
  out.probes.push_back(probe);
}

void add_template_digests(const ChatRenderer& chat, TextInputs& out) {
  for (const FoundTemplate& t : chat.found()) {
    if (t.used && t.name != "default") out.named_template_digests[t.name] = t.digest();
  }
  for (const FoundTemplate* t : shadowed_templates(chat.found()))
    out.unused_template_digests[t->place] = t->digest();
  const FoundTemplate* main_template = used_template(chat.found(), "default");
  out.chat_template_digest = main_template != nullptr ? main_template->digest() : "absent";
  if (chat.reads_clock()) out.template_clock = chat.now();
}

}  // namespace

TextInputs text_fingerprint_inputs(const LoadedText& text) {
  TextInputs out;
  out.tokenizer_digest = text.tokenizer->digest();
  for (const Sentence& sentence : kSentences)
    out.probes.push_back(probe_of(*text.tokenizer, sentence.name, sentence.text, AddSpecial::kYes));
  if (!text.chat.has_template()) {
    out.chat_template_digest = out.rendered_probe_digest = "absent";  // a fact, not a gap
    return out;
  }
  add_template_digests(text.chat, out);
  add_conversation(text, out);
  return out;
}

}  // namespace isobit::app
