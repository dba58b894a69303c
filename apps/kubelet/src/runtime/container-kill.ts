import type { Container } from '@tinkernetes/api';
import { isSidecar } from '../pods/pod-facts';
import { containerHash } from './container-hash';
import type { RuntimeContainer } from './pod-runtime-status';

export type KillReason = 'definition-changed' | 'liveness' | 'startup' | 'unknown-state' | 'resize';

export interface ContainerKill {
  target: RuntimeContainer;
  container: Container;
  reason: KillReason;
  /** The text of the Killing event. */
  message: string;
}

/** Latest probe results; `undefined`: not probed (yet). */
export interface ProbeResults {
  liveness(containerId: string): 'success' | 'failure' | undefined;
  startup(containerId: string): 'success' | 'failure' | undefined;
}

export function reasonToKill(
  container: Container,
  current: RuntimeContainer,
  probes: ProbeResults,
): KillReason | undefined {
  if (current.hash !== containerHash(container)) return 'definition-changed';
  if (probes.liveness(current.id) === 'failure') return 'liveness';
  if (probes.startup(current.id) === 'failure') return 'startup';
  return undefined;
}

export function kill(
  target: RuntimeContainer,
  container: Container,
  reason: KillReason,
  restart = false,
): ContainerKill {
  const subject = `${isSidecar(container) ? 'Init container' : 'Container'} ${container.name}`;
  const texts: Record<KillReason, string> = {
    'definition-changed': `${subject} definition changed`,
    liveness: `${subject} failed liveness probe`,
    startup: `${subject} failed startup probe`,
    'unknown-state': `${subject} is in "Unknown" state, try killing it before restart`,
    resize: `${subject} resize requires restart`,
  };
  return { target, container, reason, message: `${texts[reason]}${restart ? ', will be restarted' : ''}` };
}
