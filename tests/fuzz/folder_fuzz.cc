// A checkpoint's folder: config.json, and after a NUL byte the bytes of model.safetensors.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/open.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/stored_rows.h"

namespace isobit::test {

const size_t kAllowanceBytes = 4 * kMiB;

namespace {

// One folder for all inputs of this process, in memory where the machine has such a file system.
class Folder {
 public:
  Folder() {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    std::string name =
        (std::filesystem::is_directory(memory, error) ? memory
                                                      : std::filesystem::temp_directory_path()) /
        "isobit-fuzz-XXXXXX";
    expect(::mkdtemp(name.data()) != nullptr, "no folder for the input");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const char* name, std::string_view bytes) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::trunc);
    expect(bool(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()),
           "cannot write the input");
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void read_hostile(std::string_view input) {
  static const Folder folder;
  const std::vector<std::string_view> parts = parts_of(input, 2);
  folder.write("config.json", parts[0]);
  folder.write("model.safetensors", parts.size() > 1 ? parts[1] : "");
  const auto checkpoint = open_checkpoint(folder.path());
  for (const auto& [name, view] : checkpoint->tensors()) read_rows(view);
}

}  // namespace isobit::test
