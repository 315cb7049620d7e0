// A configuration file, one side of `gate --upgrade`.
#include "matrix/configuration_file.h"

#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 8 * kMiB;

void read_hostile(std::string_view input) {
  const Configuration configuration = read_configuration(input, "f");
  const Json normalised = configuration_to_json(configuration);
  const Configuration again = read_configuration(normalised.dump(), "again");
  expect(configuration_to_json(again) == normalised,
         "a configuration that does not come back from its normal form");
}

}  // namespace isobit::test
