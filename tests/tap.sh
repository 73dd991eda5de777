#!/bin/sh
# Runs a cmocka program and prints one TAP stream: several groups become one
# numbering with one plan, a crash becomes a failed test. A test that skips
# itself prints "skip: REASON" before, as cmocka has no words for it.
CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT
name=$(basename "$1")
{ "$@" 2>&1; echo "exit status $?"; } | awk -v name="$name" '
/^1\.\.[0-9]+/ { next }
/^skip: / { reason = " " substr($0, 7); next }
/^(not )?ok [0-9]+ # SKIP / {
	sub(/^(not )?ok [0-9]+ # SKIP /, "")
	printf "ok %d - %s: %s # SKIP%s\n", ++count, name, $0, reason
	reason = ""
	next
}
/^(not )?ok [0-9]+ - / {
	failed = failed || /^not/
	word = /^not/ ? "not ok" : "ok"
	sub(/^(not )?ok [0-9]+ - /, "")
	printf "%s %d - %s: %s\n", word, ++count, name, $0
	reason = ""
	next
}
/^exit status [0-9]+$/ {
	if ($3 == 77)
		printf "ok %d - %s # SKIP the program skipped itself\n", \
			++count, name
	else if ($3 != 0 && !failed)
		printf "not ok %d - %s ended with status %d\n", \
			++count, name, $3
	status = $3
	next
}
{ print "# " $0 }
END { printf "1..%d\n", count; exit status != 0 && status != 77 }'
