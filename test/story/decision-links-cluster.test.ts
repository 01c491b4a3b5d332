/**
 * Tests a decision from a mail and from a chat, with two processes of each service behind nginx. The short form plays
 * it with one process: `decision-links.test.ts`.
 */
import { testForm, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
  ISSUER,
} from '../../services/identity/test/chromium-fixture.ts';
import { company, testCluster } from '../cluster-fixture.ts';
import { decidesFromLinks } from './decision-links.ts';

const STORY_MS = 180_000;
const processes = testCluster({ replicas: 2, env: { PUBLIC_URL: ISSUER, ISSUER } });
let chat: WebhookSink | undefined;
let browser: ChromiumFixture | undefined;
beforeAll(async () => {
  chat = await webhookSink();
});
afterAll(async () => {
  await browser?.stop();
  await chat?.close();
});

describe.runIf(testForm.long && CHROMIUM !== undefined)(
  'people 3 two processes of each service',
  () => {
    it(
      'take a decision from the mail’s link and from a chat message, by passkey and number',
      async () => {
        const { gateway, mailbox } = processes.cluster.addresses();
        browser = await chromiumFixture(gateway);
        if (chat === undefined) throw new Error('there is no chat');
        const { rest } = processes;
        const admin = await company(rest);
        await decidesFromLinks({ rest, admin, mailbox, chat, browser, publicUrl: ISSUER });
      },
      STORY_MS,
    );
  },
);
