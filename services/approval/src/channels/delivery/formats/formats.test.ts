/**
 * Compares messages with each vendor's documentation, from the page and date that its fixture names, and with the
 * vendors' own types and parser.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ActionsBlock, HeaderBlock, SectionBlock } from '@slack/types';
import type * as AdaptiveCards from 'adaptivecards';
import type { RESTPostAPIWebhookWithTokenJSONBody } from 'discord-api-types/v10';
import { describe, expect, it } from 'vitest';
import type { RequestFacts } from '../../../requests/requests.module.ts';
import {
  type ChannelMessage,
  messageOfRequest,
  messageOfSeveral,
  messageOfTest,
} from '../channel-message.ts';
import { discordBody } from './discord.ts';
import { type Outcome, outcomeOf, requestTo } from './formats.ts';
import { ntfyBody } from './ntfy.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';

// The package's modules import each other without extensions, which Node accepts only in the bundle.
const { AdaptiveCard, RichTextBlock, OpenUrlAction, SerializationContext, TextRun, Versions } =
  createRequire(import.meta.url)('adaptivecards/dist/adaptivecards.js') as typeof AdaptiveCards;

type Answer = {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: string;
  readonly outcome: Outcome['kind'];
  readonly afterMs?: number;
};
type Fixture = {
  readonly sources: readonly string[];
  readonly read: string;
  readonly answers: readonly Answer[];
  readonly limits: { readonly [name: string]: number };
  readonly [more: string]: unknown;
};
const fixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));

const SLACK = fixture('slack');
const TEAMS = fixture('teams');
const DISCORD = fixture('discord');
const NTFY = fixture('ntfy');
const limit = ({ limits }: Fixture, name: string): number => limits[name] ?? Number.NaN;

const FOREIGN = [
  '<!channel> <!here> <@U123>',
  '@everyone @here <@&1234>',
  '[free money](https://evil.example) **bold** `code` ~~x~~ ||y|| > quote # head',
  '<https://evil.example|click> https://evil.example/x',
  '{{DATE(2017-02-14T06:00:00Z, SHORT)}}',
];
const LONG = 'x'.repeat(4_000);

const facts = (words: string, fields = [words]): RequestFacts => ({
  id: 'r1',
  tenant_id: 't1',
  agent_id: 'bot',
  agent_name: words,
  user_id: 'ann',
  action: 'credential_access',
  resource: words,
  severity: 'high',
  ttl_seconds: 300,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:05:00.000Z',
  origin: 'vend',
  channels: ['chat'],
  binding: {
    digest: 'd',
    session_id: 's',
    service_name: words,
    fields,
    policies: [],
    use_window_seconds: 60,
    number_match: false,
    code: { subject: 's', box: 'b' },
  },
});
const PAGE = 'https://cardea.example/approve/r1?in=t1';
const messageWith = (words: string): ChannelMessage =>
  messageOfRequest(facts(words), { language: 'en', person: words, page: PAGE });
const messages = (): readonly ChannelMessage[] => [
  ...[...FOREIGN, LONG, '🦊'.repeat(4_000), '\\'.repeat(4_000)].map(messageWith),
  messageOfRequest(
    facts(
      'a',
      Array.from({ length: 400 }, (_, n) => `field-${n}`),
    ),
    {
      language: 'de',
      person: 'Ann',
      page: PAGE,
    },
  ),
  messageOfSeveral('200+', { language: 'en', page: PAGE }),
  messageOfTest(LONG, { language: 'de', page: PAGE }),
];
const chars = (text: string): number => text.length;

describe('approval 32 what channels are told', () => {
  it('names agent, service, fields, severity, person, time and page, and nothing else', () => {
    const {
      title,
      facts: said,
      link,
    } = messageOfRequest(facts('github', ['token', 'user']), {
      language: 'en',
      person: 'Ann',
      page: PAGE,
    });
    expect(title).toBe('github asks for a decision');
    expect(Object.fromEntries(said)).toEqual({
      Service: 'github',
      Fields: 'token, user',
      Severity: 'high',
      'Who decides': 'Ann',
      'Open until': '2026-01-01 00:05 UTC',
    });
    expect(link).toEqual({ label: 'Look at the request', url: PAGE });
  });

  it.each([
    ['en', ['Released for', 'at most 1 hour']],
    ['de', ['Freigegeben für', 'höchstens 1 Stunde']],
  ] as const)('says how long a vend releases the values: %s', (language, released) => {
    const { binding, ...rest } = facts('github');
    const vend = { ...rest, binding: binding && { ...binding, grant_ttl_seconds: 3_600 } };
    const of = { language, person: 'Ann', page: PAGE };
    expect(messageOfRequest(vend as RequestFacts, of).facts).toContainEqual(released);
  });

  it.each([SLACK, TEAMS, DISCORD, NTFY])('has a fixture with its pages and their date', (of) => {
    expect(of.sources.every((url) => URL.canParse(url))).toBe(true);
    expect(Number.isNaN(Date.parse(of.read))).toBe(false);
  });
});

describe('approval 32 Slack', () => {
  it('gets blocks of the forms that it publishes, within its limits', () => {
    for (const message of messages()) {
      const { blocks } = slackBody(message);
      // This also compiles against the vendor's own types.
      const typed: readonly (HeaderBlock | SectionBlock | ActionsBlock)[] = blocks;
      const published = (SLACK['example'] as { blocks: readonly { type: string }[] }).blocks;
      expect(published.map(({ type }) => type)).toEqual(
        expect.arrayContaining(typed.map(({ type }) => type)),
      );
      const headers = typed.flatMap((block) => (block.type === 'header' ? [block.text] : []));
      const fields = typed.flatMap((block) =>
        block.type === 'section' ? [block.fields ?? []] : [],
      );
      for (const { text } of headers) {
        expect(chars(text)).toBeLessThanOrEqual(limit(SLACK, 'header_characters'));
      }
      for (const each of fields) expect(each.length).toBeLessThanOrEqual(limit(SLACK, 'fields'));
      for (const { text } of fields.flat()) {
        expect(chars(text)).toBeLessThanOrEqual(limit(SLACK, 'field_characters'));
      }
    }
  });

  it('reads no mention and no link in words of others: they are plain text alone', () => {
    for (const words of FOREIGN) {
      const body = slackBody(messageWith(words));
      expect(body.text).toBe('A request waits for a decision.');
      expect(JSON.stringify(body)).not.toContain('mrkdwn');
      expect(body).toMatchObject({ unfurl_links: false, unfurl_media: false });
    }
  });
});

describe('approval 32 Teams', () => {
  it('gets one card within 28 KB that the parser of Adaptive Cards reads without a complaint', () => {
    for (const message of messages()) {
      const body = teamsBody(message);
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(limit(TEAMS, 'bytes'));
      const { attachments, ...rest } = body;
      const published = TEAMS['example'] as { attachments: readonly [object] };
      expect(rest).toEqual({ type: 'message' });
      expect(Object.keys(attachments[0] ?? {})).toEqual(Object.keys(published.attachments[0]));
      const card = new AdaptiveCard();
      const context = new SerializationContext(Versions.v1_2);
      card.parse(attachments[0]?.content, context);
      expect(context.eventCount).toBe(0);
      expect(card.validateProperties().validationEvents).toEqual([]);
      expect(card.getActionCount()).toBe(1);
      expect((card.getActionAt(0) as AdaptiveCards.OpenUrlAction).url).toBe(PAGE);
      expect(card.getActionAt(0)).toBeInstanceOf(OpenUrlAction);
    }
  });

  it('reads no Markdown and no function in words of others: they are text runs', () => {
    for (const words of FOREIGN) {
      const { content } = teamsBody(messageWith(words)).attachments[0] ?? {};
      const card = new AdaptiveCard();
      card.parse(content, new SerializationContext(Versions.v1_2));
      for (let index = 0; index < card.getItemCount(); index += 1) {
        const block = card.getItemAt(index) as AdaptiveCards.RichTextBlock;
        expect(block).toBeInstanceOf(RichTextBlock);
        for (let run = 0; run < block.getInlineCount(); run += 1) {
          expect(block.getInlineAt(run)).toBeInstanceOf(TextRun);
        }
      }
      for (const kind of TEAMS['markdown_in'] as readonly string[]) {
        expect(JSON.stringify(content)).not.toContain(`"${kind}"`);
      }
      expect(JSON.stringify(content)).not.toContain('{{');
    }
  });
});

describe('approval 32 Discord', () => {
  it('gets one embed within its limits', () => {
    for (const message of messages()) {
      const body: RESTPostAPIWebhookWithTokenJSONBody = discordBody(message);
      expect(DISCORD['parameters']).toEqual(expect.arrayContaining(Object.keys(body)));
      const [embed] = body.embeds ?? [];
      const { title = '', description = '', fields = [] } = embed ?? {};
      expect(body.embeds).toHaveLength(1);
      expect(chars(title)).toBeLessThanOrEqual(limit(DISCORD, 'title_characters'));
      expect(chars(description)).toBeLessThanOrEqual(limit(DISCORD, 'description_characters'));
      expect(fields.length).toBeLessThanOrEqual(limit(DISCORD, 'fields'));
      for (const { name, value } of fields) {
        expect(chars(name)).toBeLessThanOrEqual(limit(DISCORD, 'field_name_characters'));
        expect(chars(value)).toBeGreaterThan(0);
        expect(chars(value)).toBeLessThanOrEqual(limit(DISCORD, 'field_value_characters'));
      }
      const all = [title, description, ...fields.flatMap(({ name, value }) => [name, value])];
      expect(chars(all.join(''))).toBeLessThanOrEqual(limit(DISCORD, 'all_characters'));
    }
  });

  it('mentions nobody, and every mark in words of others is escaped', () => {
    for (const words of [...FOREIGN, '\\'.repeat(4_000)]) {
      const { allowed_mentions, embeds } = discordBody(messageWith(words));
      const example = DISCORD['example'] as { allowed_mentions: object };
      expect(allowed_mentions).toEqual(example.allowed_mentions);
      const said = [embeds[0]?.title ?? '', ...(embeds[0]?.fields ?? []).map(({ value }) => value)];
      for (const text of said) {
        expect(text.replaceAll(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
      }
    }
  });
});

describe('approval 32 ntfy', () => {
  it('gets JSON at the root of the server, with the topic of the URL and the token as bearer', () => {
    const { url, headers, body } = requestTo('ntfy', messageWith('a'), {
      url: 'https://ntfy.example/my-topic_1',
      token: 'tk_1',
    });
    expect(url).toBe('https://ntfy.example/');
    expect(headers).toMatchObject({ Authorization: 'Bearer tk_1' });
    expect(JSON.parse(String(body))).toMatchObject({ topic: 'my-topic_1', click: PAGE });
  });

  it('gets the fields that it publishes, within 4,096 bytes, never as Markdown', () => {
    for (const message of messages()) {
      const body = ntfyBody(message, 'topic');
      const types = NTFY['fields'] as { readonly [name: string]: string };
      for (const [name, value] of Object.entries(body)) expect(typeof value).toBe(types[name]);
      expect(body).not.toHaveProperty('markdown');
      expect(NTFY['priorities']).toContain(body.priority);
      expect(body.message).not.toBe('');
      expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(limit(NTFY, 'message_bytes'));
    }
  });
});

describe('approval 32 an answer', () => {
  it.each([SLACK, TEAMS, DISCORD, NTFY].flatMap(({ answers }) => answers))(
    '$status $body is $outcome',
    ({ status, headers = {}, body, outcome, afterMs }) => {
      const read = outcomeOf({ status, headers, body: Buffer.from(body) });
      expect(read).toMatchObject({ kind: outcome, ...(afterMs === undefined ? {} : { afterMs }) });
      // Nothing of the receiver's response is kept.
      expect(body === '' || !JSON.stringify(read).includes(body)).toBe(true);
    },
  );

  it('asks for no pause above a quarter of an hour, and for none that is no number', () => {
    const answeredWith = (value: string) =>
      outcomeOf({ status: 429, headers: { 'retry-after': value }, body: Buffer.alloc(0) });
    expect(answeredWith('99999999')).toMatchObject({ afterMs: 900_000 });
    expect(answeredWith('Fri, 31 Dec 1999 23:59:59 GMT')).not.toHaveProperty('afterMs');
    expect(answeredWith('-5')).not.toHaveProperty('afterMs');
  });

  it('of a redirect is final, and its target is not looked at', () => {
    const moved = { location: 'http://169.254.169.254/' };
    expect(outcomeOf({ status: 302, headers: moved, body: Buffer.alloc(0) })).toEqual({
      kind: 'rejected',
      error: 'status_302',
    });
  });
});
