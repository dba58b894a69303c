import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceTaint,
  DeviceToleration,
  ExactDeviceRequest,
  NodeSelector,
  NodeSelectorRequirement,
  ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { Candidate, ReachableDevices } from './devices';
import { qualified, selects } from './device-selector';

export interface AllocationInput {
  claims: readonly ResourceClaim[];
  reachable: ReachableDevices;
  /** Keys of devices that other claims have. */
  inUse: ReadonlySet<string>;
  classes(name: string): DeviceClass | undefined;
}

/** A request with the devices that would do for it. */
interface Demand {
  claim: ResourceClaim;
  request: string;
  exactly: ExactDeviceRequest;
  count: number;
  fitting: readonly Candidate[];
}
type Choice = { demand: Demand; candidate: Candidate };

const maxDevices = 32;

/** What this allocator doesn't do, in words for the Pod's condition; undefined: it does all that the claim asks for. */
export function whyUnsupported(claim: ResourceClaim): string | undefined {
  const { requests = [], constraints = [] } = claim.spec.devices ?? {};
  for (const { name, exactly, firstAvailable } of requests) {
    const refuse = (what: string) => `resource claim ${keyOf(claim)}, request ${name}: ${what} not supported`;
    if (firstAvailable?.length) return refuse('alternatives (firstAvailable) are');
    if (!exactly) return `resource claim ${keyOf(claim)}, request ${name}: unknown request type`;
    if (exactly.adminAccess) return refuse('admin access is');
    if (exactly.capacity) return refuse('a share of a device’s capacity is');
  }
  return constraints.some(({ matchAttribute }) => !matchAttribute)
    ? `resource claim ${keyOf(claim)}: constraints other than matchAttribute are not supported`
    : undefined;
}

/**
 * A device for each device asked for, all claims together or none; undefined: there are not enough. In the order of
 * claims, requests and slices, going back where constraints need it. Throws when a claim or its class is broken.
 */
export function allocate(input: AllocationInput): AllocationResult[] | undefined {
  const demands = input.claims.flatMap((claim) => demandsOf(claim, input));
  if (demands.some(({ count, fitting }) => fitting.length < count)) return undefined;
  const chosen = search(demands, new Set(input.inUse));
  return chosen && input.claims.map((claim) => resultFor(claim, chosen, input));
}

function demandsOf(claim: ResourceClaim, { reachable, inUse, classes }: AllocationInput): Demand[] {
  const demands = (claim.spec.devices?.requests ?? []).flatMap(({ name, exactly }): Demand[] => {
    if (!exactly) return [];
    const matching = reachable.candidates.filter((candidate) =>
      isWanted(candidate, { claim, exactly, deviceClass: classes(exactly.deviceClassName) }),
    );
    const fitting = matching.filter(({ key }) => !inUse.has(key));
    if (exactly.allocationMode !== 'All')
      return [{ claim, request: name, exactly, count: exactly.count ?? 1, fitting }];
    const [pool] = reachable.incomplete;
    if (pool !== undefined)
      throw new Error(
        `claim ${keyOf(claim)}, request ${name}: asks for all devices, but resource pool ${pool} is currently being updated`,
      );
    // All that match, used ones included; and at least one.
    return [{ claim, request: name, exactly, count: Math.max(1, matching.length), fitting }];
  });
  const count = demands.reduce((sum, demand) => sum + demand.count, 0);
  if (count > maxDevices)
    throw new Error(
      `claim ${keyOf(claim)}: number of requested devices ${count} exceeds the claim limit of ${maxDevices}`,
    );
  return demands;
}

interface Wish {
  claim: ResourceClaim;
  exactly: ExactDeviceRequest;
  deviceClass: DeviceClass | undefined;
}

function isWanted({ device, slice }: Candidate, { claim, exactly, deviceClass }: Wish): boolean {
  if (!isTolerated(device.taints, exactly.tolerations)) return false;
  const holds = (expression: string | undefined, where: string) => {
    try {
      return expression === undefined || selects(expression, device, slice.spec.driver);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${where}: CEL runtime error: ${reason}`, { cause: error });
    }
  };
  const ofClass = (deviceClass?.spec.selectors ?? []).every(({ cel }, i) =>
    holds(cel?.expression, `class ${deviceClass?.metadata.name ?? ''}: selector #${i}`),
  );
  return (
    ofClass &&
    (exactly.selectors ?? []).every(({ cel }, i) =>
      holds(cel?.expression, `claim ${keyOf(claim)}: selector #${i}`),
    )
  );
}

const isTolerated = (taints: readonly DeviceTaint[] = [], tolerations: readonly DeviceToleration[] = []) =>
  taints.every(
    (taint) =>
      taint.effect === 'None' ||
      tolerations.some(
        ({ key, operator = 'Equal', value = '', effect }) =>
          (!effect || effect === taint.effect) &&
          (!key || key === taint.key) &&
          (operator === 'Exists' || value === (taint.value ?? '')),
      ),
  );

/** Depth first, device by device. */
function search(demands: readonly Demand[], taken: Set<string>): Choice[] | undefined {
  const slots = demands.flatMap((demand) => Array.from({ length: demand.count }, () => demand));
  const chosen: Choice[] = [];
  const fill = (position: number): boolean => {
    const demand = slots[position];
    if (!demand) return true;
    // Devices of one request are interchangeable: each slot goes on where the one before stopped.
    const before = chosen[position - 1];
    const start = before?.demand === demand ? demand.fitting.indexOf(before.candidate) + 1 : 0;
    for (const candidate of demand.fitting.slice(start)) {
      const choice = { demand, candidate };
      if (taken.has(candidate.key) || !matchesOthers(choice, chosen)) continue;
      taken.add(candidate.key);
      chosen.push(choice);
      if (fill(position + 1)) return true;
      chosen.pop();
      taken.delete(candidate.key);
    }
    return false;
  };
  return fill(0) ? chosen : undefined;
}

/** `matchAttribute`: devices of the constraint's requests have the same value there. */
function matchesOthers({ demand, candidate }: Choice, chosen: readonly Choice[]): boolean {
  return (demand.claim.spec.devices?.constraints ?? []).every(({ matchAttribute, requests }) => {
    const concerns = (name: string) => !requests?.length || requests.includes(name);
    if (!matchAttribute || !concerns(demand.request)) return true;
    const own = attributeOf(candidate, matchAttribute);
    if (own === undefined) return false;
    const others = chosen.filter((c) => c.demand.claim === demand.claim && concerns(c.demand.request));
    return others.every((other) => attributeOf(other.candidate, matchAttribute) === own);
  });
}

function attributeOf({ device, slice }: Candidate, name: string): string | undefined {
  const { driver } = slice.spec;
  const wanted = qualified(name, driver);
  const entry = Object.entries(device.attributes ?? {}).find(([own]) => {
    const { domain, id } = qualified(own, driver);
    return domain === wanted.domain && id === wanted.id;
  });
  return entry && JSON.stringify(entry[1]);
}

function resultFor(
  claim: ResourceClaim,
  chosen: readonly Choice[],
  { classes }: AllocationInput,
): AllocationResult {
  const own = chosen.filter(({ demand }) => demand.claim === claim);
  const results = own.map(({ demand, candidate: { slice, device } }) => ({
    request: demand.request,
    driver: slice.spec.driver,
    pool: slice.spec.pool.name,
    device: device.name,
    ...(demand.exactly.tolerations ? { tolerations: demand.exactly.tolerations } : {}),
  }));
  const config = configFor(claim, classes);
  const nodeSelector = selectorFor(own.map(({ candidate }) => candidate));
  return {
    devices: { results, ...(config.length > 0 ? { config } : {}) },
    ...(nodeSelector ? { nodeSelector } : {}),
  };
}

function configFor(
  claim: ResourceClaim,
  classes: AllocationInput['classes'],
): DeviceAllocationConfiguration[] {
  const { requests = [], config = [] } = claim.spec.devices ?? {};
  const ofClasses = requests.flatMap(({ name, exactly }) =>
    (classes(exactly?.deviceClassName ?? '')?.spec.config ?? []).map((entry) => ({
      ...entry,
      source: 'FromClass' as const,
      requests: [name],
    })),
  );
  return [...ofClasses, ...config.map((entry) => ({ ...entry, source: 'FromClaim' as const }))];
}

/** Nodes that reach all the devices; undefined: all nodes do. */
function selectorFor(candidates: readonly Candidate[]): NodeSelector | undefined {
  const fields: NodeSelectorRequirement[] = [];
  const expressions: NodeSelectorRequirement[] = [];
  for (const { slice, device } of candidates) {
    const { nodeName, nodeSelector } = slice.spec.perDeviceNodeSelection ? device : slice.spec;
    if (nodeName) {
      const requirement = { key: 'metadata.name', operator: 'In' as const, values: [nodeName] };
      return { nodeSelectorTerms: [{ matchFields: [requirement] }] };
    }
    const [term] = nodeSelector?.nodeSelectorTerms ?? [];
    addMissing(fields, term?.matchFields);
    addMissing(expressions, term?.matchExpressions);
  }
  if (fields.length === 0 && expressions.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {
        ...(fields.length > 0 ? { matchFields: fields } : {}),
        ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
      },
    ],
  };
}

function addMissing(to: NodeSelectorRequirement[], from: readonly NodeSelectorRequirement[] = []): void {
  for (const requirement of from) {
    const text = JSON.stringify(requirement);
    if (!to.some((other) => JSON.stringify(other) === text)) to.push(requirement);
  }
}
