/**
 * A record without a readable envelope. Its stream is unknown, so no stream can be parked. The record is stored
 * unchanged with its topic, partition and offset, so that a person can inspect it.
 */
export type DeadLetter = {
  /** The record's own key, so that records with the same key stay in one partition. */
  readonly key: string;
  readonly from: { readonly topic: string; readonly partition: number; readonly offset: string };
  /** The reason why it cannot be read, without any value. */
  readonly faults: readonly string[];
  readonly value: unknown;
};

/** Delivers at least once; durable when the promise resolves. */
export interface DeadLetters {
  putAway(topic: string, letters: readonly DeadLetter[]): Promise<void>;
}

export const deadLetterTopicOf = (consumer: string): string => `cardea.${consumer}.dlq.v1`;
