// Collects what each API type and field means from the doc comments of packages, for `kubectl explain`:
// schema name → { description, properties: { field: description } }. The repository holds none of these texts.
// @kubernetes/client-node knows the newest types, kubernetes-models also what fields mean that are types of their own.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const defaultModels = join(root, 'node_modules/@kubernetes/client-node/dist/gen/models');
const otherModels = ['kubernetes-models', '@kubernetes-models/apimachinery'].map((name) =>
  join(root, 'node_modules', name),
);
const versionText = /^v\d+(?:(?:alpha|beta)\d+)?$/;
const pascal = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

const textOf = (comment) =>
  comment
    .replace(/^\s*\*\s?/gm, '')
    .replace(/\\(['"\\])/g, '$1')
    .replaceAll('*_/', '*/')
    .trim();

/** The package's field names are JavaScript's; the wire's are in its attribute table. */
function wireNames(script) {
  const pairs = script.matchAll(/"name": "([^"]+)",\s*"baseName": "([^"]+)"/g);
  return new Map([...pairs].map(([, name, baseName]) => [name, baseName]));
}

/** `{ description, properties }` of one model from its declaration (`.d.ts`) and its script (`.js`). */
export function describeModel(declaration, script) {
  const wire = wireNames(script);
  const type = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export declare class /.exec(declaration);
  const fields = declaration.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*'([^']+)'\??:/g);
  const properties = {};
  for (const [, comment, name] of fields) properties[wire.get(name) ?? name] = textOf(comment);
  return { ...(type ? { description: textOf(type[1]) } : undefined), properties };
}

/** What a type newer than the package may have been before. */
const earlierVersions = ['v1beta2', 'v1beta1', 'v1alpha3', 'v1alpha2', 'v1alpha1'];

/** Model names that a schema may have: `io.k8s.api.rbac.v1.Subject` is `RbacV1Subject`, `V1Subject` or an earlier version. */
export function modelNames(schema) {
  const [kind, version, group] = schema.split('.').reverse();
  if (!versionText.test(version ?? '')) return [];
  return [version, ...earlierVersions].flatMap((v) => [pascal(group) + pascal(v) + kind, pascal(v) + kind]);
}

/** Descriptions of all schemas that the package knows. */
export function collectDescriptions(schemas, models = defaultModels) {
  const known = new Set(readdirSync(models).filter((file) => file.endsWith('.d.ts')));
  const out = {};
  for (const schema of schemas) {
    const model = modelNames(schema).find((name) => known.has(`${name}.d.ts`));
    if (!model) continue;
    const read = (ending) => readFileSync(join(models, `${model}${ending}`), 'utf8');
    out[schema] = describeModel(read('.d.ts'), read('.js'));
  }
  return out;
}

/** `{ description, properties }` of one interface of kubernetes-models. */
function describeInterface(declaration) {
  const body = /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?)export interface \w+[^{]*\{\n([\s\S]*?)\n\}/.exec(
    declaration,
  );
  if (!body) return undefined;
  const comment = /\/\*\*([\s\S]*)\*\//.exec(body[1] ?? '')?.[1];
  const fields = (body[2] ?? '').matchAll(/^ {4}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {4}"([^"]+)"\??:/gm);
  const properties = Object.fromEntries([...fields].map(([, text, name]) => [name, textOf(text)]));
  return { ...(comment ? { description: textOf(comment) } : undefined), properties };
}

/** kubernetes-models' interfaces by schema name, whose dots its own names leave out. */
export function collectInterfaces(schemas, packages = otherModels) {
  const byName = new Map(schemas.map((schema) => [`I${schema.split(/[.-]/).map(pascal).join('')}`, schema]));
  const out = {};
  for (const folder of packages.filter((f) => existsSync(f))) {
    for (const file of readdirSync(folder, { recursive: true })) {
      if (!file.endsWith('.d.ts') || file.endsWith('index.d.ts')) continue;
      const declaration = readFileSync(join(folder, file), 'utf8');
      const schema = byName.get(
        /(?:as|interface) (IIoK8s\w+)/.exec(declaration.slice(declaration.indexOf('export ')))?.[1],
      );
      const described = schema && describeInterface(declaration);
      if (described) out[schema] = described;
    }
  }
  return out;
}

/** What either knows; the first is right where both do. */
export function mergeDescriptions(first, second) {
  const out = { ...second };
  for (const [schema, described] of Object.entries(first)) {
    const other = second[schema];
    out[schema] = {
      ...other,
      ...described,
      properties: { ...other?.properties, ...described.properties },
    };
  }
  return out;
}

/** Writes the file that the apiserver reads; without the package there is none, and explain has no descriptions. */
export function writeDescriptions(file, models = defaultModels) {
  if (!existsSync(models)) return;
  const { schemas } = JSON.parse(readFileSync(join(root, 'libs/api/facts/schemas.json'), 'utf8'));
  const names = Object.keys(schemas);
  const all = mergeDescriptions(collectDescriptions(names, models), collectInterfaces(names));
  writeFileSync(file, JSON.stringify(all));
}
