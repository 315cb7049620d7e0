// llama-batched-bench as a child process: no shell, its stdout read to the end, its stderr kept for
// the message when it fails.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

// Lines that are JSON objects; the program talks between them.
std::vector<PeerRates> rates_in(const std::string& output) {
  std::vector<PeerRates> out;
  for (const std::string& line : split_words(output, '\n')) {
    if (!line.starts_with("{")) continue;
    const Json row = parse_json(line, kProgram);
    out.push_back({.concurrency = row.at("pl").get<int>(),
                   .prefill = row.at("speed_pp").get<double>(),
                   .decode = row.at("speed_tg").get<double>()});
  }
  return out;
}

}  // namespace

std::vector<PeerRates> run_llama_bench(const BenchArguments& a, const std::string& model,
                                       int threads, int prompt_tokens) {
  const std::string program = (std::filesystem::absolute(a.llama_folder) / kProgram).string();
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorCode::environment, fmt::format("'{}' is not a program", program),
                "--llama is the folder that holds llama-batched-bench and its libraries");
  const int most = *std::max_element(a.concurrency.begin(), a.concurrency.end());
  const std::string n_threads = std::to_string(threads);
  std::vector<std::string> command = {program,
                                      "-m",
                                      model,
                                      "-c",
                                      std::to_string(most * (prompt_tokens + a.gen_tokens)),
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
  const Finished done = run_program(std::move(command), std::filesystem::absolute(a.llama_folder));
  std::vector<PeerRates> rates;
  if (done.status == 0) {
    try {
      rates = rates_in(done.output);
    } catch (const Json::exception& e) {
      throw Error(ErrorCode::environment,
                  fmt::format("{} printed figures that cannot be read: {}", kProgram, e.what()));
    }
  }
  if (done.status != 0 || rates.size() != a.concurrency.size()) {
    throw Error(ErrorCode::environment,
                fmt::format("{} failed ({}, {} of {} figures); its last words: {}", kProgram,
                            how_it_ended(done.status), rates.size(), a.concurrency.size(),
                            printable(last_lines(done.errors, 400))),
                "--llama-flags passes it more flags");
  }
  return rates;
}

}  // namespace isobit::app
