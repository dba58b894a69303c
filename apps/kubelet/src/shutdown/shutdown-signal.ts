import type { Options } from '../options';

/**
 * What tells that the machine goes off. Upstream holds an inhibitor lock of systemd-logind; this kubelet runs without root
 * or D-Bus, so it listens to the signal that init systems know for it. SIGTERM must not mean it: it ends the kubelet,
 * which no container notices. Systems without SIGPWR have SIGUSR2 instead.
 */
const shutdownSignal: NodeJS.Signals = process.platform === 'linux' ? 'SIGPWR' : 'SIGUSR2';

/** Calls `shutDown` for the signal, where graceful shutdown is on. Returns how to stop listening. */
export function onMachineShutdown({ shutdownPeriods }: Options, shutDown: () => void): () => void {
  if (shutdownPeriods.length === 0) return () => undefined;
  process.on(shutdownSignal, shutDown);
  return () => process.off(shutdownSignal, shutDown);
}
