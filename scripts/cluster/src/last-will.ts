/**
 * A server does not notice that the process which started it was killed; this helper does, and stops it. It
 * notices our end because a pipe closes that only we hold open.
 */
import { spawn } from 'node:child_process';

/** SIGINT makes each of these servers stop, even while clients are connected. */
const WAIT_AND_STOP = 'cat >/dev/null; kill -INT "$1"; sleep 8; kill -KILL "$1"';

/** Returns the function that cancels it, for when the server was stopped in order. */
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
