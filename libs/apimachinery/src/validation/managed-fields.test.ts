import { validateFieldManager } from './managed-fields';

describe('validateFieldManager', () => {
  it.each([
    ['kubectl-client-side-apply', []],
    ['contrôleur 1', []],
    ['a\tb', ['U+0009 (at position 1)']],
    ['é\u0000\u200b', ['U+0000 (at position 2)', 'U+200B (at position 3)']],
  ])('of %j', (name, characters) => {
    const expected = characters.map(
      (character) => expect.stringContaining(`invalid character ${character}`) as string,
    );
    expect(validateFieldManager(name, 'fieldManager').map(({ message }) => message)).toEqual(expected);
  });

  it('counts bytes', () => {
    expect(validateFieldManager('é'.repeat(64), 'fieldManager')).toEqual([]);
    expect(validateFieldManager('é'.repeat(65), 'fieldManager')).toMatchObject([
      { reason: 'FieldValueTooLong' },
    ]);
  });
});
