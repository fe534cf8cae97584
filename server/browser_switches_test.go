package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// What a player or a host has switched on a page is as they left it when they come back, in other tabs and on other pages too.
func TestSwitchesAreRemembered(t *testing.T) {
	v := openVenue(t)
	room := newRoom(t, v.books)
	phone := comeByLink(t, v.browser, v.instance, room, "Ann")
	heard := "document.querySelector('" + at("sound") + "').getAttribute('aria-pressed')"
	silent := see[string](phone, heard)
	phone.click("language")
	phone.click("calm")
	phone.click("sound")
	phone.await(heard + " !== '" + silent + "'")
	switched := func(page *sheet) {
		t.Helper()
		page.await("document.documentElement.lang === 'zh-CN'")
		page.await("document.querySelector('" + at("calm") + "').getAttribute('aria-pressed') === 'true'")
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

	desk := phone.newTab(testkit.LaptopScreen, "the host in another tab", v.url, "en")
	desk.open("/host")
	desk.awaitPhase("login")
	desk.await("document.documentElement.lang === 'zh-CN'")
	const dusk = "getComputedStyle(document.body).backgroundColor"
	before := see[string](desk, dusk)
	desk.click("theme")
	desk.await(dusk + " !== " + "'" + before + "'")
	after := see[string](desk, dusk)
	desk.do(chromedp.Reload())
	desk.awaitPhase("login")
	desk.await(dusk + " === '" + after + "'")
}
