import type { Process } from '../kernel/process';

/** `brctl addbr|delbr NAME`, `brctl show`: network bridges inside the container. */
export async function brctl(process: Process): Promise<number> {
  const [, action, name = ''] = process.argv;
  const { net } = process;
  if (action === 'show' || action === undefined) {
    const rows = [...net.bridges].map((bridge) => `${bridge}\t\t8000.000000000000\tno\n`);
    await process.print(`bridge name\tbridge id\t\tSTP enabled\tinterfaces\n${rows.join('')}`);
    return 0;
  }
  const failed = async (text: string): Promise<number> => {
    await process.complain(`brctl: bridge ${name}: ${text}\n`);
    return 1;
  };
  if (!process.can('NET_ADMIN')) return failed('Operation not permitted');
  if (action === 'addbr') {
    if (net.bridges.has(name) || net.interfaces.has(name)) return failed('File exists');
    net.bridges.add(name);
    return 0;
  }
  if (action === 'delbr') return net.bridges.delete(name) ? 0 : failed('No such device');
  await process.complain(`brctl: invalid argument '${action}' to 'brctl'\n`);
  return 1;
}
