/**
 * The steps of creating an account. Each step states the number of streams it appends to, so that a refusal can cost as
 * much.
 */

export type Step<Args extends readonly unknown[], Result> = {
  readonly appends: number;
  readonly run: (...args: Args) => Promise<Result>;
};

export const step = <Args extends readonly unknown[], Result>(
  appends: number,
  run: (...args: Args) => Promise<Result>,
): Step<Args, Result> => ({ appends, run });

export const appendsOf = (steps: readonly { readonly appends: number }[]): number =>
  steps.reduce((sum, { appends }) => sum + appends, 0);
