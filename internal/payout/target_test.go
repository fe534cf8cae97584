package payout

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redrain/internal/game"
)

// fixedResolver is a resolver that returns the given IPv4 address for every name.
func fixedResolver(t *testing.T, answer *atomic.Pointer[netip.Addr]) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { server.Close(); <-done })
	go func() {
		defer close(done)
		for question := make([]byte, 512); ; {
			n, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(dnsAnswer(question[:n], *answer.Load()), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// dnsAnswer repeats the question, and has one A record if that is what was asked for.
func dnsAnswer(question []byte, address netip.Addr) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	reply := append([]byte{}, question[:end]...)
	binary.BigEndian.PutUint16(reply[2:], 0x8180)
	binary.BigEndian.PutUint16(reply[10:], 0) // drops the additional records
	if kind := binary.BigEndian.Uint16(question[end-4:]); kind != 1 {
		return reply
	}
	binary.BigEndian.PutUint16(reply[6:], 1)
	reply = append(reply, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(reply, address.AsSlice()...)
}

func TestTargetsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "pay", "pay.example.org/hook", "ftp://127.0.0.1/", "https://", "https:///hook", "https://a b/", "https://user:pw@127.0.0.1/", "https://127.0.0.1/#x",
		"http://8.8.8.8/hook", "http://10.1.2.3/", "http://[2001:db8::1]/", "http://no-such-host.invalid/",
		"https://169.254.169.254/latest", "http://169.254.169.254/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[::ffff:169.254.169.254]/",
		"https://[64:ff9b::a9fe:a9fe]/", "https://[fd00:ec2::254]/", "https://100.100.100.200/", "https://0.0.0.0/", "http://0.0.0.0/", "https://[::]/", "https://224.0.0.1/",
	} {
		_, err := ParseTarget(t.Context(), text, nil)
		if err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q is refused with %v", text, err)
		}
	}
	for _, text := range []string{
		"http://127.0.0.1:9/", "http://localhost:9/hook", "http://[::1]:9/", "https://127.0.0.1/", "https://8.8.8.8/hook?x=1", "https://10.1.2.3/",
		"https://no-such-host.invalid/", // may come to be; it is looked at when it does
	} {
		if _, err := ParseTarget(t.Context(), text, nil); err != nil {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
}

func TestANameThatMeansALinkLocalAddressIsRefused(t *testing.T) {
	var answer atomic.Pointer[netip.Addr]
	resolver := fixedResolver(t, &answer)
	for text, ok := range map[string]bool{"169.254.169.254": false, "8.8.8.8": true} {
		address := netip.MustParseAddr(text)
		answer.Store(&address)
		if _, err := ParseTarget(t.Context(), "https://pay.test/", resolver); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A name can resolve to another address every time; the address that is connected to is what counts.
func TestNameThatResolvesToAnotherAddressLaterIsRefused(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	var answer atomic.Pointer[netip.Addr]
	turnTo := func(text string) {
		address := netip.MustParseAddr(text)
		answer.Store(&address)
	}
	resolver := fixedResolver(t, &answer)
	turnTo("127.0.0.1")
	target := must[Target](t)(ParseTarget(t.Context(), "http://pay.test:"+port+"/", resolver))
	sender := New(nil, Options{Target: target, Secret: must[Secret](t)(ParseSecret(testSecret)), Timeout: 2 * time.Second})
	defer sender.client.CloseIdleConnections()
	for _, address := range []string{"169.254.169.254", "8.8.8.8", "0.0.0.0"} {
		turnTo(address)
		if err := sender.post(t.Context(), game.Payout{}); err == nil || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v", address, err)
		}
	}
	turnTo("127.0.0.1")
	if err := sender.post(t.Context(), game.Payout{}); err != nil || reached != 1 {
		t.Errorf("reached %d times, %v", reached, err)
	}
}

// Nothing is sent to a receiver with an untrusted certificate.
func TestCertificatesAreChecked(t *testing.T) {
	reached := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	sender := newSender(t, nil, server.URL, time.Now)
	if err := sender.post(t.Context(), game.Payout{}); err == nil || !strings.Contains(err.Error(), "certificate") || reached != 0 {
		t.Errorf("reached %d times, %v", reached, err)
	}
}

func TestSecretsThatAreRefused(t *testing.T) {
	for _, text := range []string{"", "whsec_", "hunter2hunter2", "whsec_hunter2", "whsec_" + strings.Repeat("AAAA", 7), "whsec_" + strings.Repeat("AAAA", 22), strings.Repeat("AAAA", 8)} {
		if _, err := ParseSecret(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q is refused with %v", text, err)
		}
	}
}
