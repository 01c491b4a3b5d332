/**
 * Something that the work needs is away, busy or not there yet. It says nothing about the work, which
 * is tried again; every error of this kind extends this one.
 */
export class Outage extends Error {
  override readonly name: string = 'Outage';
}
