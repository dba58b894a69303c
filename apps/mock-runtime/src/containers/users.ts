import type { ContainerConfig } from '@tinkernetes/cri';
import { CriError } from '@tinkernetes/cri';
import type { FileSystem } from '../files/file-system';
import type { User } from '../kernel/process';

interface PasswdEntry {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

export function passwdEntries(fs: FileSystem): PasswdEntry[] {
  if (!fs.exists('/etc/passwd')) return [];
  return fs
    .readFile('/etc/passwd')
    .toString()
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 6)
    .map(([name = '', , uid, gid, , home = '/']) => ({ name, uid: Number(uid), gid: Number(gid), home }));
}

export function groupEntries(fs: FileSystem): { name: string; gid: number; members: string[] }[] {
  if (!fs.exists('/etc/group')) return [];
  return fs
    .readFile('/etc/group')
    .toString()
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 3)
    .map(([name = '', , gid, members = '']) => ({ name, gid: Number(gid), members: members.split(',') }));
}

/** Who the container runs as: the security context, else the image's USER. */
export function userOf(config: ContainerConfig, imageUser: string | undefined, fs: FileSystem): User {
  const context = config.linux?.securityContext;
  const groups = context?.supplementalGroups ?? [];
  const byImage = imageUser ? lookUp(imageUser, fs) : undefined;
  const byName = context?.runAsUsername ? lookUp(context.runAsUsername, fs) : undefined;
  const uid = context?.runAsUser ? context.runAsUser.value : (byName?.uid ?? byImage?.uid ?? 0);
  const fallbackGid =
    passwdEntries(fs).find((entry) => entry.uid === uid)?.gid ?? (context?.runAsUser ? 0 : undefined);
  const gid = context?.runAsGroup
    ? context.runAsGroup.value
    : (byName?.gid ?? fallbackGid ?? byImage?.gid ?? 0);
  const fromImage = context?.supplementalGroupsPolicy === 'Strict' ? [] : groupsOf(uid, fs);
  return { uid, gid, groups: [...new Set([gid, ...groups, ...fromImage])].sort((a, b) => a - b) };
}

/** The groups that the image's /etc/group puts the user into. */
function groupsOf(uid: number, fs: FileSystem): number[] {
  const name = passwdEntries(fs).find((entry) => entry.uid === uid)?.name;
  return name === undefined
    ? []
    : groupEntries(fs)
        .filter(({ members }) => members.includes(name))
        .map(({ gid }) => gid);
}

/** `nginx`, `101`, `101:101`. */
function lookUp(text: string, fs: FileSystem): { uid: number; gid: number | undefined } {
  const [name = '', group] = text.split(':');
  const entry = passwdEntries(fs).find((e) => e.name === name || String(e.uid) === name);
  const uid = entry?.uid ?? (/^\d+$/.test(name) ? Number(name) : undefined);
  if (uid === undefined)
    throw new CriError(
      'UNKNOWN',
      `failed to generate container spec: failed to apply OCI options: user ${name}: no users found`,
    );
  const groupEntry =
    group === undefined
      ? undefined
      : groupEntries(fs).find((g) => g.name === group || String(g.gid) === group);
  return { uid, gid: groupEntry?.gid ?? (group && /^\d+$/.test(group) ? Number(group) : entry?.gid) };
}

export function homeOf(user: User, fs: FileSystem): string {
  return passwdEntries(fs).find((entry) => entry.uid === user.uid)?.home ?? '/';
}
