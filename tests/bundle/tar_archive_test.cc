// The forms of an archive that are read, and everything else that a stranger's archive may be.
#include "bundle/tar_archive.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <numeric>

#include "base/error.h"

using namespace isobit;

namespace {

const std::string kLong(700, 'x');
const std::vector<TarMember> kMembers = {{"a.json", "{}\n"}, {"b/empty", ""}, {"b/long", kLong}};

std::string refusal(std::string_view bytes) {
  try {
    read_tar(bytes, "f.tar");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::environment);
    CHECK(e.message().starts_with("f.tar: "));
    CHECK(!e.hint().empty());
    return e.message();
  }
  return "";
}

// POSIX.1 ustar: a field of `n` bytes in the header of the member that begins at `member`, and the
// header's sum made right again.
std::string with_field(std::string tar, size_t member, size_t at, const std::string& bytes) {
  tar.replace(member + at, bytes.size(), bytes);
  constexpr size_t kSumAt = 148;
  std::string header = tar.substr(member, 512);
  header.replace(kSumAt, 8, "        ");
  const int sum = std::accumulate(header.begin(), header.end(), 0, [](int total, char c) {
    return total + static_cast<unsigned char>(c);
  });
  char text[8];
  std::snprintf(text, sizeof text, "%06o", static_cast<unsigned>(sum));
  return tar.replace(member + kSumAt, 8, std::string(text, 7) + " ");
}

constexpr size_t kNameAt = 0, kModeAt = 100, kUidAt = 108, kSizeAt = 124, kTimeAt = 136,
                 kKindAt = 156, kLinkAt = 157;

}  // namespace

TEST_CASE("members come back, and the same members give the same bytes") {
  const std::string bytes = tar_bytes(kMembers);
  CHECK(bytes == tar_bytes(kMembers));
  CHECK(bytes.size() == 3 * 512 + 512 + 1024 + 1024);
  const auto members = read_tar(bytes, "f.tar");
  REQUIRE(members.size() == kMembers.size());
  for (size_t i = 0; i < members.size(); ++i) {
    CHECK(members[i].name == kMembers[i].name);
    CHECK(members[i].content == kMembers[i].content);
  }
}

TEST_CASE("an archive cut at any byte is refused") {
  const std::string bytes = tar_bytes(kMembers);
  for (size_t n = 0; n < bytes.size(); ++n) {
    CAPTURE(n);
    CHECK(!refusal(std::string_view(bytes).substr(0, n)).empty());
  }
}

TEST_CASE("a flipped byte is refused, or changes one byte of a content and nothing else") {
  const std::string bytes = tar_bytes(kMembers);
  size_t n_read = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    CAPTURE(at);
    const bool in_content = (at >= 512 && at < 512 + 3) || (at >= 2048 && at < 2048 + kLong.size());
    if (refusal(changed).empty()) {
      const auto members = read_tar(changed, "f.tar");
      REQUIRE(members.size() == 3);
      CHECK(members[0].name == "a.json");
      CHECK((in_content || (members[0].content == "{}\n" && members[2].content == kLong)));
      n_read += in_content;
    } else {
      CHECK(!in_content);
    }
  }
  CHECK(n_read == 3 + kLong.size());
}

TEST_CASE("places outside, links, devices and folders are refused by name") {
  const std::string tar = tar_bytes(kMembers);
  const auto named = [&](const std::string& name) {
    return refusal(with_field(tar, 0, kNameAt, name + std::string(20 - name.size(), '\0')));
  };
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "a\\..\\x", "a/.."})
    CHECK(named(name).find("outside the bundle") != std::string::npos);
  const auto of_kind = [&](const char* kind) {
    return refusal(with_field(with_field(tar, 0, kKindAt, kind), 0, kLinkAt, "/etc/passwd"));
  };
  CHECK(of_kind("1").find("a hard link") != std::string::npos);
  CHECK(of_kind("2").find("a symbolic link") != std::string::npos);
  CHECK(of_kind("3").find("a device") != std::string::npos);
  CHECK(of_kind("4").find("a device") != std::string::npos);
  CHECK(of_kind("6").find("a pipe") != std::string::npos);
  CHECK(refusal(with_field(tar, 1024, kKindAt, "5")).find("a folder") != std::string::npos);
  CHECK(!of_kind("5").empty());  // one that is said to have a content
}

TEST_CASE("sizes that lie are refused before anything is allocated") {
  const std::string tar = tar_bytes(kMembers);
  CHECK(refusal(with_field(tar, 0, kSizeAt, "77777777777")).find("are left") != std::string::npos);
  const std::string huge("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);  // GNU's binary sizes
  CHECK(!refusal(with_field(tar, 0, kSizeAt, huge)).empty());
  CHECK(!refusal(with_field(tar, 0, kSizeAt, "00000000000")).empty());
}

TEST_CASE("a name that is there twice is refused, next to its twin or not") {
  const std::string tar = tar_bytes(kMembers);
  for (const size_t member : {size_t{1024}, size_t{1536}})
    CHECK(refusal(with_field(tar, member, kNameAt, std::string("a.json\0\0", 8)))
              .find("there twice") != std::string::npos);
}

TEST_CASE("owners, times and modes of another archiver say nothing and are ignored") {
  constexpr size_t kOwnerNameAt = 265;
  std::string tar = tar_bytes(kMembers);
  for (const auto& [at, bytes] :
       {std::pair(kTimeAt, "14712345670"), std::pair(kUidAt, "0001750"),
        std::pair(kModeAt, "0000600"), std::pair(kOwnerNameAt, "somebody")})
    tar = with_field(tar, 0, at, bytes);
  CHECK(read_tar(tar, "f.tar").size() == kMembers.size());
}

TEST_CASE("members may be in any order, with the folders that they are in") {
  const std::string tar = tar_bytes(kMembers);
  const std::string a = tar.substr(0, 1024), empty = tar.substr(1024, 512),
                    after = tar.substr(1536);
  const auto folder = [&](const std::string& name) {
    return with_field(with_field(empty, 0, kNameAt, name + std::string(20 - name.size(), '\0')), 0,
                      kKindAt, "5");
  };
  const auto members = read_tar(empty + folder("b/") + a + after, "f.tar");
  REQUIRE(members.size() == 3);
  CHECK(members[0].name == "b/empty");
  CHECK(members[1].content == "{}\n");
  CHECK(refusal(folder("c/") + tar).find("no member is in") != std::string::npos);
  CHECK(refusal(folder("b/") + folder("b/") + tar).find("there twice") != std::string::npos);
  CHECK(refusal(folder("../b/") + tar).find("outside the bundle") != std::string::npos);
}

TEST_CASE("zeros to the end of a record are read, and nothing else after the last member") {
  constexpr size_t kRecordBytes = 10240;
  const std::string tar = tar_bytes(kMembers);
  std::string padded = tar + std::string(kRecordBytes - tar.size(), '\0');
  CHECK(read_tar(padded, "f.tar").size() == kMembers.size());
  CHECK(refusal(padded + std::string(kRecordBytes, '\0')).find("after its last member") !=
        std::string::npos);
  CHECK(refusal(padded.substr(0, padded.size() - 1)).find("is truncated") != std::string::npos);
  for (size_t at = tar.size(); at < padded.size(); at += 100) {
    padded[at] = 'x';
    CHECK(refusal(padded).find("after its last member") != std::string::npos);
    padded[at] = '\0';
  }
}

TEST_CASE("a name that only a prefix field could hold is refused") {
  constexpr size_t kPrefixAt = 345;
  const std::string tar = tar_bytes(kMembers);
  CHECK(refusal(with_field(tar, 0, kPrefixAt, std::string(120, 'p'))).find("127 bytes") !=
        std::string::npos);
}

TEST_CASE("bytes between members and after the last one are refused") {
  const std::string tar = tar_bytes(kMembers);
  CHECK(refusal(tar + std::string(512, '\0')).find("is truncated") != std::string::npos);
  CHECK(refusal(tar + tar).find("after its last member") != std::string::npos);
  std::string padded = tar;
  padded[512 + 100] = 'x';
  CHECK(refusal(padded).find("not padded with zeros") != std::string::npos);
  // An extended header of POSIX.1-2001 before the second member: it could rename it.
  const std::string record = "17 path=../evil\n";
  std::string pax = with_field(tar_bytes({{"p", record}}).substr(0, 1024), 0, kKindAt, "x");
  CHECK(!refusal(tar.substr(0, 1024) + pax + tar.substr(1024)).empty());
}

TEST_CASE("what is no tar archive says so") {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(4096, 'x'),
                                   std::string(4096, '\0'), std::string("PK\3\4") + kLong})
    CHECK(!refusal(bytes).empty());
}
