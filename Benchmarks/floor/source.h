// A source read into memory at once, and the files written beside it.
#ifndef SOURCE_H
#define SOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *bytes;
    size_t size;
} Source;

// Where a file's renditions go.
typedef struct {
    char attachment[4096], thumbnail[4096];
} Outputs;

// Into one buffer that is kept for the next; ends the program when the file cannot be read.
Source source_read(const char *path);
void source_write(const char *path, const void *bytes, size_t size);
// What cannot go on: the message names the step.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
