package rdb

import (
	"errors"
	"testing"
)

// mustBe fails the test unless the error is the wanted one.
func mustBe(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

// same fails the test if two contents of a server differ.
func same(t testing.TB, before, after map[string]string) {
	t.Helper()
	for key, text := range before {
		if after[key] != text {
			t.Errorf("%s was\n%s\nand is\n%s", key, text, after[key])
		}
	}
	for key, text := range after {
		if _, known := before[key]; !known {
			t.Errorf("%s is new: %s", key, text)
		}
	}
}
