/**
 * States that are stored with events, so that a long stream need not be folded from its beginning. At intervals an
 * append stores the state after it in the metadata of its last event. A reader reads the stream's last events, and
 * folds from the last state among them.
 *
 * A state belongs to the code that made it. A state of another release is ignored. The stream is then folded from its
 * beginning, in pages, and the next change stores a state again.
 */
import { hash } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { EventMetadata, RecordedEvent } from '../event-store.ts';
import type { AnyStream } from './stream-states.ts';

/**
 * A state is stored when the last one is this many events back. This is far less than the number of events that are
 * read to find it.
 */
export const STATE_EVERY_EVENTS = 100;
const STATE_DEPTH_MAX = 16;

const forms = new WeakMap<AnyStream['evolve'], string>();

/** Identifies the code that makes states of this stream. */
function formOf({ evolve, initial }: AnyStream): string {
  const known = forms.get(evolve);
  if (known !== undefined) return known;
  const text = [packageJson.version, String(evolve), JSON.stringify(initial)].join('\n');
  const form = hash('sha256', text).slice(0, 16);
  forms.set(evolve, form);
  return form;
}

/** The metadata of an append's last event, with the state after it. JSON has to represent the state completely. */
export const withStoredState = (
  stream: AnyStream,
  metadata: EventMetadata,
  state: unknown,
): EventMetadata =>
  isPlain(state) ? { ...metadata, stored: { form: formOf(stream), state } } : metadata;

/** The last state among these events, and the events after it. */
export function lastStoredState(
  stream: AnyStream,
  events: readonly RecordedEvent[],
):
  | { readonly state: unknown; readonly storedAt: number; readonly rest: typeof events }
  | undefined {
  if (stream.stateCarrying) return undefined;
  const index = events.findLastIndex(({ metadata }) => metadata.stored?.form === formOf(stream));
  const found = events[index];
  if (found?.metadata.stored === undefined) return undefined;
  return {
    state: found.metadata.stored.state,
    storedAt: found.revision,
    rest: events.slice(index + 1),
  };
}

/** Whether JSON represents it completely: objects, lists, texts, numbers, booleans and null. */
export function isPlain(value: unknown, depth = 0): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === STATE_DEPTH_MAX) return false;
  if (Array.isArray(value)) {
    return value.every((each) => each !== undefined && isPlain(each, depth + 1));
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((each) => isPlain(each, depth + 1));
}
