import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { applyRetention, type Retention, type RetentionApplied, retentions } from './retention.ts';

const removed = (before: string): RetentionApplied => ({
  type: 'RetentionApplied',
  data: { before, rows: 3 },
});
const apply = (before: string) => (last: Retention) => applyRetention({ before, rows: 3 }, last);

describe('a removal from the audit log', () => {
  it('is told', () => {
    given(retentions, removed('2026-01-01T03:00:00.000Z'))
      .when(apply('2026-01-02T03:00:00.000Z'))
      .accepts(removed('2026-01-02T03:00:00.000Z'));
  });

  it('is told once', () => {
    given(retentions, removed('2026-01-01T03:00:00.000Z'))
      .when(apply('2026-01-01T03:00:00.000Z'))
      .accepts();
  });
});
