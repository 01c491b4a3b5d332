import { describe, expect, it } from 'vitest';
import type { ExistingWebhook } from '../../webhooks/webhook.ts';
import type { Delivery } from '../delivery.ts';
import { whyNotRetried } from './retry.ts';

const APP = 'warehouse';
const sealed = { subject: 'webhook:w', box: 'x' };
const webhook: ExistingWebhook = {
  status: 'standing',
  url: sealed,
  origin: 'https://receiver.example.com',
  events: ['user.created'],
  description: null,
  enabled: true,
  appId: APP,
  keyVersion: 1,
  createdAt: '2026-01-01T12:00:00.000Z',
  requestHash: null,
};
const delivery: Delivery = {
  status: 'failed',
  webhookId: 'w',
  appId: APP,
  event: 'user.created',
  origin: 'event',
  messageId: 'm',
  subject: 'user:t:ann',
  body: sealed,
  attempts: 3,
  attemptsMade: 3,
};
const why = (more: Partial<Parameters<typeof whyNotRetried>[0]> = {}) =>
  whyNotRetried({ delivery, webhook, n: 3, appId: APP, ...more });

describe('a delivery', () => {
  it('may be sent again whatever became of it', () => {
    for (const status of ['pending', 'succeeded', 'failed', 'cancelled'] as const) {
      expect(why({ delivery: { ...delivery, status } })).toBeUndefined();
    }
  });

  it('is not found by an attempt that was never made, nor by another application', () => {
    expect(why({ n: 4 })).toBe('delivery_not_found');
    expect(why({ delivery: { status: 'absent' } })).toBe('delivery_not_found');
    expect(why({ appId: 'another' })).toBe('delivery_not_found');
    expect(why({ appId: undefined })).toBeUndefined();
  });

  it('has to have a webhook that takes something', () => {
    expect(why({ webhook: { ...webhook, enabled: false } })).toBe('webhook_unavailable');
    expect(why({ webhook: { status: 'deleted' } })).toBe('webhook_unavailable');
  });
});
