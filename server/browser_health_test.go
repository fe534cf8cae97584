package main

import (
	"testing"

	"redrain/internal/testkit"
)

// The disk is full: the host's page says so in the host's own language, and that it is over.
func TestTheHostsPageSaysWhyItIsNotReady(t *testing.T) {
	t.Parallel()
	browser := testkit.Chromium(t)
	in := startInstance(t)
	room := newRoom(t, loginHost(t, in))
	for language, words := range map[string]string{"en-GB": "disk or memory is full", "zh-CN": "磁盘或内存已满"} {
		page := newBrowserPage(t, browser, testkit.PhoneScreen, "the host", in.url, language)
		page.calm()
		page.open("/host#/" + room)
		page.fill("password", password)
		page.click("login")
		page.awaitPhase("waiting")
		database := "document.querySelector('" + byTestName("health-database") + "')"
		page.await(database + "?.dataset.ok === 'true'")
		in.LimitFileSize(t, 0)
		page.await(database + "?.dataset.ok === 'false'")
		page.await(database + ".textContent.includes('" + words + "')")
		page.await("(" + database + ".scrollIntoView({block: 'center'}), true)")
		page.readable("a full disk")
		page.fits("a full disk")
		page.accessible("a full disk")
		page.picture("full-disk")
		in.LimitFileSize(t, -1)
		page.await(database + "?.dataset.ok === 'true'")
	}
}
