/** One condition on a field; `==` is read as `=`. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A parsed field selector: all requirements must hold. Source: k8s.io/apimachinery/pkg/fields. */
export class FieldSelector {
  static readonly everything = new FieldSelector([]);

  constructor(readonly requirements: readonly FieldRequirement[]) {}

  get isEverything(): boolean {
    return this.requirements.length === 0;
  }

  /** A field that the object doesn't have counts as the empty string. */
  matches(fields: Readonly<Record<string, string>>): boolean {
    return this.requirements.every(({ field, operator, value }) => {
      const actual = Object.hasOwn(fields, field) ? fields[field] : '';
      return (actual === value) === (operator === '=');
    });
  }

  /** The value that the field must have, where the selector asks for one. */
  exactValue(field: string): string | undefined {
    return this.requirements.find((r) => r.field === field && r.operator === '=')?.value;
  }

  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => `${field}${operator}${escape(value)}`)
      .join(',');
  }
}

const escape = (value: string): string => value.replace(/[\\,=]/g, (char) => `\\${char}`);

/** Parses `metadata.name=a,status.phase!=Running`; throws an Error with upstream's text. */
export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text).filter((term) => term !== '');
  return new FieldSelector(terms.map((term) => parseTerm(term, text)));
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
  if (!match) throw new Error(`invalid selector: '${whole}'; can't understand '${term}'`);
  const [, field = '', operator, raw = ''] = match;
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescape(raw) };
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (char === '\\') {
      term += text.slice(i, i + 2);
      i += 1;
    } else if (char === ',') {
      terms.push(term);
      term = '';
    } else {
      term += char;
    }
  }
  return [...terms, term];
}

/** Go prints a character that it may not have as its number. */
function unescape(value: string): string {
  let plain = '';
  for (let i = 0; i < value.length; i += 1) {
    const char = value.charAt(i);
    if (char === '\\') {
      const next = value.charAt(i + 1);
      if (next !== '\\' && next !== ',' && next !== '=') {
        throw new Error(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      plain += next;
      i += 1;
    } else if (char === ',' || char === '=') {
      throw new Error(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      plain += char;
    }
  }
  return plain;
}
