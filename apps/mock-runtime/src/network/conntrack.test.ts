import { VirtualClock } from '@tinkernetes/component-base/testing';
import { Conntrack } from './conntrack';

describe('Conntrack', () => {
  const flow = (protocol: 'TCP' | 'UDP', port: number) => ({
    protocol,
    source: { host: '10.244.0.2', port },
    destination: { host: '10.96.0.1', port: 80 },
    replySource: { host: '10.244.0.3', port: 80 },
    replyDestination: { host: '10.244.0.2', port },
  });

  it('forgets silent UDP flows and keeps TCP flows, however many there are', async () => {
    const clock = new VirtualClock();
    const conntrack = new Conntrack(clock);
    for (let port = 1; port <= 1500; port++) conntrack.add(flow('TCP', port));
    for (let port = 2001; port <= 2500; port++) conntrack.add(flow('UDP', port));
    await clock.advance(121_000);
    for (let port = 3001; port <= 4100; port++) conntrack.add(flow('TCP', port));
    expect(conntrack.entries().filter(({ protocol }) => protocol === 'TCP')).toHaveLength(2600);
    expect(conntrack.entries().filter(({ protocol }) => protocol === 'UDP')).toHaveLength(0);
  });
});
