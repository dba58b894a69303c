import { lstatSync, readlinkSync } from 'node:fs';
import { errorCode } from '../error-code';
import { FileError } from './file-error';
import type { Place } from './mounts';

const maxLinks = 40;
const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

/**
 * Walks a path by what `at` says is at each step; a link anywhere but (unless `follow`) at the end is replaced by its
 * target, inside the container.
 */
export function walk(path: string, follow: boolean, at: (path: string) => Place): Place {
  let rest = namesOf(path);
  let done: string[] = [];
  let links = 0;
  let place = at('/');
  while (rest.length > 0) {
    const [name = '', ...after] = rest;
    rest = after;
    if (name === '..') {
      done = done.slice(0, -1);
      place = at(`/${done.join('/')}`);
      continue;
    }
    if (place.kind === 'memory' && place.node?.kind !== 'directory')
      throw new FileError(place.node ? 'ENOTDIR' : 'ENOENT', path);
    const next = at(`/${[...done, name].join('/')}`);
    const target = rest.length > 0 || follow ? linkTarget(next) : undefined;
    if (target === undefined) {
      done = [...done, name];
      place = next;
      continue;
    }
    if ((links += 1) > maxLinks) throw new FileError('ELOOP', path);
    rest = [...namesOf(target), ...rest];
    if (target.startsWith('/')) done = [];
    place = at(`/${done.join('/')}`);
  }
  return place;
}

export function linkTarget(place: Place): string | undefined {
  if (place.kind === 'memory') return place.node?.kind === 'link' ? place.node.target : undefined;
  try {
    return lstatSync(place.hostPath).isSymbolicLink() ? readlinkSync(place.hostPath) : undefined;
  } catch (error) {
    if (errorCode(error) !== undefined) return undefined;
    throw error;
  }
}
