import type { Environment } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import {
  isBase64,
  isDate,
  isDateTime,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  isUuid,
  requestUriProblem,
} from '@tinkernetes/apimachinery';

const type = 'kubernetes.NamedFormat';

type Validate = (text: string) => readonly string[];

class NamedFormat {
  constructor(
    readonly name: string,
    readonly validate: Validate,
  ) {}
}
class FormatNamespace {}

/** Names are made by adding to a prefix, so that it may end in a dash. Source: apimachinery/pkg/api/validation. */
const asPrefix =
  (validate: Validate): Validate =>
  (text) =>
    validate(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const unless =
  (isValid: (text: string) => boolean, problem: string): Validate =>
  (text) =>
    isValid(text) ? [] : [problem];

const formats: Readonly<Record<string, Validate>> = {
  dns1123Label: isDns1123Label,
  dns1123Subdomain: isDns1123Subdomain,
  dns1035Label: isDns1035Label,
  dns1123LabelPrefix: asPrefix(isDns1123Label),
  dns1123SubdomainPrefix: asPrefix(isDns1123Subdomain),
  dns1035LabelPrefix: asPrefix(isDns1035Label),
  qualifiedName: isQualifiedName,
  labelValue: isLabelValue,
  uri: (text) => [requestUriProblem(text)].filter((problem) => problem !== undefined),
  uuid: unless(isUuid, 'does not match the UUID format'),
  byte: unless(isBase64, 'invalid base64'),
  date: unless(isDate, 'invalid date'),
  datetime: unless(isDateTime, 'invalid datetime'),
};

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library */
export function registerFormats(env: Environment): void {
  env.registerType(type, { ctor: NamedFormat as unknown as new () => NamedFormat, fields: {} });
  env.registerType('kubernetes.Format', { ctor: FormatNamespace, fields: {} });
  env.registerConstant('format', 'kubernetes.Format', new FormatNamespace());
  for (const [name, validate] of Object.entries(formats)) {
    env.registerFunction(`kubernetes.Format.${name}(): ${type}`, () => new NamedFormat(name, validate));
  }
  env.registerFunction(
    `kubernetes.Format.named(string): optional<${type}>`,
    (_: FormatNamespace, name: string) => {
      const validate = Object.hasOwn(formats, name) ? formats[name] : undefined;
      return validate ? Optional.of(new NamedFormat(name, validate)) : Optional.none();
    },
  );
  env.registerFunction(
    `${type}.validate(string): optional<list<string>>`,
    ({ validate }: NamedFormat, text: string) => {
      const errors = validate(text);
      return errors.length > 0 ? Optional.of([...errors]) : Optional.none();
    },
  );
  env.registerOperator(`${type} == ${type}`, (a: NamedFormat, b: NamedFormat) => a.name === b.name);
}
