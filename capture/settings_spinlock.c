/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind of spinlock the running kernel uses. On x86 (arch/x86/kernel/
 * paravirt.c native_pv_lock_init, kvm.c kvm_spinlock_init, xen/spinlock.c):
 *
 * - without the hypervisor bit: queued;
 * - with it and CONFIG_PARAVIRT: test-and-set, unless the hypervisor's code
 *   decides otherwise;
 * - KVM with PV_UNHALT and CONFIG_PARAVIRT_SPINLOCKS: paravirtual, but queued
 *   with the REALTIME hint, on one CPU, or with `nopvspin`;
 * - Xen with CONFIG_PARAVIRT_SPINLOCKS: paravirtual, but queued with `nopvspin`
 *   or `xen_nopvspin`.
 *
 * What it can still get wrong: Hyper-V's paravirtual locks are not told from
 * test-and-set ones, and a kernel without symbols and without a readable
 * configuration is taken for a distribution's.
 */

#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

struct spinlock_config {
	bool known;
	bool queued, paravirt, pv_spinlocks;
};

/* Names at the line's end in /proc/kallsyms; addresses may be hidden, names never are. */
static void config_from_symbols(struct spinlock_config *c)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/kallsyms");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, ' ');

		name = name ? strchr(name + 1, ' ') : NULL;
		if (!name)
			continue;
		name[strcspn(name, "\t\n")] = '\0';
		name++;
		if (!strcmp(name, "native_queued_spin_lock_slowpath") ||
		    !strcmp(name, "queued_spin_lock_slowpath"))
			c->queued = c->known = true;
		else if (!strcmp(name, "native_pv_lock_init"))
			c->paravirt = c->known = true;
		else if (!strcmp(name, "__pv_queued_spin_lock_slowpath"))
			c->pv_spinlocks = c->queued = c->known = true;
	}
}

static void config_from_boot(struct spinlock_config *c)
{
	_cleanup_fclose_ FILE *f = NULL;
	char line[512], path[512];
	struct utsname u;

	if (uname(&u) < 0)
		return;
	snprintf(path, sizeof(path), "/boot/config-%s", u.release);
	f = sysfile_open(path);
	if (!f) {
		snprintf(path, sizeof(path), "/lib/modules/%s/config", u.release);
		f = sysfile_open(path);
	}
	while (f && fgets(line, sizeof(line), f)) {
		c->known = true;
		c->queued |= !strcmp(line, "CONFIG_QUEUED_SPINLOCKS=y\n");
		c->paravirt |= !strcmp(line, "CONFIG_PARAVIRT=y\n");
		c->pv_spinlocks |= !strcmp(line, "CONFIG_PARAVIRT_SPINLOCKS=y\n");
	}
}

static bool is_realtime(void)
{
	uint64_t on = 0;

	return sysfile_read_u64("/sys/kernel/realtime", &on) == 0 && on;
}

#if defined(__x86_64__)

#define KVM_FEATURE_PV_UNHALT (1u << 7)
#define KVM_HINTS_REALTIME (1u << 0)

/* The value of `word` or `word=…` on the kernel's command line is there at all. */
static bool booted_with(const char *word)
{
	char text[SYSFILE_MAX];
	size_t len = strlen(word);

	if (sysfile_read("/proc/cmdline", text, sizeof(text)) < 0)
		return false;
	for (char *save = NULL, *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!strncmp(w, word, len) && (!w[len] || w[len] == '='))
			return true;
	return false;
}

/* CPUID answers in user mode as it did to the kernel. */
static bool cpu_has_hypervisor(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31));
}

static void hypervisor_name(char name[13], unsigned *base)
{
	unsigned a, regs[3];

	/* Guests of nested interfaces may find theirs at a later leaf (step 0x100). */
	for (*base = 0x40000000; *base < 0x40010000; *base += 0x100) {
		__cpuid(*base, a, regs[0], regs[1], regs[2]);
		memcpy(name, regs, 12);
		name[12] = '\0';
		if (!strcmp(name, "KVMKVMKVM") || !strcmp(name, "XenVMMXenVMM"))
			return;
	}
	name[0] = '\0';
}

static const char *kind_on_x86(const struct spinlock_config *c)
{
	bool off = booted_with("nopvspin");
	unsigned base, a, b, cx, d;
	char name[13];

	if (!cpu_has_hypervisor() || !c->paravirt)
		return "queued";
	hypervisor_name(name, &base);
	if (c->pv_spinlocks && !strcmp(name, "KVMKVMKVM")) {
		__cpuid(base + 1, a, b, cx, d);
		if (!(a & KVM_FEATURE_PV_UNHALT))
			return "test-and-set";
		if ((d & KVM_HINTS_REALTIME) || sysconf(_SC_NPROCESSORS_CONF) == 1 || off)
			return "queued";
		return "paravirtual";
	}
	if (c->pv_spinlocks && !strcmp(name, "XenVMMXenVMM"))
		return off || booted_with("xen_nopvspin") ? "queued" : "paravirtual";
	return "test-and-set";
}

#else

static const char *kind_on_x86(const struct spinlock_config *c)
{
	return "unknown";
}

#endif

const char *settings_spinlock_kind(void)
{
	struct spinlock_config config = { 0 };
	struct utsname u;

	if (is_realtime())
		return "rtmutex";
	config_from_symbols(&config);
	if (!config.known)
		config_from_boot(&config);
	if (!config.known)
		config = (struct spinlock_config){ true, true, true, true };
	if (!config.queued || uname(&u) < 0)
		return "unknown";
	if (!strcmp(u.machine, "x86_64"))
		return kind_on_x86(&config);
	return "queued";
}
