// A file of prompts: JSON Lines or an array, in any of the forms.
#include "text/prompts.h"

#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 8 * kMiB;

void read_hostile(std::string_view input) {
  for (const PromptRecord& record : parse_prompts(input, "f")) {
    const Json native = to_json(record);
    const PromptRecord again = parse_prompt_record(native, "again", "no id");
    expect(to_json(again) == native, "a record that does not come back from its native form");
  }
}

}  // namespace isobit::test
