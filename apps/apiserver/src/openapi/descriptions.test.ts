import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDescriptions, withDescriptions } from './descriptions';

describe('loadDescriptions', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'descriptions-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('reads what the build has written', async () => {
    const file = join(folder, 'descriptions.json');
    writeFileSync(file, '{"a.v1.Thing":{"description":"A thing.","properties":{}}}');
    expect(await loadDescriptions(file)).toEqual({
      'a.v1.Thing': { description: 'A thing.', properties: {} },
    });
  });

  it('knows nothing without a file', async () => {
    expect(await loadDescriptions(join(folder, 'none.json'))).toEqual({});
  });

  it('does not hide a damaged file', async () => {
    const file = join(folder, 'damaged.json');
    writeFileSync(file, '{');
    await expect(loadDescriptions(file)).rejects.toThrow(SyntaxError);
  });
});

describe('withDescriptions', () => {
  const descriptions = {
    'a.v1.Thing': { description: 'A thing.', properties: { size: 'How big.' } },
    'a.v1.Part': { description: 'A part of a thing.' },
  };
  const describeThing = (properties: object, own: object = {}) =>
    withDescriptions(
      { 'a.v1.Thing': { type: 'object', properties: { ...properties }, ...own } },
      descriptions,
    )['a.v1.Thing'];

  it('describes the type and its fields', () => {
    expect(describeThing({ size: { type: 'integer' } })).toEqual({
      description: 'A thing.',
      type: 'object',
      properties: { size: { description: 'How big.', type: 'integer' } },
    });
  });

  it('puts the text of a field that is a reference beside allOf', () => {
    const texts = { 'a.v1.Thing': { properties: { part: 'Its part.' } } };
    const schemas = {
      'a.v1.Thing': { type: 'object', properties: { part: { $ref: '#/a.v1.Part' } } },
    } as const;
    expect(withDescriptions(schemas, texts)['a.v1.Thing']?.properties).toEqual({
      part: { description: 'Its part.', allOf: [{ $ref: '#/a.v1.Part' }] },
    });
  });

  it("leaves a reference without a text: its type's would be told twice", () => {
    const part = { $ref: '#/a.v1.Part' };
    expect(describeThing({ part })?.properties).toEqual({ part });
  });

  it('leaves what nobody describes as it is', () => {
    const part = { $ref: '#/b.v1.Unknown' };
    expect(describeThing({ part, weight: { type: 'integer' } })?.properties).toEqual({
      part,
      weight: { type: 'integer' },
    });
  });

  it('keeps the texts that a schema brings', () => {
    expect(
      describeThing({ size: { type: 'integer', description: 'Mine.' } }, { description: 'My thing.' }),
    ).toMatchObject({ description: 'My thing.', properties: { size: { description: 'Mine.' } } });
  });
});
