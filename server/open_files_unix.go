//go:build unix

package main

import "syscall"

// maxOpenFiles returns how many files this process may have open, or 0 if it is not known. Go has raised the limit as far as it may.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30)) //nolint:gosec // bounded
}
