// `isobit inspect template SRC`: which chat template a model has, what it reads, and what it makes
// of a conversation.
#include <filesystem>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/inspect.h"
#include "app/loaded_model.h"
#include "base/error.h"
#include "base/shell_word.h"
#include "report/report.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

struct InspectTemplateArguments {
  std::string source, name = "default";
};

// The templates, and the tokenizer that shows special tokens where there is one.
struct InspectedTemplate {
  ChatRenderer chat;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string no_tokenizer;  // why there is none
};

InspectedTemplate open(const std::string& source, const std::string& now) {
  InspectedTemplate out;
  if (is_template_file(source)) {
    out.chat = ChatRenderer({template_file(source)}, Json::object(), source, now);
    out.no_tokenizer = "a template file has no tokenizer";
    return out;
  }
  try {
    LoadedText text = load_text(source, now);
    out.chat = std::move(text.chat);
    out.tokenizer = std::move(text.tokenizer);
  } catch (const Error& e) {
    if (!fs::is_directory(source)) throw;
    // A folder's templates can be read without its tokenizer.
    out.chat = folder_chat(source, now);
    out.no_tokenizer = e.message();
  }
  return out;
}

Json probe_messages() {
  return Json::array({{{"role", "system"}, {"content", "Answer briefly."}},
                      {{"role", "user"}, {"content", "What is 2 + 2?"}},
                      {{"role", "assistant"}, {"content", "Four."}},
                      {{"role", "user"}, {"content", "And 3?"}}});
}

struct Probe {
  RenderedTemplate rendered;
  std::string refusal;  // what the template said instead
  bool has_system = true;
};

// Templates that know no system role refuse the first conversation.
Probe rendered_probe(const ChatRenderer& chat, const std::string& name) {
  Probe probe;
  Json messages = probe_messages();
  for (const bool has_system : {true, false}) {
    probe.has_system = has_system;
    if (!has_system) messages.erase(0);
    try {
      probe.rendered = chat.render_named(name, {.messages = messages});
      probe.refusal.clear();
      return probe;
    } catch (const Error& e) {
      if (probe.refusal.empty()) probe.refusal = e.message();
    }
  }
  return probe;
}

struct Piece {
  std::string text;
  bool special = false;
};

// The text cut at its special tokens.
std::vector<Piece> pieces_of(const std::string& text, const Tokenizer* tokenizer) {
  std::vector<Piece> out;
  size_t done = 0;
  if (tokenizer != nullptr) {
    for (const int32_t id : tokenizer->encode(text, AddSpecial::kNo)) {
      if (!tokenizer->is_special(id)) continue;
      const std::string spelling(tokenizer->token_text(id));
      const size_t at = text.find(spelling, done);
      if (spelling.empty() || at == std::string::npos) continue;
      if (at > done) out.push_back({text.substr(done, at - done), false});
      out.push_back({spelling, true});
      done = at + spelling.size();
    }
  }
  if (done < text.size()) out.push_back({text.substr(done), false});
  return out;
}

// "[<|im_start|>]user\n" with real line breaks after the visible ones.
std::string shown(const std::vector<Piece>& pieces) {
  std::string out = "  ";
  for (const Piece& piece : pieces) {
    if (piece.special) out += "[" + printable(piece.text) + "]";
    for (size_t at = 0; !piece.special && at < piece.text.size();) {
      const size_t newline = std::min(piece.text.find('\n', at), piece.text.size());
      out += printable(piece.text.substr(at, newline - at));
      if (newline < piece.text.size()) out += "\\n\n  ";
      at = newline + 1;
    }
  }
  return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
}

const char* yes_no(bool yes) {
  return yes ? "yes" : "no";
}

std::string templates_listing(const ChatRenderer& chat) {
  std::string out = "templates\n";
  for (const FoundTemplate& t : chat.found())
    out += fact(t.name, fmt::format("{}, {} bytes, sha256 {}{}", t.place, t.source.size(),
                                    t.digest(), t.used ? "" : ", not used"));
  return out;
}

std::string facts_listing(const ChatTemplate& t, const ChatRenderer& chat) {
  std::string names;
  for (const std::string& name : t.variables()) names += (names.empty() ? "" : ", ") + name;
  std::string out = fact("reads", names.empty() ? "no variable" : names);
  out +=
      fact("reads the clock", t.reads_clock() ? "yes: it says " + chat.now() + " (--now)" : "no");
  out += fact("uses tools", yes_no(t.reads("tools")));
  out += fact("uses documents", yes_no(t.reads("documents")));
  out += fact("marks answers", t.marks_generation() ? "yes ({% generation %})" : "no");
  out += fact("refuses inputs", t.reads("raise_exception") ? "yes (raise_exception)" : "no");
  std::string tokens;
  for (const auto& [name, token] : chat.special_tokens().items())
    tokens += (tokens.empty() ? "" : ", ") + name + " " + token.get<std::string>();
  return out + fact("special tokens", tokens.empty() ? "none known" : tokens);
}

std::string listing(const InspectedTemplate& inspected, const ChatTemplate& chosen,
                    const InspectTemplateArguments& a) {
  const ChatRenderer& chat = inspected.chat;
  std::string out = templates_listing(chat) + "\n" + a.name + "\n" + facts_listing(chosen, chat);
  const Probe probe = rendered_probe(chat, a.name);
  if (!probe.refusal.empty()) return out + "\nprobe refused: " + printable(probe.refusal) + "\n";
  out += fmt::format("\nprobe{}{}\n", probe.has_system ? "" : ", without a system message",
                     inspected.tokenizer ? ", [special tokens]" : "");
  out += shown(pieces_of(probe.rendered.text, inspected.tokenizer.get()));
  if (!inspected.tokenizer)
    out += "note: special tokens are not marked: " + printable(inspected.no_tokenizer) + "\n";
  return out;
}

Json template_json(const InspectedTemplate& inspected, const ChatTemplate& t,
                   const InspectTemplateArguments& a) {
  const ChatRenderer& chat = inspected.chat;
  Json templates = Json::array(), pieces = Json::array();
  for (const FoundTemplate& f : chat.found())
    templates.push_back({{"name", f.name},
                         {"place", f.place},
                         {"bytes", f.source.size()},
                         {"sha256", f.digest()},
                         {"used", f.used}});
  const Probe probe = rendered_probe(chat, a.name);
  for (const Piece& p : pieces_of(probe.rendered.text, inspected.tokenizer.get()))
    pieces.push_back({{"text", p.text}, {"special", p.special}});
  return {{"source", a.source},
          {"templates", templates},
          {"conflicts", chat.conflicts()},
          {"inspected", a.name},
          {"sha256", t.digest()},
          {"variables", t.variables()},
          {"reads_clock", t.reads_clock()},
          {"now", chat.now()},
          {"uses_tools", t.reads("tools")},
          {"uses_documents", t.reads("documents")},
          {"marks_generation", t.marks_generation()},
          {"raises", t.reads("raise_exception")},
          {"special_tokens", chat.special_tokens()},
          {"probe",
           {{"text", probe.refusal.empty() ? Json(probe.rendered.text) : Json()},
            {"refusal", probe.refusal.empty() ? Json() : Json(probe.refusal)},
            {"system_message", probe.has_system},
            {"pieces", pieces}}}};
}

int inspect(const InspectTemplateArguments& a, Session& session) {
  if (!fs::exists(a.source))
    throw Error(ErrorCode::environment, "'" + a.source + "' does not exist",
                "give a checkpoint folder, a .gguf or a .jinja file");
  const InspectedTemplate inspected = open(a.source, now_or_pinned(session.flags.now));
  for (const std::string& conflict : inspected.chat.conflicts()) session.console.warn(conflict);
  const ChatTemplate& chosen = inspected.chat.named(a.name);
  session.console.result(session.flags.json ? json_line(template_json(inspected, chosen, a))
                                            : listing(inspected, chosen, a));
  session.console.suggest(
      fmt::format("isobit tokens render --template {} --messages FILE", shell_word(a.source)));
  return kOk;
}

}  // namespace

std::function<int()> declare_inspect_template(CLI::App& app, Session& session) {
  auto a = std::make_shared<InspectTemplateArguments>();
  app.add_option("SRC", a->source, "Checkpoint folder, .gguf or .jinja file")->required();
  app.add_option("--name", a->name, "Another of its templates (default: default)");
  return [=, &session] { return inspect(*a, session); };
}

}  // namespace isobit::app
