#!/usr/bin/env bash
# A genuine Slurm for the tests, on this machine's loopback: a controller and a few nodes, each a
# slurmd in a PID namespace of its own, so that killing one process is a power cut. Nothing is
# written outside its folder, no service is installed or enabled; any user may run it.
#
#   cluster.sh run COMMAND...     a command on a cluster of its own, ended with it in any case
#   cluster.sh cut n1             from that command: power off a node, or the controller
#   cluster.sh restore n1         and on again
#
# What is missing of Slurm is installed from the distribution's packages, which takes root. Where
# that is not possible this fails; with GIANTSTEP_WITHOUT_SLURM=1 it says so and does not.
set -euo pipefail

PROGRAMS=(munged slurmctld slurmd sbatch srun squeue)
PACKAGES=(munge slurmctld slurmd slurm-client)
PORT=${SLURM_TEST_PORT:-17917}
export PATH=$PATH:/usr/sbin:/sbin

missing() {
  local program
  for program in "${PROGRAMS[@]}"; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

install_packages() {
  [ -n "$(missing)" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing: $(missing | xargs). As root: apt-get install ${PACKAGES[*]}" >&2
    return 1
  fi
  # A package that would start its service is kept from it: the tests start their own.
  apt-get update -qq
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${PACKAGES[@]}" >/dev/null
}

write_configuration() {
  local host me node
  host=$(hostname -s) me=$(id -un)
  mkdir -p "$DIR"/{bin,key,log,pid,state}
  chmod 755 "$DIR" "$DIR"/*/
  cp "$(dirname "$0")/../../../profiles/slurm/without-accounting/sacct" "$DIR/bin" # there is no accounting
  # The executor's job steps drop all of Slurm's variables; this gives them the cluster back.
  printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$DIR/slurm.conf" "$(command -v srun)" \
    >"$DIR/bin/srun"
  chmod 755 "$DIR/bin/srun"
  cat >"$DIR/slurm.conf" <<CONF
ClusterName=giantstep
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$PORT
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$DIR/key/socket
CredType=cred/munge
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool-%n
SlurmctldPidFile=$DIR/pid/slurmctld
SlurmdPidFile=$DIR/pid/slurmd-%n
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd-%n.log
# No control groups: processes are found by their parents, memory by looking every second.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=5,sched_min_interval=0
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
MpiDefault=none
SwitchType=switch/none
PropagateResourceLimits=NONE
# A node that is silent for ten seconds is down, and one that comes back is taken back.
SlurmdTimeout=10
SlurmctldTimeout=10
ReturnToService=2
KillWait=2
MinJobAge=3600
OverTimeLimit=0
# Nodes claim more than this machine has.
SlurmdParameters=config_overrides
CONF
  for node in $(seq "$1"); do
    echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((PORT + node))" \
      "CPUs=4 RealMemory=16000 State=UNKNOWN"
  done >>"$DIR/slurm.conf"
  echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$DIR/slurm.conf"
}

nodes() { sed -n 's/^NodeName=\([^ ]*\) .*/\1/p' "$DIR/slurm.conf"; }

# A process that has ended may stay as a zombie until its parent looks.
running() { grep -qsE '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$1/status"; }

begin() {
  local name=$1
  shift
  setsid "$@" >"$DIR/log/$name.out" 2>&1 </dev/null &
  echo $! >"$DIR/pid/$name.own"
  disown # the shell need not tell when it is killed
}

end() {
  local file=$DIR/pid/$1.own pid
  [ -s "$file" ] || return 0
  pid=$(cat "$file")
  rm -f "$file"
  running "$pid" || return 0
  kill -"${2:-TERM}" "$pid" || true
  for _ in $(seq 50); do
    running "$pid" || return 0
    sleep 0.1
  done
  kill -KILL "$pid" || true
}

wait_until() {
  local last=$((SECONDS + 30))
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $last ]; then
      echo "no answer within 30 s: $*; its logs, in $DIR/log:" >&2
      tail -n 5 "$DIR"/log/* >&2
      return 1
    fi
    sleep 0.2
  done
}

munge_answers() { munge -S "$DIR/key/socket" -n | unmunge -S "$DIR/key/socket"; }
controller_answers() { timeout 3 scontrol ping; }
all_up() {
  local up
  up=$(timeout 3 sinfo -h -N -o %T | grep -cE '^(idle|mixed|allocated)$')
  [ "$up" = "$(nodes | wc -l)" ]
}

power_off() {
  if [ "$1" = controller ]; then end slurmctld; else end "slurmd-$1" KILL; fi
}

power_on() {
  if [ "$1" = controller ]; then
    begin slurmctld slurmctld -D
    return
  fi
  local apart="unshare --pid --fork --kill-child --mount-proc"
  $apart true 2>/dev/null || apart=""
  begin "slurmd-$1" $apart slurmd -D -N "$1"
}

start() {
  local node
  write_configuration 2
  (umask 077 && head -c 1024 /dev/urandom >"$DIR/key/key")
  begin munged munged --foreground --force --key-file="$DIR/key/key" --socket="$DIR/key/socket" \
    --pid-file="$DIR/pid/munged" --log-file="$DIR/log/munged.log" --seed-file="$DIR/key/seed"
  wait_until munge_answers
  begin slurmctld slurmctld -D -i
  for node in $(nodes); do power_on "$node"; done
  wait_until controller_answers
  wait_until all_up
}

stop() {
  local node
  end slurmctld
  for node in $(nodes); do power_off "$node"; done
  end munged
  rm -rf "$DIR"
}

run() {
  if ! install_packages; then
    echo "Slurm is not here, and could not be installed." >&2
    [ "${GIANTSTEP_WITHOUT_SLURM:-}" = 1 ] || return 1
    echo "Skipped: $*" >&2
    return 0
  fi
  DIR=$(mktemp -d)
  export SLURM_CONF=$DIR/slurm.conf
  trap stop EXIT
  start
  PATH=$DIR/bin:$PATH "$@"
}

if [ "${1:-}" = run ] && [ $# -gt 1 ]; then
  shift
  run "$@"
elif [[ ${1:-} =~ ^(cut|restore)$ ]] && [ -n "${2:-}" ]; then
  DIR=$(dirname "$SLURM_CONF")
  if [ "$1" = cut ]; then power_off "$2"; else power_on "$2" && wait_until all_up; fi
else
  sed -n '/^#  /p' "$0"
  exit 2
fi
