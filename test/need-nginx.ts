/** For tests that start a gateway. They are skipped by name if nginx is missing, unless CARDEA_REQUIRE names it. */
import { beforeAll, beforeEach } from 'vitest';
import { nginxCommand } from '../scripts/gateway/start.ts';

const MISSING = 'no nginx: apt-get install nginx-light, or NGINX_BINARY names its path';

/** Call it once, at the top of a file; returns the command, undefined if there is none. */
export function needNginx(): string | undefined {
  const command = nginxCommand();
  const isRequired = (process.env['CARDEA_REQUIRE'] ?? '').split(',').includes('nginx');
  beforeAll(() => {
    if (command === undefined && isRequired)
      throw new Error(`CARDEA_REQUIRE names nginx: ${MISSING}`);
  });
  beforeEach((context) => {
    if (command === undefined) context.skip(MISSING);
  });
  return command;
}
