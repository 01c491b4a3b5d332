/**
 * `npm run bench [-- --only B3,B17] [--seconds N] [--smoke [--long]] [--cluster]`: performance as ratios to
 * floors that are measured in the same run. `--only fga --against openfga,spicedb` compares checks with other
 * servers, which it builds.
 */
import { parseArgs } from 'node:util';
import { runBenches, UnknownBench } from '@cardea/bench';
import { NginxMissing, startGateway } from './gateway/start.ts';

const SECONDS = 5;
const SMOKE_SECONDS = 0.3;
const USAGE_EXIT = 2;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
});
const seconds = Number(options.seconds ?? (options.smoke ? SMOKE_SECONDS : SECONDS));
if (!(seconds > 0)) {
  console.error('--seconds is a number above 0');
  process.exit(USAGE_EXIT);
}

try {
  const done = await runBenches({
    only: options.only?.split(','),
    seconds,
    smoke: options.smoke,
    long: options.long,
    cluster: options.cluster,
    against: options.against?.split(',') ?? [],
    startGateway: (upstreams, port) =>
      startGateway({ upstreams, workers: 1, ...(port && { port }) }).catch((error: unknown) => {
        if (error instanceof NginxMissing) return undefined;
        throw error;
      }),
  });
  if (!done) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof UnknownBench)) throw error;
  console.error(error.message);
  process.exitCode = USAGE_EXIT;
}
