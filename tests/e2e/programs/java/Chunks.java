/* An interface call of many receivers, from a small frame. */
public class Chunks {
	interface Shape { int area(int n); }
	static class A implements Shape { public int area(int n) { return n; } }
	static class B implements Shape { public int area(int n) { return n + 1; } }
	static class C implements Shape { public int area(int n) { return n + 2; } }
	static class D implements Shape { public int area(int n) { return n + 3; } }
	static final Shape[] shapes = { new A(), new B(), new C(), new D() };
	static int sum;

	static int small(Shape s, int n) {
		return s.area(n) + 1;
	}

	static void outer() {
		for (int i = 0; i < 100000; i++)
			sum += small(shapes[i & 3], i);
	}

	public static void main(String[] arguments) {
		System.out.println("running");
		for (;;)
			outer();
	}
}
