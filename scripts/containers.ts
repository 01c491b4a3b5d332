/**
 * `npm run test:containers`: builds all images, starts docker-compose.yml, and tests the result.
 *
 *   --start-engine   as root on Debian: installs and starts an engine if none answers, and ends it afterwards
 *   --keep-engine    leaves that engine running
 *   --build-api-server   builds a Kubernetes API server for the tests of the manifests, once
 *   --build-prometheus   builds a Prometheus for the tests of alarms and dashboard, once
 *   further words go to `npm test`: -t NAME, --long, --seed N
 */
import { bases } from './containers/bases.ts';
import { composeCommand } from './containers/compose.ts';
import { type Engine, findEngine } from './containers/engine.ts';
import { buildApiServer } from './containers/kubernetes.ts';
import { buildPrometheus } from './containers/prometheus.ts';
import { run } from './test/run.ts';

const OWN = ['--start-engine', '--keep-engine', '--build-api-server', '--build-prometheus'];
const words = process.argv.slice(2);
const others = words.filter((word) => !OWN.includes(word));

let engine: Engine | undefined;
try {
  engine = await findEngine(words.includes('--start-engine'));
  console.log(`The engine is Docker ${engine.version}.`);
  for (const { variable, image, isLookAlike } of (await bases(true)) ?? []) {
    console.log(`  ${variable}: ${image}${isLookAlike ? ' (a look-alike, made here)' : ''}`);
  }
  await composeCommand(true);
  if (words.includes('--build-api-server')) await buildApiServer();
  if (words.includes('--build-prometheus')) await buildPrometheus();
  const { code } = await run(
    process.execPath,
    ['scripts/test.ts', '--project', 'containers', ...others],
    { env: { CARDEA_CONTAINERS: 'all' } },
  );
  process.exitCode = code;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (!words.includes('--keep-engine')) await engine?.stop();
}
