import type { Program } from '../kernel/process';

type Loader = () => Promise<Program>;

/** Finite filters of the just-bash package, run as they are over the container's files. */
const filters = [
  'awk',
  'base64',
  'column',
  'comm',
  'cut',
  'du',
  'egrep',
  'expand',
  'fgrep',
  'file',
  'find',
  'fold',
  'grep',
  'gunzip',
  'gzip',
  'jq',
  'join',
  'nl',
  'paste',
  'rev',
  'rg',
  'sed',
  'split',
  'stat',
  'strings',
  'tac',
  'tr',
  'tree',
  'unexpand',
  'zcat',
] as const;

const shell: Loader = async () => (await import('../shell/sh')).sh;
const basics = () => import('./basics');
const files = () => import('./files');
const checksum: Loader = async () => (await import('./checksums')).checksum;

/** Every command by name; its code is loaded when it first runs. */
const loaders: Readonly<Record<string, Loader>> = {
  ...Object.fromEntries(
    filters.map((name) => [name, async () => (await import('./filter')).filterCommand] as const),
  ),
  sh: shell,
  ash: shell,
  bash: shell,
  '[': async () => (await import('./test')).test,
  test: async () => (await import('./test')).test,
  arch: async () => (await import('./machine')).arch,
  basename: async () => (await import('./names')).basename,
  brctl: async () => (await import('./brctl')).brctl,
  cat: async () => (await import('./cat')).cat,
  chmod: async () => (await files()).chmod,
  chown: async () => (await import('./ownership')).chown,
  chgrp: async () => (await import('./ownership')).chgrp,
  cmp: async () => (await import('./diff')).cmp,
  cp: async () => (await files()).cp,
  curl: async () => (await import('./curl')).curl,
  date: async () => (await import('./date')).date,
  dd: async () => (await import('./dd')).dd,
  dig: async () => (await import('./dig')).dig,
  dirname: async () => (await import('./names')).dirname,
  df: async () => (await import('./capacity')).df,
  diff: async () => (await import('./diff')).diff,
  echo: async () => (await import('./echo')).echo,
  env: async () => (await basics()).env,
  expr: async () => (await import('./expr')).expr,
  fallocate: async () => (await import('./sizes')).fallocate,
  false: async () => async () => 1,
  free: async () => (await import('./capacity')).free,
  groups: async () => (await import('./machine')).groups,
  head: async () => (await import('./head')).head,
  hexdump: async () => (await import('./dumps')).hexdump,
  host: async () => (await import('./dig')).host,
  hostname: async () => (await import('./hostname')).hostname,
  httpd: async () => (await import('../images/programs/busybox-httpd')).busyboxHttpd,
  id: async () => (await basics()).id,
  ifconfig: async () => (await import('./ip')).ifconfig,
  ip: async () => (await import('./ip')).ip,
  ipcs: async () => (await import('./ipcs')).ipcs,
  kill: async () => (await import('./kill')).kill,
  killall: async () => (await import('./processes')).killall,
  less: async () => (await import('./cat')).cat,
  ln: async () => (await files()).ln,
  ls: async () => (await import('./ls')).ls,
  md5sum: checksum,
  mkdir: async () => (await files()).mkdir,
  mkfifo: async () => (await files()).mkfifo,
  mktemp: async () => (await files()).mktemp,
  more: async () => (await import('./cat')).cat,
  mount: async () => (await import('./machine')).mount,
  mv: async () => (await files()).mv,
  nc: async () => (await import('./nc')).nc,
  netstat: async () => (await import('./netstat')).netstat,
  nohup: async () => (await import('./machine')).nohup,
  nproc: async () => (await basics()).nproc,
  nslookup: async () => (await import('./nslookup')).nslookup,
  od: async () => (await import('./od')).od,
  pgrep: async () => (await import('./processes')).pgrep,
  pidof: async () => (await import('./processes')).pidof,
  ping: async () => (await import('./ping')).ping,
  pkill: async () => (await import('./processes')).pkill,
  printenv: async () => (await basics()).printenv,
  printf: async () => (await import('./printf')).printf,
  ps: async () => (await basics()).ps,
  pwd: async () => (await basics()).pwd,
  readlink: async () => (await files()).readlink,
  realpath: async () => (await files()).readlink,
  rm: async () => (await files()).rm,
  rmdir: async () => (await files()).rmdir,
  seq: async () => (await basics()).seq,
  setsid: async () => (await import('./machine')).setsid,
  sha1sum: checksum,
  sha256sum: checksum,
  sha512sum: checksum,
  sleep: async () => (await import('./sleep')).sleep,
  sort: async () => (await import('./sort')).sort,
  stty: async () => (await import('./stty')).stty,
  sync: async () => async () => 0,
  sysctl: async () => (await import('./sysctl')).sysctl,
  tail: async () => (await import('./tail')).tail,
  tar: async () => (await import('./tar')).tar,
  tee: async () => (await import('./cat')).tee,
  timeout: async () => (await import('./timeout')).timeout,
  top: async () => (await import('./processes')).top,
  touch: async () => (await files()).touch,
  true: async () => async () => 0,
  truncate: async () => (await import('./sizes')).truncate,
  tty: async () => (await basics()).tty,
  uname: async () => (await basics()).uname,
  uniq: async () => (await import('./counts')).uniq,
  uptime: async () => (await import('./machine')).uptime,
  usleep: async () => (await import('./sleep')).usleep,
  wc: async () => (await import('./counts')).wc,
  wget: async () => (await import('./wget')).wget,
  which: async () => (await basics()).which,
  whoami: async () => (await basics()).whoami,
  xargs: async () => (await import('./xargs')).xargs,
  xxd: async () => (await import('./dumps')).xxd,
  yes: async () => (await basics()).yes,
};

/** busybox and alpine have neither. */
const onlyOnDebian = new Set(['bash', 'curl', 'jq', 'rg', 'file', 'ip']);
/** Debian has no such applets. */
const onlyInBusybox = new Set([
  'ash',
  'httpd',
  'nslookup',
  'nc',
  'wget',
  'ifconfig',
  'brctl',
  'ping',
  'netstat',
  'usleep',
]);

/** Distributions have them in packages that only some images install. */
export const networkTools = [
  'curl',
  'dig',
  'host',
  'ifconfig',
  'ip',
  'nc',
  'netstat',
  'nslookup',
  'ping',
  'wget',
];
const onlyInPackages = new Set(['dig', 'host']);

export function commandNames(kind: 'busybox' | 'debian'): string[] {
  const absent = kind === 'busybox' ? onlyOnDebian : onlyInBusybox;
  return Object.keys(loaders).filter(
    (name) => !onlyInPackages.has(name) && (!absent.has(name) || (kind === 'busybox' && name === 'ip')),
  );
}

export function loadCommand(name: string): Promise<Program> {
  const loader = loaders[name];
  if (!loader) throw new Error(`no command "${name}"`);
  return loader();
}
