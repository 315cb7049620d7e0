// Where output goes: results on stdout, talk on stderr. Every line that reaches a terminal passes
// through here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/printed_text.h"
#include "base/appended_file.h"

namespace isobit::app {

struct GlobalFlags {
  std::string store = "isobit.db";
  bool json = false;
  bool plain = false;
  bool quiet = false;
  bool verbose = false;
  std::string log_file;
  std::string color = "auto";     // auto, always, never
  std::string progress = "auto";  // auto, bar, lines, none
  bool no_input = false;
  std::string directory;  // -C
  std::string now;        // what a chat template's clock says; empty: kPinnedNow
};

class Console {
 public:
  // Throws Error(environment) when the log file cannot be opened.
  void configure(const GlobalFlags& flags);

  bool json() const { return flags_.json; }
  // stdout: printable_lines, with --json as json_result. A reader that ends before all is written
  // ("| head") has what it wanted: the rest is left out, and the command goes on to its exit code.
  void result(std::string_view text);
  // stdout: a JSON document, or one on each line, whose "##" no log carries out; gets its newline.
  void json_result(std::string_view text);
  // stdout, as it is: bytes that were asked for.
  void raw_result(std::string_view text);
  void say(std::string_view line);     // stderr unless quiet, and the log
  void detail(std::string_view line);  // stderr when verbose, and the log
  void warn(std::string_view line);    // stderr always
  void error(std::string_view text);   // stderr always: why a command ended
  // "next: isobit report latest ..." as the last line of a command's talk.
  void suggest(std::string_view command);

  // One call per finished sample; draws a bar on a terminal, nothing elsewhere.
  void progress(int64_t done, int64_t total, double tokens_per_s, double eta_s,
                std::string_view what);
  // One call per finished part of long work that is not counted in samples; a bar on a terminal,
  // with the time left, else a line.
  void progress_of(int64_t done, int64_t total, std::string_view what);
  // The same for parts that are no news one by one; a bar on a terminal, nothing elsewhere.
  void progress_bar(int64_t done, int64_t total, std::string_view what);
  // One call per finished cell; a line where there is no bar.
  void progress_line(std::string_view line);

  // A result whose lines may begin with a verdict's word, which is coloured where colour is wanted.
  void verdict(std::string_view text);

 private:
  std::string time_left(int64_t done, int64_t total);
  void draw_bar(int64_t done, int64_t total, std::string_view what);
  std::string styled_word(std::string_view word, const char* style) const;
  void write_stdout(std::string_view text);
  void clear_bar();
  void log(std::string_view line);

  GlobalFlags flags_;
  bool bar_ = false;
  bool bar_drawn_ = false;
  bool reader_left_ = false;                // of standard output
  int64_t first_done_ = 0, last_done_ = 0;  // of the work that progress_bar is told of
  std::chrono::steady_clock::time_point first_at_;
  bool stderr_styled_ = false;
  bool stdout_styled_ = false;
  std::optional<AppendedFile> log_;
};

// The beginning of each line in the colour of the verdict that it states ("PASS", "fail:"); text
// that states none is as it was. Nothing else is changed: without colour all words are there.
std::string coloured_verdict(std::string_view text);

// "0:07", "1:02:03"; at least 0.
std::string duration_text(double seconds);

// As it is. Never throws: errors are reported with it.
void write_stderr(std::string_view text);

}  // namespace isobit::app
