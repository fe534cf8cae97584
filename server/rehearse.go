package main

import (
	"context"
	"net"
	"strconv"

	"redrain/internal/bots"
	"redrain/internal/game"
)

// openRehearsals prepares rehearsals, whose bots connect to this instance over loopback.
func (a *app) openRehearsals() {
	changed := func(ctx context.Context, room string) {
		warnIfFailed(a.log, "tell the hosts of a rehearsal", a.redis.NotifyHosts(ctx, room, game.NoticeRehearsalsChanged))
	}
	a.rehearsals = bots.NewRehearsals(a.books, a.sessions, a.loopback, changed, a.log)
}

// loopback returns this instance's URL for connections from this machine.
func (a *app) loopback() string {
	host := "127.0.0.1"
	if tcp, ok := a.address.(*net.TCPAddr); ok && !tcp.IP.IsUnspecified() {
		host = tcp.IP.String()
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(a.port()))
}
