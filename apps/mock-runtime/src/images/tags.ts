export interface TagRules {
  /** Highest minor version of each major version: `{ 1: 31 }` has 1.0 … 1.31. */
  versions?: Readonly<Record<number, number>>;
  names?: readonly string[];
  /** Suffixes that versions and names may carry. */
  variants?: readonly string[];
}

/** Which tags a repository has, so that a mistyped version fails to be pulled as it does in real life. */
export function tagsOf({
  versions = {},
  names = ['latest'],
  variants = [],
}: TagRules): (tag: string) => boolean {
  return (tag) => {
    if (names.includes(tag) || variants.includes(tag)) return true;
    const variant = variants.find((v) => tag.endsWith(`-${v}`));
    const base = variant ? tag.slice(0, -variant.length - 1) : tag;
    if (names.includes(base)) return true;
    const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(base);
    if (!match) return false;
    const highest = versions[Number(match[1])];
    if (highest === undefined) return false;
    return Number(match[2] ?? 0) <= highest && Number(match[3] ?? 0) <= 40;
  };
}
