// `isobit tokens encode|decode|render`: what a model's tokenizer and chat template do.
#include <charconv>
#include <filesystem>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/word_lists.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"

namespace isobit::app {
namespace {

struct TokensArguments {
  std::string tokenizer, text, text_file, ids;
  std::string template_source, messages, tools, now;
  std::vector<std::string> variables;  // "NAME=JSON"
  bool no_special = false, no_generation_prompt = false, skip_special = false;
};

std::string read_input(const std::string& path) {
  if (path != "-") return read_file(path);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int encode(const TokensArguments& a, Session& session) {
  if (a.text_file.empty() && a.text.empty())
    throw Error(ErrorCode::usage, "give --text or --text-file");
  if (!a.text_file.empty() && !a.text.empty())
    throw Error(ErrorCode::usage, "--text and --text-file exclude each other");
  const LoadedText loaded = load_text(a.tokenizer);
  const std::string text = a.text_file.empty() ? a.text : read_input(a.text_file);
  const auto ids =
      loaded.tokenizer->encode(text, a.no_special ? AddSpecial::kNo : AddSpecial::kYes);
  if (session.flags.json) {
    session.console.result(Json{{"ids", ids}}.dump() + "\n");
    return kOk;
  }
  std::string out;
  for (const int32_t id : ids)
    out += fmt::format("{:>8}  {}\n", id, printable(loaded.tokenizer->token_text(id)));
  session.console.result(out + fmt::format("{} tokens\n", ids.size()));
  return kOk;
}

int decode(const TokensArguments& a, Session& session) {
  const LoadedText loaded = load_text(a.tokenizer);
  std::vector<int32_t> ids;
  for (const std::string& word : split_words(a.ids)) {
    int32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size())
      throw Error(ErrorCode::usage, "--ids: '" + word + "' is not a token id");
    ids.push_back(id);
  }
  const std::string text =
      loaded.tokenizer->decode(ids, a.skip_special ? SkipSpecial::kYes : SkipSpecial::kNo);
  session.console.result(session.flags.json ? json_line(Json{{"text", text}}) : text + "\n");
  return kOk;
}

// A template file stands alone; a model brings its special tokens.
ChatTemplate open_template(const std::string& source, Json& extra) {
  const std::string extension = std::filesystem::path(source).extension().string();
  if (extension == ".jinja" || extension == ".jinja2" || extension == ".j2")
    return ChatTemplate::parse(read_file(source, size_t{16} << 20), source);
  const LoadedText loaded = load_text(source);
  if (!loaded.chat_template) throw Error(ErrorCode::usage, "'" + source + "' has no chat template");
  extra["bos_token"] = loaded.tokenizer->bos_token();
  extra["eos_token"] = loaded.tokenizer->eos_token();
  return *loaded.chat_template;
}

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
  const ChatTemplate chat_template = open_template(a.template_source, input.extra);
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
  RenderOptions options;
  if (!a.now.empty()) options.now = parse_clock(a.now);
  session.console.result(chat_template.render(chat_variables(input), options));
  return kOk;
}

}  // namespace

std::function<int()> declare_tokens(CLI::App& app, Session& session) {
  auto a = std::make_shared<TokensArguments>();
  app.require_subcommand(1);
  CLI::App* encode_app = app.add_subcommand("encode", "Text to token ids");
  encode_app->add_option("--tokenizer", a->tokenizer, "Checkpoint folder or .gguf")->required();
  encode_app->add_option("--text", a->text, "The text itself");
  encode_app->add_option("--text-file", a->text_file, "A file with the text; - is standard input");
  encode_app->add_flag("--no-special", a->no_special, "Add no BOS or EOS");
  CLI::App* decode_app = app.add_subcommand("decode", "Token ids to text");
  decode_app->add_option("--tokenizer", a->tokenizer, "Checkpoint folder or .gguf")->required();
  decode_app->add_option("--ids", a->ids, "Token ids, a list: 1,2,3")->required();
  decode_app->add_flag("--skip-special", a->skip_special, "Leave special tokens out");
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
  render_app->add_option("--now", a->now,
                         "What the template's clock says: 2026-01-31 or 2026-01-31T12:34:56");
  render_app->add_flag("--no-generation-prompt", a->no_generation_prompt,
                       "Do not open the assistant's turn");
  for (CLI::App* sub : {encode_app, decode_app, render_app}) sub->fallthrough();
  decode_app->footer("Example:\n  isobit tokens decode --tokenizer examples/tiny-kjv --ids 1,2,3");
  render_app->footer(
      "Example:\n  isobit tokens render --template examples/tiny-kjv --messages m.json");
  return [=, &session] {
    return encode_app->parsed()   ? encode(*a, session)
           : decode_app->parsed() ? decode(*a, session)
                                  : render(*a, session);
  };
}

}  // namespace isobit::app
