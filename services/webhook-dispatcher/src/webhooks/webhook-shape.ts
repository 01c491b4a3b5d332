/** The schemas of webhooks for clients (`docs/contract.md` 2.8). */
import { documented, named, Time, type WebhookEvent, webhookPayloads } from '@cardea/contracts';
import { type UrlRule, validateUrl } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import Type, { type Static } from 'typebox';

const EVENTS_MAX = 32;
const EVENT_CHARS_MAX = 100;
const DESCRIPTION_CHARS_MAX = 256;
const URL_SENT_CHARS_MAX = 16_384;
const ID_CHARS_MAX = 128;

export const idParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }) });

/** The schema accepts URLs longer than the limit, so that the handler refuses them with a specific code. */
export const urlField = documented(Type.String({ maxLength: URL_SENT_CHARS_MAX }), {
  format: 'uri',
  pattern: '^https?://',
});
/** An unknown event is refused with 400 `unknown_event`. */
const eventField = documented(Type.String({ maxLength: EVENT_CHARS_MAX }), {
  pattern: `^(?:${Object.keys(webhookPayloads).join('|').replaceAll('.', '[.]')})$`,
});
export const eventsField = Type.Array(eventField, {
  minItems: 1,
  maxItems: EVENTS_MAX,
  uniqueItems: true,
});
export const descriptionField = Type.String({
  maxLength: DESCRIPTION_CHARS_MAX,
  // Control characters are not allowed.
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
});

export const webhookShape = named(
  'Webhook',
  Type.Object({
    id: Type.String(),
    url: Type.String(),
    description: Type.Optional(Type.String()),
    events: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    created_at: Time,
  }),
);
export type WebhookShape = Static<typeof webhookShape>;

export const notFound = (id: string) =>
  ({ refused: 'webhook_not_found', target: { type: 'webhook', id } }) as const;

const EVENTS = Object.keys(webhookPayloads);
const isEvent = (name: string): name is WebhookEvent => Object.hasOwn(webhookPayloads, name);

/** Returns undefined if one of the names is not an event. */
export const readEvents = (names: readonly string[]): readonly WebhookEvent[] | undefined =>
  names.every(isEvent) ? names : undefined;
/** Names each unknown event by its index, and lists all events. */
export const unknownEvent = (names: readonly string[]) =>
  ({
    refused: 'unknown_event',
    details: names.flatMap((name, index) =>
      isEvent(name) ? [] : [{ field: `events.${index}`, rule: 'unknown', allowed: EVENTS }],
    ),
  }) as const;

export function readUrl(
  url: string,
  settings: Pick<Settings, 'ENV' | 'WEBHOOK_ALLOWED_CIDRS'>,
): { readonly origin: string } | { readonly rule: UrlRule } {
  const policy = { env: settings.ENV, allowedCidrs: settings.WEBHOOK_ALLOWED_CIDRS };
  const judged = validateUrl(url, policy);
  return 'rule' in judged ? judged : { origin: judged.url.origin };
}
export const invalidUrl = (rule: UrlRule) =>
  ({ refused: 'invalid_url', details: [{ field: 'url', rule }] }) as const;
