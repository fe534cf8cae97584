package main

import (
	"fmt"
	"strings"
)

// Words that nobody translated show as keys (form.title), sentences whose values are missing as {n} or undefined; and an
// English page has no Chinese words, names of people and rooms and the button of the other language aside.
const unreadable = `((language) => {
	const seen = [document.title];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
	for (let node = walk.nextNode(); node; node = walk.nextNode()) {
		const element = node instanceof Element ? node : node.parentElement;
		if (!element.checkVisibility() || element.closest('bdi, code, option, script, style, [aria-hidden=true], [lang]:not(html)')) continue;
		if (node === element) seen.push(...['aria-label', 'title', 'alt', 'placeholder'].map((name) => element.getAttribute(name) ?? ''));
		else seen.push(node.data);
	}
	const key = /(?<![\w.:/])[a-z][a-z_]*(\.[a-z0-9_]+)+(?![\w.:/])/, hole = /\{\w+\}|undefined|\bNaN\b|\[object|Invalid Date/;
	const faults = seen.flatMap((text) => [text.match(key)?.[0], text.match(hole)?.[0], language === 'en' ? text.match(/[\u4e00-\u9fff]+/)?.[0] : '']);
	return [...new Set(faults.filter(Boolean))];
})`

// readable complains about words of a page that are not in its language.
func (s *browserPage) readable(state string) {
	s.t.Helper()
	language, _, _ := strings.Cut(s.language, "-")
	if lang := evaluate[string](s, "document.documentElement.lang"); !strings.HasPrefix(lang, language) {
		s.t.Errorf("%s, %s: the page's language is %q, want %s", s.who, state, lang, s.language)
	}
	if words := s.unreadableWords(language); len(words) > 0 {
		s.t.Errorf("%s, %s: not in %s: %q", s.who, state, s.language, words)
	}
}

func (s *browserPage) unreadableWords(language string) []string {
	s.t.Helper()
	return evaluate[[]string](s, fmt.Sprintf("%s(%q)", unreadable, language))
}

// fits complains about what is wider than the page.
func (s *browserPage) fits(state string) {
	s.t.Helper()
	if over := evaluate[float64](s, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		s.t.Errorf("%s, %s: the page is %v pixels too wide", s.who, state, over)
	}
}
