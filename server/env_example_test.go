package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The example of an environment has every variable of the servers, and no other.
func TestTheExampleHasEveryVariable(t *testing.T) {
	text, err := os.ReadFile("../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	var listed, known []string
	for _, line := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, line[1])
	}
	for _, s := range settings(t) {
		known = append(known, s.variable)
	}
	slices.Sort(listed)
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf(".env.example has %v, --help has %v", listed, known)
	}
}
