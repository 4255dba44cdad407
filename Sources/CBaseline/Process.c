#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CBaseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

extern char **environ;

static int64_t nanoseconds(const struct rusage *usage) {
    int64_t seconds = (int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
    int64_t rest = (int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
    return seconds * 1000000000 + rest * 1000;
}

int64_t baseline_process_nanoseconds(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? nanoseconds(&usage) : 0;
}

int64_t baseline_thread_nanoseconds(const char *name) {
    int64_t sum = 0;
#if defined(__linux__)
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return 0;
    const struct dirent *entry;
    while ((entry = readdir(threads)) != NULL) {
        char path[64], found[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) continue;
        int isRead = fscanf(file, "%31s", found) == 1;
        fclose(file);
        if (!isRead || strcmp(found, name) != 0) continue;
        snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", entry->d_name);
        file = fopen(path, "r");
        if (file == NULL) continue;
        long long nanoseconds = 0;
        if (fscanf(file, "%lld", &nanoseconds) == 1) sum += nanoseconds;
        fclose(file);
    }
    closedir(threads);
#else
    (void)name;
#endif
    return sum;
}

int baseline_is_memory_disk(const char *path) {
#if defined(__linux__)
    struct statfs status;
    return statfs(path, &status) == 0 &&
           (status.f_type == 0x01021994 || status.f_type == (long)0x858458f6);
#else
    (void)path;
    return 0;
#endif
}

int64_t baseline_spawn(const char *path, const char *arguments, size_t count,
                       const char *variable, const char *output) {
    size_t known = 0;
    while (environ[known] != NULL) known++;
    char **variables = calloc(known + 2, sizeof *variables);
    char **list = calloc(count + 2, sizeof *list);
    int64_t result = -ENOMEM;
    if (variables != NULL && list != NULL) {
        for (size_t index = 0; index < known; index++) variables[index] = environ[index];
        if (variable[0] != 0) variables[known] = (char *)variable;
        list[0] = (char *)path;
        for (size_t index = 0; index < count; index++) {
            list[index + 1] = (char *)arguments;
            arguments += strlen(arguments) + 1;
        }
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        /* The thread that runs this may have signals blocked, which would stay so in the child. */
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        pid_t process = 0;
        int code = posix_spawnp(&process, path, &actions, &attributes, list, variables);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        result = code == 0 ? (int64_t)process : -(int64_t)code;
    }
    free(list);
    free(variables);
    return result;
}

int baseline_wait(int64_t process) {
    int status = 0;
    pid_t result;
    do {
        result = waitpid((pid_t)process, &status, 0);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int64_t baseline_child_nanoseconds(int64_t process) {
#if defined(__linux__)
    clockid_t clock;
    struct timespec time;
    int code = clock_getcpuclockid((pid_t)process, &clock);
    if (code != 0) return -code;
    if (clock_gettime(clock, &time) != 0) return -errno;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#else
    (void)process;
    return -ENOTSUP;
#endif
}

int baseline_has_ended(int64_t process) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    int result = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
    return result != 0 || info.si_pid != 0;
}

void baseline_kill(int64_t process) { (void)kill((pid_t)process, SIGKILL); }
