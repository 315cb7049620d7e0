// What a fuzz target is: one function that reads hostile bytes, and the memory that it may take for
// them.
//
// A checkpoint, a template and a prompt file come from strangers. Each *_fuzz.cc makes one program,
// fuzz_NAME: under the `fuzz` preset libFuzzer drives it and looks for new inputs, in every other
// preset a small main replays the inputs of tests/fuzz/corpus/NAME. Either way the run goes through
// LLVMFuzzerTestOneInput (fuzz_entry.cc), which turns these into a crash:
// - an exception that is not isobit's Error, and an Error that says that isobit itself is wrong;
// - more live bytes from operator new, at any moment, than kInputBytesFactor times the input's
//   size and the target's allowance: a length in a file must never be believed;
// - more than 5 s of the process's time.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace isobit::test {

constexpr size_t kInputBytesFactor = 4;
constexpr size_t kMiB = size_t{1} << 20;

// Each target defines both. The allowance is what the target takes whatever the input says: tables
// of a fixed size, and what JSON's values cost over their text in inputs of at most 64 KiB.
extern const size_t kAllowanceBytes;
void read_hostile(std::string_view input);

// A finding that is no crash by itself: says what, and aborts.
[[noreturn]] void finding(std::string_view what);
inline void expect(bool holds, std::string_view what) {
  if (!holds) finding(what);
}

// The parts of `input` between NUL bytes, which none of the text formats can contain; at most
// `n_parts`, the last with whatever is left.
std::vector<std::string_view> parts_of(std::string_view input, size_t n_parts);

}  // namespace isobit::test
