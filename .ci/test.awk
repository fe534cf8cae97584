# Reads `go test -v ./...`: one line for a package that passed, everything for one that did not.
# Reasons of skipped tests go to the file `skipped`.

/^=== (RUN|PAUSE|CONT|NAME) / || /^ *--- PASS: / { next }

/^ok  \t/ || /^\?   \t/ {
	print
	report_skips()
	lines = 0
	next
}

{ held[lines++] = $0 }

/^FAIL\t/ { show_held() }

END { show_held() }

function show_held(    i) {
	for (i = 0; i < lines; i++) print held[i]
	lines = 0
	fflush()
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
