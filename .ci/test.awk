# Reads `go test -v ./...`: one line for a package that passed. Of one that did not, what its failed tests printed, or everything
# where no test is to blame, as after a panic; and at the very end, what each failed test complained of.
# Reasons of skipped tests go to the file `skipped`.

BEGIN { lines = 0 }

/^=== (RUN|PAUSE|CONT|NAME) / { test = $3; next }
/^ *--- PASS: / { next }

/^ok  \t/ || /^\?   \t/ {
	print
	report_skips()
	forget()
	next
}

/^(panic|fatal error): / || /^WARNING: DATA RACE/ { whole = 1 }

/^ *--- FAIL: / {
	failed[$3] = 1
	whose[lines] = $3
	held[lines++] = $0
	next
}

{
	whose[lines] = test
	held[lines++] = $0
}

/^FAIL\t/ { show_held() }

END {
	show_held()
	if (complaints != "") printf "\nFailed tests:\n%s", complaints
}

function show_held(    i, any) {
	for (any in failed) break
	for (i = 0; i < lines; i++) {
		if (whole || any == "" || whose[i] in failed || held[i] ~ /^(FAIL|exit status)/) print held[i]
		if (whose[i] in failed && held[i] ~ /^ *(--- FAIL: |[A-Za-z0-9_]+_test\.go:[0-9]+: )/) complaints = complaints held[i] "\n"
	}
	forget()
	fflush()
}

function forget() {
	split("", held)
	split("", whose)
	split("", failed)
	lines = whole = 0
	test = ""
}

# A skipped test prints its reason on the line before its own "--- SKIP", or after it; both forms
# are "    file_test.go:12: reason".
function report_skips(    i, name) {
	for (i = 0; i < lines; i++) {
		if (held[i] ~ /^ *--- SKIP: /) {
			name = held[i]
			sub(/^ *--- SKIP: /, "", name)
			sub(/ \([0-9.]+s\)$/, "", name)
			print name ": " reason(i) >> skipped
		}
	}
}

function reason(i,    line) {
	line = held[i - 1]
	sub(/^ *[A-Za-z0-9_]+\.go:[0-9]+: /, "", line)
	return line
}
