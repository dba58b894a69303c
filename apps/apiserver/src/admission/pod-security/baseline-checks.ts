import type { Container, SELinuxOptions } from '@tinkernetes/api';
import { goQuote } from '@tinkernetes/apimachinery';
import {
  type Check,
  type PodSpec,
  type Violation,
  containersNamed,
  containersOf,
  mayBeRoot,
  joinQuote,
  namesWhere,
  plural,
  setters,
  sorted,
} from './check';

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);

const seLinuxTypes: ReadonlySet<string> = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
]);

export const isAllowedSeccomp = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  run: (spec, metadata) => {
    const isBad = (type: string | undefined) =>
      type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost';
    const ofPod = spec.securityContext?.appArmorProfile?.type;
    const ofContainers = containersOf(spec).map((c) => c.securityContext?.appArmorProfile?.type);
    const containers = namesWhere(spec, (c) => isBad(c.securityContext?.appArmorProfile?.type));
    const annotations = sorted(
      Object.entries(metadata.annotations ?? {})
        .filter(
          ([key, value]) =>
            key.startsWith(appArmorPrefix) && !/^($|runtime\/default$|localhost\/)/.test(value),
        )
        .map(([key, value]) => `${key}=${goQuote(value)}`),
    );
    const who = [
      ...(isBad(ofPod) ? ['pod'] : []),
      ...(containers.length > 0 ? [containersNamed(containers)] : []),
      ...(annotations.length > 0 ? [plural('annotation', 'annotations', annotations.length)] : []),
    ];
    if (who.length === 0) return undefined;
    const types = [ofPod, ...ofContainers].filter(isBad).map(String);
    const values = [...sorted(types), ...annotations];
    return {
      reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
      // Upstream quotes what is quoted already, without escapes.
      detail: `${who.join(' and ')} must not set AppArmor profile type to ${values.map((value) => `"${value}"`).join(', ')}`,
    };
  },
};

const capabilities: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  run: (spec) => {
    const added = (c: Container) =>
      (c.securityContext?.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name));
    const names = namesWhere(spec, (c) => added(c).length > 0);
    if (names.length === 0) return undefined;
    const forbidden = sorted(containersOf(spec).flatMap(added));
    return {
      reason: 'non-default capabilities',
      detail: `${containersNamed(names)} must not include ${joinQuote(forbidden)} in securityContext.capabilities.add`,
    };
  },
};

const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  run: (spec) => {
    const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
    return used.length === 0
      ? undefined
      : { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
  },
};

const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  level: 'baseline',
  run: (spec) => {
    const names = (spec.volumes ?? []).filter((v) => v.hostPath).map((v) => v.name);
    return names.length === 0
      ? undefined
      : {
          reason: 'hostPath volumes',
          detail: `${plural('volume', 'volumes', names.length)} ${joinQuote(names)}`,
        };
  },
};

const hostPorts: Check = {
  id: 'hostPorts',
  level: 'baseline',
  run: (spec) => {
    const used = (c: Container) => (c.ports ?? []).flatMap((p) => (p.hostPort ? [String(p.hostPort)] : []));
    const names = namesWhere(spec, (c) => used(c).length > 0);
    if (names.length === 0) return undefined;
    const ports = sorted(containersOf(spec).flatMap(used));
    const uses = plural('uses', 'use', names.length);
    return {
      reason: 'hostPort',
      detail: `${containersNamed(names)} ${uses} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
    };
  },
};

const hostProbes: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  since: 34,
  run: (spec) => {
    const hosts = (c: Container) =>
      [
        c.livenessProbe,
        c.readinessProbe,
        c.startupProbe,
        c.lifecycle?.postStart,
        c.lifecycle?.preStop,
      ].flatMap((h) =>
        [h?.httpGet?.host, h?.tcpSocket?.host].filter((host): host is string => Boolean(host)),
      );
    const names = sorted(namesWhere(spec, (c) => hosts(c).length > 0));
    if (names.length === 0) return undefined;
    const forbidden = sorted(containersOf(spec).flatMap(hosts));
    const uses = plural('uses', 'use', names.length);
    const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', forbidden.length);
    return {
      reason: 'probe or lifecycle host',
      detail: `${containersNamed(names)} ${uses} ${what} ${joinQuote(forbidden)}`,
    };
  },
};

const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  run: (spec) => {
    const names = namesWhere(spec, (c) => c.securityContext?.privileged === true);
    return names.length === 0
      ? undefined
      : {
          reason: 'privileged',
          detail: `${containersNamed(names)} must not set securityContext.privileged=true`,
        };
  },
};

const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  run: (spec, _metadata, minor) => (mayBeRoot(spec, minor) ? undefined : unmaskedProc(spec)),
};

/** Containers that see more of /proc than is usual. */
export function unmaskedProc(spec: PodSpec): Violation | undefined {
  const type = (c: Container) => c.securityContext?.procMount ?? 'Default';
  const names = namesWhere(spec, (c) => type(c) !== 'Default');
  if (names.length === 0) return undefined;
  const types = sorted(containersOf(spec).map(type)).filter((t) => t !== 'Default');
  return {
    reason: 'procMount',
    detail: `${containersNamed(names)} must not set securityContext.procMount to ${joinQuote(types)}`,
  };
}

const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  run: (spec) => {
    const bad = (o: SELinuxOptions | undefined) =>
      o !== undefined && (!seLinuxTypes.has(o.type ?? '') || Boolean(o.user) || Boolean(o.role));
    const who = setters(
      bad(spec.securityContext?.seLinuxOptions),
      namesWhere(spec, (c) => bad(c.securityContext?.seLinuxOptions)),
    );
    if (who === undefined) return undefined;
    const all = [
      spec.securityContext?.seLinuxOptions,
      ...containersOf(spec).map((c) => c.securityContext?.seLinuxOptions),
    ].filter(bad);
    const types = sorted(all.map((o) => o?.type ?? '')).filter((type) => !seLinuxTypes.has(type));
    const data = [
      ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${joinQuote(types)}`] : []),
      ...(all.some((o) => o?.user) ? ['user may not be set'] : []),
      ...(all.some((o) => o?.role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  },
};

const seccompProfile: Check = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  run: (spec) => {
    const type = (context: { seccompProfile?: { type?: string } } | undefined) =>
      context?.seccompProfile?.type;
    const bad = (t: string | undefined): t is string => t !== undefined && !isAllowedSeccomp(t);
    const who = setters(
      bad(type(spec.securityContext)),
      namesWhere(spec, (c) => bad(type(c.securityContext))),
    );
    if (who === undefined) return undefined;
    const values = sorted(
      [type(spec.securityContext), ...containersOf(spec).map((c) => type(c.securityContext))].filter(bad),
    );
    return {
      reason: 'seccompProfile',
      detail: `${who} must not set securityContext.seccompProfile.type to ${joinQuote(values)}`,
    };
  },
};

const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  run: (spec) => {
    const names = (spec.securityContext?.sysctls ?? []).map((s) => s.name).filter((n) => !safeSysctls.has(n));
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') };
  },
};

const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  run: (spec) => {
    const who = setters(
      spec.securityContext?.windowsOptions?.hostProcess === true,
      namesWhere(spec, (c) => c.securityContext?.windowsOptions?.hostProcess === true),
    );
    return who === undefined
      ? undefined
      : {
          reason: 'hostProcess',
          detail: `${who} must not set securityContext.windowsOptions.hostProcess=true`,
        };
  },
};

export const baselineChecks: readonly Check[] = [
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfile,
  sysctls,
  windowsHostProcess,
];
