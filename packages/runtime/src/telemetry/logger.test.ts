import { describe, expect, it } from 'vitest';
import { secret } from '../settings/secret.ts';
import { logger } from './logger.ts';

const logged = (
  work: (log: ReturnType<typeof logger>) => void,
  level: 'debug' | 'info' = 'info',
) => {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line) };
  const log = logger({ service: 'vault', version: '1.2.3', level, stream });
  work(log);
  log.flush();
  return lines.map((line) => JSON.parse(line));
};
const caught = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('threw nothing');
};

describe('the log', () => {
  it('names service, version, level and message in every line', () => {
    const [line] = logged((log) => log.child({ request_id: 'r1' }).info({ route: '/x' }, 'served'));
    expect(line).toMatchObject({
      service: 'vault',
      version: '1.2.3',
      level: 'info',
      request_id: 'r1',
      route: '/x',
      msg: 'served',
    });
  });

  it('S15 shows of a library error neither its message nor what hangs on it', () => {
    const broken = caught(() => JSON.parse('{"password": canary}'));
    Object.assign(broken as object, { body: 'canary', detail: 'canary' });
    const wrapped = new Error('The body could not be read.', { cause: broken });
    // Looks as if it was thrown in our source, because a test runner may load this file under another name.
    wrapped.stack = `${wrapped}\n    at readBody (file:///app/packages/http/src/input/body.ts:1:1)`;
    const lines = logged((log) => {
      log.error({ err: broken }, 'failed');
      log.error({ error: wrapped, key: secret('canary'), password: 'canary' }, 'failed');
    });
    expect(JSON.stringify(lines)).not.toContain('canary');
    expect(lines[0].err).toMatchObject({ name: 'SyntaxError' });
    expect(lines[1].error).toMatchObject({ message: 'The body could not be read.' });
  });

  it('S15 is not fooled by a message that looks like a frame', () => {
    const error = new TypeError('x\n    at canary (file:///a.ts:1:1)');
    expect(JSON.stringify(logged((log) => log.error({ err: error }, 'failed')))).not.toContain(
      'canary',
    );
  });

  it('collapses equal lines above ten per second to a count', () => {
    const lines = logged((log) => {
      for (let line = 0; line < 1000; line += 1) log.warn({ line }, 'away');
      log.warn({}, 'back');
    });
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toMatchObject({ msg: 'away', repeated: 990 });
  });

  it("says PostgreSQL's name of its codes", () => {
    const full = Object.assign(new Error('canary'), { code: '53100' });
    const lines = logged((log) => {
      log.warn({ code: '57P01' }, 'away');
      log.error({ err: full }, 'failed');
      log.warn({ code: 'ECONNREFUSED' }, 'away too');
    });
    expect(lines[0]).toMatchObject({ code: '57P01', condition: 'admin_shutdown' });
    expect(lines[1].err).toMatchObject({ code: '53100', condition: 'disk_full' });
    expect(lines[2]).not.toHaveProperty('condition');
  });

  it('changes its level for children too', () => {
    const lines = logged((log) => {
      const child = log.child({});
      child.debug({}, 'hidden');
      log.setLevel('debug');
      child.debug({}, 'seen');
    });
    expect(lines.map((line) => line.msg)).toEqual(['seen']);
  });
});
