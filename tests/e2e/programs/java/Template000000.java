/* What Unloading.java makes its classes of: with other digits in the place of these. */
public class Template000000 {
	public static int work000000(int n) {
		int s = 0;

		for (int i = 0; i < n; i++)
			s = s * 31 + turn000000(i);
		Unloading.mark();
		return s;
	}

	public static int turn000000(int i) {
		return (i ^ 7) + 3;
	}
}
