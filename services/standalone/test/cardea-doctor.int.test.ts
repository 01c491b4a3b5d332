import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@cardea/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { cardeaFixture, SECRETS } from './cardea-fixture.ts';

const database = testDatabase();
const nowhere = mkdtempSync(join(tmpdir(), 'cardea-cli-empty-'));
const { run: cardea, folder, remove } = cardeaFixture(() => database.url);
afterAll(() => {
  remove();
  rmSync(nowhere, { recursive: true, force: true });
});

describe('O13 doctor, of what the settings tell', () => {
  type Found = { readonly status: string; readonly detail: string; readonly fix?: string };
  const finding = async (name: string, env: { [name: string]: string }, data = true) => {
    const ran = await cardea(`doctor ${data ? `--data ${folder} ` : ''}--json`, env);
    const { checks } = JSON.parse(ran.out) as { checks: (Found & { name: string })[] };
    return checks.find((check) => check.name === name);
  };

  it('warns of each server that is spoken to in plaintext, allowed or not', async () => {
    const SMTP_URL = 'smtp://user:canary-of-the-mail@mail.test:2525';
    expect(await finding('plaintext', {})).toMatchObject({ status: 'ok' });
    const found = await finding('plaintext', { SMTP_URL });
    expect(found).toMatchObject({ status: 'warning', detail: 'SMTP_URL mail.test:2525' });
    const allowed = { SMTP_URL, CARDEA_REQUIRE_TLS: 'true', CARDEA_ALLOW_PLAINTEXT: 'mail.test' };
    expect(await finding('plaintext', allowed)).toMatchObject({
      status: 'warning',
      detail: 'SMTP_URL mail.test:2525 (allowed)',
    });
  });

  it('warns where a proxy stands in front and is not believed', async () => {
    const PUBLIC_URL = 'https://cardea.example.com';
    const name = 'client addresses';
    expect(await finding(name, {})).toMatchObject({ status: 'ok' });
    expect(await finding(name, { PUBLIC_URL })).toMatchObject({ status: 'warning' });
    const believed = { PUBLIC_URL, TRUSTED_PROXIES: '127.0.0.1' };
    expect(await finding(name, believed)).toMatchObject({ status: 'ok' });

    const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
    const containers = { JWT_SECRET, ENCRYPTION_KEY, REDIS_URL: 'redis://127.0.0.1:1' };
    const fixOf = async (env: { [name: string]: string }) =>
      (await finding(name, { ...containers, CARDEA_DATA: nowhere, ...env }, false))?.fix;
    expect(await fixOf({})).toContain('set TRUSTED_PROXIES');
    expect(await fixOf(believed)).toContain('set GATEWAY_TRUSTED_PROXIES');
    expect(await fixOf({ ...believed, GATEWAY_TRUSTED_PROXIES: '10.1.0.0/16' })).toBeUndefined();
  });

  it('warns of mail that has no way out in production', async () => {
    expect(await finding('mail', {})).toMatchObject({ status: 'ok' });
    const found = await finding('mail', { ENV: 'production' });
    expect(found).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/\d+ mails wait/),
    });
  });
});
