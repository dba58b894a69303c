import { encode } from 'dns-packet';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { Process } from '../kernel/process';
import { answers, query } from './resolver';

describe('query', () => {
  it('waits for its answer, whatever else arrives', async () => {
    const id = 7;
    const reply = encode({
      type: 'response',
      id,
      answers: [{ type: 'A', name: 'web.default', data: '10.96.0.5' }],
    });
    const process = {
      machine: { random: { next: () => id / 65_536 } },
      clock: new VirtualClock(),
      signal: new AbortController().signal,
      net: {
        bindUdp: (_at: object, receive: (packet: { data: Uint8Array }) => void) => ({
          send: () => {
            for (const data of [Buffer.from('no DNS'), Buffer.alloc(40, 0xff), reply]) receive({ data });
          },
          close: () => undefined,
        }),
      },
    } as unknown as Process;
    const packet = await query(process, { name: 'web.default', type: 'A', server: '10.96.0.10' });
    expect(packet && answers(packet)).toMatchObject([{ name: 'web.default', data: '10.96.0.5' }]);
  });
});
