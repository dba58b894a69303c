import { Output } from './output';

const listen = (output: Output) => {
  const seen: string[] = [];
  const stop = output.attach((stream, data) => void seen.push(`${stream}: ${data.toString()}`));
  return { seen, stop };
};

it('shows the first client of an interactive container what was written before it came', async () => {
  const output = new Output(undefined, { interactive: true });
  await output.writer('stdout').write?.(Buffer.from('early'));
  await output.writer('stderr').write?.(Buffer.from('also early'));
  const first = listen(output);
  await output.writer('stdout').write?.(Buffer.from('late'));
  expect(first.seen).toEqual(['stdout: early', 'stderr: also early', 'stdout: late']);
  expect(listen(output).seen).toEqual([]);
});

it('keeps a bounded part of it', async () => {
  const output = new Output(undefined, { interactive: true });
  for (let i = 0; i < 100; i++) await output.writer('stdout').write?.(Buffer.alloc(4096, 'x'));
  expect(listen(output).seen.join('').length).toBeLessThan(70_000);
});

it('keeps nothing for a container that takes no input, and nothing for who has left', async () => {
  const output = new Output(undefined);
  await output.writer('stdout').write?.(Buffer.from('early'));
  const { seen, stop } = listen(output);
  stop();
  await output.writer('stdout').write?.(Buffer.from('late'));
  expect(seen).toEqual([]);
});
