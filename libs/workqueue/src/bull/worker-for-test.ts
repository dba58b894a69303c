import { realRandom } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { createBullWorkQueues } from './bull-work-queues';

/** A worker in a process of its own: takes one key, says so, and says when it has lost it. */
async function main(): Promise<void> {
  const [url = '', prefix = ''] = process.argv.slice(2);
  const queues = await createBullWorkQueues({ url, prefix, logger: silentLogger, random: realRandom });
  const item = await queues.create('q').get();
  process.stdout.write(`took ${item?.key}\n`);
  item?.signal.addEventListener('abort', () => {
    process.stdout.write('lost\n');
    item.done();
    void queues.close();
  });
}

void main();
