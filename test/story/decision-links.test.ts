/** Tests a decision from a mail and from a chat, with one process. */
import { processFixture, testDatabase, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
  ISSUER,
} from '../../services/identity/test/chromium-fixture.ts';
import { type Instance, instance } from '../faults/instance.ts';
import { decidesFromLinks } from './decision-links.ts';

const STORY_MS = 180_000;
const database = testDatabase();
const processes = processFixture();
let cardea: Instance;
let chat: WebhookSink;
let browser: ChromiumFixture | undefined;
beforeAll(async () => {
  chat = await webhookSink();
  cardea = await instance(processes, { DATABASE_URL: database.url, PUBLIC_URL: ISSUER, ISSUER });
  await cardea.start();
  if (CHROMIUM !== undefined) browser = await chromiumFixture(cardea.base);
});
afterAll(async () => {
  await browser?.stop();
  await chat?.close();
});

describe.skipIf(CHROMIUM === undefined)('people 3 one process', () => {
  it(
    'takes a decision from the mail’s link and from a chat message, by passkey and number',
    async () => {
      if (browser === undefined) throw new Error('there is no browser');
      const { rest, base: mailbox } = cardea;
      const admin = await cardea.admin();
      await decidesFromLinks({ rest, admin, mailbox, chat, browser, publicUrl: ISSUER });
    },
    STORY_MS,
  );
});
