import java.io.*;
import java.lang.invoke.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/*
 * Writes its own stack, as the virtual machine reports it, each time before it calls the native
 * method marker(): what a probe there samples must be the same. The calls come from as many kinds
 * of frames as there are, first interpreted, then compiled and inlined.
 */
public class Oracle {
	static native void marker();
	static native int callBack(IntUnaryOperator operator, int value);

	static PrintStream out;
	static int rounds;

	static void check() {
		StringBuilder b = new StringBuilder();

		for (StackTraceElement e : new Throwable().getStackTrace())
			b.append(e.getClassName()).append('.').append(e.getMethodName()).append(':')
				.append(e.getLineNumber()).append(' ');
		out.println(b);
		marker();
	}

	interface Step { int go(int n); }
	static class Up implements Step { public int go(int n) { return n == 0 ? end(n) : go(n - 1) + 1; } }
	static class Down implements Step { public int go(int n) { return end(n); } }
	static class Over implements Step { public int go(int n) { return Oracle.end(n - 1) + 2; } }

	static int end(int n) {
		check();
		return n;
	}

	static int small(int n) { return tiny(n) + 1; }
	static int tiny(int n) { return end(n) + 1; }

	static int deep(int n) { return n == 0 ? small(n) : deep(n - 1) + 1; }

	static int caught(int n) {
		try {
			if (n % 2 == 0)
				throw new IllegalStateException();
			return small(n);
		} catch (IllegalStateException e) {
			return tiny(n);
		} finally {
			end(n);
		}
	}

	static synchronized int locked(int n) { return small(n); }

	static int all(int n, MethodHandle handle, java.lang.reflect.Method method) throws Throwable {
		Step[] steps = { new Up(), new Down(), new Over(), x -> small(x), Oracle::tiny };
		int sum = 0;

		for (Step step : steps)
			sum += step.go(3);
		sum += deep(rounds % 97 == 0 ? 200 : 7);
		sum += caught(n);
		sum += locked(n);
		sum += IntStream.range(0, 2).map(x -> small(x)).sum();
		sum += (int)handle.invokeExact(n);
		sum += (Integer)method.invoke(null, n);
		sum += callBack(x -> small(x), n);
		return sum;
	}

	public static void main(String[] arguments) throws Throwable {
		MethodHandle handle = MethodHandles.lookup().findStatic(Oracle.class, "small",
			MethodType.methodType(int.class, int.class));
		java.lang.reflect.Method method = Oracle.class.getDeclaredMethod("small", int.class);
		int sum = 0;

		System.load(arguments[1]);
		Thread.sleep(1000); /* until it is known as a Java process, also on a busy machine */
		out = new PrintStream(new BufferedOutputStream(new FileOutputStream(arguments[2])));
		for (rounds = 1; rounds <= Integer.parseInt(arguments[0]); rounds++)
			sum += all(rounds, handle, method);
		out.close();
		Thread.sleep(1000); /* names are read while it lives */
		System.out.println(sum);
	}
}
