#!/bin/sh
# Explains some decisions; `make demo` runs it with the quia that it has installed.
cd "$(dirname "$0")" || exit 1
QUIA=${QUIA:-quia}

try() {
    printf '\n\033[1m$ quia %s\033[0m\n' "$*"
    "$QUIA" "$@" || exit
}

echo "A university turned an applicant down. Why?"
try explain admissions.json --set SAT=1400 --set GPA=medium --set Essay=fail --set Interview=fail

echo
echo "Luna was admitted. Would she have been, had she not come from a rich hometown (R)?"
try explain luna.json --set E=yes --set F=no --set G=yes --set W=yes --set R=yes --shortest --protected R

echo
echo "An iris, by its numbers. Why is it not a setosa?"
try explain iris.json --set petalwidth=0.8 --set petallength=5.3 --against Iris-setosa

echo
echo "A bank's scorecard, which is a table, has turned down a loan. Why?"
try explain credit_scorecard.csv --data applicant.csv --row 1 --shortest

echo
echo "And the whole model of another bank, on 600 invented people: which rules, and who is treated differently?"
AUDIT=$(mktemp -d) || exit 1
trap 'rm -r "$AUDIT"' EXIT
try audit loan.json loans.csv --label outcome --protected sex --favourable grant --json "$AUDIT/audit.json"
try verify loan.json "$AUDIT/audit.json"

cat <<'NEXT'

What to try next:
  .venv/bin/quia explain --help                    other questions: --frozen, --cost, --json …
  .venv/bin/quia check examples/iris.json          what is in a model
  .venv/bin/quia learn YOUR.csv -o tree.json       a tree from your own table
  docs/filed/loan-audit.html                       that audit as a page; docs/auditors.md says how to read it
  .venv/bin/python examples/loan_in_python.py      the same from Python
  make bench BENCH="table --quick"                  beside the paper's algorithms, in about a minute
NEXT
