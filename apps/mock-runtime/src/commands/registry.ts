import type { Program } from '../kernel/process';

type Loader = () => Promise<Program>;

/** Finite filters of the just-bash package, run as they are over the container's files. */
const filters = [
  'awk',
  'base64',
  'column',
  'comm',
  'cut',
  'diff',
  'du',
  'egrep',
  'expand',
  'expr',
  'fgrep',
  'file',
  'find',
  'fold',
  'grep',
  'gunzip',
  'gzip',
  'jq',
  'join',
  'md5sum',
  'nl',
  'od',
  'paste',
  'rev',
  'rg',
  'sed',
  'sha1sum',
  'sha256sum',
  'sort',
  'split',
  'stat',
  'strings',
  'tac',
  'tr',
  'tree',
  'unexpand',
  'uniq',
  'wc',
  'zcat',
] as const;

const shell: Loader = async () => (await import('../shell/sh')).sh;
const basics = () => import('./basics');
const files = () => import('./files');
const web = () => import('./web');

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
  basename: async () => (await import('./names')).basename,
  brctl: async () => (await import('./brctl')).brctl,
  cat: async () => (await import('./cat')).cat,
  chmod: async () => (await files()).chmod,
  chown: async () => (await files()).chown,
  cp: async () => (await files()).cp,
  curl: async () => (await web()).curl,
  date: async () => (await import('./date')).date,
  dd: async () => (await import('./dd')).dd,
  dirname: async () => (await import('./names')).dirname,
  df: async () => (await basics()).df,
  echo: async () => (await import('./echo')).echo,
  env: async () => (await basics()).env,
  false: async () => async () => 1,
  free: async () => (await basics()).free,
  head: async () => (await import('./head')).head,
  hostname: async () => (await basics()).hostname,
  httpd: async () => (await import('../images/programs/busybox-httpd')).busyboxHttpd,
  id: async () => (await basics()).id,
  ifconfig: async () => (await import('./ip')).ifconfig,
  ip: async () => (await import('./ip')).ip,
  ipcs: async () => (await import('./ipcs')).ipcs,
  kill: async () => (await import('./kill')).kill,
  ln: async () => (await files()).ln,
  ls: async () => (await import('./ls')).ls,
  mkdir: async () => (await files()).mkdir,
  mktemp: async () => (await files()).mktemp,
  mv: async () => (await files()).mv,
  nc: async () => (await import('./nc')).nc,
  netstat: async () => (await import('./netstat')).netstat,
  nproc: async () => (await basics()).nproc,
  nslookup: async () => (await import('./nslookup')).nslookup,
  pgrep: async () => (await import('./processes')).pgrep,
  pidof: async () => (await import('./processes')).pidof,
  ping: async () => (await import('./ping')).ping,
  printenv: async () => (await basics()).printenv,
  printf: async () => (await import('./printf')).printf,
  ps: async () => (await basics()).ps,
  pwd: async () => (await basics()).pwd,
  readlink: async () => (await files()).readlink,
  realpath: async () => (await files()).readlink,
  rm: async () => (await files()).rm,
  rmdir: async () => (await files()).rmdir,
  seq: async () => (await basics()).seq,
  sleep: async () => (await import('./sleep')).sleep,
  stty: async () => (await import('./stty')).stty,
  sync: async () => async () => 0,
  tail: async () => (await import('./tail')).tail,
  tar: async () => (await import('./tar')).tar,
  tee: async () => (await import('./cat')).tee,
  timeout: async () => (await basics()).timeout,
  top: async () => (await import('./processes')).top,
  touch: async () => (await files()).touch,
  true: async () => async () => 0,
  tty: async () => (await basics()).tty,
  uname: async () => (await basics()).uname,
  wget: async () => (await web()).wget,
  which: async () => (await basics()).which,
  whoami: async () => (await basics()).whoami,
  xargs: async () => (await import('./xargs')).xargs,
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
]);

export function commandNames(kind: 'busybox' | 'debian'): string[] {
  const absent = kind === 'busybox' ? onlyOnDebian : onlyInBusybox;
  return Object.keys(loaders).filter((name) => !absent.has(name) || (kind === 'busybox' && name === 'ip'));
}

export function loadCommand(name: string): Promise<Program> {
  const loader = loaders[name];
  if (!loader) throw new Error(`no command "${name}"`);
  return loader();
}
