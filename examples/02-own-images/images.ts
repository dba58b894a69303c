import { defineImage, type ImageProgramContext } from '@tinkernetes/mock-runtime';

/** Takes one order a second until it is asked to stop; then it says what it has earned. */
async function shop({ args, env, fs, log, clock, signal }: ImageProgramContext): Promise<number> {
  const [currency = 'EUR'] = args;
  const price = Number(env.PRICE ?? '1');
  let earned = 0;
  while (!signal.aborted) {
    earned += price;
    await log(`order for ${price} ${currency}`);
    fs.writeFile('/tmp/earned', Buffer.from(`${earned}\n`));
    await clock.sleep(1000, signal).catch(() => undefined);
  }
  await log(`closed with ${earned} ${currency}`);
  return 0;
}

/** Fails as often as it is told, to see how the cluster takes it. */
async function flaky({ args, log }: ImageProgramContext): Promise<number> {
  const [code = '1'] = args;
  await log(`giving up with ${code}`);
  return Number(code);
}

export default [
  defineImage('acme/shop', shop, { tags: ['latest', '1.0', '1.1'], config: { env: { PRICE: '3' } } }),
  defineImage('acme/flaky', flaky),
];
