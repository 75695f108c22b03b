/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmtape as /init. It is process 1: what ends it panics the kernel, so that it
 * always ends in switching the machine off. Messages go to the console, frames
 * over the second serial port.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/options.h"
#include "replay/lab_guest.h"
#include "traces/meta.h"

#define PORT "/dev/ttyS1"
#define LINE_MAX_BYTES 1000

/* Facts that the lab compares with what it asked for. */
static const char *const facts[] = { META_KERNEL, META_KERNEL_VERSION, META_CPUS, META_NODES,
	                             META_MEMORY };

bool lab_guest_is_us(const char *program)
{
	return getpid() == 1 && program && !strcmp(program, "/init") &&
	       access("/" LAB_FOLDER, F_OK) == 0;
}

static void __attribute__((noreturn)) switch_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* A kernel that cannot switch off can reset, which ends the emulator, too. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static int open_port(bool silent)
{
	int fd = open(PORT, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;
	int r;

	if (fd >= 0 && tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		cfsetspeed(&t, B115200);
		t.c_cflag |= CLOCAL;
		t.c_cflag &= ~(tcflag_t)CRTSCTS;
		if (tcsetattr(fd, TCSANOW, &t) == 0)
			return fd;
	}
	r = error_errno();
	if (!silent)
		printf("mmtape: no second serial port (" PORT "): %s: the kernel's "
		       "8250.nr_uarts must be 2 at least\n",
		       strerror(-r));
	return r;
}

static int write_all(int fd, const uint8_t *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno != EINTR)
			return error_errno();
		bytes += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void send(int port, enum lab_frame_kind kind, const void *body, size_t length)
{
	struct buffer bytes = { 0 };
	int r = lab_frame_encode(&bytes, kind, body, length);

	if (r >= 0)
		r = write_all(port, bytes.data, bytes.len);
	if (r < 0)
		printf("mmtape: cannot send to the lab: %s\n", strerror(-r));
	buffer_clear(&bytes);
}

static void send_text(int port, enum lab_frame_kind kind, const char *text)
{
	send(port, kind, text, strlen(text));
}

static void send_hello(int port)
{
	struct trace_meta *meta = NULL;
	char text[2048] = "";
	size_t used = 0;

	if (trace_meta_new(&meta) < 0 || settings_describe(meta) < 0)
		printf("mmtape: this kernel's settings cannot be read\n");
	for (size_t i = 0; meta && i < ARRAY_SIZE(facts); i++) {
		const char *value = trace_meta_get(meta, facts[i]);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s=%.300s\n", facts[i],
		                         value ? value : "");
	}
	trace_meta_free(meta);
	send_text(port, LAB_FRAME_HELLO, text);
}

/* The whole file with a NUL behind; NULL: it is not there. */
static char *read_file(const char *path, size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t used = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	while (text && used < (size_t)st.st_size) {
		ssize_t n = read(fd, text + used, (size_t)st.st_size - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (!text)
		return NULL;
	text[used] = '\0';
	*size = used;
	return take_ptr(text);
}

/* The words of the arguments file, with our own name in front. */
static char **split_words(char *text, size_t size)
{
	static char name[] = "mmtape";
	size_t count = 0;
	char **words;

	for (size_t i = 0; i < size; i++)
		count += !text[i];
	words = calloc(count + 2, sizeof(*words));
	if (!words)
		return NULL;
	words[0] = name;
	for (size_t i = 1; i <= count; i++, text += strlen(text) + 1)
		words[i] = text;
	return words;
}

static void __attribute__((noreturn)) become_command(char **words, int output)
{
	setsid();
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (chdir("/" LAB_FILES) < 0)
		perror("/" LAB_FILES);
	execv("/init", words);
	perror("/init");
	_exit(127);
}

/* Line by line to the console and to the lab. */
static void relay(int from, int port)
{
	FILE *f = fdopen(from, "r");
	char line[LINE_MAX_BYTES];

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%s\n", line);
		send_text(port, LAB_FRAME_MESSAGE, line);
	}
	if (f)
		fclose(f);
}

/* Collects orphans, too, until the command is gone. */
static int wait_for(pid_t pid)
{
	int status = 0;
	pid_t gone;

	do
		gone = wait(&status);
	while (gone != pid && (gone > 0 || errno == EINTR));
	return gone == pid ? status : 127 << 8;
}

static void run_command(int port, char **words)
{
	int ends[2], status;
	char text[64];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		snprintf(text, sizeof(text), "error no process: %s", strerror(errno));
		send_text(port, LAB_FRAME_END, text);
		return;
	}
	if (!pid)
		become_command(words, ends[1]);
	close(ends[1]);
	relay(ends[0], port);
	status = wait_for(pid);
	{
		size_t size = 0;
		_cleanup_free_ char *result = read_file(LAB_RESULT, &size);

		if (result)
			send(port, LAB_FRAME_RESULT, result, size);
	}
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "exit %d", WEXITSTATUS(status));
	send_text(port, LAB_FRAME_END, text);
}

/* 0, or what is wrong in why. */
static int set_up_swap(char *why, size_t size)
{
	size_t length = 0;
	_cleanup_free_ char *text = read_file("/" LAB_SWAP, &length);
	uint64_t bytes;

	if (!text)
		return 0;
	if (parse_u64(text, &bytes) < 0) {
		snprintf(why, size, "--swap: '%.20s' is no size", text);
		return -EINVAL;
	}
	return lab_guest_swap(bytes, why, size);
}

/* With a terminal of its own, so that job control and Ctrl-C work. */
static void run_shell(void)
{
	static char *words[] = { (char *)"sh", (char *)"-l", NULL };
	pid_t pid = fork();

	if (!pid) {
		int tty;

		setsid();
		tty = open("/dev/ttyS0", O_RDWR);
		ioctl(tty, TIOCSCTTY, 1);
		for (int fd = 0; fd < 3; fd++)
			dup2(tty, fd);
		setenv("PATH", "/bin:/" LAB_FILES, 1);
		setenv("HOME", "/" LAB_FILES, 1);
		setenv("TERM", "linux", 0);
		if (chdir("/" LAB_FILES) == 0)
			execv("/" LAB_BUSYBOX, words);
		_exit(127);
	}
	wait_for(pid);
}

static void install_shell(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/" LAB_BUSYBOX, "busybox", "--install", "-s", "/bin", NULL);
		_exit(127);
	}
	wait_for(pid);
	if (symlink("/init", "/bin/mmtape") < 0)
		perror("/bin/mmtape");
}

static void look_around(void)
{
	int port = open_port(true); /* there is one in a trial of KVM only */
	char why[200];

	if (port >= 0)
		send_hello(port);
	install_shell();
	if (set_up_swap(why, sizeof(why)) < 0)
		printf("mmtape: %s\n", why);
	printf("\nmmtape lab: /files has your files, `mmtape` is here, `exit` switches off\n");
	run_shell();
}

static void measure(char *arguments, size_t size)
{
	int port = open_port(false);
	char why[200], text[220];
	char **words;

	if (port < 0)
		return;
	send_hello(port);
	words = split_words(arguments, size);
	if (set_up_swap(why, sizeof(why)) < 0) {
		snprintf(text, sizeof(text), "error %s", why);
		send_text(port, LAB_FRAME_END, text);
	} else if (words) {
		run_command(port, words);
	}
	free(words);
	tcdrain(port);
	close(port);
}

void lab_guest_main(void)
{
	size_t size = 0;
	char *arguments;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (lab_guest_mount() < 0)
		switch_off();
	arguments = read_file("/" LAB_ARGUMENTS, &size);
	if (arguments)
		measure(arguments, size);
	else
		look_around();
	switch_off();
}
