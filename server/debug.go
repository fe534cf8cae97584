package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"strings"
	"time"

	"redrain/internal/api"
)

// openDebug serves profiles on an address of its own, a loopback one, to who has the host's session.
func (a *app) openDebug(ctx context.Context) error {
	if a.config.DebugAddr == "" {
		return nil
	}
	listening, err := new(net.ListenConfig).Listen(ctx, "tcp", a.config.DebugAddr)
	if err != nil {
		return fmt.Errorf("listen for profiles: %w", err)
	}
	if tcp, ok := listening.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return errors.Join(errors.New("DEBUG_ADDR must be an address of the loopback interface, like 127.0.0.1:6060"), listening.Close())
	}
	pages := http.NewServeMux()
	pages.HandleFunc("/debug/pprof/", pprof.Index)
	pages.HandleFunc("/debug/pprof/profile", pprof.Profile)
	pages.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	pages.HandleFunc("/debug/pprof/trace", pprof.Trace)
	pages.HandleFunc("POST /debug/gc", func(w http.ResponseWriter, _ *http.Request) {
		debug.FreeOSMemory() // what is still resident afterwards is really used
		w.WriteHeader(http.StatusNoContent)
	})
	a.debug = &http.Server{Handler: a.onlyHost(pages), ReadHeaderTimeout: 5 * time.Second}
	a.serveAside(a.debug, listening, "profiles")
	return nil
}

// openOperators serves metrics and readiness to operators on an address of their own.
func (a *app) openOperators(ctx context.Context) error {
	if a.config.MetricsAddr == "" {
		return nil
	}
	listening, err := new(net.ListenConfig).Listen(ctx, "tcp", a.config.MetricsAddr)
	if err != nil {
		return fmt.Errorf("METRICS_ADDR: %w", err)
	}
	a.operators = api.NewHTTPServer(a.web.Operators(), a.log)
	a.serveAside(a.operators, listening, "metrics")
	return nil
}

// serveAside serves what the game does not need: if it fails, that is logged, and the instance goes on.
func (a *app) serveAside(server *http.Server, listening net.Listener, what string) {
	a.log.Info("serving "+what, "address", listening.Addr().String())
	a.serving.Go(func() {
		if err := server.Serve(listening); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("no longer serving "+what, "error", err)
		}
	})
}

// onlyHost lets in who brings the host's token, as a bearer or in the host's cookie, for as long as that session lasts.
func (a *app) onlyHost(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if cookie, err := r.Cookie(api.HostCookie); !bearer && err == nil {
			token = cookie.Value
		}
		session, err := a.sessions.Host(token)
		if err != nil {
			http.Error(w, "log in as the host first", http.StatusUnauthorized)
			return
		}
		ctx, cancel := a.sessions.HostContext(r.Context(), session)
		defer cancel()
		pages.ServeHTTP(w, r.WithContext(ctx))
	})
}
