import type { Secret } from '@tinkernetes/api';
import { invalidReference, repositoryOf, withDefaultTag } from './image-name';
import { credentialsFor } from './keyring';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (name: string, auths: Record<string, object>): Secret => ({
  metadata: { name, namespace: 'ns', uid: `uid-${name}` },
  data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) },
});
const usersFor = (image: string, auths: Record<string, string>) =>
  credentialsFor(image, [
    secret('s', Object.fromEntries(Object.entries(auths).map(([key, username]) => [key, { username }]))),
  ]).map(({ auth }) => auth.username);

describe('credentialsFor', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['registry.example.com/team/app:1', { 'registry.example.com': 'a' }, ['a']],
    ['registry.example.com/team/app', { 'https://registry.example.com/v1/': 'a' }, ['a']],
    [
      'registry.example.com/team/app',
      { 'registry.example.com/team': 'a', 'registry.example.com': 'b' },
      ['a', 'b'],
    ],
    ['registry.example.com/team/app', { 'registry.example.com/other': 'a' }, []],
    ['registry.example.com/team/app', { '*.example.com': 'a', '*.com': 'b' }, ['a']],
    [
      'registry.example.com:5000/app',
      { 'registry.example.com': 'a', 'registry.example.com:5000': 'b' },
      ['b'],
    ],
    ['nginx', { 'https://index.docker.io/v1/': 'hub' }, ['hub']],
    ['acme/app', { 'docker.io': 'hub', 'docker.io/acme': 'acme' }, ['acme', 'hub']],
  ])('%s with %j: %j', (image, auths, users) => {
    expect(usersFor(image, auths)).toEqual(users);
  });

  it('reads both forms of Secret, and passwords that hold colons', () => {
    const old: Secret = {
      metadata: { name: 'old' },
      data: { '.dockercfg': base64(JSON.stringify({ 'r.example': { auth: base64('me:a:b') } })) },
    };
    expect(credentialsFor('r.example/app', [old])[0]?.auth).toMatchObject({
      username: 'me',
      password: 'a:b',
    });
  });

  it('knows whose they are', () => {
    const found = credentialsFor('r.example/app', [secret('good', { 'r.example': { username: 'me' } })]);
    expect(found.map((c) => c.secret)).toEqual([{ name: 'good', namespace: 'ns', uid: 'uid-good' }]);
  });

  it.each(['{', 'null', '"text"', '[]', '{"auths":null}', '{"auths":7}', '{"auths":{"r.example":null}}'])(
    'passes over %s, which is no configuration',
    (text) => {
      const data = { '.dockerconfigjson': base64(text) };
      expect(credentialsFor('r.example/app', [{ metadata: { name: 'broken' }, data }])).toEqual([]);
    },
  );
});

it.each([
  ['nginx', 'nginx:latest', 'docker.io/library/nginx'],
  ['acme/app:1.2', 'acme/app:1.2', 'docker.io/acme/app'],
  ['localhost:5000/app', 'localhost:5000/app:latest', 'localhost:5000/app'],
])('%s is %s of %s', (image, tagged, repository) => {
  expect(withDefaultTag(image)).toBe(tagged);
  expect(repositoryOf(image)).toBe(repository);
});

it.each([
  ['NGINX', 'invalid reference format: repository name (library/NGINX) must be lowercase'],
  ['r.example/Team/app', 'invalid reference format: repository name (Team/app) must be lowercase'],
  ['nginx:', 'invalid reference format'],
  ['a b', 'invalid reference format'],
])('%s is no image', (image, why) => {
  expect(withDefaultTag(image)).toBeUndefined();
  expect(invalidReference(image)).toBe(why);
});
