#ifndef CLIBFUZZER_SHIM_H
#define CLIBFUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

// libFuzzer has no header of its own for the driver that a program with its own main calls.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *, size_t));

// memfd_create is declared for _GNU_SOURCE alone, which Swift's import does not set; fcntl.h's flags neither.
int memfd_create(const char *name, unsigned int flags);

#endif
