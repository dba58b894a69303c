// Collects what each API type and field means from the doc comments of @kubernetes/client-node, for `kubectl explain`:
// schema name → { description, properties: { field: description } }. The repository holds none of these texts.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const defaultModels = join(root, 'node_modules/@kubernetes/client-node/dist/gen/models');
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

/** Writes the file that the apiserver reads; without the package there is none, and explain has no descriptions. */
export function writeDescriptions(file, models = defaultModels) {
  if (!existsSync(models)) return;
  const { schemas } = JSON.parse(readFileSync(join(root, 'libs/api/facts/schemas.json'), 'utf8'));
  writeFileSync(file, JSON.stringify(collectDescriptions(Object.keys(schemas), models)));
}
