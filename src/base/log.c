/*
 * log.c - messages: made whole, made harmless, written at once.
 *
 * A message is formatted first and escaped then, so whatever a %s brought
 * along, no byte of it can move a cursor or begin a second line. It goes out
 * in one write(2), so lines of two threads never mix.
 *
 * The status line shares the terminal with the command, which knows nothing of
 * it and may be in the middle of a line, a prompt say. So it is drawn on the line
 * below the cursor and the cursor goes back; what lies right of the cursor and
 * below is never the command's, and is cleared before every drawing.
 */
#include <pthread.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base.h"
#include "log.h"

/* ECMA-48 and DEC's: what every terminal but TERM=dumb obeys. */
#define CLEAR		"\033[J"			/* from the cursor to the end of the screen */
#define GO_BELOW	"\033D\033M" "\0337" "\033[B\r"	/* down (scrolls) and up; save; down, to the left */
#define COME_BACK	"\0338"

static struct {
	pthread_mutex_t lock;
	enum log_level	level;
	bool		has_status;	/* a status line stands on the terminal */
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

bool log_wants(enum log_level level)
{
	return log_state.level >= level;
}

/*
 * Length of the UTF-8 sequence at @s, 0 when it is malformed or must not be
 * shown: C1 control characters are to a terminal what ESC is, and the marks
 * that reverse the direction of text make a name look like another.
 */
static size_t utf8_len(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = s[0] & (0x7f >> n);

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	if (c < 0xa0 || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;
	return n;
}

size_t log_escape(char *to, size_t room, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char piece[8];
	size_t len = 0;

	for (size_t n, took; *s; s += took) {
		took = *s >= 0x80 ? utf8_len(s) : *s >= 0x20 && *s != 0x7f;
		n = took;
		memcpy(piece, s, took);
		if (!took) {
			took = 1;
			n = *s == '\n' ? sprintf(piece, "\\n") : *s == '\t' ? sprintf(piece, "\\t") :
			    sprintf(piece, "\\x%02x", *s);
		}
		if (len + n + 1 > room)
			break;
		memcpy(to + len, piece, n);
		len += n;
	}
	if (room)
		to[len] = '\0';
	return len;
}

char *log_escaped(const char *text)
{
	size_t room = 4 * strlen(text) + 1;
	char *to = malloc(room);

	if (to)
		log_escape(to, room, text);
	return to;
}

/* Nothing is done about a stderr that cannot be written: there is nowhere left to say so. */
static void put(const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= n) {
		n = write(STDERR_FILENO, text, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return;
	}
}

/* "recorder: " @before @message ": " strerror(@err), escaped, as one line. */
static void print_line(const char *before, int err, const char *fmt, va_list args)
{
	__cleanup(free_ptr) char *message = NULL, *line = NULL;
	size_t room, len;

	if (vasprintf(&message, fmt, args) < 0) {
		message = NULL;
		return;
	}
	room = 4 * strlen(message) + strlen(before) + 256;
	line = malloc(room);
	if (!line)
		return;
	len = snprintf(line, room, "%srecorder: %s", CLEAR, before);
	len += log_escape(line + len, room - len, message);
	if (err)
		len += snprintf(line + len, room - len, ": %s", strerror(-err));
	line[len++] = '\n';

	pthread_mutex_lock(&log_state.lock);
	if (log_state.has_status)
		put(line, len);
	else
		put(line + strlen(CLEAR), len - strlen(CLEAR));
	log_state.has_status = false;
	pthread_mutex_unlock(&log_state.lock);
}

int fail(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("", err, fmt, args);
	va_end(args);
	return err;
}

void hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("try: ", 0, fmt, args);
	va_end(args);
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("warning: ", 0, fmt, args);
	va_end(args);
}

void say(const char *fmt, ...)
{
	va_list args;

	if (!log_wants(LOG_NORMAL))
		return;
	va_start(args, fmt);
	print_line("", 0, fmt, args);
	va_end(args);
}

void detail(const char *fmt, ...)
{
	va_list args;

	if (!log_wants(LOG_VERBOSE))
		return;
	va_start(args, fmt);
	print_line("", 0, fmt, args);
	va_end(args);
}

/*
 * The columns a status line may fill; 0: it must not be drawn now. A terminal
 * that another process group reads, or one in raw mode, shows an editor, a
 * pager or a prompt: a line of ours would spoil it.
 */
static size_t status_columns(void)
{
	const char *term = getenv("TERM");
	struct winsize size = {};
	struct termios mode;

	if (!term || !*term || !strcmp(term, "dumb"))
		return 0;
	if (tcgetattr(STDERR_FILENO, &mode) || !(mode.c_lflag & ICANON))
		return 0;
	if (tcgetpgrp(STDERR_FILENO) != getpgrp())
		return 0;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
		return 79;
	return size.ws_col - 1;		/* a full line would make the cursor wait on the next one */
}

/* Cut @text to @columns, not inside a character. Every character counts as one column wide. */
static size_t cut_to_columns(const char *text, size_t columns)
{
	size_t len = 0;

	for (; text[len]; len++)
		if ((text[len] & 0xc0) != 0x80 && !columns--)
			break;
	return len;
}

void status_line(const char *fmt, ...)
{
	char message[512], line[sizeof(message) * 4 + 64], *text = stpcpy(line, CLEAR GO_BELOW);
	size_t columns = fmt ? status_columns() : 0;
	va_list args;

	if (columns) {
		va_start(args, fmt);
		vsnprintf(message, sizeof(message), fmt, args);
		va_end(args);
		log_escape(text, sizeof(message) * 4, message);
		strcpy(text + cut_to_columns(text, columns), COME_BACK);
	}
	pthread_mutex_lock(&log_state.lock);
	if (columns)
		put(line, strlen(line));
	else if (log_state.has_status && !fmt)
		put(CLEAR, strlen(CLEAR));
	log_state.has_status = columns || (log_state.has_status && fmt);
	pthread_mutex_unlock(&log_state.lock);
}
