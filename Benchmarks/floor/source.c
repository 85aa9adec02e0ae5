#define _GNU_SOURCE
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t *buffer;
static size_t capacity;

_Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("floor: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

Source source_read(const char *path) {
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status)) fail("%s: %s", path, strerror(errno));
    size_t size = status.st_size;
    // libavformat requires padding after its input.
    if (size + 64 > capacity) buffer = realloc(buffer, capacity = size + 64);
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, buffer + done, size - done);
        if (count <= 0) fail("%s: cannot be read", path);
        done += count;
    }
    close(file);
    return (Source){buffer, size};
}

void source_write(const char *path, const void *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) fail("%s: %s", path, strerror(errno));
    for (size_t done = 0; done < size;) {
        ssize_t count = write(file, (const uint8_t *) bytes + done, size - done);
        if (count <= 0) fail("%s: cannot be written", path);
        done += count;
    }
    close(file);
}
