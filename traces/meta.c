/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text pairs in the order they were set, and their form in a block. */

#include <inttypes.h>
#include <stdio.h>

#include "common/cleanup.h"
#include "common/options.h"
#include "traces/records_codec.h"

struct pair {
	char *key, *value;
};

struct trace_meta {
	struct pair *pairs;
	size_t count;
};

int trace_meta_new(struct trace_meta **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

struct trace_meta *trace_meta_free(struct trace_meta *meta)
{
	if (!meta)
		return NULL;
	for (size_t i = 0; i < meta->count; i++) {
		free(meta->pairs[i].key);
		free(meta->pairs[i].value);
	}
	free(meta->pairs);
	free(meta);
	return NULL;
}

static struct pair *meta_find(const struct trace_meta *meta, const char *key)
{
	for (size_t i = 0; i < meta->count; i++)
		if (!strcmp(meta->pairs[i].key, key))
			return &meta->pairs[i];
	return NULL;
}

/* Takes over both strings, which may be NULL for want of memory. */
static int meta_append(struct trace_meta *meta, char *key, char *value)
{
	_cleanup_free_ char *k = key;
	_cleanup_free_ char *v = value;
	struct pair *pairs;

	if (!k || !v)
		return -ENOMEM;
	/* Room doubles at powers of two. */
	if (!(meta->count & (meta->count - 1))) {
		size_t room = meta->count ? 2 * meta->count : 1;

		pairs = realloc(meta->pairs, room * sizeof(*pairs));
		if (!pairs)
			return -ENOMEM;
		meta->pairs = pairs;
	}
	meta->pairs[meta->count++] = (struct pair){ take_ptr(k), take_ptr(v) };
	return 0;
}

int trace_meta_set(struct trace_meta *meta, const char *key, const char *value)
{
	struct pair *old = meta_find(meta, key);
	char *copy;

	if (strlen(key) > META_KEY_MAX || strlen(value) > META_VALUE_MAX)
		return -E2BIG;
	if (!old)
		return meta_append(meta, strdup(key), strdup(value));
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(old->value);
	old->value = copy;
	return 0;
}

int trace_meta_set_u64(struct trace_meta *meta, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return trace_meta_set(meta, key, text);
}

const char *trace_meta_get(const struct trace_meta *meta, const char *key)
{
	const struct pair *p = meta_find(meta, key);

	return p ? p->value : NULL;
}

uint64_t trace_meta_get_u64(const struct trace_meta *meta, const char *key, uint64_t absent)
{
	const char *text = trace_meta_get(meta, key);
	uint64_t v;

	return text && parse_u64(text, &v) == 0 ? v : absent;
}

size_t trace_meta_count(const struct trace_meta *meta)
{
	return meta->count;
}

void trace_meta_at(const struct trace_meta *meta, size_t i, const char **key, const char **value)
{
	*key = meta->pairs[i].key;
	*value = meta->pairs[i].value;
}

int meta_encode(const struct trace_meta *meta, struct buffer *out)
{
	int r = 0;

	for (size_t i = 0; i < meta->count && !r; i++) {
		const struct pair *p = &meta->pairs[i];

		r = buffer_u16(out, (uint16_t)strlen(p->key));
		if (!r)
			r = buffer_u16(out, (uint16_t)strlen(p->value));
		if (!r)
			r = buffer_bytes(out, p->key, strlen(p->key));
		if (!r)
			r = buffer_bytes(out, p->value, strlen(p->value));
	}
	return r;
}

/* A string without NUL, or NULL if the bytes are not that (bad is set) or memory is short. */
static char *string_take(struct bytes_reader *in, size_t len)
{
	const uint8_t *bytes = bytes_take(in, len);

	if (bytes && memchr(bytes, 0, len))
		in->bad = true;
	return bytes && !in->bad ? strndup((const char *)bytes, len) : NULL;
}

int meta_decode(struct trace_meta *meta, struct bytes_reader *in, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint16_t key_len = bytes_u16(in);
		uint16_t value_len = bytes_u16(in);
		char *key, *value;
		int r;

		if (in->bad || !key_len || key_len > META_KEY_MAX || value_len > META_VALUE_MAX)
			return -EBADMSG;
		key = string_take(in, key_len);
		value = string_take(in, value_len);
		r = meta_append(meta, key, value);
		if (r < 0)
			return in->bad ? -EBADMSG : r;
	}
	return 0;
}
