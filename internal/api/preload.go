package api

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
)

var (
	pageScript   = regexp.MustCompile(`<script type="module" src="/assets/([^"]+)"></script>`)
	staticImport = regexp.MustCompile(`(?m)(?:^|[;}])\s*(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*["'](\.{1,2}/[^"']+)["']`)
)

// preloadModules adds a modulepreload link for every module that a page's script imports, directly or indirectly. Without them a
// browser discovers imports only level by level, and waits for a round trip at each level.
func preloadModules(page []byte, source func(name string) []byte) []byte {
	script := pageScript.FindSubmatchIndex(page)
	if script == nil {
		return page
	}
	var links bytes.Buffer
	for _, name := range findImports(string(page[script[2]:script[3]]), source) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"/assets/%s\">\n  ", name)
	}
	return bytes.Join([][]byte{page[:script[0]], links.Bytes(), page[script[0]:]}, nil)
}

// findImports lists all modules that a module imports, directly or indirectly, each once and the nearest first, but not those of
// dynamic import().
func findImports(main string, source func(name string) []byte) []string {
	seen := map[string]bool{main: true}
	queue := []string{main}
	for i := 0; i < len(queue); i++ {
		for _, match := range staticImport.FindAllSubmatch(source(queue[i]), -1) {
			name := path.Join(path.Dir(queue[i]), string(match[1]))
			if !seen[name] {
				seen[name] = true
				queue = append(queue, name)
			}
		}
	}
	return queue[1:]
}
