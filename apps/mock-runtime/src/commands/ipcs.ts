import type { Process } from '../kernel/process';

/** `ipcs [-m|-q|-s]`: empty tables, since no program makes System V objects. */
export async function ipcs(process: Process): Promise<number> {
  const wanted = process.argv[1];
  const tables = {
    '-q': '------ Message Queues --------\nkey        msqid      owner      perms      used-bytes   messages\n',
    '-m': '------ Shared Memory Segments --------\nkey        shmid      owner      perms      bytes      nattch     status\n',
    '-s': '------ Semaphore Arrays --------\nkey        semid      owner      perms      nsems\n',
  };
  for (const [flag, title] of Object.entries(tables))
    if (wanted === undefined || wanted === flag) await process.print(`\n${title}`);
  await process.print('\n');
  return 0;
}
