import { Quantity } from '@tinkernetes/apimachinery';
import { UsageError } from '@tinkernetes/component-base';

/** What of a node is not for Pods, by resource. */
export type Reserved = ReadonlyMap<string, Quantity>;

const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** `cpu=200m,memory=150Mi`, of --system-reserved and --kube-reserved. */
export function parseReserved(flag: string, entries: readonly string[]): Reserved {
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      const [name, text] = [entry.slice(0, Math.max(0, at)), entry.slice(at + 1)];
      if (!reservable.includes(name))
        throw new UsageError(
          `--${flag}: cannot reserve "${name || entry}" resource; there are ${reservable.join(', ')}`,
        );
      const quantity = Quantity.tryParse(text);
      if (!quantity || quantity.sign < 0)
        throw new UsageError(`--${flag}: ${name} needs a quantity, not "${text}"`);
      return [name, quantity];
    }),
  );
}

/** What is left of a node's capacity. Source: pkg/kubelet/cm GetNodeAllocatableReservation. */
export function allocatableOf(
  capacity: Readonly<Record<string, string>>,
  reserved: readonly Reserved[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, text]) => {
      const left = reserved.reduce(
        (rest, part) => rest.sub(part.get(name) ?? Quantity.zero),
        Quantity.parse(text),
      );
      return [name, left.sign < 0 ? '0' : left.toString()];
    }),
  );
}
