import { maxNodeScore, type NodeScore } from '../framework/types';

/**
 * Stretches scores so that the highest becomes 100; reversed, so that it becomes 0.
 * Source: pkg/scheduler/framework/plugins/helper.DefaultNormalizeScore.
 */
export function normalizeScores(scores: NodeScore[], { reverse = false }: { reverse?: boolean } = {}): void {
  const highest = scores.reduce((max, { score }) => Math.max(max, score), 0);
  for (const entry of scores) {
    if (highest === 0) {
      if (reverse) entry.score = maxNodeScore;
      continue;
    }
    const score = Math.trunc((maxNodeScore * entry.score) / highest);
    entry.score = reverse ? maxNodeScore - score : score;
  }
}
