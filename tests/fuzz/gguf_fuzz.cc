// A whole GGUF file: its header, its tokenizer section, and the checkpoint that it says it is.
#include "checkpoint/gguf.h"

#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "checkpoint/gguf_checkpoint.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/stored_rows.h"
#include "text/tokenizer.h"

namespace isobit::test {

// The tables of a tokenizer's regex and of its byte alphabet.
const size_t kAllowanceBytes = 4 * kMiB;

namespace {

// A file without a name, since a GGUF is read through a mapping.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    expect(
        fd_ >= 0 && ::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
        "cannot write the input to memory");
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

GgufTokenizerParts parts_of_section(const GgufTokenizer& t) {
  GgufTokenizerParts parts{.where = "f",
                           .model = std::string(t.model),
                           .pre = std::string(t.pre),
                           .tokens = {},
                           .token_types = t.token_types,
                           .merges = {},
                           .bos_id = t.bos_token_id,
                           .eos_id = t.eos_token_id,
                           .unknown_id = t.unknown_token_id,
                           .pad_id = t.padding_token_id,
                           .add_bos = t.add_bos,
                           .add_eos = t.add_eos};
  parts.scores = t.scores;
  parts.tokens.assign(t.tokens.begin(), t.tokens.end());
  parts.merges.assign(t.merges.begin(), t.merges.end());
  parts.cls_id = t.cls_token_id;
  parts.separator_id = t.separator_token_id;
  parts.add_space_prefix = t.add_space_prefix;
  parts.remove_extra_whitespaces = t.remove_extra_whitespaces;
  parts.lowercase = t.lowercase;
  parts.strip_accents = t.strip_accents;
  parts.precompiled_charsmap = t.precompiled_charsmap;
  return parts;
}

// What refuses one part of a file must not hide the others from the search.
void unless_refused(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& e) {
    expect(e.code() == ErrorCode::environment || e.code() == ErrorCode::usage, e.what());
  }
}

void read_tokenizer(const GgufFile& file) {
  const Tokenizer tokenizer = make_gguf_tokenizer(parts_of_section(file.tokenizer()));
  for (const int32_t id : tokenizer.encode("Hello <0x0A> 12\n\xC3\xA9", AddSpecial::kYes))
    expect(id >= 0 && id < tokenizer.vocab_size(), "an id outside the vocabulary");
  (void)tokenizer.steps();
}

}  // namespace

void read_hostile(std::string_view input) {
  const MemoryFile on_disk(input);
  const GgufFile file(on_disk.path());
  for (const StoredTensor& tensor : file.tensors()) {
    expect(
        tensor.offset_bytes <= input.size() && tensor.n_bytes <= input.size() - tensor.offset_bytes,
        "a tensor outside the file");
  }
  unless_refused([&] { read_tokenizer(file); });
  unless_refused([&] {
    const auto checkpoint = open_gguf_checkpoint(on_disk.path());
    for (const auto& [name, view] : checkpoint->tensors()) read_rows(view);
  });
}

}  // namespace isobit::test
