// Package lua holds the scripts that run inside Redis. Each begins with a header: purpose, KEYS, ARGV, REPLY. Fit must be prepended
// to those whose header says so.
package lua

import _ "embed" // the scripts are part of the binary

// The sources of the scripts.
var (
	//go:embed fit.lua
	Fit string
	//go:embed open.lua
	Open string
	//go:embed grab.lua
	Grab string
	//go:embed close.lua
	Close string
	//go:embed snapshot.lua
	Snapshot string
	//go:embed report.lua
	Report string
	//go:embed sweep.lua
	Sweep string
	//go:embed freeze.lua
	Freeze string
	//go:embed watermark.lua
	Watermark string
	//go:embed expire.lua
	Expire string
	//go:embed restore.lua
	Restore string
	//go:embed remove_consumers.lua
	RemoveConsumers string
	//go:embed page.lua
	Page string
	//go:embed ready.lua
	Ready string
)
