/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The normal form in which operations are compared. Pure. */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "common/bytes.h"
#include "replay/verify.h"

static void op_set_result(const struct paired_call *call, struct verify_op *out)
{
	if (result_is_error(call->result))
		out->error = (uint8_t)-call->result;
}

static void op_set_alignment(const struct paired_call *call, struct verify_op *out)
{
	if (!result_is_error(call->result))
		out->alignment = call->result & VERIFY_ALIGNMENT_MASK;
}

static bool op_mmap(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	out->length = call->arg[1];
	out->prot = (uint8_t)call->arg[2];
	out->flags = (uint32_t)call->arg[3] & ~VERIFY_MMAP_IGNORED;
	out->file = !(call->arg[3] & MAP_ANONYMOUS);
	op_set_alignment(call, out);
	return true;
}

static bool op_range(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	out->length = call->arg[1];
	return true;
}

static bool op_range_flags(const struct paired_call *call, uint64_t *first_break,
                           struct verify_op *out)
{
	out->length = call->arg[1];
	out->flags = (uint32_t)call->arg[2];
	return true;
}

static bool op_mprotect(const struct paired_call *call, uint64_t *first_break,
                        struct verify_op *out)
{
	out->call = CALL_MPROTECT; /* a key that does not exist here: replayed without */
	out->length = call->arg[1];
	out->prot = (uint8_t)call->arg[2];
	return true;
}

static bool op_mremap(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	out->length = call->arg[1];
	out->new_length = call->arg[2];
	out->flags = (uint32_t)call->arg[3] & ~(uint32_t)MREMAP_FIXED;
	op_set_alignment(call, out);
	return true;
}

static bool op_brk(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	if (!*first_break)
		*first_break = call->result;
	/* brk never fails with an errno: it returns the old break. */
	out->length = call->arg[0] ? call->arg[0] - *first_break : 0;
	if (call->arg[0] && call->arg[0] < *first_break)
		out->length = VERIFY_BELOW;
	out->new_length = call->result - *first_break;
	out->error = 0;
	return true;
}

static bool op_whole(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	out->flags = (uint32_t)call->arg[0];
	return true;
}

static bool op_mbind(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	out->length = call->arg[1];
	out->flags = (uint32_t)call->arg[2];
	return true;
}

static bool op_prctl(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	switch (call->arg[0]) {
	case PR_SET_VMA:
		out->length = call->arg[3];
		break;
	case PR_SET_THP_DISABLE:
	case PR_GET_THP_DISABLE:
	case 67: /* PR_SET_MEMORY_MERGE (6.4) */
	case 68:
		break;
	default:
		return false;
	}
	out->flags = (uint32_t)call->arg[0];
	return true;
}

static bool op_shmat(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	op_set_alignment(call, out);
	return true;
}

static bool op_plain(const struct paired_call *call, uint64_t *first_break, struct verify_op *out)
{
	return true;
}

/* A call without a row is no operation on memory. */
static bool (*const op_makers[CALL_COUNT])(const struct paired_call *, uint64_t *,
                                           struct verify_op *) = {
	[CALL_MMAP] = op_mmap,
	[CALL_MUNMAP] = op_range,
	[CALL_MREMAP] = op_mremap,
	[CALL_MADVISE] = op_range_flags,
	[CALL_PROCESS_MADVISE] = op_plain,
	[CALL_MPROTECT] = op_mprotect,
	[CALL_PKEY_MPROTECT] = op_mprotect,
	[CALL_BRK] = op_brk,
	[CALL_MLOCK] = op_range,
	[CALL_MLOCK2] = op_range_flags,
	[CALL_MUNLOCK] = op_range,
	[CALL_MLOCKALL] = op_whole,
	[CALL_MUNLOCKALL] = op_plain,
	[CALL_MBIND] = op_mbind,
	[CALL_SET_MEMPOLICY] = op_whole,
	[CALL_SET_MEMPOLICY_HOME_NODE] = op_range,
	[CALL_MSEAL] = op_range,
	[CALL_REMAP_FILE_PAGES] = op_range,
	[CALL_USERFAULTFD] = op_plain,
	[CALL_PRCTL] = op_prctl,
	[CALL_SHMAT] = op_shmat,
	[CALL_SHMDT] = op_plain,
};

bool verify_op_from_call(const struct paired_call *call, uint64_t number, uint64_t *first_break,
                         struct verify_op *out)
{
	if (call->call >= CALL_COUNT || !op_makers[call->call])
		return false;
	*out = (struct verify_op){ .call = call->call,
		                   .number = number,
		                   .alignment = VERIFY_NO_ALIGNMENT };
	op_set_result(call, out);
	return op_makers[call->call](call, first_break, out);
}

static bool is_whole_space(unsigned call)
{
	return call == CALL_MLOCKALL || call == CALL_MUNLOCKALL;
}

static bool is_lock(unsigned call)
{
	return call == CALL_MLOCK || call == CALL_MLOCK2 || call == CALL_MUNLOCK;
}

static bool same_length(uint64_t a, uint64_t b)
{
	return a == b || a == VERIFY_NO_LENGTH || b == VERIFY_NO_LENGTH;
}

const char *verify_op_differs(const struct verify_op *want, const struct verify_op *got,
                              unsigned rules)
{
	if ((rules & VERIFY_PLAN) && is_whole_space(want->call) && is_lock(got->call))
		return NULL; /* planned as calls per region */
	if (want->call != got->call)
		return "call";
	if ((rules & VERIFY_CLIPPED) && want->call == CALL_MUNMAP && want->length > got->length)
		return NULL; /* the rest was not mapped: nothing to unmap there */
	if (!same_length(want->length, got->length) ||
	    !same_length(want->new_length, got->new_length))
		return "length";
	if (want->flags != got->flags || want->prot != got->prot || want->file != got->file)
		return "flags";
	if (want->error != got->error && !want->unchecked && !got->unchecked)
		return "result";
	if ((rules & VERIFY_ALIGNMENT) && want->alignment != VERIFY_NO_ALIGNMENT &&
	    got->alignment != VERIFY_NO_ALIGNMENT && want->alignment != got->alignment)
		return "alignment";
	return NULL;
}

static size_t text_add(char *out, size_t size, size_t at, const char *text)
{
	int n = at < size ? snprintf(out + at, size - at, "%s", text) : 0;

	return at + (size_t)(n > 0 ? n : 0);
}

void verify_op_format(const struct verify_op *op, char *out, size_t size)
{
	char part[96];
	size_t at = text_add(out, size, 0, call_name(op->call));

	snprintf(part, sizeof(part), "(0x%llx", (unsigned long long)op->length);
	at = text_add(out, size, at, part);
	if (op->call == CALL_MREMAP || op->call == CALL_BRK) {
		snprintf(part, sizeof(part), ", 0x%llx", (unsigned long long)op->new_length);
		at = text_add(out, size, at, part);
	}
	if (op->call == CALL_MMAP || op->call == CALL_MPROTECT) {
		at = text_add(out, size, at, ", ");
		event_value_format(part, sizeof(part), ARG_PROT, op->prot);
		at = text_add(out, size, at, part);
	}
	if (op->flags) {
		enum arg_type type = op->call == CALL_MMAP      ? ARG_MMAP_FLAGS
		                     : op->call == CALL_MADVISE ? ARG_ADVICE
		                     : op->call == CALL_MREMAP  ? ARG_MREMAP_FLAGS
		                                                : ARG_HEX;

		at = text_add(out, size, at, ", ");
		event_value_format(part, sizeof(part), type, op->flags);
		at = text_add(out, size, at, part);
	}
	at = text_add(out, size, at, ")");
	if (op->alignment != VERIFY_NO_ALIGNMENT) {
		snprintf(part, sizeof(part), " at 0x%llx modulo 1 GiB",
		         (unsigned long long)op->alignment);
		at = text_add(out, size, at, part);
	}
	if (op->error) {
		event_value_format(part, sizeof(part), ARG_RESULT, (uint64_t) - (int64_t)op->error);
		at = text_add(out, size, at, " = ");
		text_add(out, size, at, part);
	}
}
