/*
 * identity.h - who the command runs as, and whom the output belongs to.
 */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct identity {
	uid_t  uid;
	gid_t  gid;
	bool   is_other;	/* not who recorder itself runs as */
	char  *name;		/* the three are NULL when the user database does not know the uid */
	char  *home, *shell;
	gid_t *groups;		/* all of the user's, @gid among them */
	int    group_count;
};

/*
 * Who the command runs as: @user (a name or a number) if not NULL; else, when
 * we are root and not @as_root, the user who called sudo; else ourselves.
 * Returns 0, or a negative errno after a message.
 */
int  identity_find(struct identity *ret, const char *user, bool as_root);
void identity_release(struct identity *id);

/* Whom files of ours belong to: the user who called sudo, whoever the command runs as; else ourselves. */
void identity_owner(uid_t *uid, gid_t *gid);

/*
 * The environment for the command: ours. But when it runs as another user, a
 * HOME, USER, LOGNAME or SHELL that says what belongs to our own user says
 * what belongs to that one: sudo has made them root's, and many a program fails
 * when it cannot enter its home. Any other value was chosen by somebody and
 * stays. NULL-ended, in one piece of memory: free() it. NULL: no memory.
 */
char **identity_environ(const struct identity *id);

#endif
