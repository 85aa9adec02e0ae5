#ifndef CCurl_SHIM_H
#define CCurl_SHIM_H
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift does not import: one function
// with fixed arguments for each argument type in use.

// Numeric and Boolean options.
static inline CURLcode CCurl_easy_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// String options; libcurl copies the string.
static inline CURLcode CCurl_easy_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// Options for sizes in bytes.
static inline CURLcode CCurl_easy_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

// Pointer options; the caller keeps the memory alive (error buffer, callback contexts).
static inline CURLcode CCurl_easy_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// List options; libcurl keeps the pointer.
static inline CURLcode CCurl_easy_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, which have the same type.
static inline CURLcode CCurl_easy_setopt_write(CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}

// CURLOPT_READFUNCTION.
static inline CURLcode CCurl_easy_setopt_read(CURL *handle, curl_read_callback value) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, value);
}

// CURLOPT_SEEKFUNCTION.
static inline CURLcode CCurl_easy_setopt_seek(CURL *handle, curl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}

// CURLOPT_OPENSOCKETFUNCTION.
static inline CURLcode CCurl_easy_setopt_opensocket(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

// CURLOPT_CLOSESOCKETFUNCTION.
static inline CURLcode CCurl_easy_setopt_closesocket(CURL *handle, curl_closesocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

// CURLOPT_PREREQFUNCTION.
static inline CURLcode CCurl_easy_setopt_prereq(CURL *handle, curl_prereq_callback value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

// Numeric values: counts and codes.
static inline CURLcode CCurl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

// 64-bit values: times in microseconds and sizes in bytes.
static inline CURLcode CCurl_easy_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

// The bytes read from a TCP socket so far: those received minus those still in its buffer; 0 if unknown. A shim because
// ioctl is variadic, and glibc's tcp_info ends before the count (on Linux 64 bits at offset 128).
static inline int64_t CCurl_socket_bytes_read(int descriptor) {
#ifdef __linux__
    uint64_t information[32] = {0};
    socklen_t length = sizeof information;
    int waiting = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, information, &length) != 0 || length < 136) return 0;
    if (ioctl(descriptor, FIONREAD, &waiting) != 0) return 0;
    return (int64_t)information[16] - waiting;
#else
    (void)descriptor;
    return 0;
#endif
}

// Numeric options of a multi handle.
static inline CURLMcode CCurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}
#endif
