// llama-batched-bench as a child process: no shell, its stdout read to the end, its stderr kept for
// the message when it fails.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "app/bench.h"
#include "app/word_lists.h"
#include "base/error.h"

extern char** environ;

namespace isobit::app {
namespace {

constexpr const char* kProgram = "llama-batched-bench";

struct Finished {
  std::string output, errors;
  int status = 0;  // as waitpid reports it
};

// A file without a name that a child can write to and this process read afterwards.
class Capture {
 public:
  Capture() : file_(std::tmpfile()) {
    if (file_ == nullptr)
      throw Error(ErrorCode::environment,
                  fmt::format("cannot create a temporary file: {}", std::strerror(errno)));
  }
  ~Capture() { std::fclose(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int descriptor() const { return ::fileno(file_); }
  std::string read() const {
    std::string text;
    std::rewind(file_);
    char part[4096];
    for (size_t n; (n = std::fread(part, 1, sizeof part, file_)) > 0;) text.append(part, n);
    return text;
  }

 private:
  FILE* file_;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// The program's own folder goes first: its libraries lie beside it.
std::vector<std::string> environment_with_libraries(const std::string& folder) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "LD_LIBRARY_PATH=", 16) != 0) out.emplace_back(*entry);
  }
  out.push_back("LD_LIBRARY_PATH=" + folder);
  return out;
}

Finished run_program(std::vector<std::string> command, const std::string& library_folder) {
  const Capture output, errors;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  std::vector<std::string> variables = environment_with_libraries(library_folder);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, command[0].c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(ErrorCode::environment,
                fmt::format("cannot start '{}': {}", command[0], std::strerror(error)));
  Finished done;
  while (::waitpid(child, &done.status, 0) < 0) {
    if (errno != EINTR)
      throw Error(ErrorCode::environment, fmt::format("waitpid: {}", std::strerror(errno)));
  }
  done.output = output.read();
  done.errors = errors.read();
  return done;
}

std::string how_it_ended(int status) {
  return WIFEXITED(status) ? fmt::format("exit {}", WEXITSTATUS(status))
                           : fmt::format("signal {}", WTERMSIG(status));
}

std::string last_lines(const std::string& text, size_t n_bytes) {
  return text.size() <= n_bytes ? text : text.substr(text.size() - n_bytes);
}

[[noreturn]] void fail_unreadable(const std::string& line, const std::string& reason) {
  throw Error(ErrorCode::environment,
              fmt::format("{} printed figures that cannot be used: {}: {}", kProgram, reason,
                          printable(line.substr(0, 200))));
}

double rate_of(const Json& row, const char* key, const std::string& line) {
  const auto it = row.find(key);
  if (it == row.end() || !it->is_number())
    fail_unreadable(line, fmt::format("no number '{}'", key));
  const double rate = it->get<double>();
  if (!(rate > 1e-6 && rate < 1e15)) fail_unreadable(line, fmt::format("'{}' is no speed", key));
  return rate;
}

PeerRates rates_of(const std::string& line) {
  Json row;
  try {
    row = parse_json(line, kProgram);
  } catch (const Error& e) {
    fail_unreadable(line, e.what());
  }
  const auto pl = row.find("pl");
  if (pl == row.end() || !pl->is_number_integer() || *pl < 1 || *pl > INT32_MAX)
    fail_unreadable(line, "no whole number 'pl'");
  return {.concurrency = pl->get<int>(),
          .prefill = rate_of(row, "speed_pp", line),
          .decode = rate_of(row, "speed_tg", line)};
}

// Lines that are JSON objects, one per concurrency in the order asked for; the program talks
// between them.
std::vector<PeerRates> rates_in(const std::string& output, const std::vector<int>& concurrency) {
  std::vector<PeerRates> out;
  for (const std::string& line : split_words(output, '\n')) {
    if (!line.starts_with("{")) continue;
    out.push_back(rates_of(line));
    if (out.size() > concurrency.size() || out.back().concurrency != concurrency[out.size() - 1])
      fail_unreadable(line, "a concurrency that was not asked for here");
  }
  if (out.size() != concurrency.size())
    throw Error(ErrorCode::environment, fmt::format("{} printed {} of {} figures", kProgram,
                                                    out.size(), concurrency.size()));
  return out;
}

}  // namespace

void require_llama_bench(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::path(folder) / kProgram;
  if (!std::filesystem::is_regular_file(program, error) || ::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorCode::environment, fmt::format("'{}' is not a program", program.string()),
                "--llama is the folder that holds llama-batched-bench and its libraries");
}

std::vector<PeerRates> run_llama_bench(const BenchArguments& a, const std::string& model,
                                       int threads, int prompt_tokens) {
  require_llama_bench(a.llama_folder);
  const std::string program = (std::filesystem::path(a.llama_folder) / kProgram).string();
  const int most = *std::max_element(a.concurrency.begin(), a.concurrency.end());
  const std::string n_threads = std::to_string(threads);
  std::vector<std::string> command = {
      program,
      "-m",
      model,
      "-c",
      std::to_string(int64_t{most} * (prompt_tokens + a.gen_tokens)),
      "-b",
      "2048",
      "-ub",
      "512",
      "-npp",
      std::to_string(prompt_tokens),
      "-ntg",
      std::to_string(a.gen_tokens),
      "-npl",
      fmt::format("{}", fmt::join(a.concurrency, ",")),
      "-t",
      n_threads,
      "-tb",
      n_threads,
      "-fit",
      "off",
      "--output-format",
      "jsonl"};
  command.insert(command.end(), a.llama_flags.begin(), a.llama_flags.end());
  const Finished done = run_program(std::move(command), a.llama_folder);
  if (done.status != 0) {
    throw Error(ErrorCode::environment,
                fmt::format("{} failed ({}); its last words: {}", kProgram,
                            how_it_ended(done.status), printable(last_lines(done.errors, 400))),
                "--llama-flags passes it more flags");
  }
  return rates_in(done.output, a.concurrency);
}

}  // namespace isobit::app
