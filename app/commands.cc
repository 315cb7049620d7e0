#include "app/commands.h"

namespace isobit::app {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"demo", "An invariant arm that passes, an adaptive arm that diverges, and a report",
       "isobit demo", declare_demo},
      {"doctor", "What this machine can run, and why not the rest", "isobit doctor",
       declare_doctor},
      {"fingerprint", "What could change an answer, item by item, as one id",
       "isobit fingerprint examples/tiny-kjv", declare_fingerprint},
      {"inspect", "What is in a checkpoint, a tokenizer or a chat template, without running it",
       "isobit inspect checkpoint examples/tiny-kjv", declare_inspect},
      {"tokens", "What a tokenizer and a chat template do",
       "isobit tokens encode --tokenizer examples/tiny-kjv --text 'In the beginning'",
       declare_tokens},
      {"prompts", "The prompt sets that come with isobit, as lines to look at, cut and run",
       "isobit prompts standard --tag story", declare_prompts},
      {"plan", "Expand a matrix and estimate its cost; change nothing",
       "isobit plan examples/tiny-kjv --axis load.concurrency=1,8", declare_plan},
      {"run", "Execute a matrix and record it",
       "isobit run examples/tiny-kjv --axis load.concurrency=1,8 --check 2", declare_run},
      {"compare", "Where two recorded runs part, in numbers", "isobit compare latest~1 latest",
       declare_compare},
      {"gate", "May the candidate ship? A verdict and an exit code",
       "isobit gate latest~1 latest --policy level-1", declare_gate},
      {"policy", "What a gate can ask: ready policies, metrics, and a check of one's own",
       "isobit policy check two-tiers", declare_policy},
      {"explain", "Why an answer changed: both tails, margins, the first operator that differs",
       "isobit explain latest/load.concurrency=8/0", declare_explain},
      {"bisect", "The one axis value, or the smallest set, that explains a difference",
       "isobit bisect latest~1 latest", declare_bisect},
      {"reduce", "The smallest batch, prompt and length that still diverges",
       "isobit reduce latest/load.concurrency=8/0 -o case.jsonl", declare_reduce},
      {"replay", "One recorded request again, in its recorded schedule or alone",
       "isobit replay latest/load.concurrency=8/0 --n 20", declare_replay},
      {"baseline", "Runs that others are held to, by name", "isobit baseline set prod latest",
       declare_baseline},
      {"bench", "Tokens per second by concurrency and kernel set",
       "isobit bench examples/tiny-kjv --concurrency 1,8", declare_bench},
      {"report", "A run, or two compared, for people, CI and monitoring",
       "isobit report latest -o report.md", declare_report},
      {"selftest", "Do the elementary functions give the published bits here, and within 1 ulp?",
       "isobit selftest --function exp", declare_selftest},
      {"store", "List, query and check a store; runs as files to carry", "isobit store list",
       declare_store},
      {"verify", "Signatures, and every digest inside a bundle, a statement or a BOM",
       "isobit verify latest.isobit.tar", declare_verify},
      {"schema", "The JSON Schema of a file format or of what a command prints with --json",
       "isobit schema verdict", declare_schema},
      {"completion", "Completions for a shell", "isobit completion bash", declare_completion},
      {"help", "What a command does; all of it as a man page or as JSON", "isobit help store query",
       declare_help},
  };
  return table;
}

}  // namespace isobit::app
