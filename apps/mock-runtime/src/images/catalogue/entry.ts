import type { ImageConfig, ImageDefinition } from '../image';
import { rootTree, type RootOptions } from '../root-tree';
import { tagsOf, type TagRules } from '../tags';

/** A line of the catalogue. */
export interface Entry {
  repository: string;
  tags: TagRules;
  megabytes: number;
  config: ImageConfig;
  /** With `ofTag` each tag has files of its own; else all have the same. */
  root: RootOptions | (() => RootOptions) | { ofTag(tag: string): RootOptions };
  content?: ImageDefinition['content'];
  digests?: ImageDefinition['digests'];
}

export const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A line of the catalogue as an image; its files are made when a container first needs them. */
export function define({
  repository,
  tags,
  megabytes,
  config,
  root,
  content,
  digests,
}: Entry): ImageDefinition {
  const built = new Map<string, ReturnType<typeof rootTree>>();
  const treeOf = (tag: string) => {
    const key = 'ofTag' in root ? tag : '';
    let tree = built.get(key);
    if (!tree) {
      const options = 'ofTag' in root ? root.ofTag(tag) : typeof root === 'function' ? root() : root;
      built.set(key, (tree = rootTree(options)));
    }
    return tree;
  };
  return {
    repository,
    hasTag: tagsOf(tags),
    size: Math.round(megabytes * 1_000_000),
    config,
    content,
    digests,
    root: treeOf,
  };
}

export function osRelease(name: string, id: string, version: string): string {
  return `NAME="${name}"\nID=${id}\nVERSION_ID="${version}"\nPRETTY_NAME="${name} ${version}"\n`;
}
