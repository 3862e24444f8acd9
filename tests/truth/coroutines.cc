// SPDX-License-Identifier: GPL-2.0-or-later

// coroutines MS: a chain of generators that resume one another, for some time.
#include <chrono>
#include <coroutine>
#include <cstdlib>
#include <exception>

static volatile long sink;

struct generator {
	struct promise_type {
		long value;
		generator get_return_object() { return { handle::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(long v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	using handle = std::coroutine_handle<promise_type>;
	handle h;
	generator(handle h) : h(h) {}
	generator(generator &&o) : h(o.h) { o.h = nullptr; }
	~generator() { if (h) h.destroy(); }
	long next() { h.resume(); return h.promise().value; }
};

__attribute__((noinline)) static void burn(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

static generator numbers(int depth)
{
	if (depth) {
		generator inner = numbers(depth - 1);

		for (;;)
			co_yield inner.next() + 1;
	}
	for (long i = 0;; i++) {
		burn(100000);
		co_yield i;
	}
}

int main(int argc, char **argv)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(atol(argv[1]));
	generator all = numbers(5);

	while (std::chrono::steady_clock::now() < end)
		sink += all.next();
	return 0;
}
