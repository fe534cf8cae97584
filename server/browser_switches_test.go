package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// What a player or a host has switched on a page is as they left it when they come back, in other tabs and on other pages too.
func TestSwitchesAreRemembered(t *testing.T) {
	t.Parallel()
	v := newBrowserSite(t)
	room := newRoom(t, v.books)
	phone := joinByLink(t, v.browser, v.instance, room, "Ann")
	heard := "document.querySelector('" + byTestName("sound") + "').getAttribute('aria-pressed')"
	silent := evaluate[string](phone, heard)
	phone.click("language")
	phone.click("calm")
	phone.click("sound")
	phone.await(heard + " !== '" + silent + "'")
	switched := func(page *browserPage) {
		t.Helper()
		page.await("document.documentElement.lang === 'zh-CN'")
		page.await("document.querySelector('" + byTestName("calm") + "').getAttribute('aria-pressed') === 'true'")
	}
	switched(phone)
	phone.language = "zh-CN"
	phone.readable("after the switch")
	phone.do(chromedp.Reload())
	phone.awaitPhase("waiting")
	switched(phone)
	phone.await(heard + " !== '" + silent + "'")
	wall := phone.newTab(testkit.BigScreen, "the wall in another tab", v.url, "en")
	wall.open("/screen/" + room)
	wall.awaitPhase("waiting")
	switched(wall)

	hostPage := phone.newTab(testkit.LaptopScreen, "the host in another tab", v.url, "en")
	hostPage.open("/host")
	hostPage.awaitPhase("login")
	hostPage.await("document.documentElement.lang === 'zh-CN'")
	const dusk = "getComputedStyle(document.body).backgroundColor"
	before := evaluate[string](hostPage, dusk)
	hostPage.click("theme")
	hostPage.await(dusk + " !== " + "'" + before + "'")
	after := evaluate[string](hostPage, dusk)
	hostPage.do(chromedp.Reload())
	hostPage.awaitPhase("login")
	hostPage.await(dusk + " === '" + after + "'")
}
