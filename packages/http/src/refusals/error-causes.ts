/** Deeper causes say nothing more about a failure, and a chain of causes may be circular. */
const CAUSES_MAX = 5;

/** An error and its causes, outermost first. Empty if the value is no error. */
export function errorAndCauses(thrown: unknown): readonly Error[] {
  const errors: Error[] = [];
  for (
    let error = thrown;
    errors.length < CAUSES_MAX && error instanceof Error;
    error = error.cause
  ) {
    errors.push(error);
  }
  return errors;
}
