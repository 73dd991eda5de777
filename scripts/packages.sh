# What building and testing need, and how to get it. Sourced by demo and check.

BUILD_PACKAGES="gcc libc6-dev make autoconf automake pkg-config libjansson-dev
	libuv1-dev libutf8proc-dev zlib1g-dev libncurses-dev uthash-dev
	libdw-dev libvterm-dev libcurl4-openssl-dev"
DEMO_PACKAGES="python3"
TEST_PACKAGES="python3 python3-ipdb python3-numpy python3-venv libcmocka-dev strace man-db
	zsh gdb procps openssh-client iproute2"
FUZZ_PACKAGES="clang libclang-rt-dev"

say()
{
	echo "$(basename "$0"): $*" >&2
}

# Prints the packages among its arguments that are not installed.
missing_packages()
{
	for package; do
		dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || echo "$package"
	done
}

# Installs those of its arguments that are missing; silent when none is.
install_packages()
{
	if ! command -v dpkg-query >/dev/null ||
	   ! command -v apt-get >/dev/null; then
		say "this is not Debian or Ubuntu; going on without installing" \
		    "anything. Needed, in Debian's names:" $*
		return 0
	fi
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	as_root=
	if [ "$(id -u)" != 0 ]; then
		as_root=sudo
		if ! command -v sudo >/dev/null; then
			say "these packages are missing, and there is no sudo to" \
			    "install them with: apt-get install" $missing
			return 1
		fi
	fi
	say "installing" $missing
	$as_root env DEBIAN_FRONTEND=noninteractive sh -c '
		apt-get update -qq
		apt-get install -qq -y --no-install-recommends "$@"
	' sh $missing </dev/null >&2
}

# quietly LOG COMMAND...: its output goes to the log, and from there to
# standard error where it fails.
quietly()
{
	log=$1
	shift
	if ! "$@" </dev/null >"$log" 2>&1; then
		cat "$log" >&2
		say "this failed: $*"
		return 1
	fi
}

# configure DIRECTORY CONFIGURE-ARGUMENTS...: makes the Makefile there.
configure()
{
	directory=$1
	shift
	mkdir -p "$directory"
	if [ ! -e configure ] || [ configure.ac -nt configure ]; then
		quietly "$directory/autoreconf.log" autoreconf -i
	fi
	if [ ! -e "$directory/Makefile" ] ||
	   [ "$(cat "$directory/arguments")" != "$*" ]; then
		(cd "$directory" && quietly configure.log ../../configure "$@")
		echo "$*" >"$directory/arguments"
	fi
}

# build DIRECTORY CONFIGURE-ARGUMENTS...: makes both programs there.
build()
{
	configure "$@"
	quietly "$1/make.log" make -C "$1" -j"$(nproc)"
}
