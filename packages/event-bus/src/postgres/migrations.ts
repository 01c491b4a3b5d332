import { readFileSync } from 'node:fs';
import { migration as topics } from '../../migrations/0001-topics.ts';
import { migration as types } from '../../migrations/0002-types.ts';
import { migration as ownNotices } from '../../migrations/0003-own-notices.ts';
import { migration as sparedNotices } from '../../migrations/0004-spared-notices.ts';
import { migration as ownTopics } from '../../migrations/0010-own-topics.ts';
import { migration as replays } from '../../migrations/0011-replays.ts';
import { migration as approvalsForIdentity } from '../../migrations/0012-approvals-for-identity.ts';

export type BusMigration = {
  readonly name: string;
  /** The source text, which must not change after the migration was applied. */
  readonly source: string;
  readonly up: (knex: { raw(sql: string): PromiseLike<unknown> }) => Promise<void>;
};

/** The migrations of schema `bus`, run by the owner role, forward only. */
export const busMigrations: readonly BusMigration[] = [
  { name: '0001-topics', source: sourceOf('0001-topics'), ...topics },
  { name: '0002-types', source: sourceOf('0002-types'), ...types },
  { name: '0003-own-notices', source: sourceOf('0003-own-notices'), ...ownNotices },
  { name: '0004-spared-notices', source: sourceOf('0004-spared-notices'), ...sparedNotices },
  { name: '0010-own-topics', source: sourceOf('0010-own-topics'), ...ownTopics },
  { name: '0011-replays', source: sourceOf('0011-replays'), ...replays },
  {
    name: '0012-approvals-for-identity',
    source: sourceOf('0012-approvals-for-identity'),
    ...approvalsForIdentity,
  },
];

/**
 * The NOTIFY channel for new records. The payload is the topic and, if they are few, the types of the records and their
 * publisher.
 */
export const BUS_NOTICES = 'cardea_bus';

function sourceOf(name: string): string {
  return readFileSync(new URL(`../../migrations/${name}.ts`, import.meta.url), 'utf8');
}
