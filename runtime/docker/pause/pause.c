/*
 * pause is the first process of every pod's sandbox. It holds the sandbox's
 * namespaces open, reaps the orphans of a shared PID namespace, and leaves at
 * once on TERM or INT.
 *
 * It needs no libc, so that it stays at a few pages of memory: four system
 * calls, by number, per architecture. It installs no handlers either: signals
 * are blocked and waited for, which works for PID 1 too, since the kernel
 * drops a blocked signal of PID 1 no more than anyone else's.
 *
 * Built by hack/pause.sh; the binaries are committed beside this file.
 */

typedef unsigned long long sigset; /* the kernel's own set: 64 signals, 8 bytes */

#if defined(__x86_64__)

enum { SYS_rt_sigprocmask = 14, SYS_wait4 = 61, SYS_rt_sigtimedwait = 128, SYS_exit_group = 231 };

static long call(long number, long a, long b, long c, long d)
{
	long result;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)

enum { SYS_exit_group = 94, SYS_rt_sigprocmask = 135, SYS_rt_sigtimedwait = 137, SYS_wait4 = 260 };

#if defined(__aarch64__)
#define ARG(n) __asm__("x" #n)
#define NUMBER __asm__("x8")
#define TRAP "svc #0"
#else
#define ARG(n) __asm__("a" #n)
#define NUMBER __asm__("a7")
#define TRAP "ecall"
#endif

static long call(long number, long a, long b, long c, long d)
{
	register long nr NUMBER = number;
	register long r0 ARG(0) = a;
	register long r1 ARG(1) = b;
	register long r2 ARG(2) = c;
	register long r3 ARG(3) = d;
	__asm__ volatile(TRAP : "+r"(r0) : "r"(nr), "r"(r1), "r"(r2), "r"(r3) : "memory");
	return r0;
}

#elif defined(__arm__) && defined(__ARM_EABI__)

enum { SYS_wait4 = 114, SYS_rt_sigprocmask = 175, SYS_rt_sigtimedwait = 177, SYS_exit_group = 248 };

static long call(long number, long a, long b, long c, long d)
{
	register long nr __asm__("r7") = number;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	__asm__ volatile("svc #0" : "+r"(r0) : "r"(nr), "r"(r1), "r"(r2), "r"(r3) : "memory");
	return r0;
}

#else
#error "pause has no system calls for this architecture"
#endif

enum { SIGINT = 2, SIGTERM = 15, SIGCHLD = 17 };
enum { SIG_BLOCK = 0, WNOHANG = 1, EINTR = 4 };

static sigset bit(int signal)
{
	return 1ULL << (signal - 1);
}

static __attribute__((noreturn)) void leave(int code)
{
	for (;;)
		call(SYS_exit_group, code, 0, 0, 0);
}

static void reap(void)
{
	while (call(SYS_wait4, -1, 0, WNOHANG, 0) > 0)
		;
}

__attribute__((noreturn)) void _start(void)
{
	sigset awaited = bit(SIGINT) | bit(SIGTERM) | bit(SIGCHLD);

	if (call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&awaited, 0, sizeof awaited) < 0)
		leave(1);
	for (;;) {
		long signal;

		reap();
		signal = call(SYS_rt_sigtimedwait, (long)&awaited, 0, 0, sizeof awaited);
		if (signal == SIGINT || signal == SIGTERM)
			leave(0);
		if (signal != SIGCHLD && signal != -EINTR)
			leave(2);
	}
}
