package api

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"redrain/web"
)

func TestFindImports(t *testing.T) {
	sources := map[string]string{
		"player/main.js":  "/** @import {Not} from './typed.js' */\nimport { a } from '../shared/a.js';\nimport './side.js';\nexport { b } from \"./b.js\";\nlater(() => import('./lazy.js'));",
		"shared/a.js":     "import{h}from\"../vendor/min.js\";import{g}from'./g.js';const text = 'import x from nowhere';",
		"vendor/min.js":   "import {\n  one,\n  two,\n} from './deep.js';",
		"shared/g.js":     "import { a } from './a.js'; // a ring",
		"player/b.js":     "const from = './not.js';\nimportant('./not.js');",
		"player/side.js":  "",
		"vendor/deep.js":  "",
		"player/lazy.js":  "import './too.js';",
		"player/typed.js": "",
	}
	got := findImports("player/main.js", func(name string) []byte {
		source, known := sources[name]
		if !known {
			t.Errorf("%s is not imported by anything", name)
		}
		return []byte(source)
	})
	want := []string{"shared/a.js", "player/side.js", "player/b.js", "vendor/min.js", "shared/g.js", "vendor/deep.js"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPageWithoutAScriptIsNotChanged(t *testing.T) {
	if got := string(preloadModules([]byte("<p>rain</p>"), nil)); got != "<p>rain</p>" {
		t.Errorf("got %q", got)
	}
}

// The embedded pages preload each of their modules once, and no missing one.
func TestRealPagesPreloadWhatTheyImport(t *testing.T) {
	assets, err := loadAssets(web.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`<link rel="modulepreload" href="/assets/` + assets.release + `/([^"]+)">`)
	for _, page := range []string{pageJoin, pagePlayer, pageHost, pageScreen} {
		var named []string
		for _, match := range link.FindAllStringSubmatch(string(assets.byName[page].plain), -1) {
			named = append(named, match[1])
			if assets.byName[match[1]] == nil {
				t.Errorf("%s preloads %s, which is not there", page, match[1])
			}
		}
		slices.Sort(named)
		if len(named) < 10 || len(slices.Compact(slices.Clone(named))) != len(named) {
			t.Errorf("%s preloads %d modules: %s", page, len(named), strings.Join(named, " "))
		}
		for _, later := range []string{"vendor/zzfx.js", "vendor/uplot.js", "player/check-view.js"} {
			if assets.byName[later] == nil || slices.Contains(named, later) {
				t.Errorf("%s preloads %s, which only some will need", page, later)
			}
		}
	}
}
