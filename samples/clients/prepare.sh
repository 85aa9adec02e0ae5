#!/usr/bin/env bash
# Prepares one source with attachprep and downloads the attachment. Needs curl, jq and openssl.
#
#   ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./prepare.sh https://cdn.example/cat.webp [FOLDER]
#   ./prepare.sh verify SECRET WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < BODY
set -euo pipefail
url=${ATTACHPREP_URL:-http://127.0.0.1:8080}

call() { curl --silent --show-error ${ATTACHPREP_TOKEN:+--oauth2-bearer "$ATTACHPREP_TOKEN"} "$@"; }

# Prints the manifest. Retries while the service is busy (429, 503), with the same key, so that only one job is created.
submit() {
    local answer status key body pause
    key=$(cat /proc/sys/kernel/random/uuid)
    while true; do
        answer=$(jq --null-input --arg source "$1" '{source: $source}' \
            | call "$url/v1/jobs" --json @- --header "Idempotency-Key: $key" --header "Prefer: wait=20" \
                --write-out '\n%{http_code} %header{retry-after}')
        body=${answer%$'\n'*}
        read -r status pause <<<"${answer##*$'\n'}"
        case $status in
            200) echo "$body" && return ;;
            202) wait_for "$(jq --raw-output .id <<<"$body")" && return ;;
            429 | 503) sleep "${pause:-1}" ;;
            *) echo "attachprep answered $status: $(jq --raw-output .detail <<<"$body")" >&2 && exit 1 ;;
        esac
    done
}

wait_for() {
    local job
    while true; do
        job=$(call --fail "$url/v1/jobs/$1")
        case $(jq --raw-output .state <<<"$job") in
            queued | running) sleep 1 ;;
            cancelled) echo "the job was cancelled" >&2 && exit 1 ;;
            *) jq .result <<<"$job" && return ;;
        esac
    done
}

# Whether a webhook is authentic: one of its signatures is correct, and it is at most 5 minutes old.
verify() {
    local key mine signature
    key=$(base64 --decode <<<"${1#whsec_}" | od -An -v -tx1 | tr -d ' \n')
    mine=$({ printf '%s.%s.' "$2" "$3" && cat; } \
        | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
    [ $(($(date +%s) - $3)) -le 300 ] && [ $(($3 - $(date +%s))) -le 300 ] || return 1
    for signature in $4; do
        [ "$signature" != "v1,$mine" ] || return 0
    done
    return 1
}

if [ "${1:-}" = verify ]; then
    verify "${@:2}" && echo valid && exit
    echo "not valid" && exit 1
fi

manifest=$(submit "${1:?source is missing}")
outcome=$(jq --raw-output .outcome <<<"$manifest")
if [ "$outcome" = rejected ]; then
    jq --raw-output '"rejected: \(.error.code): \(.error.message)"' <<<"$manifest" >&2
    exit 1
fi
file=${2:-.}/$(basename "$(jq --raw-output .attachment.file <<<"$manifest")")
trap 'rm -f "$file.part"' EXIT
curl --silent --show-error --fail --output "$file.part" "$(jq --raw-output .attachment.url <<<"$manifest")"
sha256sum --check --status <<<"$(jq --raw-output .attachment.sha256 <<<"$manifest")  $file.part"
mv "$file.part" "$file"
echo "$outcome: $file, $(jq --raw-output .attachment.bytes <<<"$manifest") bytes"
