// A model's chat templates, ready to render: which one is used, the special tokens it sees, and
// what its clock says.
//
// The clock is an input. It is --now, and without that kPinnedNow: the wall clock would make
// today's prompts differ from tomorrow's. A fingerprint records it where a template reads it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/template_sources.h"
#include "base/error.h"
#include "base/json.h"
#include "text/chat_template.h"

namespace isobit::app {

inline constexpr const char* kPinnedNow = "2026-01-01T00:00:00";

// The argument of --now, or kPinnedNow when it is empty.
std::string now_or_pinned(const std::string& now);

class ChatRenderer {
 public:
  ChatRenderer() = default;
  // A template that does not parse is refused when it is used, not here. `where` names the model in
  // messages. Throws Error(usage) when `now` is not a time.
  ChatRenderer(std::vector<FoundTemplate> found, Json special_tokens, const std::string& where,
               const std::string& now = kPinnedNow);

  bool has_template() const { return !templates_.empty(); }
  // The template of that name; of a conversation with tools "tool_use" goes before "default".
  // Throws Error(usage) when there is none, or when it does not parse.
  const ChatTemplate& named(const std::string& name) const;
  const ChatTemplate& for_conversation(bool has_tools) const;

  // The special tokens join input.extra, where they are not given. Throws Error(usage).
  RenderedTemplate render(ChatInput input) const;
  RenderedTemplate render_named(const std::string& name, ChatInput input) const;

  const std::vector<FoundTemplate>& found() const { return found_; }
  const Json& special_tokens() const { return special_tokens_; }
  const std::string& now() const { return now_; }
  // Of a template that parses and names strftime_now.
  bool reads_clock() const;

  // One line each, for people: what is used although another place says something else.
  std::vector<std::string> conflicts() const;

 private:
  struct Parsed {
    std::optional<ChatTemplate> made;
    std::optional<Error> refusal;
  };
  RenderedTemplate render(const ChatTemplate& chosen, ChatInput input) const;

  std::vector<FoundTemplate> found_;
  Json special_tokens_ = Json::object();
  std::string where_;
  std::string now_ = kPinnedNow;
  std::map<std::string, Parsed> templates_;  // the used ones, by name
};

// A folder's templates and special tokens, without its tokenizer. Throws Error(environment).
ChatRenderer folder_chat(const std::string& folder, const std::string& now);

// Said when prompts hold the time.
std::string clock_notice(const std::string& now);

}  // namespace isobit::app
