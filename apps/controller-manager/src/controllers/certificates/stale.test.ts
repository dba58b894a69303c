import { createCertificateAuthority } from '@tinkernetes/pki';
import { staleAt } from './stale';

const created = Date.parse('2026-01-01T00:00:00Z');
const decided = created + 3_000_000;
const hourMs = 3600_000;
let brief = '';
let long = '';
beforeAll(async () => {
  const issue = async (durationMs: number) => {
    const { certificate } = await createCertificateAuthority({
      commonName: 'a',
      now: created,
      durationMs,
    });
    return Buffer.from(certificate).toString('base64');
  };
  [brief, long] = [await issue(1_800_000), await issue(30 * 24 * hourMs)];
});

const request = (types: readonly string[], certificate?: string) => ({
  metadata: { name: 'r', creationTimestamp: new Date(created).toISOString() },
  spec: { request: '', signerName: 'example.com/s' },
  status: {
    certificate,
    conditions: types.map((type) => ({
      type,
      status: 'True',
      lastUpdateTime: new Date(decided).toISOString(),
    })),
  },
});

it.each<[string, string[], () => string | undefined, number]>([
  ['nobody has decided on', [], () => undefined, created + 24 * hourMs],
  ['was denied', ['Denied'], () => undefined, decided + hourMs],
  ['has failed', ['Approved', 'Failed'], () => undefined, decided + hourMs],
  ['was issued', ['Approved'], () => long, decided + hourMs],
  ['was issued for less than an hour', ['Approved'], () => brief, created + 1_800_000],
  ['was approved and waits for its signer', ['Approved'], () => undefined, Infinity],
])('knows when a request that %s is stale', (_, types, certificate, at) => {
  expect(staleAt(request(types, certificate()))).toBe(at);
});
