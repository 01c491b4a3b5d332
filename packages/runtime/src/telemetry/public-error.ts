import { sqlConditionOf } from './sql-conditions.ts';

/** The part of an error that may be logged: name, code, frames, and the message if our code wrote it. */
export type PublicError = {
  readonly name: string;
  readonly code?: string;
  /** PostgreSQL's name of the code. */
  readonly condition?: string;
  readonly message?: string;
  readonly frames: readonly string[];
  readonly cause?: PublicError;
};

const CAUSES_MAX = 3;
const FRAMES_MAX = 12;
const NAME = /^[\w.]{1,64}$/;

/**
 * Libraries and the engine quote input in their messages (`JSON.parse`, `pg`, a TypeError), and attach bodies and rows
 * to their errors. So only the parts listed here are logged, and a message only if our own code wrote it.
 */
export function publicError(error: unknown, causesLeft: number = CAUSES_MAX): PublicError {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] };
  const { code } = error as { code?: unknown };
  const condition = sqlConditionOf(code);
  const frames = framesOf(error);
  return {
    name: NAME.test(error.name) ? error.name : 'Error',
    ...(typeof code === 'string' && NAME.test(code) ? { code } : {}),
    ...(condition === undefined ? {} : { condition }),
    ...(isOurs(error, frames) ? { message: error.message } : {}),
    frames: frames.slice(0, FRAMES_MAX),
    ...(error.cause === undefined || causesLeft === 0
      ? {}
      : { cause: publicError(error.cause, causesLeft - 1) }),
  };
}

/** The stack repeats the message, which may itself look like a frame, so it is cut off by its length. */
function framesOf(error: Error): readonly string[] {
  const stack = error.stack ?? '';
  const at = stack.indexOf(error.message);
  return stack
    .slice(at < 0 ? 0 : at + error.message.length)
    .split('\n')
    .filter((line) => /^ {4}at .*(:\d+:\d+\)?|<anonymous>\)?)$/.test(line))
    .map((line) => line.trim());
}

const OF_THE_ENGINE: readonly unknown[] = [
  TypeError,
  SyntaxError,
  RangeError,
  ReferenceError,
  URIError,
  EvalError,
  AggregateError,
];

/** Whether a line of our own source threw it, with a class of ours or plain `Error`. */
function isOurs(error: Error, frames: readonly string[]): boolean {
  if (OF_THE_ENGINE.includes(error.constructor) || 'code' in error) return false;
  const [first = ''] = frames;
  return (
    /\.ts:\d+:\d+\)?$/.test(first) && !first.includes('node_modules') && !first.includes('node:')
  );
}
