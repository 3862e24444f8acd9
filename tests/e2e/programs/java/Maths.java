/* Functions that an interpreted caller has in stubs of the machine. */
public class Maths {
	static double sum;

	static int same(int i) {
		return i;
	}

	public static void main(String[] arguments) {
		System.out.println("running");
		for (;;)
			for (int i = 1; i < 1000; i++)
				sum += Math.sin(i) + Math.cos(same(i)) + Math.tan(i * 0.5) + Math.log(i) +
					Math.log10(i) + Math.exp(i * 0.001) + Math.pow(same(i), 1.5);
	}
}
