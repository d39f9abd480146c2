/*
 * identity.c - users: ourselves, the one who called sudo, the one -u names.
 *
 * Everything that may read the user database, and so load code or talk to a
 * directory server, happens here and before the fork: the child between fork
 * and exec may only make system calls.
 */
#include <grp.h>
#include <pwd.h>

#include "base.h"
#include "identity.h"
#include "log.h"

/* The value of a variable that must be a plain number, or -1. */
static long env_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	n = strtol(text, &end, 10);
	return errno || *end || n >= UINT32_MAX ? -1 : n;
}

/* Whether root got here through sudo, and from whom. */
static bool called_by_sudo(uid_t *uid, gid_t *gid)
{
	long u = env_number("SUDO_UID"), g = env_number("SUDO_GID");

	if (geteuid() != 0 || u < 0 || g < 0)
		return false;
	*uid = u;
	*gid = g;
	return true;
}

void identity_owner(uid_t *uid, gid_t *gid)
{
	*uid = geteuid();
	*gid = getegid();
	(void)called_by_sudo(uid, gid);
}

void identity_release(struct identity *id)
{
	free(id->name);
	free(id->home);
	free(id->shell);
	free(id->groups);
	*id = (struct identity){};
}

static int keep_strings(struct identity *id, const struct passwd *pw)
{
	id->name = strdup(pw->pw_name);
	id->home = strdup(pw->pw_dir);
	id->shell = strdup(*pw->pw_shell ? pw->pw_shell : "/bin/sh");	/* passwd(5): empty means that */
	return id->name && id->home && id->shell ? 0 : -ENOMEM;
}

/* All groups of the user; one the database does not know has only its own. */
static int find_groups(struct identity *id)
{
	int n = 1;

	if (id->name)
		getgrouplist(id->name, id->gid, &(gid_t){ 0 }, &n);	/* says in n how many there are */
	n = MAX(n, 1);
	id->groups = calloc(n, sizeof(*id->groups));
	if (!id->groups)
		return -ENOMEM;
	id->groups[0] = id->gid;
	id->group_count = n;
	if (id->name && getgrouplist(id->name, id->gid, id->groups, &id->group_count) < 0)
		return -EAGAIN;		/* grown between the two questions */
	return 0;
}

static int find_user(struct identity *id, const char *user)
{
	struct passwd *pw = getpwnam(user);
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(user, &end, 10);
	if (!pw && (*user < '0' || *user > '9' || *end || errno || n >= UINT32_MAX)) {
		fail(0, "-u: there is no user '%s'", user);
		return -ENOENT;
	}
	if (!pw)
		pw = getpwuid(n);
	id->uid = pw ? pw->pw_uid : n;
	id->gid = pw ? pw->pw_gid : n;
	return pw ? keep_strings(id, pw) : 0;
}

static int find_uid(struct identity *id, uid_t uid, gid_t gid)
{
	struct passwd *pw = getpwuid(uid);

	id->uid = uid;
	id->gid = gid;
	return pw ? keep_strings(id, pw) : 0;
}

int identity_find(struct identity *ret, const char *user, bool as_root)
{
	struct identity id = {};
	gid_t gid = getegid();
	uid_t uid = geteuid();
	int err;

	if (user) {
		err = find_user(&id, user);
	} else {
		if (!as_root)
			(void)called_by_sudo(&uid, &gid);
		err = find_uid(&id, uid, gid);
	}
	id.is_other = id.uid != geteuid();
	if (!err && id.is_other && geteuid() != 0) {
		fail(0, "-u: only root can run a command as '%s'", user);
		err = -EPERM;
	}
	if (!err && id.is_other)
		err = find_groups(&id);
	if (err) {
		identity_release(&id);
		return err;
	}
	*ret = id;
	return 0;
}

/* "NAME=" and what follows it in @var, or NULL. */
static const char *value_of(const char *var, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(var, name, n) && var[n] == '=' ? var + n + 1 : NULL;
}

char **identity_environ(const struct identity *id)
{
	const struct passwd *pw = id->is_other && id->name ? getpwuid(geteuid()) : NULL;
	struct { const char *name, *ours, *theirs; char *var; } owned[] = {
		{ "HOME",    pw ? pw->pw_dir : "",   id->home,	NULL },
		{ "USER",    pw ? pw->pw_name : "",  id->name,	NULL },
		{ "LOGNAME", pw ? pw->pw_name : "",  id->name,	NULL },
		{ "SHELL",   pw ? pw->pw_shell : "", id->shell,	NULL },
	};
	size_t n = 0, room = 0, owned_count = pw ? ARRAY_SIZE(owned) : 0;
	char **env, *text;

	while (environ[n])
		n++;
	for (size_t i = 0; i < owned_count; i++)
		room += strlen(owned[i].name) + strlen(owned[i].theirs) + 2;
	env = malloc((n + 1) * sizeof(*env) + room);
	if (!env)
		return NULL;
	memcpy(env, environ, (n + 1) * sizeof(*env));
	text = (char *)(env + n + 1);
	for (size_t i = 0; i < owned_count; i++) {
		owned[i].var = text;
		text += sprintf(text, "%s=%s", owned[i].name, owned[i].theirs) + 1;
	}
	for (char **var = env; *var; var++) {
		for (size_t i = 0; i < owned_count; i++) {
			const char *value = value_of(*var, owned[i].name);

			if (value && !strcmp(value, owned[i].ours))
				*var = owned[i].var;
		}
	}
	return env;
}
