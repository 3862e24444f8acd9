/* SPDX-License-Identifier: GPL-2.0-or-later */
import java.io.*;
import java.lang.invoke.*;
import java.util.function.*;
import java.util.stream.*;

/*
 * Stops in a stack that has each kind of Java method: interpreted ones, and some that were called so
 * often before that they are compiled, and inlined into each other.
 *
 * Stack LIBRARY SAYS stop|run: before it stops it writes to SAYS which methods it is in, innermost
 * first; `run`: it is stopped by others in run(), and has written who has called that.
 */
public class Stack {
	static native void stop(int n); /* calls say(), and stops, when n is negative */
	static native int callBack(IntUnaryOperator operator, int value);

	static String says;
	static volatile int sum;

	static void say() throws IOException {
		StackTraceElement[] frames = new Throwable().getStackTrace();

		try (PrintStream out = new PrintStream(says, "UTF-8")) {
			for (int i = 1; i < frames.length; i++) /* without this one */
				out.println(frames[i].getClassName().replaceAll("/0x[0-9a-f]+", "") + "." +
					frames[i].getMethodName() + " " + Math.max(frames[i].getLineNumber(), 0));
		}
	}

	interface Step { int go(int n); }
	static class Down implements Step { public int go(int n) { return Stack.tiny(n) + 1; } }
	static class Over implements Step { public int go(int n) { return Stack.small(n) + 2; } }

	static int tiny(int n) { stop(n); return n; }
	static int small(int n) { return tiny(n) + 1; }

	static int caught(int n, Step step) {
		try {
			if (n != 0)
				throw new IllegalStateException();
			return 0;
		} catch (IllegalStateException e) {
			return step.go(n);
		}
	}

	static synchronized int locked(int n, Step step) { return caught(n, step) + 1; }

	static int deep(int levels, int n, Step step) {
		return levels == 0 ? locked(n, step) : deep(levels - 1, n, step) + 1;
	}

	/* Often: the second compiler. */
	static int hot(int n, Step step) { return deep(3, n, step); }

	/* Initialized by the first one's code, which calls the machine for that. */
	static class Late { static int value = hot(-1, new Over()); }

	/* Less often: the first compiler. */
	static int warm(int n, Step step) { return n == -1 ? Late.value : hot(n, step); }

	static int leaf(int n) { return n * 31 + 7; }

	/* Compiled when it is called, and goes on for a minute. */
	static int run(int n) {
		Step[] steps = { new Down(), new Over(), x -> tiny(x) };

		for (long end = System.currentTimeMillis() + 60000; System.currentTimeMillis() < end;)
			for (int i = 0; i < 100000; i++)
				n = leaf(n) + steps[i % 3].go(i) + (i % 16 == 0 ? caught(i, steps[i % 3]) : 0);
		return n;
	}

	static int called(int n) { return n > 0 ? run(n) : small(n); }

	/* Once: interpreted. */
	static int once(int n, MethodHandle handle, java.lang.reflect.Method method) throws Throwable {
		if (n > 0) { say(); return (int)handle.invokeExact(n); } /* one line, as it is said */
		return (Integer)method.invoke(null, n) + (int)handle.invokeExact(n);
	}

	public static int reflected(int n) {
		Step over = new Over();

		return IntStream.range(n, n + 1).map(x -> warm(x, over)).sum();
	}

	public static void main(String[] arguments) throws Throwable {
		MethodHandle handle = MethodHandles.lookup().findStatic(Stack.class, "called",
			MethodType.methodType(int.class, int.class));
		var method = Stack.class.getDeclaredMethod("reflected", int.class);
		Step[] steps = { new Down(), new Over(), x -> tiny(x) };
		int n = arguments[2].equals("run") ? 1 : -1;

		System.load(arguments[0]);
		says = arguments[1];
		for (int i = 0; i < 30000; i++)
			sum += hot(i, steps[i % 3]);
		for (int i = 0; i < 600; i++)
			sum += warm(i, steps[i % 3]);
		sum += callBack(x -> {
			try {
				return once(x, handle, method);
			} catch (Throwable e) {
				throw new IllegalStateException(e);
			}
		}, n);
	}
}
