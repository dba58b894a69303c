import { UsageError } from '@tinkernetes/component-base';
import type { ControllerDefinition } from './context';

/**
 * The controllers that `--controllers` asks for: `*` all that are on by default, `name` on, `-name` off; a name beats
 * `*`. Unknown names, and names of what is not implemented, are a UsageError.
 */
export function selectControllers(
  wanted: readonly string[],
  known: readonly ControllerDefinition[],
): ControllerDefinition[] {
  for (const entry of wanted) {
    const name = entry.replace(/^-/, '');
    if (name === '*') continue;
    const definition = known.find((c) => c.name === name);
    if (!definition)
      throw new UsageError(
        `--controllers: "${name}" is not in the list of known controllers: ${known.map((c) => c.name).join(', ')}`,
      );
    if (!entry.startsWith('-') && !definition.start)
      throw new UsageError(`--controllers: "${name}" is not implemented: ${definition.absent}`);
  }
  return known.filter(({ name, start, disabledByDefault }) => {
    if (!start || wanted.includes(`-${name}`)) return false;
    return wanted.includes(name) || (wanted.includes('*') && !disabledByDefault);
  });
}
