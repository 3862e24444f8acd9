/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/demangle.h"
#include "tests/unit/unit.h"

struct name {
	const char *linkage, *whole, *small;
};

static const struct name names[] = {
	{ "_ZN3foo3barEi", "foo::bar(int)", "foo::bar" },
	{ "_Z3fooIiEvT_", "void foo<int>(int)", "foo<int>" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()", "(anonymous namespace)::foo" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	  "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector<...>::push_back" },
	{ "_ZN1AcviEv", "A::operator int()", "A::operator int" },
	{ "_ZN1AcvPKcEv", "A::operator char const*()", "A::operator char const*" },
	{ "_ZN1AclEi", "A::operator()(int)", "A::operator()" },
	{ "_ZN1AltERKS_", "A::operator<(A const&)", "A::operator<" },
	{ "_ZN1AltIiEEvT_", "void A::operator< <int>(int)", "A::operator< <int>" },
	{ "_ZN1AptEv", "A::operator->()", "A::operator->" },
	{ "_ZN1AssERKS_", "A::operator<=>(A const&)", "A::operator<=>" },
	{ "_ZN1AixEm", "A::operator[](unsigned long)", "A::operator[]" },
	{ "_Znwm", "operator new(unsigned long)", "operator new" },
	{ "_ZdaPv", "operator delete[](void*)", "operator delete[]" },
	{ "_ZZ3fooiENKUlidE_clEid",
	  "foo(int)::{lambda(int, double)#1}::operator()(int, double) const",
	  "foo::{lambda(...)#1}::operator()" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const",
	  "main::{lambda()#1}::operator()" },
	{ "_ZThn8_N1A3fooEv", "non-virtual thunk to A::foo()", "non-virtual thunk to A::foo" },
	{ "_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]", "foo::bar.cold" },
	{ "_ZN3foo3barEi.part.0", "foo::bar(int) [clone .part.0]", "foo::bar.part.0" },
	{ "_ZN3foo3barEi.llvm.123", "foo::bar(int) [clone .llvm.123]", "foo::bar" },
	{ "_ZNK3FooINS_3BarEEdeEv", "Foo<Foo::Bar>::operator*() const", "Foo<...>::operator*" },
	{ "_ZN3fooB5cxx11Ev", "foo[abi:cxx11]()", "foo[abi:cxx11]" },
	{ "_ZN1AC1Ev", "A::A()", "A::A" },
	{ "_ZN1AD0Ev", "A::~A()", "A::~A" },
	{ "_Z3barIXgtLi3ELi2EEEvv", "void bar<((3)>(2))>()", "bar<...>" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
	  "core::fmt::Formatter::pad" },
	{ "_ZN47_$LT$std..fs..File$u20$as$u20$std..io..Read$GT$4read17h0123456789abcdefE",
	  "<std::fs::File as std::io::Read>::read", "<std::fs::File as std::io::Read>::read" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo" },
	{ "_RNvMs_NtCs4fqI2P2rA04_5alloc3vecINtB4_3VecuE4push", "<alloc::vec::Vec<()>>::push",
	  "<alloc::vec::Vec<()>>::push" },
	{ "_RNCNvCs1234_7mycrate4main0", "mycrate::main::{closure#0}",
	  "mycrate::main::{closure#0}" },
	{ "_ZdlPv@plt", "operator delete(void*)@plt", "operator delete@plt" },
	{ "main", "main", "main" },
	{ "main.(*T).Method", "main.(*T).Method", "main.(*T).Method" },
	{ "go.func1[...]", "go.func1[...]", "go.func1[...]" },
	{ "foo.cold", "foo.cold", "foo.cold" },
	{ "_Zqqq", "_Zqqq", "_Zqqq" },
	{ "_Z", "_Z", "_Z" },
	{ "_R", "_R", "_R" },
	{ "_", "_", "_" },
	{ "", "", "" },
};

static void known_names(void **state)
{
	struct arena arena = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_string_equal(demangle(names[i].linkage, true, &arena), names[i].whole);
		assert_string_equal(demangle(names[i].linkage, false, &arena), names[i].small);
	}
	arena_release(&arena);
}

static void language_d(void **state)
{
	struct arena arena = { 0 };
	const char *name = demangle("_D3std5stdio7writelnFZv", true, &arena);

	assert_int_equal(strncmp(name, "std.stdio.writeln", 17), 0);
	name = demangle("_D4testQfFAyaQdZv", true, &arena);
	assert_string_equal(name, "test.test(immutable(char)[], immutable(char)[])");
	arena_release(&arena);
}

/* Each type is made of the one before it, twice. */
static void language_d_doubling(void **state)
{
	char linkage[512] = "_D4test1aFHaaHQeQg";
	struct arena arena = { 0 };

	for (int i = 0; i < 60; i++)
		strcat(linkage, "HQgQi");
	strcat(linkage, "Zv");
	assert_ptr_equal(demangle(linkage, true, &arena), linkage);
	arena_release(&arena);
}

static const struct name shortened[] = {
	{ "a<b>::c", "a<b>::c", "a<b>::c" },
	{ "a<long>::c(int)", NULL, "a<...>::c" },
	{ "unsigned long f<long>(int)", NULL, "f<...>" },
	{ "std::vector<int>* a::f<int>(char)", NULL, "a::f<int>" },
	{ "f((anonymous namespace)::x)", NULL, "f" },
	{ "void f<decltype (g<1>(2))>(int) const", NULL, "f<...>" },
	{ "f(int) const::{lambda(long)#2}::operator()(int) const", NULL,
	  "f::{lambda(...)#2}::operator()" },
	{ "a < b", NULL, "b" },
	{ "a<(b", NULL, "a<(b" },
	{ "a>>b)c", NULL, "a>>b)c" },
	{ "(((", NULL, "(((" },
	{ "()", NULL, "()" },
};

static void odd_names(void **state)
{
	char to[256];

	for (size_t i = 0; i < sizeof(shortened) / sizeof(*shortened); i++) {
		shorten_name(to, shortened[i].linkage, false);
		assert_string_equal(to, shortened[i].small);
	}
	shorten_name(to, "<alloc::vec::Vec<T, A> as core::ops::Drop>::drop", true);
	assert_string_equal(to, "<alloc::vec::Vec<...> as core::ops::Drop>::drop");
	shorten_name(to, "core::fmt::num::<impl core::fmt::Display for u32>::fmt", true);
	assert_string_equal(to, "core::fmt::num::<impl core::fmt::Display for u32>::fmt");
	shorten_name(to, "f::<(u32, fn(u8) -> u64)>", true);
	assert_string_equal(to, "f::<...>");
}

/* Text that grows with each step, and nesting as deep as a name is long. */
static void hostile_names(void **state)
{
	struct arena arena = { 0 };
	char name[8192];
	size_t n = (size_t)sprintf(name, "_Z1fI1AE");

	/* Each S_ stands for two of the one before. */
	for (int i = 0; i < 60; i++)
		n += (size_t)sprintf(name + n, "St4pairIS%c_S%c_E", i ? '0' + (i - 1) % 10 : '_',
				     i ? '0' + (i - 1) % 10 : '_');
	assert_non_null(demangle(name, true, &arena));
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 2] = 'i';
	name[sizeof(name) - 1] = 0;
	assert_non_null(demangle(name, true, &arena));
	assert_non_null(demangle(name, false, &arena));
	memset(name, '<', sizeof(name) - 1);
	{
		char *to = malloc(sizeof(name));

		assert_non_null(to);
		shorten_name(to, name, false);
		assert_string_equal(to, name);
		free(to);
	}
	arena_release(&arena);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(known_names),	       cmocka_unit_test(language_d),
	cmocka_unit_test(language_d_doubling), cmocka_unit_test(odd_names),
	cmocka_unit_test(hostile_names),
};

UNIT_TESTS(tests);
