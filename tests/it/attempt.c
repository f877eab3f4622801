/* attempt ACT [ARGUMENT]...: tries one act that a sandbox should deny, and prints ALLOWED or BLOCKED.
 * Why it was blocked goes to stderr. Status 0: allowed, 1: blocked, 3: this machine does not have the
 * act at all. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALLOWED = 0, BLOCKED = 1, WRONG_USE = 2, NOT_HERE = 3 };

/* The kernel looks at the low half of a request only; a filter that compares all of it is walked round. */
#define WIDE 0x100000000UL

static int verdict(long result)
{
    if (result >= 0) {
        puts("ALLOWED");
        return ALLOWED;
    }
    fprintf(stderr, "%s\n", strerrorname_np(errno));
    puts("BLOCKED");
    return BLOCKED;
}

static int not_here(const char *why)
{
    fprintf(stderr, "%s\n", why);
    puts("NOT HERE");
    return NOT_HERE;
}

/* WHERE is a descriptor or a path. */
static int terminal(const char *where)
{
    return *where == '/' ? open(where, O_RDWR) : atoi(where);
}

static int type_into(const char *where, const char *text, unsigned long request)
{
    int fd = terminal(where);
    if (fd < 0)
        return verdict(-1);
    for (const char *at = text; *at; at++)
        if (syscall(SYS_ioctl, fd, request, at) < 0)
            return verdict(-1);
    return verdict(syscall(SYS_ioctl, fd, request, "\n"));
}

static int paste_on_console(const char *where)
{
    char subcode = 3;
    int fd = terminal(where);
    return verdict(fd < 0 ? -1 : ioctl(fd, TIOCLINUX, &subcode));
}

static int connect_unix(const char *name, int is_abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length + 1 >= sizeof address.sun_path)
        return WRONG_USE;
    memcpy(address.sun_path + is_abstract, name, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + is_abstract + length;
    return verdict(fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, size));
}

static int connect_tcp(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return WRONG_USE;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return verdict(fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address));
}

/* Any descriptor above 2 but the one that reads the folder. */
static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    long found = 0;
    if (!folder)
        return verdict(-1);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[64], target[256] = "";
        int fd = atoi(entry->d_name);
        if (fd <= 2 || fd == dirfd(folder))
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) < 0)
            continue;
        fprintf(stderr, "%d %s\n", fd, target);
        found++;
    }
    errno = ENOENT;
    return verdict(found ? 0 : -1);
}

#ifdef __x86_64__
/* getpid by the number and the way of i386, in a child, since the filter kills who tries. */
static int call_as_i386(void)
{
    pid_t child = fork();
    if (child == 0) {
        long result = 20;
        __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
        _exit(result == getpid() ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s\n", sigabbrev_np(WTERMSIG(status)));
        if (WTERMSIG(status) == SIGSEGV)
            return not_here("no i386 calls in this kernel");
        puts("BLOCKED");
        return BLOCKED;
    }
    errno = ENOSYS;
    return WEXITSTATUS(status) == 0 ? verdict(0) : not_here("no i386 calls in this kernel");
}

static int call_as_x32(void)
{
    return verdict(syscall(0x40000000 | SYS_getpid));
}
#else
static int call_as_i386(void) { return not_here("another processor"); }
static int call_as_x32(void) { return not_here("another processor"); }
#endif

static int with_key(const char *act)
{
    const int process_keyring = -2, get_keyring_id = 0;
    if (!strcmp(act, "add_key"))
        return verdict(syscall(SYS_add_key, "user", "hqt", "x", 1, process_keyring));
    if (!strcmp(act, "keyctl"))
        return verdict(syscall(SYS_keyctl, get_keyring_id, process_keyring, 1));
    /* There is no such key: ENOKEY says that the call went through. */
    long result = syscall(SYS_request_key, "user", "hqt-no-such-key", NULL, process_keyring);
    return verdict(result < 0 && errno == ENOKEY ? 0 : result);
}

static int with_mounts(const char *act, const char *path)
{
    if (!strcmp(act, "mount"))
        return verdict(mount("none", path, "tmpfs", 0, NULL));
    if (!strcmp(act, "remount"))
        return verdict(mount("none", path, NULL, MS_REMOUNT | MS_BIND, NULL));
    return verdict(umount2(path, MNT_DETACH));
}

/* Makes PATH with the setuid bit, by the call named. */
static int setuid_bit(const char *call, const char *path)
{
    const unsigned mode = 04755;
    const unsigned long how[3] = {O_WRONLY | O_CREAT, mode, 0};
    char in_proc[64];
    if (strstr(call, "chmod")) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
        if (!strcmp(call, "fchmod"))
            return verdict(syscall(SYS_fchmod, fd, mode));
        if (!strcmp(call, "fchmodat"))
            return verdict(syscall(SYS_fchmodat, AT_FDCWD, path, mode));
        if (!strcmp(call, "fchmodat2"))
            return verdict(syscall(452, AT_FDCWD, path, mode, 0));
    }
    if (!strcmp(call, "mknodat"))
        return verdict(syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | mode, 0));
    if (!strcmp(call, "openat"))
        return verdict(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, mode));
    if (!strcmp(call, "openat2"))
        return verdict(syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how));
    if (!strcmp(call, "tmpfile")) {
        int fd = syscall(SYS_openat, AT_FDCWD, ".", O_WRONLY | O_TMPFILE, mode);
        if (fd < 0)
            return verdict(fd);
        snprintf(in_proc, sizeof in_proc, "/proc/self/fd/%d", fd);
        return verdict(linkat(AT_FDCWD, in_proc, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
    }
#ifdef __x86_64__
    if (!strcmp(call, "chmod"))
        return verdict(syscall(SYS_chmod, path, mode));
    if (!strcmp(call, "mknod"))
        return verdict(syscall(SYS_mknod, path, S_IFREG | mode, 0));
    if (!strcmp(call, "creat"))
        return verdict(syscall(SYS_creat, path, mode));
    if (!strcmp(call, "open"))
        return verdict(syscall(SYS_open, path, O_WRONLY | O_CREAT, mode));
#endif
    return not_here("another processor");
}

/* What a file system is asked for, whatever it says. */
static int request(unsigned long number)
{
    return verdict(ioctl(open(".", O_RDONLY | O_CLOEXEC), number, NULL) < 0 && errno == EPERM ? -1 : 0);
}

/* A call that does no harm, by its name. */
static int call(const char *name)
{
    static char buffer[256];
    if (!strcmp(name, "io_uring_setup"))
        return verdict(syscall(SYS_io_uring_setup, 1, buffer));
    if (!strcmp(name, "userfaultfd"))
        return verdict(syscall(SYS_userfaultfd, 1 /* of its own faults only */));
    if (!strcmp(name, "get_mempolicy"))
        return verdict(syscall(SYS_get_mempolicy, NULL, NULL, 0, NULL, 0));
    if (!strcmp(name, "open_tree"))
        return verdict(syscall(SYS_open_tree, AT_FDCWD, ".", 0));
    if (!strcmp(name, "lease")) {
        int file = open("leased", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
        return verdict(file < 0 ? file : fcntl(file, 1024 /* F_SETLEASE */, F_RDLCK));
    }
    if (!strcmp(name, "syslog"))
        return verdict(syscall(SYS_syslog, 10 /* the size of the log */, NULL, 0));
    if (!strcmp(name, "fanotify_init"))
        return verdict(syscall(SYS_fanotify_init, 0x200 /* names of files, for anybody */, 0));
    if (!strcmp(name, "quotactl"))
        return verdict(syscall(SYS_quotactl, 0x800001 << 8 /* writes what is to be written */, NULL, 0, NULL));
    if (!strcmp(name, "newest"))
        return verdict(syscall(464 /* getxattrat */, AT_FDCWD, ".", 0, "user.x", buffer, 16) < 0
                               && errno == ENOSYS ? -1 : 0);
#ifdef __x86_64__
    if (!strcmp(name, "modify_ldt"))
        return verdict(syscall(SYS_modify_ldt, 0 /* reads */, buffer, sizeof buffer));
#endif
    return not_here("another processor");
}

/* Holds a lock on the file, in a process that stays. */
static int hold(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    long result = fcntl(fd, F_OFD_SETLK, &whole);
    if (result >= 0 && fork() == 0) {
        for (int other = 0; other < fd; other++)
            close(other);
        sleep(600);
        _exit(0);
    }
    return verdict(result);
}

int main(int count, char **words)
{
    const char *act = count > 1 ? words[1] : "", *first = count > 2 ? words[2] : "";
    const char *second = count > 3 ? words[3] : "";
    if (!strcmp(act, "type"))
        return type_into(first, second, TIOCSTI);
    if (!strcmp(act, "type-wide"))
        return type_into(first, second, WIDE | TIOCSTI);
    if (!strcmp(act, "paste"))
        return paste_on_console(first);
    if (!strcmp(act, "connect-abstract"))
        return connect_unix(first, 1);
    if (!strcmp(act, "connect"))
        return connect_unix(first, 0);
    if (!strcmp(act, "connect-tcp"))
        return connect_tcp(first, second);
    if (!strcmp(act, "descriptors"))
        return descriptors();
    if (!strcmp(act, "i386"))
        return call_as_i386();
    if (!strcmp(act, "x32"))
        return call_as_x32();
    if (!strcmp(act, "add_key") || !strcmp(act, "keyctl") || !strcmp(act, "request_key"))
        return with_key(act);
    if (!strcmp(act, "mount") || !strcmp(act, "remount") || !strcmp(act, "umount"))
        return with_mounts(act, first);
    if (!strcmp(act, "kill"))
        return verdict(kill(atoi(first), 0));
    if (!strcmp(act, "ptrace"))
        return verdict(ptrace(PTRACE_SEIZE, atoi(first), NULL, NULL));
    if (!strcmp(act, "setuid"))
        return setuid_bit(first, second);
    if (!strcmp(act, "request"))
        return request(strtoul(first, NULL, 16));
    if (!strcmp(act, "call"))
        return call(first);
    if (!strcmp(act, "socket"))
        return verdict(socket(atoi(first), atoi(second) | SOCK_CLOEXEC, 0));
    if (!strcmp(act, "lock"))
        return hold(first);
    if (!strcmp(act, "open-for-writing"))
        return verdict(open(first, O_WRONLY | O_CLOEXEC));
    if (!strcmp(act, "unshare"))
        return verdict(unshare(CLONE_NEWUSER | CLONE_NEWNS));
    if (!strcmp(act, "landlock-abi")) {
        /* landlock_create_ruleset with the flag that asks for the version. */
        printf("%ld\n", syscall(444, NULL, 0, 1));
        return ALLOWED;
    }
    fprintf(stderr, "unknown act: %s\n", act);
    return WRONG_USE;
}
