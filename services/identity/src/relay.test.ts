/** Tests that fields documented as erased with the user are null in events that are published after the erasure. */
import { identityEvents, PERSONAL_DATA } from '@cardea/contracts';
import type { RelayMapper } from '@cardea/event-bus';
import { type AnyStream, type RecordedEvent, type Stream, stateAfter } from '@cardea/event-store';
import { describe, expect, it } from 'vitest';
import { accountsRelay } from './accounts/accounts-relay.ts';
import { sessionsRelay } from './sessions/sessions-relay.ts';

const relayed = (event: RecordedEvent, tools: Parameters<RelayMapper>[1]) =>
  (accountsRelay[event.type] ?? sessionsRelay[event.type])?.(event, tools);

const AT = '2031-05-04T03:02:01.007Z';
const sealed = (box: string) => ({ subject: 'user:ann', box });
const recorded = (streamId: string, type: string, data: object) =>
  ({ streamId, type, data }) as unknown as RecordedEvent;

const registered = recorded('user-ann', 'UserRegistered', {
  ...{ id: 'ann', email: sealed('ann@example.com'), email_hash: 'hash', email_verified: true },
  ...{ display_name: sealed('Ann'), avatar_url: null, roles: [], via: 'register' },
  ...{ vouched: false, request_hash: null, created_at: AT },
});
const user = { id: 'ann', email: 'ann@example.com', display_name: 'Ann', locale: 'de-CH' };
const snapshot = { ...user, email_verified: true, roles: [], status: 'active', created_at: AT };
const started = recorded('session-1', 'SessionStarted', {
  ...{ id: '1', user_id: 'ann', via: 'login', method: 'password', amr: ['pwd'] },
  ...{ user: sealed(JSON.stringify(snapshot)), ip: sealed('192.0.2.7') },
  ...{ user_agent: sealed('Mozilla/5.0 (X11; Linux x86_64) Firefox/131.0') },
  ...{ started_at: AT, last_active_at: AT, expires_at: AT },
});

/** Returns the values of the fields with this annotation, at any depth. */
const marked = (schema: unknown, data: unknown, mark: string): readonly unknown[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, anyOf, [PERSONAL_DATA]: own } = schema as { [keyword: string]: object };
  if (String(own) === mark) return [data];
  if (Array.isArray(anyOf)) return anyOf.flatMap((one: unknown) => marked(one, data, mark));
  return Object.entries(properties ?? {}).flatMap(([name, inner]) =>
    marked(inner, (data as { [name: string]: unknown } | null)?.[name], mark),
  );
};

describe.each([
  ['user.created', registered],
  ['user.login', started],
])('%s', (type, event) => {
  const published = async (open: (box: string) => string | null) => {
    const tools = {
      open: async ({ box }: { readonly box: string }) => open(box),
      stateAt: async (stream: AnyStream) => stateAfter(stream as Stream<unknown, never>, [event]),
      history: async () => [event],
    };
    const mapped = await relayed(event, tools);
    return mapped as { readonly type: string; readonly data: object };
  };
  const schema = identityEvents.kind(type, 1)?.schema;

  it('tells who the person is', async () => {
    const { type: said, data } = await published((box) => box);
    expect(said).toBe(type);
    const erasable = marked(schema, data, 'erasable');
    // A new user has no language; it is chosen later.
    const chosen = type === 'user.created' ? [null] : ['de-CH'];
    expect(erasable).toEqual(expect.arrayContaining(['ann@example.com', 'Ann', ...chosen]));
    expect(erasable.filter((value) => value === null)).toHaveLength(
      type === 'user.created' ? 1 : 0,
    );
  });

  it('tells nothing of them once they are erased', async () => {
    const { data } = await published(() => null);
    expect(new Set(marked(schema, data, 'erasable'))).toEqual(new Set([null]));
    // Each value must be empty, null or missing.
    expect(marked(schema, data, 'derived').filter(Boolean)).toEqual([]);
    expect(JSON.stringify(data)).not.toMatch(/ann@|Ann|de-CH|192\.0|Firefox/);
  });
});

describe('a vouch', () => {
  const said = recorded('user-ann', 'UserVouched', { id: 'ann', at: AT });
  const taken = recorded('user-ann', 'VouchWithdrawn', { id: 'ann', at: AT });
  const publishedOf = async (...history: readonly RecordedEvent[]) => {
    const event = history.at(-1) as RecordedEvent;
    const tools = {
      open: async () => null,
      stateAt: async (stream: AnyStream) => stateAfter(stream as Stream<unknown, never>, history),
      history: async () => history,
    };
    return await relayed(event, tools);
  };

  it('is told as a change of the user, and so is the end of it', async () => {
    expect(await publishedOf(registered)).toMatchObject({ data: { vouched: false } });
    expect(await publishedOf(registered, said)).toMatchObject({
      type: 'user.updated',
      data: { id: 'ann', vouched: true, changed: ['vouched'] },
    });
    expect(await publishedOf(registered, said, taken)).toMatchObject({
      type: 'user.updated',
      data: { vouched: false, changed: ['vouched'] },
    });
  });
});
