import type { Device, DeviceAttribute } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import { CelEnvironment, Semver, toCelValue } from '@tinkernetes/cel';

const environment = new CelEnvironment(['device']);

const converted = new WeakMap<Device, Map<string, unknown>>();

/**
 * Whether the expression holds for the device: `device.driver`, `device.attributes[DOMAIN].NAME`,
 * `device.capacity[DOMAIN].NAME`. Throws when it is no CEL, gives no bool, or fails.
 * Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
export function selects(expression: string, device: Device, driver: string): boolean {
  const result = environment.compile(expression).evaluate({ device: celDevice(device, driver) });
  if (typeof result !== 'boolean') throw new Error('expression must evaluate to bool');
  return result;
}

function celDevice(device: Device, driver: string): Map<string, unknown> {
  const known = converted.get(device);
  if (known) return known;
  const made = new Map<string, unknown>([
    ['driver', driver],
    ['attributes', byDomain(device.attributes, driver, attributeValue)],
    ['capacity', byDomain(device.capacity, driver, ({ value }) => Quantity.parse(value))],
    ['allowMultipleAllocations', device.allowMultipleAllocations ?? false],
  ]);
  converted.set(device, made);
  return made;
}

/** A name without a domain is in the driver's. */
export function qualified(name: string, driver: string): { domain: string; id: string } {
  const slash = name.indexOf('/');
  return slash < 0
    ? { domain: driver, id: name }
    : { domain: name.slice(0, slash), id: name.slice(slash + 1) };
}

function byDomain<T>(
  named: Readonly<Record<string, T>> | undefined,
  driver: string,
  valueOf: (value: T) => unknown,
): Map<string, unknown> {
  const domains = new Map<string, Map<string, unknown>>();
  for (const [name, value] of Object.entries(named ?? {})) {
    const { domain, id } = qualified(name, driver);
    const ids = domains.get(domain) ?? new Map<string, unknown>();
    domains.set(domain, ids.set(id, valueOf(value)));
  }
  // Domains that the device doesn't know are empty, so that an expression may ask about each.
  const get = (domain: string) => domains.get(domain) ?? new Map();
  return Object.assign(new Map<string, unknown>(domains), { get });
}

/** One of its fields is set. */
function attributeValue(attribute: DeviceAttribute): unknown {
  const { version, versions, ...plain } = attribute;
  if (version !== undefined) return parseVersion(version);
  if (versions) return versions.map(parseVersion);
  const [value] = Object.values(plain);
  return toCelValue(value);
}

function parseVersion(text: string): Semver {
  const version = Semver.tryParse(text);
  if (!version) throw new Error(`parse semantic version: ${JSON.stringify(text)}`);
  return version;
}
