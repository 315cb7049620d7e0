// `isobit tokens encode|decode|render`: what a model's tokenizer and chat template do.
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/text_input.h"
#include "app/tokens_encode.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

struct TokensArguments {
  std::string template_source, messages, tools;
  std::vector<std::string> variables;  // "NAME=JSON"
  bool no_generation_prompt = false;
};

// The file holds the messages themselves, or an object with them and further variables.
void read_messages(const std::string& path, ChatInput& input) {
  Json value = parse_json(read_input(path), path);
  if (value.is_array()) {
    input.messages = std::move(value);
    return;
  }
  if (!value.is_object() || !value.contains("messages"))
    throw Error(ErrorCode::usage,
                path + ": an array of messages, or an object with \"messages\", is expected");
  for (auto& [key, member] : value.items()) {
    if (key == "messages")
      input.messages = member;
    else if (key == "tools")
      input.tools = member;
    else if (key == "documents")
      input.documents = member;
    else if (key == "add_generation_prompt")
      input.add_generation_prompt = member.is_boolean() && member.get<bool>();
    else
      input.extra[key] = member;
  }
}

int render(const TokensArguments& a, Session& session) {
  ChatInput input;
  const ChatRenderer chat = open_chat(a.template_source, now_or_pinned(session.flags.now));
  read_messages(a.messages, input);
  if (!a.tools.empty()) input.tools = parse_json(read_input(a.tools), a.tools);
  if (a.no_generation_prompt) input.add_generation_prompt = false;
  for (const std::string& variable : a.variables) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::usage, "--var: '" + variable + "' is not NAME=JSON");
    const std::string name = variable.substr(0, equals);
    input.extra[name] = parse_json(variable.substr(equals + 1), "--var " + name);
  }
  for (const std::string& conflict : chat.conflicts()) session.console.warn(conflict);
  const RenderedTemplate rendered = chat.render(std::move(input));
  if (session.flags.json)
    session.console.json_result(
        json_line({{"text", json_text(rendered.text)},
                   {"clock", rendered.clock_was_read ? Json(chat.now()) : Json()}}));
  else
    session.console.raw_result(rendered.text);
  if (rendered.clock_was_read) session.console.say(clock_notice(chat.now()));
  return kOk;
}

}  // namespace

std::function<int()> declare_tokens(CLI::App& app, Session& session) {
  auto a = std::make_shared<TokensArguments>();
  app.require_subcommand(1);
  CLI::App* encode_app = app.add_subcommand("encode", "Text to token ids");
  const std::function<int()> encode = declare_tokens_encode(*encode_app, session);
  CLI::App* decode_app = app.add_subcommand("decode", "Token ids to text");
  const std::function<int()> decode = declare_tokens_decode(*decode_app, session);
  CLI::App* render_app =
      app.add_subcommand("render", "Messages to the prompt that a chat template makes of them");
  render_app
      ->add_option("--template", a->template_source, "Checkpoint folder, .gguf, or a .jinja file")
      ->required();
  render_app
      ->add_option("--messages", a->messages,
                   "JSON file: an array of messages; - is standard input")
      ->required();
  render_app->add_option("--tools", a->tools, "JSON file: an array of tools");
  render_app
      ->add_option("--var", a->variables, "NAME=JSON, a variable of the template (repeatable)")
      ->expected(1)
      ->take_all();
  render_app->add_flag("--no-generation-prompt", a->no_generation_prompt,
                       "Do not open the assistant's turn");
  for (CLI::App* sub : {encode_app, decode_app, render_app}) sub->fallthrough();
  render_app->footer(
      "Example:\n  isobit tokens render --template examples/tiny-kjv --messages m.json");
  return [=, &session] {
    return encode_app->parsed() ? encode() : decode_app->parsed() ? decode() : render(*a, session);
  };
}

}  // namespace isobit::app
