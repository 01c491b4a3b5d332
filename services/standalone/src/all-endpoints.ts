/** Lists all endpoints of the product by service, from the code alone and without a running server. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { logger, readSettings } from '@cardea/runtime';
import { type ListedEndpoints, listEndpoints } from '@cardea/service';
import { services } from './services.ts';

/** This address is never connected to. */
const NOWHERE = 'postgres://nobody:nothing@127.0.0.1:1/nothing';
const SECRET_BYTES = 32;

export function allEndpoints(version: string): Promise<ListedEndpoints> {
  const secret = () => randomBytes(SECRET_BYTES).toString('hex');
  const read = readSettings(
    {
      DATABASE_URL: NOWHERE,
      JWT_SECRET: secret(),
      ENCRYPTION_KEY: secret(),
      ENV: 'production',
      CARDEA_DATA: tmpdir(),
    },
    { standalone: true },
  );
  if ('faults' in read) throw new Error(read.faults.map(({ name }) => name).join(', '));
  const log = logger({ service: 'gateway', version, level: 'error' });
  return listEndpoints({ settings: read.ok, version, log }, services);
}
