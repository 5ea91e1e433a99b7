/* A library to preload (LD_PRELOAD) that makes system calls on the files of one folder fail: what a full or broken disk
 * does, at places that a seed chooses; or that kills the process before one of them. Nothing outside of the folder is
 * touched. `faults.py` builds and drives it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum outcome { PASS, FAIL, SHORT };

static char folder[4096];
static size_t folder_length;
static uint64_t seed, limit, kill_at;
static double rate;
static char kinds[256];
static atomic_uint_fast64_t calls, failures;

/* Makes calls on what lies in `path` fail from now on, with a probability of `share` each, as drawn from `from`; `most` of
 * them at most, and of those kinds that stand in `which` (all, if it is empty). Before call number `at` the process is
 * killed (never, if it is 0). */
int faults_begin(const char *path, uint64_t from, double share, uint64_t most, uint64_t at, const char *which) {
    folder_length = 0;
    if (!realpath(path, folder)) return -1;
    seed = from, rate = share, limit = most, kill_at = at;
    snprintf(kinds, sizeof kinds, "%s", which);
    atomic_store(&calls, 0);
    atomic_store(&failures, 0);
    folder_length = strlen(folder);
    return 0;
}

/* How many calls there were, and how many failed. */
uint64_t faults_calls(void) { return atomic_load(&calls); }
uint64_t faults_failed(void) { return atomic_load(&failures); }

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

#define REAL(result, name, ...)                                                                                         \
    static result (*next)(__VA_ARGS__);                                                                                 \
    if (!next) *(void **)&next = real(#name)

static int is_inside(const char *path) {
    return folder_length && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

static int has_path(int dir, const char *path) {
    char whole[4096], link[64];
    if (path[0] == '/') return is_inside(path);
    if (dir == AT_FDCWD) {
        if (!getcwd(whole, sizeof whole)) return 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        ssize_t length = readlink(link, whole, sizeof whole - 1);
        if (length < 0) return 0;
        whole[length] = 0;
    }
    size_t used = strlen(whole);
    snprintf(whole + used, sizeof whole - used, "/%s", path);
    return is_inside(whole);
}

static int has_file(int handle) {
    char link[64], path[4096];
    if (!folder_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

/* SplitMix64 of seed and call: the same call of the same run fails every time. */
static uint64_t draw(uint64_t call) {
    uint64_t x = seed + (call + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* What becomes of this call; sets errno if it fails. */
static enum outcome decide(const char *kind) {
    uint64_t call = atomic_fetch_add(&calls, 1) + 1;
    if (call == kill_at) kill(getpid(), SIGKILL);
    if (rate <= 0 || (kinds[0] && !strstr(kinds, kind))) return PASS;
    uint64_t x = draw(call);
    if ((double)(x >> 11) * 0x1p-53 >= rate || atomic_fetch_add(&failures, 1) >= limit) return PASS;
    int writes = !strcmp(kind, "write");
    switch (draw(~call) % (writes ? 3 : 2)) {
    case 0: errno = EIO; return FAIL;
    case 1: errno = ENOSPC; return FAIL;
    default: return SHORT;
    }
}

ssize_t write(int handle, const void *bytes, size_t count) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (!has_file(handle)) return next(handle, bytes, count);
    enum outcome what = decide("write");
    return what == FAIL ? -1 : next(handle, bytes, what == SHORT && count > 1 ? count / 2 : count);
}

ssize_t writev(int handle, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (!has_file(handle)) return next(handle, parts, count);
    enum outcome what = decide("write");
    return what == FAIL ? -1 : next(handle, parts, what == SHORT && count > 1 ? 1 : count);
}

#define PWRITE(name)                                                                                                    \
    ssize_t name(int handle, const void *bytes, size_t count, off_t at) {                                               \
        REAL(ssize_t, name, int, const void *, size_t, off_t);                                                          \
        if (!has_file(handle)) return next(handle, bytes, count, at);                                                   \
        enum outcome what = decide("write");                                                                            \
        return what == FAIL ? -1 : next(handle, bytes, what == SHORT && count > 1 ? count / 2 : count, at);             \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define ON_FILE(name, kind)                                                                                             \
    int name(int handle) {                                                                                              \
        REAL(int, name, int);                                                                                           \
        if (has_file(handle) && decide(kind) != PASS) return -1;                                                        \
        return next(handle);                                                                                            \
    }
ON_FILE(fsync, "fsync")
ON_FILE(fdatasync, "fsync")

#define TRUNCATE(name)                                                                                                  \
    int name(int handle, off_t length) {                                                                                \
        REAL(int, name, int, off_t);                                                                                    \
        if (has_file(handle) && decide("truncate") != PASS) return -1;                                                  \
        return next(handle, length);                                                                                    \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int posix_fallocate(int handle, off_t at, off_t length) {
    REAL(int, posix_fallocate, int, off_t, off_t);
    if (has_file(handle) && decide("truncate") != PASS) return errno;
    return next(handle, at, length);
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (has_path(AT_FDCWD, to) && decide("rename") != PASS) return -1;
    return next(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    if (has_path(to_dir, to) && decide("rename") != PASS) return -1;
    return next(from_dir, from, to_dir, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    if (has_path(AT_FDCWD, path) && decide("mkdir") != PASS) return -1;
    return next(path, mode);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (has_path(AT_FDCWD, path) && decide("unlink") != PASS) return -1;
    return next(path);
}

#define OPEN(name)                                                                                                      \
    int name(const char *path, int flags, ...) {                                                                        \
        REAL(int, name, const char *, int, ...);                                                                        \
        va_list rest;                                                                                                   \
        va_start(rest, flags);                                                                                          \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                         \
        va_end(rest);                                                                                                   \
        if (flags & O_CREAT && has_path(AT_FDCWD, path) && decide("open") != PASS) return -1;                           \
        return next(path, flags, mode);                                                                                 \
    }
OPEN(open)
OPEN(open64)

#define MMAP(name)                                                                                                      \
    void *name(void *where, size_t length, int protection, int flags, int handle, off_t at) {                           \
        REAL(void *, name, void *, size_t, int, int, int, off_t);                                                       \
        if (handle >= 0 && has_file(handle) && decide("mmap") != PASS) return MAP_FAILED;                               \
        return next(where, length, protection, flags, handle, at);                                                      \
    }
MMAP(mmap)
MMAP(mmap64)
