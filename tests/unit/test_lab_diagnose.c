/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab says of guests that gave no result. */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "replay/lab_diagnose.h"

#define BANNER "Linux version 6.12.0\nConsole: colour dummy device\n"

static void says(struct lab_evidence e, const char *part)
{
	char out[400] = "";

	e.errors = e.errors ? e.errors : "";
	e.console = e.console ? e.console : "";
	e.console_spoke = *e.console;
	e.seconds = 7;
	lab_diagnose(&e, out, sizeof(out));
	if (!strstr(out, part))
		fail_msg("'%s' has no '%s'", out, part);
}

static void test_what_a_kernel_lacks(void **state)
{
	says((struct lab_evidence){ .timed_out = true }, "CONFIG_SERIAL_8250_CONSOLE");
	says((struct lab_evidence){ .exit_status = 0 }, "CONFIG_SERIAL_8250_CONSOLE");
	says((struct lab_evidence){ .console = BANNER "VFS: Cannot open root device \"\"\n"
	                                              "Kernel panic - not syncing: VFS: Unable "
	                                              "to mount root fs on unknown-block(0,0)\n" },
	     "CONFIG_BLK_DEV_INITRD");
	says((struct lab_evidence){ .console = BANNER "Requested init /init failed (error -8).\n" },
	     "CONFIG_BINFMT_ELF");
	says((struct lab_evidence){ .console = BANNER
	                            "mmtape: no second serial port (/dev/ttyS1): x\n" },
	     "second serial port");
	says((struct lab_evidence){ .console = BANNER,
	                            .hello = true,
	                            .end = "error --swap: this kernel has no zram built in" },
	     "no zram");
}

static void test_memory(void **state)
{
	says((struct lab_evidence){ .console = BANNER "Kernel panic - not syncing: System is "
	                                              "deadlocked on memory\n" },
	     "--memory");
	says((struct lab_evidence){ .console = BANNER "Initramfs unpacking failed: write error\n" },
	     "initramfs");
	says((struct lab_evidence){ .console = BANNER "Out of memory: Killed process 60\n",
	                            .hello = true,
	                            .end = "signal 9" },
	     "--memory");
}

static void test_panic(void **state)
{
	says((struct lab_evidence){ .console = BANNER
	                            "Kernel panic - not syncing: Fatal exception\r\n---\n",
	                            .hello = true },
	     "panicked: Fatal exception");
	/* What an initramfs lacks is no cause once mmtape ran. */
	says((struct lab_evidence){ .console = BANNER "No working init found\nKernel panic - not "
	                                              "syncing: later\n",
	                            .hello = true },
	     "panicked: later");
}

static void test_time(void **state)
{
	says((struct lab_evidence){ .console = BANNER, .timed_out = true }, "did not start");
	says((struct lab_evidence){ .console = BANNER, .timed_out = true, .hello = true },
	     "no end after 7 s");
}

static void test_ends(void **state)
{
	says((struct lab_evidence){ .console = BANNER, .hello = true, .end = "exit 1" },
	     "status 1");
	says((struct lab_evidence){ .console = BANNER, .hello = true, .end = "signal 11" },
	     "signal 11");
	says((struct lab_evidence){ .console = BANNER, .hello = true, .cut = true },
	     "cut on the way");
	says((struct lab_evidence){ .console = BANNER, .hello = true }, "without a result");
	says((struct lab_evidence){ .exit_status = SIGKILL }, "killed by signal 9");
	says((struct lab_evidence){ .errors = "warning: x\nqemu: unable to find CPU model 'y'\n",
	                            .exit_status = 1 << 8 },
	     "QEMU: qemu: unable to find CPU model 'y'");
}

static void test_last_lines(void **state)
{
	const char *text = "one\r\ntwo\r\nthree\r\n\r\n";

	assert_string_equal(lab_last_lines(text, 1), "three\r\n\r\n");
	assert_string_equal(lab_last_lines(text, 2), "two\r\nthree\r\n\r\n");
	assert_ptr_equal(lab_last_lines(text, 3), text);
	assert_ptr_equal(lab_last_lines(text, 9), text);
	assert_string_equal(lab_last_lines("", 3), "");
}

static void test_cause_line(void **state)
{
	const char *panic = "a\n[ 1.2] Kernel panic - not syncing: VFS\nb\n";
	const char *killed =
		"[ 1] b invoked oom-killer: x\n[ 2] Out of memory: Killed process 7 (b)\nc\n";

	assert_ptr_equal(lab_cause_line(panic), panic + 2);
	assert_ptr_equal(lab_cause_line(panic + 2), panic + 2);
	assert_ptr_equal(lab_cause_line(killed), strstr(killed, "[ 2]"));
	assert_string_equal(lab_cause_line("b invoked oom-killer: x\n"),
	                    "b invoked oom-killer: x\n");
	assert_null(lab_cause_line("panic\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cause_line), cmocka_unit_test(test_what_a_kernel_lacks),
		cmocka_unit_test(test_memory),     cmocka_unit_test(test_panic),
		cmocka_unit_test(test_time),       cmocka_unit_test(test_ends),
		cmocka_unit_test(test_last_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
