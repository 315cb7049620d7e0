#include "app/interruption.h"

#include <csignal>

#include "base/error.h"

namespace isobit::app {
namespace {

std::atomic<bool> g_interrupted{false};
volatile std::sig_atomic_t g_signal = 0;
volatile std::sig_atomic_t g_file_limit_met = 0;

void note_signal(int number) {
  g_signal = number;
  g_interrupted.store(true);
  std::signal(number, SIG_DFL);  // a second one ends the program at once
}

void note_file_limit(int) {
  g_file_limit_met = 1;
}

}  // namespace

void watch_for_interruption() {
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
}

void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, note_file_limit);
}

bool file_limit_was_met() {
  return g_file_limit_met != 0;
}

const std::atomic<bool>& interrupted() {
  return g_interrupted;
}

void throw_interruption(const std::string& hint) {
  const bool terminated = g_signal == SIGTERM;
  throw Error(terminated ? ErrorCode::terminated : ErrorCode::interrupted,
              terminated ? "terminated" : "interrupted", hint);
}

}  // namespace isobit::app
