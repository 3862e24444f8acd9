/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/group_set.h"

#include "common/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS (1u << 24)

void group_set_init(struct group_set *s)
{
	*s = (struct group_set){ 0 };
	for (size_t i = 0; i < GROUP_PARTS; i++)
		s->last[i].base = PRF_NONE;
}

void group_set_release(struct group_set *s)
{
	free(s->groups);
	map_release(&s->numbers);
}

uint32_t group_set_add(struct group_set *s, const void *key, size_t size,
		       const struct tally_group *group)
{
	bool added;
	uint64_t *number = map_put(&s->numbers, key, size, &added);

	if (!number)
		return PRF_NONE;
	if (!added)
		return (uint32_t)*number;
	if (s->n == MAX_GROUPS || !array_reserve(&s->groups, &s->capacity, s->n + 1)) {
		map_remove(&s->numbers, key, size);
		return PRF_NONE;
	}
	*number = s->n;
	s->groups[s->n] = *group;
	return (uint32_t)s->n++;
}

uint32_t group_set_part(struct group_set *s, uint32_t base, enum group_part part, uint32_t number)
{
	uint8_t key[GROUP_KEY_MIN - 1] = { (uint8_t)part };
	struct tally_group group;

	if (s->last[part].base == base && s->last[part].number == number)
		return s->last[part].group;
	group = s->groups[base];
	*(part == GROUP_PART_CPU ? &group.cpu : &group.parallelism) = number;
	memcpy(key + 1, &base, 4);
	memcpy(key + 5, &number, 4);
	s->last[part].base = base;
	s->last[part].number = number;
	s->last[part].group = group_set_add(s, key, sizeof(key), &group);
	return s->last[part].group;
}
