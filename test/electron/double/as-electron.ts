import type { EventEmitter } from 'node:events';

/**
 * A part of one of Electron's objects, for code that asks for the whole: every member that is there is checked against
 * Electron's own declaration. One that is missing shows at once, since calling it throws.
 */
export function asElectron<Whole extends object>(part: Partial<Whole>): Whole {
  return part as Whole;
}

/** The same for one that emits events: what `on` returns differs by nature. */
export function asEmitter<Whole extends EventEmitter>(
  part: EventEmitter & Partial<Omit<Whole, keyof EventEmitter>>,
): Whole {
  return part as EventEmitter & Partial<Whole> as Whole;
}
