import type { Environment } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isDns1035Label,
  isLabelValue,
} from '@tinkernetes/apimachinery';

const type = 'kubernetes.NamedFormat';

class NamedFormat {
  constructor(
    readonly name: string,
    readonly validate: (text: string) => readonly string[],
  ) {}
}
class FormatNamespace {}

const formats: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: isDns1123Label,
  dns1123Subdomain: isDns1123Subdomain,
  dns1035Label: isDns1035Label,
  qualifiedName: isQualifiedName,
  labelValue: isLabelValue,
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
}
