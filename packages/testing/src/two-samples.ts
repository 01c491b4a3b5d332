/** Whether two samples may come from one population: the rank test of Mann and Whitney, and medians. */

export function medianOf(sample: readonly number[]): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The two-sided p by the normal approximation, which fits samples of twenty and more. Ties share their ranks. */
export function mannWhitney(first: readonly number[], second: readonly number[]): number {
  const all = [...first, ...second].toSorted((a, b) => a - b);
  const ranks = new Map<number, number>();
  let ties = 0;
  for (let from = 0; from < all.length; ) {
    const value = all[from] ?? Number.NaN;
    let to = from;
    while (all[to] === value) to += 1;
    ranks.set(value, (from + 1 + to) / 2);
    ties += (to - from) ** 3 - (to - from);
    from = to;
  }
  const [n, m] = [first.length, second.length];
  const rankSum = first.reduce((sum, value) => sum + (ranks.get(value) ?? Number.NaN), 0);
  const u = rankSum - (n * (n + 1)) / 2;
  const total = n + m;
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance === 0) return 1;
  const z = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / Math.sqrt(variance);
  return 2 * upperTail(z);
}

/** The upper tail of the standard normal distribution (Abramowitz and Stegun 26.2.17, with an error below 1e-7). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const weights = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const series = weights.reduce((sum, weight, power) => sum + weight * t ** (power + 1), 0);
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
