/**
 * Loaded before a process of the product. It moves the clock of the process and arms fail points, as the file
 * LATER_FILE says at the start. So a process that is restarted is days later than the others.
 */
import { readFileSync } from 'node:fs';

const DAY_MS = 86_400_000;
const { days = 0, failPoints = '' } = JSON.parse(readFileSync(process.env['LATER_FILE'], 'utf8'));
if (failPoints !== '') process.env['CARDEA_FAILPOINT'] = failPoints;
if (days > 0) {
  const RealDate = Date;
  const now = () => RealDate.now() + days * DAY_MS;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [now()] : given));
    }
    static now() {
      return now();
    }
  };
}
