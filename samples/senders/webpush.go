// Sends a web push message to browsers, with media prepared by attachprep. Needs github.com/SherClockHolmes/webpush-go:
//
//	go mod init example && go get github.com/SherClockHolmes/webpush-go
//	export VAPID_PUBLIC_KEY=BP… VAPID_PRIVATE_KEY=… VAPID_SUBJECT=push@example.com
//	ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... go run webpush.go message.json subscriptions.jsonl
//
// message.json is what the service worker shows: {"title": …, "image": …, "icon": …}; each line of subscriptions.jsonl
// is a PushSubscription as JSON.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/SherClockHolmes/webpush-go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// prepare returns the JSON to send: media URLs are replaced by those of prepared files.
func prepare(message []byte) []byte {
	url := os.Getenv("ATTACHPREP_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	body, err := json.Marshal(map[string]json.RawMessage{"payload": message})
	check(err)
	request, err := http.NewRequest("POST", url+"/v1/payloads", bytes.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("ATTACHPREP_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	var result struct {
		Detail   string
		Payload  json.RawMessage
		Warnings []struct{ Code, Message string }
	}
	check(json.NewDecoder(answer.Body).Decode(&result))
	if answer.StatusCode != 200 {
		log.Fatalf("attachprep: %d: %s", answer.StatusCode, result.Detail)
	}
	for _, warning := range result.Warnings {
		fmt.Fprintf(os.Stderr, "%s: %s\n", warning.Code, warning.Message)
	}
	return result.Payload
}

func main() {
	log.SetFlags(0)
	message, err := os.ReadFile(os.Args[1])
	check(err)
	subscriptions, err := os.ReadFile(os.Args[2])
	check(err)
	data, code := prepare(message), 0
	for _, line := range strings.Split(strings.TrimSpace(string(subscriptions)), "\n") {
		var subscription webpush.Subscription
		check(json.Unmarshal([]byte(line), &subscription))
		answer, err := webpush.SendNotification(data, &subscription, &webpush.Options{
			Subscriber: os.Getenv("VAPID_SUBJECT"), VAPIDPublicKey: os.Getenv("VAPID_PUBLIC_KEY"),
			VAPIDPrivateKey: os.Getenv("VAPID_PRIVATE_KEY"), TTL: 86400,
		})
		check(err)
		answer.Body.Close()
		switch {
		case answer.StatusCode == 404 || answer.StatusCode == 410: // The browser has ended the subscription: delete it.
			fmt.Println("remove", subscription.Endpoint)
		case answer.StatusCode >= 300:
			fmt.Fprintf(os.Stderr, "%s: %d\n", subscription.Endpoint, answer.StatusCode)
			code = 1
		}
	}
	os.Exit(code)
}
