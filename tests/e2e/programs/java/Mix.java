import java.lang.invoke.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/*
 * What Java programs do to their stacks, for as many seconds as the argument says: deep recursion,
 * exceptions, lambdas and streams, interface calls, reflection and method handles, copies of
 * arrays, locks, garbage, calls from native code back into Java, and code whose assumptions turn
 * out wrong again and again. The parts run in turn, in two threads. In the language of JDK 8.
 */
public class Mix {
	static native int callBack(IntUnaryOperator operator, int value);

	static volatile long sink;
	static volatile long until;

	interface Shape { double area(); }
	static class Square implements Shape {
		final double side;

		Square(double side) { this.side = side; }

		public double area() { return side * side; }
	}
	static class Circle implements Shape {
		final double radius;

		Circle(double radius) { this.radius = radius; }

		public double area() { return 3.14 * radius * radius; }
	}
	static class Strip implements Shape {
		final double a, b;

		Strip(double a, double b) { this.a = a; this.b = b; }

		public double area() { return a * b; }
	}

	static int deep(int n, int x) {
		return n == 0 ? spin(x) : deep(n - 1, x + n) + 1;
	}

	static int spin(int x) {
		for (int i = 0; i < 300; i++)
			x = x * 31 + i;
		return x;
	}

	static int thrower(int n) {
		if (n == 0)
			throw new IllegalStateException("at the bottom");
		return thrower(n - 1) + 1;
	}

	static void exceptions() {
		for (int i = 0; i < 20; i++) {
			try {
				sink += thrower(20);
			} catch (IllegalStateException e) {
				sink += e.getStackTrace().length;
			}
			try {
				Object nothing = sink == 42 ? "x" : null;
				sink += nothing.hashCode();
			} catch (NullPointerException e) {
				sink++;
			}
		}
	}

	static void streams() {
		sink += IntStream.range(0, 2000).filter(i -> i % 3 == 0).mapToObj(i -> "n" + i)
			.collect(Collectors.groupingBy(String::length, TreeMap::new, Collectors.counting()))
			.size();
	}

	static void shapes() {
		Shape[] all = { new Square(2), new Circle(3), new Strip(4, 5) };
		double sum = 0;

		for (int i = 0; i < 20000; i++)
			sum += all[i % all.length].area();
		sink += (long)sum;
	}

	static void copies() {
		byte[] from = new byte[100_000], to = new byte[100_000];

		for (int i = 0; i < 20; i++) {
			System.arraycopy(from, 0, to, 1, from.length - 1);
			Arrays.fill(to, (byte)i);
			sink += Arrays.hashCode(to);
		}
	}

	static synchronized void locked(int n) {
		sink += spin(n);
	}

	static void garbage() {
		List<Object> kept = new ArrayList<>();

		for (int i = 0; i < 20000; i++) {
			Object[] o = new Object[i % 40];

			if (i % 50 == 0)
				kept.add(o);
		}
		sink += kept.size();
	}

	static void maths() {
		double x = 0;

		for (int i = 1; i < 5000; i++)
			x += Math.sin(i) * Math.cos(i) + Math.log(i) + Math.pow(i, 0.3) + Math.sqrt(i);
		sink += (long)x;
	}

	static int twice(int x) {
		return spin(x) * 2;
	}

	static void reflection() throws Throwable {
		MethodHandle handle = MethodHandles.lookup().findStatic(Mix.class, "twice",
			MethodType.methodType(int.class, int.class));
		java.lang.reflect.Method method = Mix.class.getDeclaredMethod("twice", int.class);

		for (int i = 0; i < 200; i++) {
			sink += (int)handle.invokeExact(i);
			sink += (Integer)method.invoke(null, i);
		}
	}

	static void callBacks() {
		for (int i = 0; i < 50; i++)
			sink += callBack(x -> callBack(y -> spin(y), x + 1), i);
	}

	/* Each round makes a method true to one type, compiled so, and then shows it another one. */
	static void storms(int round) {
		for (int i = 0; i < 30; i++) {
			Function<Object, Integer> f;

			switch ((round + i) % 3) {
			case 0:
				f = o -> o.hashCode() & 7;
				break;
			case 1:
				f = o -> spin(o.hashCode());
				break;
			default:
				f = o -> o.toString().length();
			}

			for (int j = 0; j < 400; j++)
				sink += f.apply(i % 2 == 0 ? (Object)j : "text");
		}
	}

	static void texts() {
		StringBuilder b = new StringBuilder();

		for (int i = 0; i < 1000; i++)
			b.append(i).append(',');
		for (String part : b.toString().split(","))
			sink += part.hashCode() + String.format("%s", part.length()).length();
	}

	static void all(int round) {
		try {
			sink += deep(500, round);
			exceptions();
			streams();
			shapes();
			copies();
			locked(round);
			garbage();
			maths();
			reflection();
			callBacks();
			storms(round);
			texts();
		} catch (Throwable t) {
			throw new RuntimeException(t);
		}
	}

	static void work() {
		for (int round = 0; System.nanoTime() < until; round++)
			all(round);
	}

	public static void main(String[] arguments) throws Exception {
		System.load(arguments[1]);
		until = System.nanoTime() + (long)(Double.parseDouble(arguments[0]) * 1e9);
		Thread other = new Thread(Mix::work, "other");
		other.start();
		System.out.println("running");
		work();
		other.join();
	}
}
