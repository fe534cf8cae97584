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

// preloadModules names, before a page's script, every module that it will need. A browser that only follows imports learns of
// the next ones when it has read the last ones: on a phone each such step is a wait.
func preloadModules(page []byte, source func(name string) []byte) []byte {
	script := pageScript.FindSubmatchIndex(page)
	if script == nil {
		return page
	}
	var links bytes.Buffer
	for _, name := range importsOf(string(page[script[2]:script[3]]), source) {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"/assets/%s\">\n  ", name)
	}
	return bytes.Join([][]byte{page[:script[0]], links.Bytes(), page[script[0]:]}, nil)
}

// importsOf lists what a module imports, and what that imports, each once and the nearest first; not what is imported later,
// by import().
func importsOf(main string, source func(name string) []byte) []string {
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
