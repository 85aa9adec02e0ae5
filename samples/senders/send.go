// Sends a campaign to APNs, with media prepared by attachprep. Needs nothing but Go 1.19 or newer: net/http speaks
// HTTP/2. (github.com/sideshow/apns2 does the part that is in providerToken and post: token.AuthKeyFromFile,
// apns2.NewTokenClient, and an apns2.Notification whose Payload is the []byte of prepare.)
//
//	export APNS_KEY=AuthKey_ABC123DEFG.p8 APNS_KEY_ID=ABC123DEFG APNS_TEAM_ID=DEF123GHIJ APNS_TOPIC=com.example.app
//	ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... go run send.go campaign.jsonl devices.txt
//
// Each line of campaign.jsonl is {"name": "spring", "payload": {…}}, where the payload can be the name of a file in
// the folder "payloads" beside it; devices.txt has one device token a line. See README.md for all variables and the
// output.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math"
	random "math/rand"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	attempts       = 5
	longestBackoff = 60 * time.Second
	payloadBytes   = 4096
	// How long APNs keeps a notification for a phone that is off.
	lifetime = 24 * time.Hour
	// APNs accepts a provider token for 60 minutes, and a new one at most every 20 minutes.
	tokenAge = 40 * time.Minute
)

var (
	attachprep     = variable("ATTACHPREP_URL", "http://127.0.0.1:8080")
	apns           = variable("APNS_URL", "https://api.sandbox.push.apple.com")
	concurrency    = int(number("APNS_CONCURRENCY", 100))
	backoffSeconds = number("APNS_BACKOFF", 1)

	// The device token will never work again for this app: delete it.
	gone = map[string]bool{
		"Unregistered": true, "ExpiredToken": true, "BadDeviceToken": true, "DeviceTokenNotForTopic": true,
	}
	// Every notification would be rejected like this one: key, team, topic or environment is wrong.
	misconfigured = map[string]bool{
		"MissingTopic": true, "BadTopic": true, "TopicDisallowed": true, "BadCertificateEnvironment": true,
	}

	service = &http.Client{Timeout: 60 * time.Second}
	// All notifications share one HTTP/2 connection: Apple treats many short ones as an attack.
	pusher = &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxConnsPerHost: 1,
		},
	}
)

func variable(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func number(name string, otherwise float64) float64 {
	value, err := strconv.ParseFloat(variable(name, fmt.Sprint(otherwise)), 64)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// providerToken is the JWT by which APNs knows the sender. It is reused: APNs rejects senders that sign one per
// request.
type providerToken struct {
	lock   sync.Mutex
	key    *ecdsa.PrivateKey
	value  string
	issued time.Time
}

func newProviderToken() *providerToken {
	content, err := os.ReadFile(os.Getenv("APNS_KEY"))
	check(err)
	block, _ := pem.Decode(content)
	if block == nil {
		log.Fatal("APNS_KEY is not a .p8 file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	return &providerToken{key: key.(*ecdsa.PrivateKey)}
}

func (token *providerToken) current() string {
	token.lock.Lock()
	defer token.lock.Unlock()
	if token.value == "" || time.Since(token.issued) > tokenAge {
		token.issued = time.Now()
		encode := base64.RawURLEncoding.EncodeToString
		header := fmt.Sprintf(`{"alg":"ES256","kid":"%s"}`, os.Getenv("APNS_KEY_ID"))
		claims := fmt.Sprintf(`{"iss":"%s","iat":%d}`, os.Getenv("APNS_TEAM_ID"), token.issued.Unix())
		content := encode([]byte(header)) + "." + encode([]byte(claims))
		digest := sha256.Sum256([]byte(content))
		r, s, err := ecdsa.Sign(rand.Reader, token.key, digest[:])
		check(err)
		// JWS wants the two numbers of the signature, not DER.
		var signature [64]byte
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		token.value = content + "." + encode(signature[:])
	}
	return token.value
}

// discard signs a new token the next time, unless another request has already done so.
func (token *providerToken) discard(rejected string) {
	token.lock.Lock()
	defer token.lock.Unlock()
	if rejected == token.value {
		token.value = ""
	}
}

// pause waits: exponential back-off with jitter, or longer if the server says so.
func pause(attempt int, retryAfter string) {
	backoff := time.Duration(backoffSeconds * math.Pow(2, float64(attempt)) * float64(time.Second))
	if backoff > longestBackoff {
		backoff = longestBackoff
	}
	backoff = time.Duration(float64(backoff) * (0.5 + random.Float64()/2))
	if seconds, err := strconv.Atoi(retryAfter); err == nil && time.Duration(seconds)*time.Second > backoff {
		backoff = time.Duration(seconds) * time.Second
	}
	time.Sleep(backoff)
}

// post sends one request; status is 0 if no response arrived.
func post(client *http.Client, url string, headers map[string]string, body []byte) (int, http.Header, []byte, error) {
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, nil, err
	}
	return answer.StatusCode, answer.Header, content, nil
}

type message struct {
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
}

func compact(payload []byte) []byte {
	var content bytes.Buffer
	check(json.Compact(&content, payload))
	return content.Bytes()
}

// prepare returns the payload to send: media URLs are replaced by those of prepared files. Nil if it cannot be sent.
func prepare(one message, recipients int) []byte {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	// Otherwise "&" in a URL would take six bytes of the payload.
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(map[string]any{
		"payload": one.Payload, "request": map[string]string{"rendition": "display"}, "campaign": one.Name,
		"recipients": recipients,
	}))
	headers := map[string]string{}
	if token := os.Getenv("ATTACHPREP_TOKEN"); token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	var problem string
	for attempt := 0; attempt < attempts; attempt++ {
		status, answered, content, err := post(service, attachprep+"/v1/payloads", headers, body.Bytes())
		switch {
		case err != nil:
			problem = err.Error()
		case status == 200:
			var result struct {
				Payload  json.RawMessage
				Warnings []struct{ Code, Message string }
			}
			check(json.Unmarshal(content, &result))
			for _, warning := range result.Warnings {
				log.Printf("%s: %s: %s", one.Name, warning.Code, warning.Message)
			}
			return compact(result.Payload)
		case status == 422 && strings.Contains(string(content), `"payload.no_media"`):
			return compact(one.Payload)
		case status == 401:
			log.Fatal("attachprep answered 401: set ATTACHPREP_TOKEN")
		default:
			problem = string(content)
		}
		if status != 0 && status != 429 && status != 503 {
			break
		}
		pause(attempt, answered.Get("Retry-After"))
	}
	log.Printf("%s: not sent: %s", one.Name, problem)
	return nil
}

func newID() string {
	var id [16]byte
	_, err := rand.Read(id[:])
	check(err)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// deliver sends one notification: "sent", "removed" or "failed".
func deliver(token *providerToken, name string, payload []byte, device string) string {
	headers := map[string]string{
		"apns-topic":      os.Getenv("APNS_TOPIC"),
		"apns-push-type":  "alert",
		"apns-priority":   "10",
		"apns-expiration": strconv.FormatInt(time.Now().Add(lifetime).Unix(), 10),
		// A second notification with the same id replaces the first on the phone, so repeating is harmless.
		"apns-collapse-id": name,
		"apns-id":          newID(),
	}
	var status int
	var reason string
	for attempt := 0; attempt < attempts; attempt++ {
		signed := token.current()
		headers["authorization"] = "bearer " + signed
		received, answered, content, err := post(pusher, apns+"/3/device/"+device, headers, payload)
		var body struct{ Reason string }
		if err != nil {
			// The connection ended; the next request opens another one.
			body.Reason = err.Error()
		} else if len(content) > 0 {
			_ = json.Unmarshal(content, &body)
		}
		status, reason = received, body.Reason
		switch {
		case status == 200:
			return "sent"
		case gone[reason]:
			fmt.Println("remove", device, reason)
			return "removed"
		case reason == "ExpiredProviderToken":
			token.discard(signed)
			continue
		case status == 403 || misconfigured[reason]:
			log.Fatalf("APNs answered %d %s: check APNS_KEY, _KEY_ID, _TEAM_ID, _TOPIC and _URL", status, reason)
		}
		if status > 0 && status < 500 && status != 429 {
			break
		}
		if attempt < attempts-1 {
			pause(attempt, answered.Get("Retry-After"))
		}
	}
	log.Printf("%s: %s: %d %s", name, device, status, reason)
	return "failed"
}

// send sends one message to all devices, at most `concurrency` at a time, and returns the outcome of each device.
func send(token *providerToken, name string, payload []byte, devices []string) map[string]string {
	outcomes := map[string]string{}
	if len(devices) == 0 {
		return outcomes
	}
	// APNs allows one request at a time until it has accepted a token, and this one shows whether the key is right.
	outcomes[devices[0]] = deliver(token, name, payload, devices[0])
	var lock sync.Mutex
	var workers sync.WaitGroup
	remaining := make(chan string)
	for range make([]struct{}, concurrency) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for device := range remaining {
				outcome := deliver(token, name, payload, device)
				lock.Lock()
				outcomes[device] = outcome
				lock.Unlock()
			}
		}()
	}
	for _, device := range devices[1:] {
		remaining <- device
	}
	close(remaining)
	workers.Wait()
	return outcomes
}

// read returns the messages with their payloads, and the device tokens.
func read(campaign, list string) (messages []message, devices []string) {
	content, err := os.ReadFile(campaign)
	check(err)
	for _, line := range strings.Split(string(content), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var one message
		check(json.Unmarshal([]byte(line), &one))
		var file string
		if json.Unmarshal(one.Payload, &file) == nil {
			one.Payload, err = os.ReadFile(filepath.Join(filepath.Dir(campaign), "payloads", file))
			check(err)
		}
		messages = append(messages, one)
	}
	content, err = os.ReadFile(list)
	check(err)
	seen := map[string]bool{}
	for _, device := range strings.Fields(string(content)) {
		if strings.Trim(device, "0123456789abcdefABCDEF") != "" {
			log.Fatalf("%s: %s is not a device token in hexadecimal", list, device)
		}
		if !seen[device] {
			seen[device] = true
			devices = append(devices, device)
		}
	}
	return messages, devices
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: send CAMPAIGN DEVICES; see the head of this file")
	}
	messages, devices := read(os.Args[1], os.Args[2])
	token := newProviderToken()
	failed := 0
	for _, one := range messages {
		recipients := len(devices)
		if recipients == 0 {
			recipients = 1
		}
		outcomes := map[string]string{}
		if payload := prepare(one, recipients); len(payload) > payloadBytes {
			log.Printf("%s: not sent: %d bytes, more than %d", one.Name, len(payload), payloadBytes)
		} else if payload != nil {
			outcomes = send(token, one.Name, payload, devices)
		}
		counts := map[string]int{}
		var left []string
		for _, device := range devices {
			counts[outcomes[device]]++
			if outcomes[device] != "removed" {
				left = append(left, device)
			}
		}
		missing := len(devices) - counts["sent"] - counts["removed"]
		failed += missing
		fmt.Printf("%s: sent %d, removed %d, failed %d\n", one.Name, counts["sent"], counts["removed"], missing)
		devices = left
	}
	if failed > 0 {
		os.Exit(1)
	}
}
