import { parseOverload, type Overload } from './overload';
import { language } from './language-functions';
import { extensions } from './extension-functions';
import { kubernetes } from './kubernetes-functions';

const parsed = new Map<string, readonly Overload[]>();

/** The ways to call a function; undefined: there is none of that name. */
export function overloadsOf(name: string): readonly Overload[] | undefined {
  const known = parsed.get(name);
  if (known) return known;
  const lines = [language, extensions, kubernetes].flatMap((library) =>
    Object.hasOwn(library, name) ? (library[name] ?? []) : [],
  );
  if (lines.length === 0) return undefined;
  const overloads = lines.map(parseOverload);
  parsed.set(name, overloads);
  return overloads;
}
