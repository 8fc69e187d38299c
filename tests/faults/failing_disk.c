// A disk that fails on demand: loaded before the C library, it makes file calls on the plugin's own files fail, sleep
// or be the last thing that the process does. What it does now stands in the file that LEDGER_FAULTS names:
//
//   eio        reads, writes and syncs of ledger.db, its log and its index report an I/O error
//   eio-all    the same for every file of the data folder, so also for the spool
//   slow N     every write and sync of the data folder takes N milliseconds longer
//   no-shm     the index cannot be mapped into memory, as on file systems without shared mappings
//   clock N    the clock of the wall is N seconds off
//
// fault_kill_after(n, half) ends the process with SIGKILL at its n-th change of the data folder from now on; with
// `half`, after half of what that write has to write.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long kill_after, kill_half;

void fault_kill_after(long n, long half) { kill_half = half; kill_after = n; }

static long order(const char *word, long *number) {
    static __thread int inside;
    const char *file = getenv("LEDGER_FAULTS");
    char text[64] = "";
    if (!file || inside) return 0;
    inside = 1;
    int saved = errno;
    int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        long got = syscall(SYS_read, fd, text, sizeof text - 1);
        text[got > 0 ? got : 0] = 0;
        syscall(SYS_close, fd);
    }
    errno = saved;
    inside = 0;
    size_t length = strlen(word);
    if (strncmp(text, word, length) || (text[length] && text[length] != ' ' && text[length] != '\n')) return 0;
    if (number) *number = atol(text + length);
    return 1;
}

// 2: the ledger, its log or its index; 1: another file of the data folder; 0: neither.
static int ours(int fd) {
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/%s/%s/fd/%d", "proc", "self", fd);
    ssize_t got = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (got <= 0) return 0;
    path[got] = 0;
    if (!strstr(path, "/agent-ledger/")) return 0;
    return strstr(path, "/ledger.db") ? 2 : 1;
}

static int fails(int kind) { return (kind == 2 && order("eio", 0)) || (kind && order("eio-all", 0)); }

static void delay(void) {
    long ms = 0;
    if (order("slow", &ms)) {
        struct timespec span = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&span, 0);
    }
}

static int last_one(int kind) { return kind && kill_after && __sync_sub_and_fetch(&kill_after, 1) == 0; }

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define POSITIONED_WRITE(name, offset_type)                                                   \
    ssize_t name(int fd, const void *data, size_t size, offset_type at) {                     \
        static __typeof__(&name) real;                                                        \
        if (!real) real = REAL(name);                                                         \
        int kind = ours(fd);                                                                  \
        if (kind) {                                                                           \
            if (fails(kind)) { errno = EIO; return -1; }                                      \
            delay();                                                                          \
            if (last_one(kind)) { if (kill_half) real(fd, data, size / 2, at); die(); }       \
        }                                                                                     \
        return real(fd, data, size, at);                                                      \
    }
POSITIONED_WRITE(pwrite, off_t)
POSITIONED_WRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t size) {
    static __typeof__(&write) real;
    if (!real) real = REAL(write);
    int kind = ours(fd);
    if (kind) {
        if (fails(kind)) { errno = EIO; return -1; }
        delay();
        if (last_one(kind)) { if (kill_half) real(fd, data, size / 2); die(); }
    }
    return real(fd, data, size);
}

#define POSITIONED_READ(name, offset_type)                                                    \
    ssize_t name(int fd, void *data, size_t size, offset_type at) {                           \
        static __typeof__(&name) real;                                                        \
        if (!real) real = REAL(name);                                                         \
        if (fails(ours(fd))) { errno = EIO; return -1; }                                      \
        return real(fd, data, size, at);                                                      \
    }
POSITIONED_READ(pread, off_t)
POSITIONED_READ(pread64, off64_t)

#define CHANGE(name, parameters, arguments, fd)                                               \
    int name parameters {                                                                     \
        static __typeof__(&name) real;                                                        \
        if (!real) real = REAL(name);                                                         \
        int kind = ours(fd);                                                                  \
        if (kind) {                                                                           \
            if (fails(kind)) { errno = EIO; return -1; }                                      \
            delay();                                                                          \
            if (last_one(kind)) die();                                                        \
        }                                                                                     \
        return real arguments;                                                                \
    }
CHANGE(fsync, (int fd), (fd), fd)
CHANGE(fdatasync, (int fd), (fd), fd)
CHANGE(ftruncate, (int fd, off_t size), (fd, size), fd)
CHANGE(ftruncate64, (int fd, off64_t size), (fd, size), fd)

static int named_ours(const char *path) { return path && strstr(path, "/agent-ledger/") ? 1 : 0; }

int unlink(const char *path) {
    if (last_one(named_ours(path))) die();
    return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to) {
    if (last_one(named_ours(to))) die();
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int link(const char *from, const char *to) {
    if (last_one(named_ours(to))) die();
    return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

#define MAPPING(name, offset_type)                                                            \
    void *name(void *where, size_t size, int rights, int flags, int fd, offset_type at) {     \
        if (fd >= 0 && (flags & MAP_SHARED) && order("no-shm", 0) && ours(fd) == 2) {         \
            errno = ENODEV;                                                                   \
            return MAP_FAILED;                                                                \
        }                                                                                     \
        return (void *)syscall(SYS_mmap, where, size, rights, flags, fd, at);                 \
    }
MAPPING(mmap, off_t)
MAPPING(mmap64, off64_t)

int clock_gettime(clockid_t which, struct timespec *now) {
    long off = 0;
    int code = syscall(SYS_clock_gettime, which, now);
    if (!code && which == CLOCK_REALTIME && order("clock", &off)) now->tv_sec += off;
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (into) *into = found.tv_sec;
    return found.tv_sec;
}
