package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"redrain/internal/testkit"
)

// readmeBlocks returns the README's examples in a language.
func readmeBlocks(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(found[1]))
	}
	return blocks
}

// startProxy starts a proxy that is installed, with a configuration in a folder of its own, and waits until the site answers.
func startProxy(t *testing.T, site, file, configuration string, command ...string) {
	t.Helper()
	folder := t.TempDir()
	inFolder := strings.NewReplacer("FOLDER", folder)
	if err := os.WriteFile(filepath.Join(folder, file), []byte(inFolder.Replace(configuration)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range command {
		command[i] = inFolder.Replace(command[i])
	}
	testkit.StartProgram(t, []string{"HOME=" + folder, "XDG_DATA_HOME=" + folder, "XDG_CONFIG_HOME=" + folder}, command[0], command[1:]...)
	testkit.Eventually(t, soon, func() error {
		response, err := http.Get(site + "/healthz") //nolint:noctx // the test bounds it
		if err != nil {
			return fmt.Errorf("the proxy does not answer: %w", err)
		}
		return response.Body.Close()
	})
}

// The README's two blocks, each where the README says.
func TestTheNginxExampleOnAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	nginx := installed(t, "nginx", "nginx-light")
	blocks := readmeBlocks(t, "nginx")
	if len(blocks) != 2 {
		t.Fatalf("the README has %d examples for nginx", len(blocks))
	}
	throughProxy(t, func(site, port, instance string) {
		startProxy(t, site, "nginx.conf", fmt.Sprintf(`
daemon off;
master_process off;
pid FOLDER/nginx.pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	%s
	server { listen 127.0.0.1:%s; %s }
}`, strings.Replace(blocks[0], "127.0.0.1:8080", instance, 1), port, blocks[1]), nginx, "-p", "FOLDER", "-e", "stderr", "-c", "FOLDER/nginx.conf")
	})
}

func TestTheCaddyExampleOnAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	caddy := installed(t, "caddy", "caddy")
	blocks := readmeBlocks(t, "caddy")
	if len(blocks) != 1 {
		t.Fatalf("the README has %d examples for Caddy", len(blocks))
	}
	throughProxy(t, func(site, _, instance string) {
		block := strings.NewReplacer("rain.example.org", site, "127.0.0.1:8080", instance).Replace(blocks[0])
		startProxy(t, site, "Caddyfile", "{\n\tadmin off\n}\n"+block, caddy, "run", "--adapter", "caddyfile", "--config", "FOLDER/Caddyfile")
	})
}

func installed(t *testing.T, program, debianPackage string) string {
	t.Helper()
	for _, path := range []string{program, "/usr/sbin/" + program} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	testkit.Missing(t, program, debianPackage)
	return ""
}

// throughProxy goes through a proxy as a browser does, with and without PUBLIC_URL: logs in, joins, and opens a socket.
func throughProxy(t *testing.T, start func(site, port, instance string)) {
	t.Helper()
	port := strconv.Itoa(testkit.FreePort(t))
	site := "http://" + net.JoinHostPort("127.0.0.1", port)
	server := startInstance(t, "TRUSTED_PROXIES=127.0.0.0/8")
	start(site, port, strings.TrimPrefix(server.url, "http://"))
	b := newVisitor(t, site)
	b.send(http.MethodPost, "/api/host/session", `{"password":"`+password+`"}`, http.StatusOK)
	created := b.send(http.MethodPost, "/api/rooms", `{"name":"a"}`, http.StatusCreated)
	room := regexp.MustCompile(`"code":"(\w+)"`).FindStringSubmatch(created)[1]
	b.send(http.MethodPost, "/api/rooms/"+room+"/players", `{"nickname":"a"}`, http.StatusCreated)
	for _, role := range []string{"host", "player", "screen"} {
		ws, _, err := websocket.Dial(t.Context(), site+"/ws?room="+room+"&role="+role, &websocket.DialOptions{
			HTTPClient: b.client, HTTPHeader: http.Header{"Origin": {site}},
		})
		if err != nil {
			t.Errorf("%s: %v", role, err)
			continue
		}
		_ = ws.CloseNow()
	}
	b.send(http.MethodGet, "/metrics", "", http.StatusNotFound)
	b.send(http.MethodGet, "/readyz", "", http.StatusNotFound)
	if policy := b.last.Get("Content-Security-Policy"); policy != "" {
		t.Errorf("the proxy asked the server: %s", policy)
	}
	b.send(http.MethodGet, "/", "", http.StatusOK)
	if policy := b.last.Get("Content-Security-Policy"); !strings.Contains(policy, " ws://127.0.0.1:"+port+" ") {
		t.Errorf("the policy does not name the page's own address: %s", policy)
	}
}

// visitor sends requests as the pages of a site do.
type visitor struct {
	t      *testing.T
	site   string
	client *http.Client
	last   http.Header // of the last answer
}

func newVisitor(t *testing.T, site string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{t: t, site: site, client: &http.Client{Jar: jar, Transport: transport}}
}

func (b *visitor) send(method, path, body string, want int) string {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.site+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if method != http.MethodGet {
		request.Header.Set("Origin", b.site)
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		b.t.Fatalf("%s %s: %d %s, %v", method, path, response.StatusCode, answer, err)
	}
	b.last = response.Header
	return string(answer)
}

// Behind a proxy that drops the port every page says what to set: the wall too, which never logs in, and waited for ever.
func TestPagesBehindAProxyThatDropsThePortSayWhatToSet(t *testing.T) {
	t.Parallel()
	chromium := testkit.Chromium(t)
	in := startInstance(t)
	code := newRoom(t, loginHost(t, in))
	target, err := url.Parse(in.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = "127.0.0.1"
	}})
	t.Cleanup(proxy.Close)
	want := "PUBLIC_URL to " + proxy.URL

	wall := newBrowserPage(t, chromium, testkit.BigScreen, "the wall", proxy.URL, "en")
	wall.open("/screen/" + code)
	wall.awaitPhase("failed")
	login := newBrowserPage(t, chromium, testkit.BigScreen, "the host", proxy.URL, "en")
	login.open("/host")
	login.awaitPhase("login")
	login.fill("password", password)
	login.click("login")
	login.await("document.querySelector('" + byTestName("error") + "').textContent !== ''")
	for name, text := range map[string]string{"the wall": wall.text("message"), "the host": login.text("error")} {
		if !strings.Contains(text, want) {
			t.Errorf("%s says %q", name, text)
		}
	}
}
