/**
 * Checks of names and values that many kinds share. Each returns what is wrong, in upstream's words; nothing when all
 * is well. Source: k8s.io/apimachinery/pkg/util/validation and pkg/api/validation.
 */
export type NameCheck = (value: string) => readonly string[];

const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8');

const maxLengthMessage = (length: number, unit = 'bytes'): string => `must be no more than ${length} ${unit}`;
const emptyMessage = 'must be non-empty';
export const inclusiveRangeMessage = (low: number, high: number): string =>
  `must be between ${low} and ${high}, inclusive`;
export const notNegativeMessage = 'must be greater than or equal to 0';
export const immutableMessage = 'field is immutable';

function regexMessage(message: string, format: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${format}')`;
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${list}regex used for validation is '${format}')`;
}

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualifiedName})?`;
const anchored = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);

interface PatternRule {
  max: number;
  /** Names of objects count characters, the others bytes. */
  unit?: 'bytes' | 'characters';
  pattern: string;
  message: string;
  examples: string[];
}
function patternCheck({ max, unit, pattern, message, examples }: PatternRule): NameCheck {
  const expression = anchored(pattern);
  const mismatch = regexMessage(message, pattern, ...examples);
  return (value) => [
    ...(byteLength(value) > max ? [maxLengthMessage(max, unit)] : []),
    ...(expression.test(value) ? [] : [mismatch]),
  ];
}

const isLabelPattern = patternCheck({
  max: 63,
  unit: 'characters',
  pattern: label1123,
  message:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ['my-name', '123-abc'],
});

const subdomainExpression = anchored(subdomain1123);

/** What is a subdomain but no label can only have dots too many. */
export const isDns1123Label: NameCheck = (value) => {
  const errors = isLabelPattern(value);
  if (errors.length === 0 || !value.includes('.') || !subdomainExpression.test(value)) return errors;
  return [...errors.slice(0, -1), 'must not contain dots'];
};

export const isDns1123Subdomain = patternCheck({
  max: 253,
  unit: 'characters',
  pattern: subdomain1123,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
});

const label1123Underscore = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';

/** Search domains of DNS: subdomains that may have underscores. */
export const isDns1123SubdomainWithUnderscore = patternCheck({
  max: 253,
  pattern: `${label1123Underscore}(\\.${label1123Underscore})*`,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
});

export const isDns1035Label = patternCheck({
  max: 63,
  unit: 'characters',
  pattern: label1035,
  message:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ['my-name', 'abc-123'],
});

export const isWildcardDns1123Subdomain = patternCheck({
  max: 253,
  pattern: `\\*\\.${subdomain1123}`,
  message:
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  examples: ['*.example.com'],
});

export const isLabelValue = patternCheck({
  max: 63,
  pattern: labelValue,
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
});

const isNamePart = patternCheck({
  max: 63,
  pattern: qualifiedName,
  message:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyName', 'my.name', '123-abc'],
});

/** `name` or `dns.prefix/name`, as label keys, annotation keys and resource names are. */
export const isQualifiedName: NameCheck = (value) => {
  const parts = value.split('/');
  const errors: string[] = [];
  if (parts.length > 2) {
    return [
      `a valid label key ${regexMessage(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        qualifiedName,
        'MyName',
        'my.name',
        '123-abc',
      )} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0], parts[1] ?? ''] : [undefined, parts[0] ?? ''];
  if (prefix === '') errors.push(`prefix part ${emptyMessage}`);
  else if (prefix !== undefined)
    errors.push(...isDns1123Subdomain(prefix).map((text) => `prefix part ${text}`));
  if (name === '') errors.push(`name part ${emptyMessage}`, `name part ${isNamePart('')[0] ?? ''}`);
  else errors.push(...isNamePart(name).map((text) => `name part ${text}`));
  return errors;
};

/** Host names under a domain, in any case of letters: `Example.com`. */
export const isFullyQualifiedDomainName: NameCheck = (value) => {
  const errors = isDns1123Subdomain(value);
  if (errors.length > 0) return errors;
  return value.split('.').length < 2
    ? ['should be a domain with at least two segments separated by dots']
    : [];
};

/** Names of objects become path segments. */
export const isPathSegmentName: NameCheck = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`);
};

/** The names that generated names start with may end in a dash. */
export function asGeneratePrefix(check: NameCheck): NameCheck {
  return (value) => check(value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value);
}

export const isPortNumber = (port: number): readonly string[] =>
  Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : [inclusiveRangeMessage(1, 65535)];

/** IANA service names, as container and target ports are called. RFC 6335 5.1. */
export const isPortName: NameCheck = (value) => {
  const errors: string[] = [];
  if (value.length > 15) errors.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
};

export const isEnvVarName: NameCheck = (value) => {
  const errors: string[] = [];
  if (value === '' || !/^[ -<>-~]*$/.test(value)) {
    errors.push(
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    );
  }
  return errors;
};

export const isConfigMapKey: NameCheck = (value) => {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push(maxLengthMessage(253, 'characters'));
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    errors.push(
      regexMessage(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  if (value === '.') errors.push("must not be '.'");
  if (value === '..') errors.push("must not be '..'");
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
};

export const isPercent: NameCheck = (value) =>
  /^[0-9]+%$/.test(value)
    ? []
    : [
        regexMessage(
          "a valid percent string must be a numeric string followed by an ending '%'",
          '[0-9]+%',
          '1%',
          '93%',
        ),
      ];

export const isHttpHeaderName: NameCheck = (value) =>
  /^[-A-Za-z0-9]+$/.test(value)
    ? []
    : [
        regexMessage(
          "a valid HTTP header must consist of alphanumeric characters or '-'",
          '[-A-Za-z0-9]+',
          'X-Header-Name',
        ),
      ];
