#include "app/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log_safe_json.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

bool styled(int fd, const std::string& color) {
  if (color == "always") return true;
  const char* no_color = std::getenv("NO_COLOR");
  if (color == "never" || (no_color && *no_color)) return false;
  const char* term = std::getenv("TERM");
  return ::isatty(fd) && term && std::string_view(term) != "dumb";
}

constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kGreen = "\x1b[1;32m";
constexpr const char* kYellow = "\x1b[1;33m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kPlain = "\x1b[0m";

struct VerdictWord {
  std::string_view word;  // in capitals, as sentences begin; reasons and rules have it in small
  const char* style;
};

constexpr VerdictWord kVerdictWords[] = {
    {"PASS", kGreen},          {"FAIL", kRed},         {"WARN", kYellow},
    {"INCONCLUSIVE", kYellow}, {"INCOMPARABLE", kRed}, {"UNSUPPORTED", kYellow},
};

bool same_letters(std::string_view text, std::string_view capitals) {
  return std::equal(text.begin(), text.end(), capitals.begin(), capitals.end(), [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == b;
  });
}

// The style of a line that begins with a verdict's word; nullptr: it begins otherwise.
const VerdictWord* verdict_of(std::string_view line) {
  for (const VerdictWord& v : kVerdictWords) {
    const char after = line.size() > v.word.size() ? line[v.word.size()] : ' ';
    if (same_letters(line.substr(0, v.word.size()), v.word) && (after == ' ' || after == ':'))
      return &v;
  }
  return nullptr;
}

std::string coloured_line(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const VerdictWord* v = verdict_of(line.substr(begin));
  if (v == nullptr) return std::string(line);
  const size_t end = begin + v->word.size();
  return fmt::format("{}{}{}{}{}", line.substr(0, begin), v->style, line.substr(begin, end - begin),
                     kPlain, line.substr(end));
}

// Of the terminal that talk goes to; 80 where it does not say.
size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;
  return known ? size.ws_col : kTerminalColumns;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(std::clamp(seconds, 0.0, 3.6e8));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string coloured_verdict(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += coloured_line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

void write_stderr(std::string_view text) {
  // Where even this fails, there is nowhere left to say so; the exit code still does.
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void Console::configure(const GlobalFlags& flags) {
  flags_ = flags;
  bar_ = !flags.quiet && (flags.progress == "bar" ||
                          (flags.progress == "auto" && !flags.plain && ::isatty(STDERR_FILENO)));
  stderr_styled_ = !flags.plain && styled(STDERR_FILENO, flags.color);
  stdout_styled_ = !flags.plain && !flags.json && styled(STDOUT_FILENO, flags.color);
  if (!flags.log_file.empty()) log_.emplace(flags.log_file);
}

// A log that cannot be written any more is given up, which is said once: what is recorded and
// reported is worth more.
void Console::log(std::string_view line) {
  if (!log_) return;
  try {
    log_->append(fmt::format("{}\n", line));
  } catch (const Error& e) {
    log_.reset();
    warn("the log ends here: " + e.message());
  }
}

void Console::write_stdout(std::string_view text) {
  if (reader_left_) return;
  clear_bar();
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  if (errno == EPIPE) {
    reader_left_ = true;
    return detail("what reads standard output ended before all was written");
  }
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  throw Error(ErrorCode::environment, "cannot write to standard output" + reason);
}

void Console::result(std::string_view text) {
  if (flags_.json) return json_result(text);
  write_stdout(printable_lines(text));
}

void Console::json_result(std::string_view text) {
  write_stdout(log_safe_json(text) + (text.empty() || text.ends_with('\n') ? "" : "\n"));
}

void Console::raw_result(std::string_view text) {
  write_stdout(text);
}

void Console::verdict(std::string_view text) {
  if (!stdout_styled_) return result(text);
  write_stdout(coloured_verdict(printable_lines(text)));
}

void Console::say(std::string_view text) {
  const std::string line = printable_lines(text);
  log(line);
  if (flags_.quiet) return;
  clear_bar();
  write_stderr(line + "\n");
}

void Console::detail(std::string_view text) {
  if (flags_.verbose) {
    say(text);
  } else {
    log(printable_lines(text));
  }
}

void Console::warn(std::string_view text) {
  const std::string line = printable_lines(text);
  log("warning: " + line);
  clear_bar();
  write_stderr(fmt::format("{} {}\n", styled_word("warning:", kYellow), line));
}

void Console::error(std::string_view text) {
  log(text);
  clear_bar();
  write_stderr(fmt::format("{}\n", text));
}

void Console::suggest(std::string_view command) {
  if (flags_.json) return;
  const std::string shown = printable(command);  // a quoted name may hold what a log must not
  log(fmt::format("next: {}", shown));
  if (flags_.quiet) return;
  clear_bar();
  write_stderr(fmt::format("{} {}\n", styled_word("next:", kBold), shown));
}

std::string Console::styled_word(std::string_view word, const char* style) const {
  return stderr_styled_ ? fmt::format("{}{}{}", style, word, kPlain) : std::string(word);
}

void Console::clear_bar() {
  if (bar_drawn_) write_stderr("\r\x1b[K");
  bar_drawn_ = false;
}

void Console::progress(int64_t done, int64_t total, double tokens_per_s, double eta_s,
                       std::string_view what) {
  if (bar_)
    draw_bar(done, total,
             fmt::format("cells  {:.0f} tokens/s  ETA {}  {}", tokens_per_s, duration_text(eta_s),
                         what));
}

void Console::progress_of(int64_t done, int64_t total, std::string_view what) {
  const std::string left = time_left(done, total);
  if (bar_)
    draw_bar(done, total, left + std::string(what));
  else
    progress_line(fmt::format("{}/{} {}{}", done, total, left, what));
}

void Console::progress_bar(int64_t done, int64_t total, std::string_view what) {
  if (bar_) draw_bar(done, total, time_left(done, total) + std::string(what));
}

// From the second part on: what the parts since the first took, times what is left.
std::string Console::time_left(int64_t done, int64_t total) {
  const auto now = std::chrono::steady_clock::now();
  const bool begins = done <= last_done_ || last_done_ == 0;
  if (begins) first_done_ = done, first_at_ = now;
  last_done_ = done;
  if (begins || done >= total) return "";
  const std::chrono::duration<double> spent = now - first_at_;
  const double each = spent.count() / static_cast<double>(done - first_done_);
  return fmt::format("ETA {}  ", duration_text(each * static_cast<double>(total - done)));
}

void Console::draw_bar(int64_t done, int64_t total, std::string_view what) {
  constexpr int kWidth = 24;
  const int filled = total > 0 ? static_cast<int>(done * kWidth / total) : 0;
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {}/{} {}", "", filled, "", kWidth - filled, done,
                                 total, printable(what));
  line.resize(prefix_fitting(line, terminal_columns() - 1));
  write_stderr(fmt::format("\r\x1b[K{}", line));
  bar_drawn_ = true;
}

void Console::progress_line(std::string_view text) {
  const std::string line = printable_lines(text);
  log(line);
  if (!bar_ && !flags_.quiet && flags_.progress != "none") write_stderr(fmt::format("{}\n", line));
}

}  // namespace isobit::app
