import { attemptText, type ExplainedAttempt } from './attempt-text';

const attempt: ExplainedAttempt = {
  pod: 'default/web',
  attempt: 2,
  at: '2026-01-01T00:00:00.000Z',
  result: 'scheduled',
  node: 'node-2',
  evaluatedNodes: 3,
  feasibleNodes: 2,
  refusals: [{ node: 'node-3', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu', 'Too many pods'] }],
  scores: [
    {
      node: 'node-1',
      total: 140,
      plugins: {
        ImageLocality: { raw: 0, normalized: 0, weight: 1 },
        NodeAffinity: { raw: 3, normalized: 70, weight: 2 },
      },
    },
    {
      node: 'node-2',
      total: 233.333,
      plugins: {
        ImageLocality: { raw: 33.333, normalized: 33.333, weight: 1 },
        NodeAffinity: { raw: 5, normalized: 100, weight: 2 },
      },
    },
  ],
};

describe('the text of an attempt', () => {
  it('shows each refusal with its reasons, and each score raw, normalized and weighted, best node first', () => {
    expect(attemptText(attempt)).toBe(`\
default/web: placed on node-2 (attempt 2 at 2026-01-01T00:00:00.000Z; 2 of 3 nodes that were looked at fit)

NODE     REFUSED BY         REASON
node-3   NodeResourcesFit   Insufficient cpu, Too many pods

NODE     SCORED BY       RAW     NORMALIZED   WEIGHT   WEIGHTED
node-2   NodeAffinity    5       100          2        200
node-2   ImageLocality   33.33   33.33        1        33.33
node-2   TOTAL                                         233.33
node-1   NodeAffinity    3       70           2        140
node-1   ImageLocality   0       0            1        0
node-1   TOTAL                                         140
`);
  });

  it('shows the message of an attempt that failed', () => {
    const message = '0/1 nodes are available: 1 Insufficient cpu.';
    const { node: _, ...failed } = { ...attempt, result: 'unschedulable' as const, message, scores: [] };
    const [head, told] = attemptText(failed).split('\n');
    expect(head).toMatch(/^default\/web: unschedulable \(attempt 2/);
    expect(told).toBe(message);
  });

  it('says why there are no scores when only one node fits', () => {
    expect(attemptText({ ...attempt, scores: [] })).toContain('No scores: there was only one node');
  });
});
