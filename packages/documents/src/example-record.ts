import type { PublishedEvent } from './published-events.ts';
import { recordHeaders } from './record-headers.ts';

/** Headers of an ordinary record of this event: the required ones, and the epoch. */
export function exampleHeaders(event: PublishedEvent): { readonly [header: string]: string } {
  const shown = new Set([...(recordHeaders.required ?? []), 'ce_logepoch']);
  const examples = Object.entries(recordHeaders.properties ?? {})
    .filter(([header]) => shown.has(header))
    .map(([header, schema]) => [header, String(schema.enum?.[0] ?? schema.examples?.[0])]);
  return {
    ...Object.fromEntries(examples),
    ce_type: event.type,
    ce_source: event.service,
    ce_subject: `${event.type.split('.').at(-2)}-${EXAMPLE_STREAM}`,
    ce_schemaversion: String(event.version),
  };
}

const EXAMPLE_STREAM = '01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55';
