#!/usr/bin/env bash
# Starts a Postgres and a Redis for the tests, each on a free loopback port, in one temporary folder.
#
#   eval "$(scripts/test-services.sh start)"     # sets SPANWAY_TEST_POSTGRES_URL, SPANWAY_TEST_REDIS_URL, SPANWAY_TEST_SERVICES
#   npm test
#   scripts/test-services.sh stop                # stops them and removes the folder
#
# It also installs nginx, PgBouncer and Chromium's headless shell, which tests start themselves. Missing programs are installed from Debian's packages, which requires root. As root, the servers run as `nobody`.
set -Eeuo pipefail

usage() {
  echo "usage: $0 start | stop [folder]" >&2
  exit 2
}

log() { echo "test-services: $*" >&2; }

install_missing() {
  local missing=()
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
  command -v redis-server >/dev/null || command -v valkey-server >/dev/null || missing+=(redis-server)
  command -v nginx >/dev/null || missing+=(nginx)
  command -v pgbouncer >/dev/null || missing+=(pgbouncer)
  # Where nothing can be installed, a whole Chromium does, at twice the processor time.
  command -v chromium-headless-shell >/dev/null || { [ "$(id -u)" -ne 0 ] && command -v chromium >/dev/null; } ||
    missing+=(chromium-headless-shell)
  [ ${#missing[@]} -eq 0 ] && return
  log "installing ${missing[*]}"
  # The packages would start system-wide servers of their own; a policy of 101 forbids it, for this installation only.
  local policy=/usr/sbin/policy-rc.d made_policy=""
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made_policy=yes
  fi
  local status=0
  { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2 || status=$?
  [ -n "$made_policy" ] && rm -f "$policy"
  return "$status"
}

# Postgres refuses to run as root.
as_unprivileged() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups env HOME="$folder" "$@"
  else
    "$@"
  fi
}

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

start_postgres() {
  local port=$1 bin
  bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1)
  as_unprivileged "$bin/initdb" -D "$folder/postgres" -U spanway --auth=trust --encoding=UTF8 --locale=C >"$folder/initdb.log"
  as_unprivileged "$bin/pg_ctl" -D "$folder/postgres" -l "$folder/postgres.log" -w -t 60 \
    -o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories= -c max_connections=200" start >"$folder/pg_ctl.log"
}

start_redis() {
  local port=$1 server cli
  server=$(command -v redis-server || command -v valkey-server)
  cli=$(command -v redis-cli || command -v valkey-cli)
  as_unprivileged "$server" --bind 127.0.0.1 --port "$port" --dir "$folder" --daemonize yes --save '' --appendonly no \
    --pidfile "$folder/redis.pid" --logfile "$folder/redis.log" >"$folder/redis-start.log"
  for _ in $(seq 100); do
    "$cli" -p "$port" ping >/dev/null 2>&1 && return
    sleep 0.1
  done
  log "redis does not answer"
  return 1
}

stop_services() {
  local bin
  if [ -f "$folder/redis.pid" ]; then kill "$(cat "$folder/redis.pid")" || true; fi
  if [ -f "$folder/postgres/postmaster.pid" ]; then
    bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1)
    as_unprivileged "$bin/pg_ctl" -D "$folder/postgres" -w -m immediate stop >/dev/null || true
  fi
  rm -rf "$folder"
}

case "${1:-}" in
  start)
    install_missing
    # Servers started as another user must be able to enter the folder, and the caller's own folder may be closed to them.
    cd /
    folder=$(mktemp -d "${TMPDIR:-/tmp}/spanway-services.XXXXXX")
    trap 'log "could not start"; tail -n 20 "$folder"/*.log >&2; stop_services' ERR
    [ "$(id -u)" -ne 0 ] || chown nobody "$folder"
    postgres_port=$(free_port)
    start_postgres "$postgres_port"
    redis_port=$(free_port)
    start_redis "$redis_port"
    echo "export SPANWAY_TEST_SERVICES=$folder"
    echo "export SPANWAY_TEST_POSTGRES_URL=postgres://spanway@127.0.0.1:$postgres_port/postgres"
    echo "export SPANWAY_TEST_REDIS_URL=redis://127.0.0.1:$redis_port"
    ;;
  stop)
    folder=${2:-${SPANWAY_TEST_SERVICES:-}}
    [[ "$folder" == */spanway-services.* && -d "$folder" ]] || usage
    cd /
    stop_services
    ;;
  *) usage ;;
esac
