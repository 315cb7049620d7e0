// Chat templates: the Jinja2 text in a checkpoint that turns a conversation into a prompt.
//
// A template decides bytes, so it has to give the bytes that the reference gives: jinja2 3.1 as
// transformers sets it up (ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks, loop
// controls, the generation tag, tojson without HTML escapes). It comes from strangers, so it runs
// with bounded steps, memory, output and depth, and can reach nothing: the clock is an argument,
// and asking for it without one is an error.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace isobit {

struct RenderOptions {
  // What strftime_now() reads: a local time without zone. Absent: a template that reads the clock
  // is refused.
  std::optional<std::chrono::local_seconds> now;
  size_t max_steps =
      20'000'000;  // nodes visited and elements made, and one per 16 bytes of text made
  size_t max_output_bytes = size_t{64} << 20;
};

// Text of {% generation %} blocks in the output, in bytes: what an assistant mask covers.
struct GenerationRange {
  size_t begin_byte = 0;
  size_t end_byte = 0;
};

struct RenderedTemplate {
  std::string text;  // UTF-8
  bool clock_was_read = false;
  std::vector<GenerationRange> generation;
};

class ChatTemplate {
 public:
  // `where` names the template in messages ("model.gguf: tokenizer.chat_template"). Throws
  // Error(usage) with the line: a syntax error, or a construct that this interpreter does not have.
  static ChatTemplate parse(std::string_view source, const std::string& where);

  // `variables` is an object; every member is a variable of the template. Throws Error(usage) with
  // the line and the name of the Python exception that jinja2 would raise.
  std::string render(const Json& variables, const RenderOptions& options = {}) const;
  RenderedTemplate render_in_full(const Json& variables, const RenderOptions& options = {}) const;

  // Whether the template names strftime_now: its output may change from day to day.
  bool reads_clock() const;
  // The variables that it reads, sorted: what it does not define by itself, functions left out.
  std::vector<std::string> variables() const;
  // Whether it reads a variable or a function of that name (raise_exception, tools ...).
  bool reads(std::string_view name) const;
  bool marks_generation() const;
  const std::string& digest() const { return digest_; }  // SHA-256 of the source, hex
  const std::string& source() const { return source_; }
  const std::string& where() const { return where_; }

 private:
  struct Tree;
  ChatTemplate() = default;
  std::string source_;
  std::string where_;
  std::string digest_;
  std::shared_ptr<const Tree> tree_;
};

// The variables that transformers' apply_chat_template passes: `messages`, `tools` and `documents`
// (null when there are none, so that they are defined), `add_generation_prompt`, then the members
// of `extra` (bos_token, enable_thinking
// ...). A message's reasoning is passed under each name that templates read, as transformers does
// it: `reasoning_content` is filled from `thinking` or `reasoning`, and `thinking` from it. Throws
// Error(usage) when a part has the wrong shape.
struct ChatInput {
  Json messages;             // array of objects
  Json tools = nullptr;      // array of JSON schemas, or null
  Json documents = nullptr;  // array of objects, or null
  bool add_generation_prompt = true;
  Json extra = Json::object();
};
Json chat_variables(const ChatInput& input);

// "2026-01-31" or "2026-01-31T12:34:56", a date or date-time of RFC 3339 without its offset, of the
// years 1970 to 9999. Throws Error(usage).
std::chrono::local_seconds parse_clock(std::string_view text);

}  // namespace isobit
