import { describe, expect, it } from 'vitest';
import { readUrl } from './webhook-shape.ts';

const ruleOf = (url: string, ENV: 'development' | 'production') => {
  const judged = readUrl(url, { ENV, WEBHOOK_ALLOWED_CIDRS: [] });
  return 'rule' in judged ? judged.rule : judged.origin;
};

describe('the URL of a webhook', () => {
  it.each([
    ['http://example.com/', 'https'],
    ['http://localhost/', 'https'],
    ['https://localhost/', 'host'],
    ['https://127.0.0.1/', 'private_address'],
    ['https://[::1]/', 'private_address'],
    ['https://hooks.example.com:8443/x?token=1', 'https://hooks.example.com:8443'],
  ])('webhooks 15 in production %s is %s', (url, judged) => {
    expect(ruleOf(url, 'production')).toBe(judged);
  });

  it.each([
    ['http://localhost:3000/', 'http://localhost:3000'],
    ['http://127.0.0.1/', 'http://127.0.0.1'],
    ['http://[::1]:80/', 'http://[::1]'],
    ['http://example.com/', 'https'],
    ['https://10.0.0.1/', 'private_address'],
    ['http://169.254.169.254/', 'https'],
    ['https://169.254.169.254/', 'private_address'],
  ])('webhooks 15 in development %s is %s', (url, judged) => {
    expect(ruleOf(url, 'development')).toBe(judged);
  });
});
