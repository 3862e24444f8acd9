import java.io.*;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.*;

/*
 * Makes classes, runs each for a moment, interpreted or compiled, and lets them be unloaded, so
 * that their memory is used again for the next ones. They differ in a number, which is part of
 * the names of class and method. Before each call of mark(), which is probed, the number is
 * written down.
 */
public class Unloading {
	public static native void mark();

	static volatile int sink;

	static class Loader extends ClassLoader {
		Loader() { super(Unloading.class.getClassLoader()); }

		Class<?> define(byte[] code) { return defineClass(null, code, 0, code.length); }
	}

	static byte[] renumbered(byte[] code, String number) {
		byte[] copy = code.clone(), digits = number.getBytes(StandardCharsets.US_ASCII);

		for (int i = 0; i + digits.length <= copy.length; i++)
			if (copy[i] == '0' && new String(copy, i, 6, StandardCharsets.ISO_8859_1).equals("000000"))
				System.arraycopy(digits, 0, copy, i, digits.length);
		return copy;
	}

	public static void main(String[] arguments) throws Throwable {
		long until = System.nanoTime() + (long)(Double.parseDouble(arguments[0]) * 1e9);
		byte[] template;
		Random random = new Random(1);
		List<Object> kept = new ArrayList<>();

		System.load(arguments[1]);
		try (InputStream in = Unloading.class.getResourceAsStream("Template000000.class")) {
			template = in.readAllBytes();
		}
		try (PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(arguments[2])))) {
			Thread.sleep(1000);
			for (int n = 1; System.nanoTime() < until; n++) {
				String number = String.format("%06d", n);
				byte[] code = renumbered(template, number);
				Class<?> made = n % 3 == 0
					? MethodHandles.lookup().defineHiddenClass(code, true).lookupClass()
					: new Loader().define(code);
				var method = made.getDeclaredMethod("work" + number, int.class);

				for (int i = 0; i < 3; i++) {
					out.println(number);
					sink += (Integer)method.invoke(null, n % 5 == 0 ? 200_000 : 200);
				}
				if (random.nextInt(4) == 0)
					kept.add(made);
				if (kept.size() > 50)
					kept.clear();
				if (n % 40 == 0)
					System.gc();
			}
			Thread.sleep(1000);
		}
	}
}
