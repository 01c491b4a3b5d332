/**
 * A server does not notice that whoever started it was killed: this does, and stops it. It hears of our
 * end by the pipe that only we hold open.
 */
import { spawn } from 'node:child_process';

/** SIGINT is the order to stop that each of them takes, also while clients are there. */
const WAIT_AND_STOP = 'cat >/dev/null; kill -INT "$1"; sleep 8; kill -KILL "$1"';

/** Answers how to call it off, once the server was stopped in order. */
export function lastWill(pid: number): () => void {
  const watch = spawn('sh', ['-c', WAIT_AND_STOP, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watch.on('error', () => undefined);
  watch.unref();
  return () => {
    watch.kill('SIGKILL');
  };
}
