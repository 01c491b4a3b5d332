import { createHmac } from 'node:crypto';
import { systemRandom } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { issueSecret, readKeys, SECRET_BYTES, signatureHeaders } from './signing.ts';

/** HMAC uses keys up to this length unchanged. Only longer keys may be stored as their hash. */
const HMAC_BLOCK_BYTES = 64;
const message = { id: 'm', at: new Date('2030-01-01T00:00:00.999Z'), body: '{"name":"Zoë"}' };

describe('a webhook’s secret', () => {
  it('is longer than a block of HMAC, as text and as bytes', () => {
    expect(issueSecret(systemRandom).secret).toHaveLength(94);
    expect(94).toBeGreaterThan(HMAC_BLOCK_BYTES);
    expect(SECRET_BYTES).toBeGreaterThan(HMAC_BLOCK_BYTES);
  });

  it('webhooks 2 verifies what its kept hashes have signed, in both forms', () => {
    const { secret, keys } = issueSecret(systemRandom);
    const headers = signatureHeaders(readKeys(keys), message);
    const whole = createHmac('sha256', secret).update(message.body).digest('hex');
    expect(headers['X-Service-Signature']).toBe(`sha256=${whole}`);
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = `m.1893456000.${message.body}`;
    const standard = createHmac('sha256', bytes).update(signed).digest('base64');
    expect(headers['webhook-timestamp']).toBe('1893456000');
    expect(headers['webhook-signature']).toBe(`v1,${standard}`);
  });

  it('cannot be read from what is kept', () => {
    const { secret, keys } = issueSecret(systemRandom);
    expect(Buffer.from(keys, 'base64')).toHaveLength(64);
    expect(keys).not.toContain(secret.slice(6, 20));
  });
});
