// A statement, an envelope or a bill of materials, as `isobit verify` reads it. What an envelope
// holds is read as a statement, whatever its type says.
#include "base/error.h"
#include "base/json.h"
#include "statement/envelope.h"
#include "statement/in_toto.h"
#include "statement/ml_bom.h"
#include "statement/verdict_inside.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 16 * kMiB;

namespace {

template <typename Read>
void guarded(const Read& read) {
  try {
    read();
  } catch (const Error& e) {
    expect(e.code() == ErrorCode::environment, "damaged evidence is the environment's fault");
  }
}

void read_said(std::string_view text) {
  const InTotoStatement statement = parse_statement(text, "f");
  static_cast<void>(configuration_of(statement, "f"));
  static_cast<void>(result_of(statement, "f"));
  static_cast<void>(disagreements_inside(statement, "f"));
  const std::string again = statement_text(statement);
  expect(statement_text(parse_statement(again, "again")) == again,
         "a statement that does not come back as it was written");
}

}  // namespace

void read_hostile(std::string_view input) {
  guarded([&] { read_said(input); });
  const Json root = parse_json(input, "f");
  guarded([&] {
    const Envelope envelope = read_envelope(root, "f");
    static_cast<void>(pre_authentication_encoding(envelope.payload_type, envelope.payload));
    read_said(envelope.payload);
  });
  guarded(
      [&] { static_cast<void>(parts_unlike_fingerprint(root, fingerprint_of_bom(root, "f"))); });
}

}  // namespace isobit::test
