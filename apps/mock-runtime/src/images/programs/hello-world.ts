import type { Process } from '../../kernel/process';

export async function helloWorld(process: Process): Promise<number> {
  await process.print(
    [
      '',
      'Hello from Docker!',
      'This message shows that your installation appears to be working correctly.',
      '',
      'It was printed by a container that an emulated runtime started: the image was resolved,',
      'a container was created from it, this program ran in it, and its output is in the log you read.',
      '',
      '',
    ].join('\n'),
  );
  return 0;
}
