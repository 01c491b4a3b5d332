/** Pairs that alternate, and the verdict on their ratio. */
import { availableParallelism } from 'node:os';
import type { Goal, Measured, Pair, Row, Side, Verdict } from './harness.ts';

const ROUNDS = 5;
/** How long each side runs before it is measured. V8 keeps compiling for about 50,000 requests. */
const WARM_UP_SECONDS_MIN = 5;
const SPREAD_MAX = 0.3;
const CEILING_SHARE_MAX = 0.8;

/** How rounds are measured. */
export type Measuring = {
  readonly seconds: number;
  /** One round, without a warm-up. */
  readonly smoke: boolean;
  /** The machine's load before the run began. */
  readonly loadBefore: number;
};

export async function compare(pair: Pair, how: Measuring): Promise<Row> {
  const { seconds, smoke } = how;
  if (!smoke) {
    await pair.floor.measure(warmUpSeconds(seconds));
    await pair.subject.measure(warmUpSeconds(seconds));
  }
  const rounds: Round[] = [];
  for (let round = 0; round < roundsOf(smoke); round++) {
    rounds.push({
      floor: await pair.floor.measure(seconds),
      subject: await pair.subject.measure(seconds),
    });
  }
  return judged(pair, rounds, how);
}

export const warmUpSeconds = (seconds: number): number => Math.max(seconds, WARM_UP_SECONDS_MIN);

export const roundsOf = (smoke: boolean): number => (smoke ? 1 : ROUNDS);

export type Round = { readonly floor: Measured; readonly subject: Measured };

export function judged(
  pair: Omit<Pair, 'subject' | 'floor'> & {
    readonly subject: Pick<Side, 'name'>;
    readonly floor: Pick<Side, 'name'>;
  },
  rounds: readonly Round[],
  { loadBefore, smoke }: Pick<Measuring, 'loadBefore' | 'smoke'>,
): Row {
  const figure = pair.figure ?? 'per_second';
  const told = (side: Measured) => side[figure] ?? Number.NaN;
  const ratios = rounds.map(({ floor, subject }) => told(subject) / told(floor));
  const ratio = median(ratios);
  const [min, max] = [Math.min(...ratios), Math.max(...ratios)];
  const subject = middle(rounds.map((round) => round.subject));
  const floor = middle(rounds.map((round) => round.floor));
  const marks = [
    ...(smoke ? ['smoke'] : []),
    ...((max - min) / ratio > SPREAD_MAX ? ['spread'] : []),
    ...(loadBefore > idleLoadMax() ? ['load'] : []),
    ...(subject.per_second > CEILING_SHARE_MAX * (pair.ceiling_per_second ?? Infinity)
      ? ['generator-bound']
      : []),
  ];
  const errors = rounds.reduce((sum, each) => sum + each.floor.errors + each.subject.errors, 0);
  return {
    id: pair.id,
    subject: pair.subject.name,
    floor: pair.floor.name,
    figure,
    ratio,
    min,
    max,
    goal: goalText(pair.goal),
    verdict: verdictOf(ratio, pair.goal, errors, marks),
    marks,
    subject_measured: subject,
    floor_measured: floor,
  };
}

/**
 * Formats a row as one line for the console. A void row shows no figure, because wrong answers may be faster than right
 * ones.
 */
export const resultLine = (row: Row): string =>
  row.verdict === 'void'
    ? `${row.id}: void, ${wrongAnswers(row)} answers were not the expected ones`
    : `${row.id}: ${row.ratio.toFixed(2)} (${row.goal || 'no goal'}) ${row.verdict}`;

const wrongAnswers = ({ subject_measured, floor_measured }: Row): number =>
  subject_measured.errors + floor_measured.errors;

/** The highest load at which the machine counts as idle: half the number of cores. */
const idleLoadMax = () => availableParallelism() / 2;

function verdictOf(
  ratio: number,
  goal: Goal | undefined,
  errors: number,
  marks: readonly string[],
): Verdict {
  if (errors > 0 || !Number.isFinite(ratio)) return 'void';
  if (marks.includes('spread') || marks.includes('load')) return 'noisy';
  if (goal === undefined) return 'info';
  const met = 'at_least' in goal ? ratio >= goal.at_least : ratio <= goal.at_most;
  return met ? 'met' : 'missed';
}

export const goalText = (goal: Goal | undefined): string => {
  if (goal === undefined) return '';
  return 'at_least' in goal ? `>= ${goal.at_least}` : `<= ${goal.at_most}`;
};

function middle(all: readonly Measured[]): Measured {
  const of = (pick: (each: Measured) => number | undefined) =>
    median(all.map((each) => pick(each) ?? Number.NaN));
  return {
    per_second: of((each) => each.per_second),
    p50_ms: of((each) => each.p50_ms),
    p99_ms: of((each) => each.p99_ms),
    cpu_ms: of((each) => each.cpu_ms),
    rss_mb: of((each) => each.rss_mb),
    per_cpu_second: of((each) => each.per_cpu_second),
    per_own_cpu_second: of((each) => each.per_own_cpu_second),
    errors: all.reduce((sum, each) => sum + each.errors, 0),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? Number.NaN)) / 2;
}
