import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlLine } from './curl-line.ts';

const contract = { method: 'post', path: '/api/v1/lamps/{id}' } as const;
const call = (body: object, id = 'a b') =>
  curlLine({
    endpoint: { contract } as never,
    baseUrl: 'https://cardea.example',
    tenantId: "o'neil",
    params: { id },
    query: { limit: '50' },
    body,
  });

/** The arguments that a shell passes to curl. */
const argumentsOf = (line: string): readonly string[] =>
  execFileSync('sh', ['-c', line.replace(/^curl/, `printf '%s\\0'`)], {
    env: { TOKEN: 'the token', PASSWORD: `it's "secret"` },
  })
    .toString()
    .split('\0')
    .slice(0, -1);

describe('the call of a page as a line for a shell', () => {
  it('is one whatever stands in it, and names secrets', () => {
    const line = call({ name: `'; rm -rf "x" $HOME`, password: '$PASSWORD' });
    expect(line).not.toContain('secret');
    expect(argumentsOf(line)).toEqual([
      '-X',
      'POST',
      'https://cardea.example/api/v1/lamps/a%20b?limit=50',
      '-H',
      'Authorization: Bearer the token',
      '-H',
      `X-Service-Tenant: o'neil`,
      '-H',
      'Content-Type: application/json',
      '-d',
      `{"name":"'; rm -rf \\"x\\" $HOME","password":"it's "secret""}`,
    ]);
  });

  it('has no body where there is nothing to send', () => {
    expect(call({})).not.toContain('-d');
  });
});
