#include "app/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"

namespace isobit::app {
namespace {

bool styled(int fd, const std::string& color) {
  if (color == "always") return true;
  if (color == "never" || std::getenv("NO_COLOR")) return false;
  const char* term = std::getenv("TERM");
  return ::isatty(fd) && term && std::string_view(term) != "dumb";
}

// Length of the valid UTF-8 sequence at the start of `s`, 0 if there is none; `code` is its code
// point.
size_t utf8_at(std::string_view s, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = byte(0);
  const size_t n = c < 0x80                ? 1
                   : c >= 0xC2 && c < 0xE0 ? 2
                   : c >= 0xE0 && c < 0xF0 ? 3
                   : c >= 0xF0 && c < 0xF5 ? 4
                                           : 0;
  if (n == 0 || s.size() < n) return 0;
  code = n == 1 ? c : c & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  return overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

bool is_unsafe(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
         c == 0xFEFF || c == 0x061C;
}

}  // namespace

void write_stderr(std::string_view text) {
  // Where even this fails, there is nowhere left to say so; the exit code still does.
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    uint32_t code = 0;
    const size_t n = utf8_at(text.substr(i), code);
    if (n == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      i += 1;
      continue;
    }
    if (code == '\n') {
      out += "\\n";
    } else if (is_unsafe(code)) {
      out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    } else {
      out += text.substr(i, n);
    }
    i += n;
  }
  return out;
}

void Console::configure(const GlobalFlags& flags) {
  flags_ = flags;
  bar_ = !flags.quiet && (flags.progress == "bar" ||
                          (flags.progress == "auto" && !flags.plain && ::isatty(STDERR_FILENO)));
  stderr_styled_ = !flags.plain && styled(STDERR_FILENO, flags.color);
  stdout_styled_ = !flags.plain && !flags.json && styled(STDOUT_FILENO, flags.color);
  if (flags.log_file.empty()) return;
  log_.open(flags.log_file, std::ios::app);
  if (!log_)
    throw Error(ErrorCode::environment, "cannot open the log file '" + flags.log_file + "'");
}

void Console::log(std::string_view line) {
  if (log_.is_open()) log_ << line << '\n' << std::flush;
}

void Console::result(std::string_view text) {
  clear_bar();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::environment, "cannot write to standard output");
  }
}

void Console::say(std::string_view line) {
  log(line);
  if (flags_.quiet) return;
  clear_bar();
  write_stderr(fmt::format("{}\n", line));
}

void Console::detail(std::string_view line) {
  if (flags_.verbose) {
    say(line);
  } else {
    log(line);
  }
}

void Console::warn(std::string_view line) {
  log(fmt::format("warning: {}", line));
  clear_bar();
  write_stderr(fmt::format("warning: {}\n", line));
}

void Console::suggest(std::string_view command) {
  if (!flags_.json) say(fmt::format("next: {}", command));
}

void Console::clear_bar() {
  if (bar_drawn_) write_stderr("\r\x1b[K");
  bar_drawn_ = false;
}

void Console::progress(int64_t done, int64_t total, double tokens_per_s, double eta_s,
                       std::string_view what) {
  if (bar_)
    draw_bar(done, total,
             fmt::format("cells  {:.0f} tokens/s  ETA {:.0f}s  {}", tokens_per_s, eta_s, what));
}

void Console::progress_of(int64_t done, int64_t total, std::string_view what) {
  if (bar_) return draw_bar(done, total, what);
  progress_line(fmt::format("{}/{} {}", done, total, what));
}

void Console::draw_bar(int64_t done, int64_t total, std::string_view what) {
  constexpr int kWidth = 24;
  const int filled = total > 0 ? static_cast<int>(done * kWidth / total) : 0;
  std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {}/{} {}", "", filled, "", kWidth - filled, done, total, what);
  if (line.size() > 100) line.resize(100);
  write_stderr(fmt::format("\r\x1b[K{}", line));
  bar_drawn_ = true;
}

void Console::progress_line(std::string_view line) {
  log(line);
  if (!bar_ && !flags_.quiet && flags_.progress != "none") write_stderr(fmt::format("{}\n", line));
}

}  // namespace isobit::app
