#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "base/error.h"

namespace isobit {
namespace {

constexpr size_t kJitStackStartBytes = 32 * 1024;
constexpr size_t kJitStackMaxBytes = 8 * 1024 * 1024;
constexpr size_t kJitStackBytesPerTurn = 128;
constexpr uint32_t kMinMatchLimit = 10'000'000;  // PCRE2's own default

std::string pcre2_message(int code) {
  unsigned char text[256];
  return pcre2_get_error_message(code, text, sizeof text) < 0 ? "error " + std::to_string(code)
                                                              : reinterpret_cast<const char*>(text);
}

}  // namespace

struct RegexScratch::State {
  // One pair is enough: only the bounds of the whole match are read.
  pcre2_match_data* match = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = nullptr;
  size_t stack_max_bytes = 0;

  State() {
    if (!match || !context)
      throw Error(ErrorCode::environment, "no memory for a regular expression");
    use_stack(kJitStackMaxBytes);
  }
  void use_stack(size_t max_bytes) {
    pcre2_jit_stack_free(stack);
    stack = pcre2_jit_stack_create(kJitStackStartBytes, max_bytes, nullptr);
    if (!stack) throw Error(ErrorCode::environment, "no memory for a regular expression");
    stack_max_bytes = max_bytes;
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~State() {
    pcre2_match_data_free(match);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

RegexScratch::RegexScratch() : state_(std::make_unique<State>()) {}
RegexScratch::~RegexScratch() = default;

struct Regex::Code {
  pcre2_code* compiled = nullptr;
  ~Code() { pcre2_code_free(compiled); }
};

Regex::Regex(const std::string& pattern, const std::string& where) : where_(where) {
  auto code = std::make_shared<Code>();
  int error = 0;
  PCRE2_SIZE error_at = 0;
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 100);
  code->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                 &error, &error_at, context.get());
  if (!code->compiled) {
    throw Error(ErrorCode::environment, where + ": regular expression '" + pattern +
                                            "' is not understood at byte " +
                                            std::to_string(error_at) + ": " + pcre2_message(error));
  }
  // Where the processor has no JIT the interpreter gives the same matches, more slowly.
  (void)pcre2_jit_compile(code->compiled, PCRE2_JIT_COMPLETE);
  code_ = std::move(code);
}

std::optional<Regex::Match> Regex::find(std::string_view subject, size_t from,
                                        RegexScratch& scratch) const {
  RegexScratch::State& state = *scratch.state_;
  const size_t limit =
      std::min<size_t>(UINT32_MAX, std::max<size_t>(kMinMatchLimit, subject.size() * 16));
  pcre2_set_match_limit(state.context, static_cast<uint32_t>(limit));
  const auto match = [&] {
    return pcre2_match(code_->compiled, reinterpret_cast<PCRE2_SPTR>(subject.data()),
                       subject.size(), from, PCRE2_NO_UTF_CHECK, state.match, state.context);
  };
  int rc = match();
  // A repeated group remembers each of its turns; a long text may have as many as it has bytes.
  const size_t needed = kJitStackMaxBytes + subject.size() * kJitStackBytesPerTurn;
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT && state.stack_max_bytes < needed) {
    state.use_stack(needed);
    rc = match();
  }
  if (rc == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (rc < 0) {
    throw Error(ErrorCode::environment,
                where_ + ": the pre-tokenizer's regular expression gave up at byte " +
                    std::to_string(from) + " of a text of " + std::to_string(subject.size()) +
                    " bytes: " + pcre2_message(rc));
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(state.match);
  return Match{bounds[0], bounds[1]};
}

}  // namespace isobit
