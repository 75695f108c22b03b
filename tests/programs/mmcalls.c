/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes every call that is recorded, once or twice and with known arguments,
 * failing ones among them; what a kernel does not have fails, which is
 * recorded too. Calls go straight to the kernel, so a library cannot make
 * others of them.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif

#define PAGE 4096L
#define READ_WRITE (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define SHARED (MAP_SHARED | MAP_ANONYMOUS)

static sigjmp_buf survive;

static char *map(long where, long size, int flags)
{
	return (char *)syscall(SYS_mmap, where, size, READ_WRITE, flags, -1, 0);
}

static void unmap(const char *at, long size)
{
	syscall(SYS_munmap, at, size);
}

static void touch(char *at, long pages)
{
	for (long i = 0; i < pages; i++)
		*(volatile char *)(at + i * PAGE) = 1;
}

static void mappings(void)
{
	char *at = map(0, 16 * PAGE, PRIVATE), *again;

	touch(at, 16);
	unmap(at + 4 * PAGE, 4 * PAGE); /* a hole */
	again = map((long)at + 4 * PAGE, 2 * PAGE, PRIVATE | MAP_FIXED_NOREPLACE);
	touch(again, 2);
	map((long)at, PAGE, PRIVATE | MAP_FIXED_NOREPLACE); /* EEXIST */
	again = map((long)at, 2 * PAGE, PRIVATE | MAP_FIXED);
	touch(again, 1);
	unmap(at, 16 * PAGE);
	map(0, 0, PRIVATE); /* EINVAL */
	unmap(at + 1, PAGE); /* EINVAL */
	unmap(at, 16 * PAGE); /* nothing there: done */
	at = map(0, 8 * PAGE, SHARED | MAP_NORESERVE);
	touch(at, 3);
	unmap(at, 8 * PAGE);
	at = map(0, 8 * PAGE, PRIVATE | MAP_POPULATE | MAP_STACK);
	unmap(at, 8 * PAGE);
	at = map(0x200000000000, 4 * PAGE, PRIVATE); /* a hint */
	unmap(at, 4 * PAGE);
}

static void moves(void)
{
	char *at = map(0, 8 * PAGE, PRIVATE), *there = map(0, 16 * PAGE, PRIVATE), *moved;

	touch(at, 8);
	syscall(SYS_mremap, at, 8 * PAGE, 4 * PAGE, 0); /* shrinks */
	syscall(SYS_mremap, at, 4 * PAGE, 1L << 46, 0); /* ENOMEM */
	moved = (char *)syscall(SYS_mremap, at, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
	touch(moved, 6);
	moved = (char *)syscall(SYS_mremap, moved, 6 * PAGE, 6 * PAGE,
	                        MREMAP_MAYMOVE | MREMAP_FIXED, there);
	touch(moved, 6);
	syscall(SYS_mremap, moved, 6 * PAGE, 6 * PAGE, MREMAP_FIXED, there); /* EINVAL */
	at = (char *)syscall(SYS_mremap, moved, 6 * PAGE, 6 * PAGE,
	                     MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	touch(moved, 2);
	unmap(at, 6 * PAGE);
	unmap(there, 16 * PAGE);
	syscall(SYS_mremap, there, PAGE, 2 * PAGE, MREMAP_MAYMOVE); /* EFAULT */
	at = map(0, 4 * PAGE, SHARED);
	touch(at, 4);
	moved = (char *)syscall(SYS_mremap, at, 0, 4 * PAGE, MREMAP_MAYMOVE); /* a second view */
	touch(moved, 4);
	unmap(moved, 4 * PAGE);
	unmap(at, 4 * PAGE);
}

static void advice(void)
{
	static const int kinds[] = {
		MADV_NORMAL,     MADV_RANDOM,   MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_HUGEPAGE,   MADV_COLD,     MADV_FREE,       MADV_DONTNEED,
		MADV_NOHUGEPAGE, MADV_DONTFORK, MADV_DOFORK,     MADV_DONTDUMP
	};
	char *at = map(0, 16 * PAGE, PRIVATE);
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct iovec vector = { at, 4 * PAGE };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		touch(at, 16);
		syscall(SYS_madvise, at, 8 * PAGE, kinds[i]);
	}
	syscall(SYS_madvise, at, PAGE, 9999); /* EINVAL */
	syscall(SYS_madvise, at + 1, PAGE, MADV_DONTNEED); /* EINVAL */
	syscall(SYS_madvise, at, 0, MADV_DONTNEED);
	syscall(SYS_process_madvise, pidfd, &vector, 1, MADV_COLD, 0);
	syscall(SYS_process_madvise, -1, &vector, 1, MADV_COLD, 0); /* EBADF */
	syscall(SYS_close, pidfd);
	unmap(at, 16 * PAGE);
	syscall(SYS_madvise, at, PAGE, MADV_DONTNEED); /* ENOMEM */
}

static void protection(void)
{
	char *at = map(0, 8 * PAGE, PRIVATE);

	touch(at, 1);
	syscall(SYS_mprotect, at, 4 * PAGE, PROT_READ);
	syscall(SYS_mprotect, at + PAGE, PAGE, PROT_NONE);
	syscall(SYS_mprotect, at, 8 * PAGE, READ_WRITE);
	syscall(SYS_pkey_mprotect, at, 2 * PAGE, PROT_READ, -1);
	syscall(SYS_pkey_mprotect, at, 2 * PAGE, READ_WRITE, 15); /* EINVAL: not allocated */
	syscall(SYS_mprotect, at + 1, PAGE, PROT_READ); /* EINVAL */
	touch(at + 4 * PAGE, 4);
	unmap(at, 8 * PAGE);
	syscall(SYS_mprotect, at, PAGE, PROT_READ); /* ENOMEM */
}

/* Stays for good: a sealed mapping cannot be unmapped. */
static void sealing(void)
{
	char *at = map(0, 2 * PAGE, PRIVATE);

	touch(at, 1);
	syscall(SYS_mseal, at, PAGE, 99UL); /* EINVAL */
	syscall(SYS_mseal, at, PAGE, 0UL);
	unmap(at, PAGE); /* EPERM where there is mseal */
	syscall(SYS_mseal, at + 1, PAGE, 0UL); /* EINVAL */
}

static void heap(void)
{
	long start = syscall(SYS_brk, 0);

	syscall(SYS_brk, start + 16 * PAGE);
	touch((char *)((start + PAGE - 1) & -PAGE), 8);
	syscall(SYS_brk, start + 4 * PAGE);
	syscall(SYS_brk, start + 40 * PAGE);
	syscall(SYS_brk, 1); /* refused: gives the present break */
	syscall(SYS_brk, start);
}

static void locks(void)
{
	char *at = map(0, 8 * PAGE, PRIVATE);

	syscall(SYS_mlock, at, 2 * PAGE);
	syscall(SYS_mlock2, at + 2 * PAGE, 2 * PAGE, 1); /* MLOCK_ONFAULT */
	touch(at + 2 * PAGE, 2);
	syscall(SYS_munlock, at, 4 * PAGE);
	syscall(SYS_mlock2, at, PAGE, 2); /* EINVAL */
	syscall(SYS_mlockall, MCL_CURRENT);
	syscall(SYS_munlockall);
	syscall(SYS_mlockall, 0); /* EINVAL */
	unmap(at, 8 * PAGE);
	syscall(SYS_mlock, at, PAGE); /* ENOMEM */
}

static void policy(void)
{
	unsigned long nodes = 1;
	char *at = map(0, 8 * PAGE, PRIVATE);

	syscall(SYS_mbind, at, 4 * PAGE, 0, NULL, 0, 0); /* MPOL_DEFAULT */
	syscall(SYS_mbind, at, 4 * PAGE, 2, &nodes, 2, 0); /* MPOL_BIND */
	syscall(SYS_set_mempolicy_home_node, at, 4 * PAGE, 0, 0);
	syscall(SYS_mbind, at, 4 * PAGE, 99, NULL, 0, 0); /* EINVAL */
	syscall(SYS_set_mempolicy, 1, &nodes, 2); /* MPOL_PREFERRED */
	touch(at, 4);
	syscall(SYS_set_mempolicy, 0, NULL, 0);
	syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, PAGE, NULL);
	syscall(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_THP_DISABLE, 0, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_MEMORY_MERGE, 0, 0, 0, 0);
	unmap(at, 8 * PAGE);
}

static void segments(void)
{
	int id = (int)syscall(SYS_shmget, IPC_PRIVATE, 16 * PAGE, IPC_CREAT | 0600);
	char *at = (char *)syscall(SYS_shmat, id, NULL, 0);
	char *other = (char *)syscall(SYS_shmat, id, NULL, SHM_RDONLY);

	syscall(SYS_shmctl, id, IPC_RMID, NULL);
	touch(at, 4);
	syscall(SYS_shmdt, other);
	syscall(SYS_shmdt, at);
	syscall(SYS_shmdt, at); /* EINVAL */
	syscall(SYS_shmat, -1, NULL, 0); /* EINVAL */
	syscall(SYS_shmget, IPC_PRIVATE, 0, 0600); /* EINVAL */
}

static void limits(void)
{
	struct rlimit old;

	syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &old);
	syscall(SYS_setrlimit, RLIMIT_CORE, &old);
	syscall(SYS_prlimit64, 0, 999, NULL, &old); /* EINVAL */
}

static void files(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int memory = (int)syscall(SYS_memfd_create, "mmcalls", 0), copy, fd;
	char *at, *pages;

	syscall(SYS_ftruncate, memory, 16 * PAGE);
	syscall(SYS_fallocate, memory, 0, 0, 8 * PAGE);
	at = (char *)syscall(SYS_mmap, NULL, 8 * PAGE, READ_WRITE, MAP_SHARED, memory, 0);
	copy = (int)syscall(SYS_dup, memory);
	pages = (char *)syscall(SYS_mmap, NULL, 8 * PAGE, READ_WRITE, MAP_PRIVATE, copy, 4 * PAGE);
	touch(at, 8);
	touch(pages, 8);
	syscall(SYS_remap_file_pages, at, 2 * PAGE, 0, 4, 0);
	syscall(SYS_dup2, memory, 100);
	syscall(SYS_dup3, memory, 101, O_CLOEXEC);
	fd = (int)syscall(SYS_fcntl, memory, F_DUPFD, 50);
	syscall(SYS_close, fd);
	syscall(SYS_close_range, 100, 101, 0);
	unmap(at, 8 * PAGE);
	unmap(pages, 8 * PAGE);
	syscall(SYS_close, copy);
	syscall(SYS_close, memory);
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY, 0);
	at = (char *)syscall(SYS_mmap, NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)*(volatile char *)at;
	syscall(SYS_close, fd);
	unmap(at, 2 * PAGE);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, "/proc/self/exe", &how, sizeof(how));
	syscall(SYS_close, fd);
#ifdef SYS_open
	fd = (int)syscall(SYS_open, "/proc/self/exe", O_RDONLY, 0);
	syscall(SYS_close, fd);
#endif
	syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0); /* EBADF */
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	syscall(SYS_close, fd);
}

static void survive_fault(int sig)
{
	(void)sig;
	siglongjmp(survive, 1);
}

static void forbidden(char *at)
{
	if (!sigsetjmp(survive, 1))
		touch(at, 1);
}

/* Faults that kill whoever has no handler: unmapped, read only, beyond the file's end. */
static void forbidden_touches(void)
{
	struct sigaction action = { .sa_handler = survive_fault };
	char *at = map(0, 4 * PAGE, PRIVATE);
	int memory;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	syscall(SYS_mprotect, at, PAGE, PROT_READ);
	forbidden(at);
	unmap(at + 2 * PAGE, PAGE);
	forbidden(at + 2 * PAGE);
	unmap(at, 4 * PAGE);
	memory = (int)syscall(SYS_memfd_create, "short", 0);
	syscall(SYS_ftruncate, memory, PAGE);
	at = (char *)syscall(SYS_mmap, NULL, 4 * PAGE, READ_WRITE, MAP_SHARED, memory, 0);
	touch(at, 1);
	forbidden(at + 2 * PAGE);
	unmap(at, 4 * PAGE);
	syscall(SYS_close, memory);
}

static void *in_thread(void *arg)
{
	char *at = map(0, 4 * PAGE, PRIVATE);

	touch(at, 4);
	return at;
}

/* A thread's mapping is used and unmapped by another. */
static void threads(void)
{
	pthread_t thread;
	void *at;

	if (pthread_create(&thread, NULL, in_thread, NULL))
		return;
	pthread_join(thread, &at);
	syscall(SYS_mprotect, at, 4 * PAGE, PROT_READ);
	unmap(at, 4 * PAGE);
}

static void child(char *exec_arg)
{
	char *const arguments[] = { (char *)"mmcalls", exec_arg, NULL };
	char *const environment[] = { NULL };

	execve("/nonexistent", arguments, environment); /* ENOENT */
	if (!strcmp(exec_arg, "--by-path"))
		execve("/proc/self/exe", arguments, environment);
	else
		syscall(SYS_execveat, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "", arguments,
		        environment, AT_EMPTY_PATH);
	_exit(1);
}

static int children(void)
{
	int status = 1, other = 1;
	siginfo_t info = { 0 };
	pid_t pid = fork();

	if (!pid)
		child((char *)"--by-path");
	syscall(SYS_wait4, pid, &status, 0, NULL);
	pid = vfork();
	if (!pid)
		child((char *)"--by-descriptor");
	syscall(SYS_waitid, P_PID, pid, &info, WEXITED, NULL);
	other = info.si_status;
	syscall(SYS_wait4, -1, NULL, 0, NULL); /* ECHILD */
	return status || other;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		unmap(map(0, 2 * PAGE, PRIVATE), 2 * PAGE);
		return 0;
	}
	mappings();
	moves();
	advice();
	protection();
	sealing();
	heap();
	locks();
	policy();
	segments();
	limits();
	files();
	forbidden_touches();
	threads();
	if (children()) {
		fprintf(stderr, "mmcalls: a child failed\n");
		return 1;
	}
	return 0;
}
