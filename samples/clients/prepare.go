// Prepares one source with attachprep and downloads the attachment. Needs nothing but Go.
//
//	ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... go run prepare.go https://cdn.example/cat.webp [FOLDER]
//	go run prepare.go verify SECRET WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < BODY
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type manifest struct {
	Outcome    string
	Attachment *struct {
		File, URL, SHA256 string
		Bytes             int
	}
	Error *struct{ Code, Message string }
}

type job struct {
	ID, State string
	Result    *manifest
}

func address() string {
	if url := os.Getenv("ATTACHPREP_URL"); url != "" {
		return url
	}
	return "http://127.0.0.1:8080"
}

// call sends one request and reads its answer.
func call(method, path string, body any, headers map[string]string) (int, http.Header, []byte) {
	content, err := json.Marshal(body)
	check(err)
	request, err := http.NewRequest(method, address()+path, bytes.NewReader(content))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("ATTACHPREP_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	content, err = io.ReadAll(answer.Body)
	check(err)
	return answer.StatusCode, answer.Header, content
}

// prepare returns the manifest. It retries while the service is busy, with the same key, so that only one job is
// created.
func prepare(source string) (result manifest) {
	key := make([]byte, 16)
	_, err := rand.Read(key)
	check(err)
	headers := map[string]string{"Idempotency-Key": hex.EncodeToString(key), "Prefer": "wait=20"}
	for {
		status, answered, body := call("POST", "/v1/jobs", map[string]string{"source": source}, headers)
		switch status {
		case 200:
			check(json.Unmarshal(body, &result))
			return result
		case 202:
			var taken job
			check(json.Unmarshal(body, &taken))
			return waitFor(taken.ID)
		case 429, 503:
			seconds, err := strconv.Atoi(answered.Get("Retry-After"))
			if err != nil {
				seconds = 1
			}
			time.Sleep(time.Duration(seconds) * time.Second)
		default:
			log.Fatalf("attachprep answered %d: %s", status, body)
		}
	}
}

func waitFor(id string) manifest {
	for {
		var found job
		_, _, body := call("GET", "/v1/jobs/"+id, nil, nil)
		check(json.Unmarshal(body, &found))
		if found.Result != nil {
			return *found.Result
		}
		if found.State == "cancelled" {
			log.Fatal("the job was cancelled")
		}
		time.Sleep(time.Second)
	}
}

// download saves the attachment. Its URL contains 128 random bits and needs no token, so that devices can use it.
func download(url, digest, path string) {
	answer, err := http.Get(url)
	check(err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	check(err)
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != digest {
		log.Fatal("the download does not match the manifest's SHA-256")
	}
	check(os.WriteFile(path, content, 0o644))
}

// isValid reports whether a webhook is authentic: one of its signatures is correct, and it is at most 5 minutes old.
func isValid(secret, id, timestamp, signatures string, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	check(err)
	code := hmac.New(sha256.New, key)
	fmt.Fprintf(code, "%s.%s.%s", id, timestamp, body)
	mine := "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	check(err)
	if age := time.Since(time.Unix(seconds, 0)); age.Abs() > 5*time.Minute {
		return false
	}
	for _, one := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(one), []byte(mine)) {
			return true
		}
	}
	return false
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	words := append(os.Args[1:], "")
	if words[0] == "verify" {
		body, err := io.ReadAll(os.Stdin)
		check(err)
		if !isValid(words[1], words[2], words[3], words[4], body) {
			log.Fatal("not valid")
		}
		fmt.Println("valid")
		return
	}
	result := prepare(words[0])
	if result.Outcome == "rejected" {
		log.Fatalf("rejected: %s: %s", result.Error.Code, result.Error.Message)
	}
	folder := "."
	if len(os.Args) > 2 {
		folder = os.Args[2]
	}
	path := filepath.Join(folder, filepath.Base(result.Attachment.File))
	download(result.Attachment.URL, result.Attachment.SHA256, path)
	fmt.Printf("%s: %s, %d bytes\n", result.Outcome, path, result.Attachment.Bytes)
}
