import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What the documentation says is there: files, scripts, flags, a folder for each concept. */
const root = join(__dirname, '../..');
const skipped = new Set(['node_modules', 'dist', 'facts', 'test-results']);
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

function markdownIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name) || entry.name.startsWith('.')) return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}
const documents = markdownIn(root).map((path) => ({
  name: relative(root, path),
  directory: dirname(path),
  text: readFileSync(path, 'utf8'),
}));
const textOf = (name: string) => documents.find((document) => document.name === name)?.text ?? '';
const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), (m) => m[1] ?? '');

describe.each(documents)('$name', ({ directory, text }) => {
  it('links to what is there', () => {
    const links = matches(text, /\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g);
    expect(links.filter((link) => !existsSync(join(directory, link)))).toEqual([]);
  });

  it('names commands that there are', () => {
    const named = matches(text, /\bnpm run ([\w:-]+)/g);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    const components = matches(text, /\bnpm run component ([\w-]+)/g);
    expect(components.filter((name) => !existsSync(join(root, 'apps', name)))).toEqual([]);
    const files = matches(text, /\bnode (?:--\S+ )*((?:tools|test|examples)\/[\w./-]+)/g);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const commands = matches(text, /\btinkernetes ([a-z]+)(?= (?:--|[a-z]+\/|NAME|FILE|COMPONENT))/g);
    const known = readdirSync(join(root, 'apps/tinkernetes/src/commands'));
    expect(commands.filter((command) => !known.includes(`${command}.ts`))).toEqual([]);
  });
});

it('the table of options names those of `npm start`, and all of them', () => {
  const source = readFileSync(join(root, 'apps/tinkernetes/src/options.ts'), 'utf8');
  const flags = matches(source, /^ {2}'?([a-z-]+)'?: \{\s*type:/gm);
  const shown = matches(textOf('README.md'), /^\| `--([a-z-]+)/gm);
  expect(shown.sort()).toEqual(flags.sort());
});

it('each app and library opens with a README and is on the map', () => {
  const projects = ['apps', 'libs'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}`),
  );
  expect(projects.filter((project) => textOf(`${project}/README.md`) === '')).toEqual([]);
  expect(projects.filter((project) => !textOf('docs/map.md').includes(`../${project}`))).toEqual([]);
});

it('each suite of package.json is run by .ci/run, or told of where it is told what CI does not run', () => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8');
  const told = textOf('CONTRIBUTING.md');
  const suites = Object.keys(scripts).filter((script) => script.startsWith('test'));
  expect(suites.filter((s) => !new RegExp(`\\b${s}\\b`).test(ci) && !told.includes(`npm run ${s}`))).toEqual(
    [],
  );
});
