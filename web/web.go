// Package web holds what browsers run: plain ES modules, styles and pages, without a build step, inside the binary.
package web

import "embed"

// Files are the browser's files, by their path in this folder. Checks and notes are among them; whoever serves them
// leaves those out.
//
//go:embed join player host screen shared vendor
var Files embed.FS
