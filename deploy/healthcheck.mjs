/** Ends with 0 when an address answers with success; without one named, the process's own readiness. */
const ANSWER_MS_MAX = 2000;

const address =
  process.argv[2] ?? `http://127.0.0.1:${process.env['MANAGEMENT_PORT'] || 8081}/readyz`;

try {
  const { ok } = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
