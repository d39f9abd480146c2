// Tasks.java - the JVM with what a tracer may break: code made hot, exceptions over many frames, threads, a stack that
// overflows, a child process. Prints only what is the same each time.
import java.util.stream.*;

public class Tasks {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	static int fall(int n) { if (n == 0) throw new IllegalStateException("deep"); return fall(n - 1) + 1; }
	static int overflow() { return overflow() + 1; }

	public static void main(String[] args) throws Exception {
		System.out.println(fib(25));
		int caught = 0;
		for (int i = 0; i < 2000; i++)
			try { fall(i % 40); } catch (IllegalStateException e) { caught++; }
		System.out.println(caught);
		try { overflow(); } catch (StackOverflowError e) { System.out.println("overflow"); }
		System.out.println(IntStream.range(0, 8).parallel().map(i -> fib(15 + i)).sum());
		Object nothing = null;
		try { nothing.hashCode(); } catch (NullPointerException e) { System.out.println("null"); }
		System.out.println(new ProcessBuilder("sh", "-c", "exit 6").start().waitFor());
		System.exit(3);
	}
}
