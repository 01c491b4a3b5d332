import type { Database } from '@cardea/read-models';
import { AUDIT_CHECKPOINTS_TOPIC, RETENTION_DAYS } from '../topics.ts';

/**
 * Deletes records after seven days, except the signed tree heads of the audit log, which are kept forever. Offsets have
 * no gaps and only rise, because only the beginning of a partition is deleted.
 */
export const forgetOldRecords = async (
  bus: Database,
  signal: AbortSignal,
  tick: () => void,
): Promise<number> => {
  let forgotten = 0;
  while (!signal.aborted) {
    tick();
    const { rowCount } = await bus.system.query(FORGET, [
      RETENTION_DAYS,
      SLICE_RECORDS_MAX,
      KEPT_TOPICS,
    ]);
    forgotten += rowCount;
    if (rowCount === 0) break;
  }
  return forgotten;
};

const SLICE_RECORDS_MAX = 500;
const KEPT_TOPICS = [AUDIT_CHECKPOINTS_TOPIC];

/** The first records of each partition, up to the first that is not old. This needs no index on the time. */
const FORGET = `
  DELETE FROM bus.records AS r
  USING (
    SELECT first.topic, first.partition, first."offset"
    FROM bus.partitions AS p
    CROSS JOIN LATERAL (
      SELECT topic, partition, "offset", published_at FROM bus.records
      WHERE topic = p.topic AND partition = p.partition ORDER BY "offset" LIMIT $2
    ) AS first
    WHERE p.topic <> ALL($3) AND first.published_at < now() - make_interval(days => $1)
  ) AS old
  WHERE r.topic = old.topic AND r.partition = old.partition AND r."offset" = old."offset"`;
