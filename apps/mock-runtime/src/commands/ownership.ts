import { posix } from 'node:path';
import { groupEntries, passwdEntries } from '../containers/users';
import type { Process } from '../kernel/process';
import { absolute, attempt, commandName, parseArgs } from './paths';

/** Undefined: it stays. */
interface Owner {
  uid?: number;
  gid?: number;
}

/** `chown [-R] USER[:GROUP] file…`, by name or number. */
export function chown(process: Process): Promise<number> {
  return change(process, (text) => {
    const [user = '', group] = text.split(/[:.]/, 2);
    const entry = passwdEntries(process.fs).find(({ name }) => name === user);
    const uid = user === '' ? undefined : (entry?.uid ?? numberOf(user));
    if (user !== '' && uid === undefined) return `unknown user ${user}`;
    // `user:` is the user's own group.
    if (group === '') return { uid, gid: entry?.gid };
    const gid = group === undefined ? undefined : groupId(process, group);
    return group !== undefined && gid === undefined ? `unknown group ${group}` : { uid, gid };
  });
}

/** `chgrp [-R] GROUP file…` */
export function chgrp(process: Process): Promise<number> {
  return change(process, (text) => {
    const gid = groupId(process, text);
    return gid === undefined ? `unknown group ${text}` : { gid };
  });
}

const numberOf = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);
const groupId = ({ fs }: Process, text: string): number | undefined =>
  groupEntries(fs).find(({ name }) => name === text)?.gid ?? numberOf(text);

async function change(process: Process, parse: (text: string) => Owner | string): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const [wanted = '', ...names] = rest;
  const owner = parse(wanted);
  if (typeof owner === 'string') {
    await process.complain(`${commandName(process)}: ${owner}\n`);
    return 1;
  }
  let status = 0;
  for (const name of names) {
    const work = () => give(process, absolute(process, name), { owner, isDeep: flags.has('R') });
    if (!(await attempt(process, name, work))) status = 1;
  }
  return status;
}

function give(process: Process, path: string, { owner, isDeep }: { owner: Owner; isDeep: boolean }): void {
  const { fs } = process;
  const { uid, gid } = fs.stat(path);
  fs.chown(path, owner.uid ?? uid, owner.gid ?? gid);
  if (!isDeep || fs.lstat(path).kind !== 'directory') return;
  for (const name of fs.readdir(path)) give(process, posix.join(path, name), { owner, isDeep });
}
