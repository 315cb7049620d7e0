#include "app/chat_renderer.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/stored_json.h"

namespace isobit::app {
namespace {

constexpr const char* kDefault = "default";
constexpr const char* kToolUse = "tool_use";

std::string names_of(const std::vector<FoundTemplate>& found) {
  std::string out;
  for (const FoundTemplate& t : found) {
    if (t.used) out += (out.empty() ? "" : ", ") + t.name;
  }
  return out;
}

}  // namespace

std::string now_or_pinned(const std::string& now) {
  if (now.empty()) return kPinnedNow;
  // One spelling of one time: what is recorded is compared as text.
  const std::chrono::local_seconds time = parse_clock(now);
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string clock_notice(const std::string& now) {
  return "the chat template reads the clock: prompts are rendered as of " + now + " (--now)";
}

ChatRenderer folder_chat(const std::string& folder, const std::string& now) {
  const std::filesystem::path path = folder;
  const std::optional<Json> config = read_stored_object(path / "tokenizer_config.json");
  return {folder_templates(path, config), folder_special_tokens(path, config), folder, now};
}

ChatRenderer::ChatRenderer(std::vector<FoundTemplate> found, Json special_tokens,
                           const std::string& where, const std::string& now)
    : found_(std::move(found)),
      special_tokens_(std::move(special_tokens)),
      where_(where),
      now_(now) {
  parse_clock(now_);
  for (const FoundTemplate& t : found_) {
    if (!t.used || templates_.contains(t.name)) continue;
    try {
      templates_[t.name].made = ChatTemplate::parse(t.source, where + ": " + t.place);
    } catch (const Error& e) {
      templates_[t.name].refusal = e;
    }
  }
}

const ChatTemplate& ChatRenderer::named(const std::string& name) const {
  const auto at = templates_.find(name);
  if (at != templates_.end() && at->second.refusal) throw *at->second.refusal;
  if (at != templates_.end()) return *at->second.made;
  if (templates_.empty()) {
    throw Error(
        ErrorCode::usage, "'" + where_ + "' has no chat template",
        "use prompts with \"prompt\" or \"prompt_token_ids\" instead of \"messages\": --prompts "
        "edge has such, or a file of your own");
  }
  throw Error(ErrorCode::usage, "'" + where_ + "' has no chat template named '" + name +
                                    "', only " + names_of(found_));
}

const ChatTemplate& ChatRenderer::for_conversation(bool has_tools) const {
  return named(has_tools && templates_.contains(kToolUse) ? kToolUse : kDefault);
}

RenderedTemplate ChatRenderer::render(ChatInput input) const {
  const ChatTemplate& chosen = for_conversation(!input.tools.is_null());
  return render(chosen, std::move(input));
}

RenderedTemplate ChatRenderer::render_named(const std::string& name, ChatInput input) const {
  return render(named(name), std::move(input));
}

RenderedTemplate ChatRenderer::render(const ChatTemplate& chosen, ChatInput input) const {
  for (const auto& [name, token] : special_tokens_.items()) {
    if (!input.extra.contains(name)) input.extra[name] = token;
  }
  RenderOptions options;
  options.now = parse_clock(now_);
  return chosen.render_in_full(chat_variables(input), options);
}

bool ChatRenderer::reads_clock() const {
  return std::any_of(templates_.begin(), templates_.end(),
                     [](const auto& t) { return t.second.made && t.second.made->reads_clock(); });
}

std::vector<std::string> ChatRenderer::conflicts() const {
  std::vector<std::string> out;
  for (const FoundTemplate* t : shadowed_templates(found_)) {
    const FoundTemplate* used = used_template(found_, t->name);
    out.push_back(used != nullptr
                      ? fmt::format("the chat template is that of {} (sha256 {:.12}); {} holds "
                                    "another one (sha256 {:.12}), which is not used",
                                    used->place, used->digest(), t->place, t->digest())
                      : fmt::format("the chat template '{}' of {} (sha256 {:.12}) is not used: "
                                    ".jinja files go before it",
                                    t->name, t->place, t->digest()));
  }
  return out;
}

}  // namespace isobit::app
