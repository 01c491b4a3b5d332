/**
 * Stops a server when the process that started it was killed, which the server itself does not notice. The helper
 * notices it because only that process holds its pipe open.
 */
import { spawn } from 'node:child_process';

/** SIGINT makes each of these servers stop, even while clients are connected. */
const WAIT_AND_STOP = 'cat >/dev/null; kill -INT "$1"; sleep 8; kill -KILL "$1"';

/** Returns the function that cancels the helper after the server was stopped in order. */
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
