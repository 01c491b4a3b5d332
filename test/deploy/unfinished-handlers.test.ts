import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLES = 'test/deploy/unfinished-handlers';

/** The compiler's errors for each example, by file name. */
let faults: Map<string, string>;

beforeAll(async () => {
  // The compiler has no API, so it is run as a command, and fails because the examples do.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false', '-p', EXAMPLES],
    { cwd: ROOT },
  ).catch((failed: { readonly stdout: string }) => failed);
  faults = new Map();
  for (const fault of stdout.split(/\n(?! )/)) {
    const [, file = '', said = ''] =
      /unfinished-handlers\/([\w-]+)\.ts\S* ([\s\S]*)/.exec(fault) ?? [];
    if (file !== '') faults.set(file, `${faults.get(file) ?? ''}${said}\n`);
  }
});

describe('the compiler', () => {
  it.for([
    ['projection-without-event', "'LampLit' is missing"],
    ['policy-without-event', "'LampHung' is missing"],
    ['relay-without-event', "'LampLit' is missing"],
    ['consumer-without-event', '\'"lamp.hung"\' is missing'],
    ['policy-without-named-event', "'LampDusted' is missing"],
    ['policy-of-unconcerned-event', "'LampDusted' does not exist"],
    ['projection-of-unconcerned-event', "'LampDusted' does not exist"],
    ['consumer-of-unconcerned-event', "''lamp.dusted'' does not exist"],
    ['row-with-unknown-column', 'no such column: colour'],
    ['patch-with-unknown-column', 'no such column: at'],
    ['row-without-column', "'lit_at' is missing"],
    ['row-of-wrong-type', "Type 'string' is not assignable to type 'number'"],
    ['row-of-wrong-type', "Type 'null' is not assignable to type 'number'"],
    ['relay-of-wrong-data', "'at' is missing"],
    ['hand-made-policy', "'[total]' is missing"],
    ['text-without-german', "'dark' is missing"],
  ] as const)('refuses a %s: %s', ([example, said]) => {
    expect(faults.get(example)).toContain(said);
  });

  it('finds no fault in handlers that leave nothing out', () => {
    expect([...faults.keys()]).not.toContain('complete');
    expect([...faults.keys()]).not.toContain('lamp');
  });
});
