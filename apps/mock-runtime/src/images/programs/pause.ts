import type { Process } from '../../kernel/process';

/** Holds a Pod's namespaces and does nothing (registry.k8s.io/pause). */
export async function pause(process: Process): Promise<number> {
  const signal = await process.untilSignal('SIGTERM', 'SIGINT');
  await process.complain(`Shutting down, got signal: ${signal === 'SIGINT' ? 'Interrupt' : 'Terminated'}\n`);
  return 0;
}
