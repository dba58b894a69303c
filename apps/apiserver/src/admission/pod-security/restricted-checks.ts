import type { Volume } from '@tinkernetes/api';
import { isAllowedSeccomp, unmaskedProc } from './baseline-checks';
import {
  type Check,
  type PodSpec,
  containersNamed,
  containersOf,
  mayBeRoot,
  isWindows,
  joinQuote,
  namesWhere,
  plural,
  setters,
  sorted,
} from './check';

const allowedVolumes: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

/** Windows knows nothing of what these checks ask for, which standards know since v1.25. */
const isExempt = (spec: PodSpec, minor: number): boolean => minor >= 25 && isWindows(spec);

const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  since: 8,
  run: (spec, _metadata, minor) => {
    if (isExempt(spec, minor)) return undefined;
    const names = namesWhere(spec, (c) => c.securityContext?.allowPrivilegeEscalation !== false);
    return names.length === 0
      ? undefined
      : {
          reason: 'allowPrivilegeEscalation != false',
          detail: `${containersNamed(names)} must set securityContext.allowPrivilegeEscalation=false`,
        };
  },
};

const capabilities: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  since: 22,
  overrides: ['capabilities_baseline'],
  run: (spec, _metadata, minor) => {
    if (isExempt(spec, minor)) return undefined;
    const added = (c: (typeof spec.containers)[number]) =>
      (c.securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
    const keeping = namesWhere(spec, (c) => !c.securityContext?.capabilities?.drop?.includes('ALL'));
    const adding = namesWhere(spec, (c) => added(c).length > 0);
    const details = [
      ...(keeping.length > 0
        ? [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]
        : []),
      ...(adding.length > 0
        ? [
            `${containersNamed(adding)} must not include ${joinQuote(sorted(containersOf(spec).flatMap(added)))} in securityContext.capabilities.add`,
          ]
        : []),
    ];
    return details.length === 0
      ? undefined
      : { reason: 'unrestricted capabilities', detail: details.join('; ') };
  },
};

const volumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  overrides: ['hostPathVolumes'],
  run: (spec) => {
    const restricted = (spec.volumes ?? []).filter((v) => !allowedVolumes.has(typeOf(v)));
    if (restricted.length === 0) return undefined;
    const types = sorted(restricted.map(typeOf));
    const names = restricted.map((v) => v.name);
    return {
      reason: 'restricted volume types',
      detail: [
        `${plural('volume', 'volumes', names.length)} ${joinQuote(names)}`,
        plural('uses', 'use', names.length),
        `${plural('restricted volume type', 'restricted volume types', types.length)} ${joinQuote(types)}`,
      ].join(' '),
    };
  },
};

const typeOf = (volume: Volume): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';

const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  run: (spec, _metadata, minor) => {
    if (mayBeRoot(spec, minor)) return undefined;
    const ofPod = spec.securityContext?.runAsNonRoot;
    const who = setters(
      ofPod === false,
      namesWhere(spec, (c) => c.securityContext?.runAsNonRoot === false),
    );
    if (who !== undefined) {
      return {
        reason: 'runAsNonRoot != true',
        detail: `${who} must not set securityContext.runAsNonRoot=false`,
      };
    }
    const silent = ofPod ? [] : namesWhere(spec, (c) => c.securityContext?.runAsNonRoot === undefined);
    return silent.length === 0
      ? undefined
      : {
          reason: 'runAsNonRoot != true',
          detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true`,
        };
  },
};

const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  since: 23,
  run: (spec, _metadata, minor) => {
    if (mayBeRoot(spec, minor)) return undefined;
    const who = setters(
      spec.securityContext?.runAsUser === 0,
      namesWhere(spec, (c) => c.securityContext?.runAsUser === 0),
    );
    return who === undefined
      ? undefined
      : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
  },
};

const seccompProfile: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  since: 19,
  overrides: ['seccompProfile_baseline'],
  run: (spec, _metadata, minor) => {
    if (isExempt(spec, minor)) return undefined;
    const ofPod: string | undefined = spec.securityContext?.seccompProfile?.type;
    const ofContainer = (c: (typeof spec.containers)[number]): string | undefined =>
      c.securityContext?.seccompProfile?.type;
    const bad = (type: string | undefined): type is string => type !== undefined && !isAllowedSeccomp(type);
    const who = setters(
      bad(ofPod),
      namesWhere(spec, (c) => bad(ofContainer(c))),
    );
    if (who !== undefined) {
      const values = sorted([ofPod, ...containersOf(spec).map(ofContainer)].filter(bad));
      return {
        reason: 'seccompProfile',
        detail: `${who} must not set securityContext.seccompProfile.type to ${joinQuote(values)}`,
      };
    }
    const silent = ofPod ? [] : namesWhere(spec, (c) => ofContainer(c) === undefined);
    return silent.length === 0
      ? undefined
      : {
          reason: 'seccompProfile',
          detail: `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
        };
  },
};

/** As the baseline has it, for Pods in user namespaces, too. */
const procMount: Check = {
  id: 'procMount_restricted',
  level: 'restricted',
  since: 35,
  overrides: ['procMount'],
  run: (spec) => unmaskedProc(spec),
};

export const restrictedChecks: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  procMount,
  volumes,
  runAsNonRoot,
  runAsUser,
  seccompProfile,
];
