// What statements and bills of materials say of a verdict and a fingerprint, and what is read back.
#include <doctest/doctest.h>

#include <functional>

#include "base/digest.h"
#include "base/error.h"
#include "fingerprint/fingerprint.h"
#include "gate/policy_file.h"
#include "statement/ml_bom.h"
#include "statement/test_result.h"
#include "tests/record/recorded_run.h"

using namespace isobit;

namespace {

Verdict verdict_of(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.sentence = "it is so";
  verdict.policy = ready_policy("level-1");
  for (const auto& [id, rule_outcome] :
       {std::pair("same-tokens", outcome), std::pair("coverage", Outcome::kPass)}) {
    RuleResult& rule = verdict.rules.emplace_back();
    rule.rule.id = id;
    rule.outcome = rule_outcome;
  }
  return verdict;
}

RunRecord run_with_files() {
  RunRecord run = isobit::testing::recorded_run();
  run.fingerprint = make_fingerprint(
      {{FingerprintClass::kModel, "architecture", "llama", FingerprintSource::kMeasured, ""},
       {FingerprintClass::kModel, "file.model.safetensors.sha256", std::string(64, 'a'),
        FingerprintSource::kMeasured, ""},
       {FingerprintClass::kModel, "weights.stored_root", std::string(64, 'b'),
        FingerprintSource::kMeasured, ""},
       {FingerprintClass::kText, "tokenizer", std::string(64, 'c'), FingerprintSource::kDeclared,
        ""},
       {FingerprintClass::kSoftware, "openssl", "OpenSSL 3.0", FingerprintSource::kMeasured, ""},
       {FingerprintClass::kHardware, "gpu", "", FingerprintSource::kUnknown, "no driver: x"}});
  return run;
}

InTotoStatement statement_of(Outcome outcome, const std::string& now = "") {
  const Verdict verdict = verdict_of(outcome);
  const RunRecord run = run_with_files();
  return test_result_statement({.verdict = verdict,
                                .candidate = run,
                                .candidate_digest = std::string(64, '1'),
                                .base = &run,
                                .base_digest = std::string(64, '2'),
                                .now = now});
}

std::vector<std::string> texts(const Json& list) {
  return list.get<std::vector<std::string>>();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a verdict becomes PASSED, WARNED or FAILED, and missing evidence is FAILED") {
  for (const auto& [outcome, word] :
       {std::pair(Outcome::kPass, "PASSED"), std::pair(Outcome::kWarn, "WARNED"),
        std::pair(Outcome::kFail, "FAILED"), std::pair(Outcome::kInconclusive, "FAILED"),
        std::pair(Outcome::kIncomparable, "FAILED"), std::pair(Outcome::kUnsupported, "FAILED"),
        std::pair(Outcome::kIncomplete, "FAILED")}) {
    const InTotoStatement s = statement_of(outcome);
    CHECK(result_of(s, "s") == word);
    const bool failed = std::string(word) == "FAILED";
    CHECK(texts(s.predicate["failedTests"]) == (failed ? Names{"same-tokens"} : Names{}));
    CHECK(texts(s.predicate["passedTests"]).size() == (outcome == Outcome::kPass ? 2 : 1));
  }
}

TEST_CASE("a failure that no rule says is in the list of failed tests") {
  Verdict verdict;
  verdict.outcome = Outcome::kIncomparable;
  verdict.policy = ready_policy("level-1");
  const RunRecord run = run_with_files();
  const auto failed = [&] {
    return texts(
        test_result_statement(
            {.verdict = verdict, .candidate = run, .candidate_digest = std::string(64, '0')})
            .predicate["failedTests"]);
  };
  CHECK(failed() == Names{"incomparable"});
  verdict.reasons.push_back({Outcome::kIncomparable, "model weights.stored_root", "they differ"});
  CHECK(failed() == Names{"model weights.stored_root"});
}

TEST_CASE("a statement names runs, fingerprints and model files, and comes back") {
  const InTotoStatement s = statement_of(Outcome::kPass);
  const std::string text = statement_text(s);
  CHECK(text == statement_text(statement_of(Outcome::kPass)));
  CHECK(text.find("now") == std::string::npos);
  CHECK(statement_text(statement_of(Outcome::kPass, "2026-01-31")).find("2026-01-31") !=
        std::string::npos);
  const InTotoStatement back = parse_statement(text, "s.json");
  CHECK(statement_text(back) == text);
  REQUIRE(back.subjects.size() == 3);
  CHECK(back.subjects[0].name == "run/run-1");
  CHECK(back.subjects[1].digests.at("sha256") == run_with_files().fingerprint.id);
  CHECK(back.subjects[2].name == "model.safetensors");
  const auto configuration = configuration_of(back, "s.json");
  REQUIRE(configuration.size() == 4);
  CHECK(configuration[0].digests.at("sha256") == std::string(64, '2'));
  CHECK(configuration[2].name == "policy.json");
  CHECK(read_policy(*configuration[2].content, "p").name == "level-1");
  CHECK(configuration[3].annotations["isobit_outcome"] == "pass");
  for (const Resource& r : {configuration[2], configuration[3]})
    CHECK(sha256_hex(*r.content) == r.digests.at("sha256"));
}

TEST_CASE("texts of strangers in a statement stay texts") {
  Verdict verdict = verdict_of(Outcome::kFail);
  verdict.rules[0].rule.id = "\xff</script>\x1b[2J";
  verdict.sentence = "\xfe";
  RunRecord run = run_with_files();
  run.fingerprint.items[1].name = "file.\xff.sha256";
  const InTotoStatement s = test_result_statement(
      {.verdict = verdict, .candidate = run, .candidate_digest = std::string(64, '0')});
  CHECK(statement_text(parse_statement(statement_text(s), "s")) == statement_text(s));
}

TEST_CASE("a statement cut at any byte is refused; one flipped is refused or another statement") {
  const std::string text = statement_text(statement_of(Outcome::kFail));
  for (size_t n = 0; n < text.size(); ++n) {
    CAPTURE(n);
    CHECK_THROWS_AS(parse_statement(text.substr(0, n), "s"), Error);
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 2);
    CAPTURE(at);
    try {
      const InTotoStatement s = parse_statement(changed, "s");
      static_cast<void>(configuration_of(s, "s"));
      static_cast<void>(result_of(s, "s"));
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
    }
  }
}

TEST_CASE("what is no statement says what is wrong") {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = statement_text(statement_of(Outcome::kPass));
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    try {
      const InTotoStatement s = parse_statement(text, "s.json");
      static_cast<void>(configuration_of(s, "s.json"));
      static_cast<void>(result_of(s, "s.json"));
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  CHECK(refusal("Statement/v1", "Statement/v2").find("its type is") != std::string::npos);
  CHECK(refusal("\"PASSED\"", "\"SKIPPED\"").find("expected PASSED") != std::string::npos);
  CHECK(refusal("\"subject\":[", "\"subject\":[],\"x\":[").find("subject") != std::string::npos);
  CHECK(refusal("\"configuration\":[", "\"configuration\":3,\"x\":[").find("no list") !=
        std::string::npos);
  CHECK(refusal("\"content\":\"", "\"content\":\"!").find("base64") != std::string::npos);
  CHECK(refusal("\"_type\"", "\"later\":1,\"_type\"").empty());
}

TEST_CASE("a digest is a SHA-256 of 64 lower-case hexadecimal digits, whatever else is beside it") {
  const std::string digest(64, '1');
  const auto refusal = [&](const std::string& to) {
    std::string text = statement_text(statement_of(Outcome::kPass));
    const std::string from = "{\"sha256\":\"" + digest + "\"}";
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    try {
      static_cast<void>(parse_statement(text.replace(at, from.size(), to), "s.json"));
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
      return e.message();
    }
    return std::string();
  };
  const auto sha256 = [](const std::string& value) { return "{\"sha256\":\"" + value + "\"}"; };
  CHECK(refusal(sha256("zz")).find("subject[0]: the digest \"sha256\" is 'zz', expected 64") !=
        std::string::npos);
  for (const std::string& value :
       {std::string(64, 'A'), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')})
    CHECK(!refusal(sha256(value)).empty());
  CHECK(refusal("{\"md5\":\"" + std::string(32, 'a') + "\"}").find("has no digest \"sha256\"") !=
        std::string::npos);
  CHECK(
      refusal("{\"md5\":\"" + std::string(32, 'a') + "\",\"sha256\":\"" + digest + "\"}").empty());
}

TEST_CASE("a file item that is no digest is no subject") {
  RunRecord run = run_with_files();
  run.fingerprint.items[1].value = "unheard of";
  CHECK(model_files(run.fingerprint).empty());
}

TEST_CASE("a bill of materials holds the fingerprint whole") {
  const Fingerprint f = run_with_files().fingerprint;
  const auto text = [&](const std::string& now = "") {
    return ml_bom_text({.fingerprint = f, .model_name = "tiny", .timestamp = now});
  };
  CHECK(text() == text());
  const Json bom = parse_json(text(), "b");
  CHECK(bom["specVersion"] == "1.6");
  CHECK(!bom["metadata"].contains("timestamp"));
  CHECK(parse_json(text("2026-01-31T00:00:00Z"), "b")["metadata"]["timestamp"] ==
        "2026-01-31T00:00:00Z");
  const Json& model = bom["metadata"]["component"];
  CHECK(model["type"] == "machine-learning-model");
  CHECK(model["name"] == "tiny");
  CHECK(model["hashes"][0]["content"] == std::string(64, 'a'));
  CHECK(model["modelCard"]["modelParameters"]["modelArchitecture"] == "llama");
  REQUIRE(bom["components"].size() == 2);
  CHECK(bom["components"][0]["hashes"][0]["content"] == std::string(64, 'c'));
  CHECK(bom["components"][1]["version"] == "OpenSSL 3.0");
  const Fingerprint back = fingerprint_of_bom(bom, "b");
  CHECK(back.id == f.id);
  CHECK(fingerprint_json(back) == fingerprint_json(f));
}

TEST_CASE("every part of a bill of materials follows from its fingerprint, name and timestamp") {
  const Fingerprint f = run_with_files().fingerprint;
  const Json bom = parse_json(
      ml_bom_text({.fingerprint = f, .model_name = "tiny", .timestamp = "2026-01-31T00:00:00Z"}),
      "b");
  const auto unlike = [](const Json& edited) {
    return parts_unlike_fingerprint(edited, fingerprint_of_bom(edited, "b"));
  };
  CHECK(unlike(bom).empty());
  const auto edited = [&](const char* pointer, const Json& value) {
    Json out = bom;
    out[Json::json_pointer(pointer)] = value;
    return unlike(out);
  };
  const std::vector<std::string> serial = {"serialNumber"};
  CHECK(edited("/serialNumber", "urn:uuid:00000000-0000-8000-8000-000000000000") == serial);
  CHECK(edited("/metadata/timestamp", "2027-01-31T00:00:00Z") == serial);
  CHECK(edited("/metadata/component/name", "huge") == serial);
  CHECK(edited("/specVersion", "1.5") == std::vector<std::string>{"specVersion"});
  CHECK(edited("/version", 2) == std::vector<std::string>{"version"});
  CHECK(edited("/metadata/timestamp", 5) == std::vector<std::string>{"serialNumber", "timestamp"});
  CHECK(edited("/metadata/tools/components/0/version", "9") == std::vector<std::string>{"tools"});
  CHECK(edited("/components/1/version", "OpenSSL 9") == std::vector<std::string>{"components"});
  Json reason = bom;
  for (Json& p : reason["properties"]) {
    if (p["name"].get<std::string>().starts_with("isobit:reason:")) p["value"] = "another";
  }
  CHECK(unlike(reason) == serial);  // the id does not cover reasons
  Json twice = bom;
  twice["properties"].push_back(Json(bom["properties"][0]));
  CHECK(unlike(twice) == std::vector<std::string>{"properties"});
  Json more = bom;
  more["properties"].push_back({{"name", "other:x"}, {"value", "y"}});
  more["vulnerabilities"] = Json::array();
  CHECK(unlike(more).empty());
}

TEST_CASE("a bill of materials of another program holds no fingerprint, and says so") {
  const auto refusal = [](const std::string& text) {
    try {
      fingerprint_of_bom(parse_json(text, "b"), "b.json");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
      return e.message();
    }
    return std::string();
  };
  for (const char* text :
       {"{\"bomFormat\":\"CycloneDX\"}", "{\"properties\":3}", "{\"properties\":[]}",
        "{\"properties\":[{\"name\":\"x\",\"value\":\"y\"}]}", "{\"properties\":[3]}",
        "{\"properties\":[{\"name\":3}]}",
        "{\"properties\":[{\"name\":\"isobit:measured:mode:x\",\"value\":\"y\"}]}",
        "{\"properties\":[{\"name\":\"isobit:reason:model:x\",\"value\":\"y\"}]}"}) {
    CAPTURE(text);
    CHECK(refusal(text).starts_with("b.json: "));
  }
}
