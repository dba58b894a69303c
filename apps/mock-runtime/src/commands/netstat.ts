import type { Process } from '../kernel/process';
import { parseArgs } from './paths';

/** `netstat [-tuln]`: what listens in the container's network. */
export async function netstat(process: Process): Promise<number> {
  const { flags } = parseArgs(process.argv.slice(1));
  const { net } = process;
  const both = !flags.has('t') && !flags.has('u');
  const rows = [
    ...(both || flags.has('t') ? net.listeningPorts().map((a) => row('tcp', a, 'LISTEN')) : []),
    ...(both || flags.has('u') ? net.receivingPorts().map((a) => row('udp', a, '')) : []),
  ];
  await process.print(
    `Active Internet connections (only servers)\nProto Recv-Q Send-Q Local Address           Foreign Address         State       \n${rows.join('')}`,
  );
  return 0;
}

function row(protocol: string, { host, port }: { host: string; port: number }, state: string): string {
  return `${protocol}        0      0 ${`${host}:${port}`.padEnd(23)} ${'0.0.0.0:*'.padEnd(23)} ${state.padEnd(12)}\n`;
}
