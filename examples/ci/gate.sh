#!/bin/sh
# Gates an upgrade anywhere: asks the recorded questions again, holds the answers to baseline.json.
# baseline.json is made once, with what is in use:
#   isobit run "$MODEL" --axis load.concurrency=1,8 && isobit baseline set prod latest && isobit baseline export prod -o baseline.json
set -e
isobit run "$MODEL" --axis load.concurrency=1,8 --label "${LABEL:-candidate}"
isobit gate baseline.json latest --level 1 -o report.html -o report.md
