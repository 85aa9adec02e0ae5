// Sends a campaign to FCM, with media prepared by attachprep for iOS, Android and browsers. Needs Go 1.19 or newer:
//
//	export FCM_PROJECT=example-app FCM_ACCESS_TOKEN=$(gcloud auth print-access-token)
//	ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... go run fcm.go campaign.jsonl devices.txt
//
// Each line of campaign.jsonl is {"name": "spring", "payload": {"message": {…}}}; devices.txt has one registration
// token a line. See README.md for the output.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const attempts = 5

var client = &http.Client{Timeout: 60 * time.Second}

func variable(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// post returns the status and the body of the answer; it repeats what may succeed later.
func post(url string, body any, token string) (int, []byte) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	// Otherwise "&" of a URL would take six bytes.
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(body))
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequest("POST", url, bytes.NewReader(bytes.TrimSpace(data.Bytes())))
		check(err)
		request.Header.Set("Content-Type", "application/json")
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(request)
		check(err)
		content, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		check(err)
		isPassing := answer.StatusCode == 429 || answer.StatusCode == 500 || answer.StatusCode == 503
		if !isPassing || attempt+1 == attempts {
			return answer.StatusCode, content
		}
		wait := time.Duration(1<<attempt) * time.Second
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && time.Duration(seconds)*time.Second > wait {
			wait = time.Duration(seconds) * time.Second
		}
		time.Sleep(wait)
	}
}

type payload struct {
	Message map[string]any `json:"message"`
}

// prepare returns the message to send: each system's media is at its own key. Without media, as it was.
func prepare(name string, original payload, recipients int) payload {
	status, body := post(variable("ATTACHPREP_URL", "http://127.0.0.1:8080")+"/v1/payloads", map[string]any{
		"payload": original, "campaign": name, "recipients": recipients,
		"request": map[string]any{"rendition": "display", "targets": []string{"ios", "android", "web"}},
	}, os.Getenv("ATTACHPREP_TOKEN"))
	var answer struct {
		Code     string
		Payload  payload
		Warnings []struct{ Code, Message string }
	}
	check(json.Unmarshal(body, &answer))
	if status == 422 && answer.Code == "payload.no_media" {
		return original
	}
	if status != 200 {
		log.Fatalf("attachprep: %d: %s", status, body)
	}
	for _, warning := range answer.Warnings {
		fmt.Fprintf(os.Stderr, "%s: %s: %s\n", name, warning.Code, warning.Message)
	}
	return answer.Payload
}

// send sends one message: "sent", "removed" or "failed".
func send(name string, original map[string]any, device string) string {
	message := map[string]any{"token": device}
	for key, value := range original {
		if key != "topic" && key != "condition" {
			message[key] = value
		}
	}
	url := fmt.Sprintf("%s/v1/projects/%s/messages:send", variable("FCM_URL", "https://fcm.googleapis.com"),
		os.Getenv("FCM_PROJECT"))
	status, body := post(url, map[string]any{"message": message}, os.Getenv("FCM_ACCESS_TOKEN"))
	switch status {
	case 200:
		return "sent"
	case 404: // UNREGISTERED: the token will never work again.
		fmt.Println("remove", device, "UNREGISTERED")
		return "removed"
	}
	fmt.Fprintf(os.Stderr, "%s: %s: %d %s\n", name, device, status, body)
	return "failed"
}

func main() {
	log.SetFlags(0)
	campaign, err := os.ReadFile(os.Args[1])
	check(err)
	devices, err := os.ReadFile(os.Args[2])
	check(err)
	tokens, code := strings.Fields(string(devices)), 0
	for _, line := range strings.Split(strings.TrimSpace(string(campaign)), "\n") {
		var entry struct {
			Name    string
			Payload payload
		}
		check(json.Unmarshal([]byte(line), &entry))
		prepared := prepare(entry.Name, entry.Payload, len(tokens))
		counts := map[string]int{}
		for _, token := range tokens {
			counts[send(entry.Name, prepared.Message, token)]++
		}
		fmt.Printf("%s: sent %d, removed %d, failed %d\n", entry.Name, counts["sent"], counts["removed"], counts["failed"])
		if counts["failed"] > 0 {
			code = 1
		}
	}
	os.Exit(code)
}
