/**
 * The order of test files: the longest of each project first, and the project without long files last. So no worker is
 * left alone with a long file at the end. On a clean clone, vitest itself knows only the sizes of files.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Projects in the order in which they run. A worker that continues with another project has to load its modules again.
 */
const PROJECTS = ['faults', 'story', 'security', 'fuzz', 'deploy', 'int', 'unit', 'containers'];

/** The files that take more than 30 s of a whole run on two cores, the longest first. */
export const LONG_FILES: readonly string[] = [
  'test/story/guides.test.ts',
  'test/faults/cluster.test.ts',
  'test/story/cluster.test.ts',
  'test/security/ranks.test.ts',
  'test/story/every-page.test.ts',
  'test/faults/postgres.test.ts',
  'test/faults/cardea-replay.test.ts',
  'test/security/largest-inputs.test.ts',
  'test/faults/redis.test.ts',
  'test/faults/command-line.test.ts',
  'packages/event-bus/test/kafka.int.test.ts',
  'test/faults/logout-notices.test.ts',
  'test/faults/statements.test.ts',
  'test/faults/backup.test.ts',
  'test/faults/soak.test.ts',
  'test/faults/changed-secrets.test.ts',
  'packages/event-bus/test/kafka-relay.int.test.ts',
  'test/faults/escalation.test.ts',
  'test/faults/start-stop.test.ts',
  'test/security/scopes.test.ts',
  'services/approval/test/code-guesses.int.test.ts',
  'services/authz/test/table-engine.int.test.ts',
  'services/approval/test/sets.int.test.ts',
  'services/identity/test/hosted-two-tabs.int.test.ts',
  'test/faults/dev-mailbox.test.ts',
  'test/security/authorization.test.ts',
  'test/faults/health.test.ts',
  'test/security/machine-ranks.test.ts',
  'services/standalone/test/cardea-backup.int.test.ts',
  'test/faults/kill.test.ts',
  'test/faults/plaintext.test.ts',
  'test/faults/bearer-trips.test.ts',
  'test/faults/start-by-npm.test.ts',
  'test/faults/kafka.test.ts',
  'test/faults/audit-exports.test.ts',
  'test/faults/killed-grants.test.ts',
  'test/faults/widened-agents.test.ts',
  'test/faults/cache-refuses.test.ts',
  'test/faults/rebuild.test.ts',
  'services/identity/test/own-deletion.int.test.ts',
  'services/identity/test/address-limits.int.test.ts',
  'services/identity/test/account-in-browser.int.test.ts',
  'services/identity/test/hosted-mailed.int.test.ts',
  'services/identity/test/hosted-arrivals.int.test.ts',
  'test/faults/barrier.test.ts',
  'test/story/audit-freshness.test.ts',
  'test/story/exported-traces.test.ts',
  'services/identity/test/deferred-credentials.int.test.ts',
  'test/security/noisy-neighbour.test.ts',
  'test/story/over-night.test.ts',
  'test/faults/killed-actions.test.ts',
  'test/fuzz/requests.test.ts',
  'services/identity/test/email-out-of-reach.int.test.ts',
  'test/story/ipv6.test.ts',
  'services/standalone/test/cardea-restore.int.test.ts',
  'services/identity/test/hosted-prompts.int.test.ts',
  'test/story/tour.test.ts',
  'packages/event-bus/test/example-consumer.int.test.ts',
  'services/approval/test/channel-delivery.int.test.ts',
  'services/authz/test/freshness.int.test.ts',
  'services/identity/test/account-parity.int.test.ts',
  'test/security/tenants.test.ts',
  'test/story/metrics.test.ts',
  'test/security/surface.test.ts',
  'test/faults/frozen-postgres.test.ts',
  'test/deploy/dockerfile.test.ts',
  'test/security/gateway.test.ts',
  'test/faults/destroyed-version.test.ts',
  'test/story/mail-pictures.test.ts',
  'test/faults/erasure.test.ts',
  'services/authz/test/questions.int.test.ts',
  'services/identity/test/hosted-pages.int.test.ts',
  'services/identity/test/many-sessions.int.test.ts',
  'services/identity/test/machine-rights-outage.int.test.ts',
  'test/security/read-only-fields.test.ts',
  'test/faults/narrowing.test.ts',
  'services/identity/test/token-exchange.int.test.ts',
  'services/standalone/test/cardea-restore-erased.int.test.ts',
  'test/deploy/gateway-replicas.test.ts',
  'test/story/code-per-request.test.ts',
  'services/standalone/test/long-profile.int.test.ts',
  'test/story/decision-page.test.ts',
  'test/faults/idempotency.test.ts',
  'test/faults/cluster-start.test.ts',
  'services/standalone/test/poolers.int.test.ts',
  'test/security/hanging-names.test.ts',
  'services/identity/test/password-races.int.test.ts',
];

const rankOf = (all: readonly string[], name: string): number => {
  const at = all.indexOf(name);
  return at === -1 ? all.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const fileOf = ({ moduleId }: TestSpecification) => relative(this.ctx.config.root, moduleId);
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    // The sort is stable, so files of the same rank keep vitest's order.
    return (await super.sort(files)).sort(
      (a, b) =>
        groupOf(a) - groupOf(b) ||
        rankOf(PROJECTS, a.project.name) - rankOf(PROJECTS, b.project.name) ||
        rankOf(LONG_FILES, fileOf(a)) - rankOf(LONG_FILES, fileOf(b)),
    );
  }
}
