/**
 * The script of an open request. It counts down, announces 60, 30 and 10 seconds to screen readers, and reloads the
 * page after the request was decided elsewhere.
 */
export const WATCH_SCRIPT = `
const clock = document.querySelector('[data-left-ms]');
const end = performance.now() + Number(clock.dataset.leftMs);
const words = clock.textContent.replace(/\\d+(:\\d+)+/, '{time}');
const two = (number) => String(Math.floor(number) % 60).padStart(2, '0');
const shown = (left) => left < 3600 ? Math.floor(left / 60) + ':' + two(left)
  : Math.floor(left / 3600) + ':' + two(left / 60) + ':' + two(left);
const said = new Set([60, 30, 10]);
const tick = () => {
  const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
  clock.setAttribute('aria-live', said.has(left) ? 'polite' : 'off');
  clock.textContent = left === 0 ? clock.dataset.over
    : words.replace('{time}', shown(left));
  if (left > 0) setTimeout(tick, 1000);
};
tick();
let isSent = false;
addEventListener('submit', () => { isSent = true; });
const watch = async () => {
  while (!isSent) {
    const answer = await fetch(location.pathname + '?part=state').catch(() => undefined);
    if (isSent) return;
    if (answer?.ok && (await answer.json()).state !== 'pending') return location.replace(location.pathname);
    if (!answer?.ok) await new Promise((done) => setTimeout(done, 5000));
  }
};
watch();
`.trim();
