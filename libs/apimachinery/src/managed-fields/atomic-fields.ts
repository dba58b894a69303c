import { isObject } from '../deep';
import { elementType, fieldType, isDeclared, typingOf, type Typed } from './typing';

/**
 * Paths of the lists, maps and structs in a configuration that can only be set as a whole, in the configuration's order:
 * `.spec.selector`, `.spec.containers[0].command`. Source:
 * k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch (findAtomics).
 */
export function atomicFields(value: unknown, type: Typed, path = ''): string[] {
  if (!isObject(value) && !Array.isArray(value)) return [];
  const found = typingOf(type, value) === 'leaf' ? [path] : [];
  if (Array.isArray(value)) {
    const item = elementType(type);
    return [...found, ...value.flatMap((element, i) => atomicFields(element, item, `${path}[${i}]`))];
  }
  return [
    ...found,
    ...Object.entries(value)
      .filter(([name]) => isDeclared(type, name))
      .flatMap(([name, member]) => atomicFields(member, fieldType(type, name), `${path}.${name}`)),
  ];
}
