import { createTexts, shareTexts } from './share-texts';

/** A string of its own, as a parsed answer brings. */
const parsed = () =>
  JSON.parse('{"spec":{"names":["a text","other"],"count":3,"none":null},"kind":"A kind"}') as object;

describe('shareTexts', () => {
  it('leaves the object as it was', () => {
    const object = parsed();
    shareTexts(object, createTexts());
    expect(object).toEqual(parsed());
  });

  it('looks at each text that is new, also in lists', () => {
    const seen: string[] = [];
    shareTexts(parsed(), (text) => (seen.push(text), text));
    expect(seen).toEqual(['a text', 'other', 'A kind']);
  });

  it('does not look again at what an older version has, too', () => {
    const older = parsed() as { spec: { names: string[] } };
    const newer = { spec: { names: older.spec.names, phase: 'Running' } };
    const seen: string[] = [];
    shareTexts(newer, (text) => (seen.push(text), text), older);
    expect(seen).toEqual(['Running']);
  });

  it('puts what is given for a text in its place', () => {
    const object = parsed();
    shareTexts(object, (text) => text.toUpperCase());
    expect(object).toEqual({ spec: { names: ['A TEXT', 'OTHER'], count: 3, none: null }, kind: 'A KIND' });
  });
});

describe('createTexts', () => {
  it('gives every text back, however many there are', () => {
    const texts = createTexts();
    const given = Array.from({ length: 20_000 }, (_, i) => `text ${i}`);
    expect(given.filter((text) => texts(text) !== text).length).toBe(0);
    expect(texts('x'.repeat(1000))).toBe('x'.repeat(1000));
  });
});
