/**
 * A record without a readable envelope: nobody can tell whose it is, so it can park no stream. It is
 * put away as it came, with its place, and looked at by a person.
 */
export type DeadLetter = {
  /** The record's own key, so that its neighbours stay together. */
  readonly key: string;
  readonly from: { readonly topic: string; readonly partition: number; readonly offset: string };
  /** What is wrong, without any value. */
  readonly faults: readonly string[];
  readonly value: unknown;
};

/** At least once, durable when it resolves. */
export interface DeadLetters {
  putAway(topic: string, letters: readonly DeadLetter[]): Promise<void>;
}

export const deadLetterTopicOf = (consumer: string): string => `cardea.${consumer}.dlq.v1`;
