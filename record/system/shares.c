/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/shares.h"

#define ROOT 0

void shares_release(struct shares *s)
{
	map_release(&s->users);
	*s = (struct shares){ .limit = s->limit };
}

uint64_t shares_of(const struct shares *s, uint32_t user)
{
	const uint64_t *has = map_get(&s->users, &user, sizeof(user));

	return has ? *has : 0;
}

static uint64_t left_of(const struct shares *s)
{
	return s->taken < s->limit ? s->limit - s->taken : 0;
}

uint64_t shares_room(const struct shares *s, uint32_t user)
{
	uint64_t left = left_of(s), has = shares_of(s, user);

	if (user == ROOT)
		return left;
	return left > has ? (left - has) / 2 : 0;
}

uint64_t shares_lacking(const struct shares *s, uint32_t user, uint64_t n)
{
	uint64_t left = left_of(s), wanted = user == ROOT ? n : shares_of(s, user) + 2 * n;

	if (!n || wanted <= left)
		return 0;
	/* What he gives back is left, and he has less: it counts twice. */
	return user == ROOT ? wanted - left : (wanted - left + 1) / 2;
}

bool shares_may_take(const struct shares *s, uint32_t user, uint64_t n)
{
	return n <= shares_room(s, user);
}

bool shares_are_scarce(const struct shares *s)
{
	return s->taken >= s->limit / 8;
}

void shares_take(struct shares *s, uint32_t user, uint64_t n)
{
	uint64_t *has = n ? map_put(&s->users, &user, sizeof(user), NULL) : NULL;

	if (!has)
		return;
	*has += n;
	s->taken += n;
}

void shares_give(struct shares *s, uint32_t user, uint64_t n)
{
	uint64_t *has = map_get(&s->users, &user, sizeof(user));

	if (!has)
		return;
	n = n < *has ? n : *has;
	*has -= n;
	s->taken -= n;
	if (!*has)
		map_remove(&s->users, &user, sizeof(user));
}
