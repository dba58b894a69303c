import { isObject } from '../deep';

/**
 * A set of field paths, kept as a tree. Path elements are written as in FieldsV1: `f:<name>` for a field,
 * `k:<keys>` for an element of a list-map, `v:<value>` for an element of a set, `i:<index>` for one of another list.
 * Immutable. Source: sigs.k8s.io/structured-merge-diff fieldpath.Set.
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, new Map());
  /** What sets were written as, and so need not be written as anew when it is read again. */
  private static readonly written = new WeakSet<object>();

  private json: Record<string, unknown> | undefined;

  private constructor(
    /** The path up to here is itself a member. */
    readonly isMember: boolean,
    readonly children: ReadonlyMap<string, FieldSet>,
  ) {}

  /** As `of`, for a map that has no empty sets and will not change any more. */
  static ofOwned(isMember: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
    if (children.size > 0) return new FieldSet(isMember, children);
    return isMember ? FieldSet.member : FieldSet.empty;
  }

  static of(isMember: boolean, children: Iterable<readonly [string, FieldSet]> = []): FieldSet {
    const kept = new Map<string, FieldSet>();
    for (const [element, child] of children) if (!child.isEmpty) kept.set(element, child);
    if (kept.size > 0) return new FieldSet(isMember, kept);
    return isMember ? FieldSet.member : FieldSet.empty;
  }

  static readonly member = new FieldSet(true, new Map());

  /** From plain paths of field names. */
  static ofNames(paths: ReadonlyArray<readonly string[]>): FieldSet {
    return paths.reduce<FieldSet>(
      (set, path) =>
        set.union(
          path.reduceRight<FieldSet>(
            (tail, name) => FieldSet.of(false, [[`f:${name}`, tail]]),
            FieldSet.member,
          ),
        ),
      FieldSet.empty,
    );
  }

  /** From `managedFields[].fieldsV1`. An empty object is a member; so is one with `.`. undefined for what is no set. */
  static fromJson(json: unknown): FieldSet | undefined {
    if (!isObject(json)) return json === undefined || json === null ? FieldSet.empty : undefined;
    const children = new Map<string, FieldSet>();
    for (const [element, below] of Object.entries(json)) {
      if (element === '.') continue;
      const child = isElement(element) ? FieldSet.childFromJson(below) : undefined;
      if (!child) return undefined;
      if (!child.isEmpty) children.set(element, child);
    }
    const set = FieldSet.ofOwned(false, children);
    if (children.size > 0 && FieldSet.written.has(json)) set.json = json;
    return set;
  }

  private static childFromJson(json: unknown): FieldSet | undefined {
    if (!isObject(json)) return undefined;
    if (Object.keys(json).length === 0) return FieldSet.member;
    const set = FieldSet.fromJson(json);
    return set && FieldSet.ofOwned(Object.hasOwn(json, '.'), set.children);
  }

  /** The FieldsV1 form, elements in upstream's order; made once, as most writes leave most sets as they are. */
  toJson(): Readonly<Record<string, unknown>> {
    if (!this.json) {
      this.json = this.childrenJson();
      if (!this.isMember) FieldSet.written.add(this.json);
    }
    return this.json;
  }

  private childrenJson(json: Record<string, unknown> = {}): Record<string, unknown> {
    for (const element of [...this.children.keys()].sort(compareElements)) {
      const child = this.children.get(element);
      // Elements have a letter and a colon before any name, so none is `__proto__`.
      if (child) json[element] = child.memberJson();
    }
    return json;
  }

  private memberJson(): Record<string, unknown> {
    if (this.children.size === 0) return nothingBelow;
    return this.childrenJson(this.isMember ? { '.': nothingBelow } : {});
  }

  get isEmpty(): boolean {
    return !this.isMember && this.children.size === 0;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, child] of other.children) {
      children.set(element, children.get(element)?.union(child) ?? child);
    }
    return FieldSet.ofOwned(this.isMember || other.isMember, children);
  }

  /** Without the members of the other set; what lies below them stays. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty || this.isEmpty) return this;
    return this.withChildren(this.isMember && !other.isMember, (element, child) => {
      const theirs = other.children.get(element);
      return theirs ? child.difference(theirs) : child;
    });
  }

  /** Without the members of the other set and all that lies below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isMember) return FieldSet.empty;
    if (other.isEmpty || this.isEmpty) return this;
    return this.withChildren(this.isMember, (element, child) => {
      const theirs = other.children.get(element);
      return theirs ? child.recursiveDifference(theirs) : child;
    });
  }

  intersection(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return FieldSet.empty;
    return this.withChildren(this.isMember && other.isMember, (element, child) => {
      const theirs = other.children.get(element);
      return theirs ? child.intersection(theirs) : FieldSet.empty;
    });
  }

  /** This very set where nothing changes: most writes touch little of what is owned. */
  private withChildren(isMember: boolean, change: (element: string, child: FieldSet) => FieldSet): FieldSet {
    let kept: Map<string, FieldSet> | undefined;
    for (const [element, child] of this.children) {
      const changed = change(element, child);
      if (changed === child) continue;
      kept ??= new Map(this.children);
      if (changed.isEmpty) kept.delete(element);
      else kept.set(element, changed);
    }
    if (!kept && isMember === this.isMember) return this;
    return FieldSet.ofOwned(isMember, kept ?? this.children);
  }

  equals(other: FieldSet): boolean {
    return (
      this.isMember === other.isMember &&
      this.children.size === other.children.size &&
      [...this.children].every(([element, child]) => {
        const twin = other.children.get(element);
        return twin !== undefined && child.equals(twin);
      })
    );
  }

  /** With every named field on the way to a member as a member. */
  withNamedParents(): FieldSet {
    return FieldSet.of(
      this.isMember,
      [...this.children].map(([element, child]) => {
        const deeper = child.withNamedParents();
        return [element, element.startsWith('f:') ? FieldSet.of(true, deeper.children) : deeper] as const;
      }),
    );
  }

  /** The paths of all members, as upstream writes them, those of one level first: `.spec.containers[name="a"].image`. */
  paths(prefix = ''): string[] {
    const entries = [...this.children]
      .sort(([a], [b]) => compareElements(a, b))
      .map(([element, child]) => ({ path: prefix + formatElement(element), child }));
    return [
      ...entries.filter(({ child }) => child.isMember).map(({ path }) => path),
      ...entries.flatMap(({ path, child }) => child.paths(path)),
    ];
  }
}

/** Elements of list maps as nearly all are: keys of plain text, whole numbers and booleans. */
const plainKeys =
  /^k:\{"[^"\\\u0000-\u001f]*":(?:"[^"\\\u0000-\u001f]*"|0|[1-9]\d*|true|false)(?:,"[^"\\\u0000-\u001f]*":(?:"[^"\\\u0000-\u001f]*"|0|[1-9]\d*|true|false))*\}$/;

/** Whether a key of FieldsV1 is a path element. */
function isElement(key: string): boolean {
  if (key.startsWith('f:') || plainKeys.test(key)) return true;
  const [kind, rest] = [key.slice(0, 2), key.slice(2)];
  if (kind === 'i:') return /^-?\d+$/.test(rest);
  if (kind !== 'k:' && kind !== 'v:') return false;
  try {
    const value: unknown = JSON.parse(rest);
    return kind === 'v:' || isObject(value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const nothingBelow: Record<string, unknown> = Object.freeze({});

const rank = (element: string): number => 'fkvi'.indexOf(element.charAt(0));

function compareElements(a: string, b: string): number {
  const difference = a.charCodeAt(0) === b.charCodeAt(0) ? 0 : rank(a) - rank(b);
  return difference !== 0 ? difference : a < b ? -1 : a > b ? 1 : 0;
}

/** One element in a message: `.name`, `[name="a"]`, `[="x"]`, `[0]`. */
export function formatElement(element: string): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = JSON.parse(rest) as Record<string, unknown>;
      const pairs = Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      return `[${pairs.join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
