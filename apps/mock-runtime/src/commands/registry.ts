import type { Program } from '../kernel/process';

type Loader = () => Promise<Program>;

/** Every command by name; its code is loaded when it first runs. */
const loaders: Readonly<Record<string, Loader>> = {
  sleep: async () => (await import('./sleep')).sleep,
};

const onlyOnDebian = new Set(['bash']);

export function commandNames(kind: 'busybox' | 'debian'): string[] {
  return Object.keys(loaders).filter((name) => kind === 'debian' || !onlyOnDebian.has(name));
}

export function loadCommand(name: string): Promise<Program> {
  const loader = loaders[name];
  if (!loader) throw new Error(`no command "${name}"`);
  return loader();
}
