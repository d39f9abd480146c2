# Sourced: Debian's archive with lists of packages that are not this machine's. Nothing is installed.

# apt_state FOLDER ARCH [SUITE]: sets options, for apt-get and apt-cache, to a state in FOLDER that knows the packages of ARCH
# in the suites that this machine uses, or in SUITE. The lists are kept for a day. Says what failed, with 1.
apt_state() {
	local apt=$1 sources=() uri
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" && : >> "$apt/status" || return 1
	if [ -n "${3-}" ]; then
		uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/\?$' | sort -u | head -n 1)
		[ -n "$uri" ] || { echo "apt knows no archive of Debian" >&2; return 1; }
		printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$uri" "$3" > "$apt/sources"
		sources=(-o "Dir::Etc::sourcelist=$apt/sources" -o Dir::Etc::sourceparts=-)
	fi
	# Lists cannot be emptied by an option: a configuration's file can, and is read first.
	printf '#clear APT::Architectures;\nAPT::Architecture "%s";\nAPT::Architectures { "%s"; };\n' "$2" "$2" > "$apt/conf"
	options=(-q -c "$apt/conf" -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
		-o APT::Sandbox::User=root -o APT::Install-Recommends=false "${sources[@]}")
	[ -n "$(find "$apt/updated" -mtime -1 2>/dev/null)" ] && return
	{ apt-get "${options[@]}" update > "$apt/log" 2>&1 && touch "$apt/updated"; } ||
		{ echo "apt-get update failed: $apt/log" >&2; return 1; }
}
