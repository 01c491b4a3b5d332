import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { changeWebhook } from './change/change.ts';
import { createWebhook } from './create/create.ts';
import { deleteWebhook } from './delete/delete.ts';
import { rotateSecret } from './rotate-secret/rotate-secret.ts';
import { type WebhookCreated, type WebhookFact, webhooks } from './webhook.ts';

const APP = 'warehouse';
const sealed = (box: string) => ({ subject: 'webhook:w', box });
const data: WebhookCreated['data'] = {
  url: sealed('url'),
  origin: 'https://receiver.example.com',
  events: ['user.created'],
  description: null,
  app_id: APP,
  keys: sealed('keys'),
  created_at: '2026-01-01T12:00:00.000Z',
  request_hash: 'hash',
};
const created: WebhookFact = { type: 'WebhookCreated', data };
const deleted: WebhookFact = { type: 'WebhookDeleted', data: {} };

describe('creating a webhook', () => {
  it('is done once; a repeat with another body is told so', () => {
    given(webhooks)
      .when((webhook) => createWebhook(webhook, data))
      .accepts(created);
    given(webhooks, created)
      .when((webhook) => createWebhook(webhook, data))
      .refuses('already_created');
    given(webhooks, created)
      .when((webhook) => createWebhook(webhook, { ...data, request_hash: 'another' }))
      .refuses('idempotency_key_reused');
  });

  it('tells a repeat after its deletion no more than that it was made', () => {
    given(webhooks, created, deleted)
      .when((webhook) => createWebhook(webhook, { ...data, request_hash: 'another' }))
      .refuses('already_created');
  });
});

describe('changing a webhook', () => {
  it('says only what is another now', () => {
    given(webhooks, created)
      .when((webhook) =>
        changeWebhook(webhook, { events: ['user.created'], enabled: false }, undefined),
      )
      .accepts({ type: 'WebhookChanged', data: { enabled: false } });
    given(webhooks, created)
      .when((webhook) => changeWebhook(webhook, { enabled: true, description: null }, APP))
      .accepts();
  });

  it('counts a URL that is sent as another one, for nobody can compare what is encrypted', () => {
    const url = { url: sealed('url'), origin: data.origin };
    given(webhooks, created)
      .when((webhook) => changeWebhook(webhook, url, APP))
      .accepts({ type: 'WebhookChanged', data: url });
  });

  it('switches one on again that was switched off for its failures', () => {
    const off: WebhookFact = {
      type: 'WebhookAutoDisabled',
      data: { failing_since: data.created_at, failures: 9 },
    };
    given(webhooks, created, off)
      .when((webhook) => changeWebhook(webhook, { enabled: true }, APP))
      .accepts({ type: 'WebhookChanged', data: { enabled: true } });
  });
});

describe('another secret of a webhook', () => {
  it('has the next version each time', () => {
    const rotated = (version: number): WebhookFact => ({
      type: 'SecretRotated',
      data: { version, keys: sealed('next') },
    });
    given(webhooks, created)
      .when((webhook) => rotateSecret(webhook, sealed('next'), APP))
      .accepts(rotated(2));
    given(webhooks, created, rotated(2))
      .when((webhook) => rotateSecret(webhook, sealed('next'), APP))
      .accepts(rotated(3));
  });
});

describe('a webhook of an application', () => {
  it('is not there for another application, nor for anybody once it is deleted', () => {
    for (const [history, app] of [
      [[created], 'another'],
      [[created, deleted], undefined],
      [[], undefined],
    ] as const) {
      const { state } = given(webhooks, ...history);
      const refused = { accepted: false, reason: 'webhook_not_found', events: [] };
      expect(changeWebhook(state, { enabled: false }, app)).toEqual(refused);
      expect(rotateSecret(state, sealed('next'), app)).toEqual(refused);
      expect(deleteWebhook(state, app)).toEqual(refused);
    }
    given(webhooks, created)
      .when((webhook) => deleteWebhook(webhook, APP))
      .accepts(deleted);
  });
});
