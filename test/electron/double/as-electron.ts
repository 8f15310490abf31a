import type { EventEmitter } from 'node:events';

/**
 * Passes part of one of Electron's objects to code that expects the whole. Every existing member is checked against
 * Electron's own declaration. A missing one is noticed at once, because calling it throws.
 */
export function asElectron<Whole extends object>(part: Partial<Whole>): Whole {
  return part as Whole;
}

/** The same for an object that emits events, because the return type of `on` differs. */
export function asEmitter<Whole extends EventEmitter>(
  part: EventEmitter & Partial<Omit<Whole, keyof EventEmitter>>,
): Whole {
  return part as EventEmitter & Partial<Whole> as Whole;
}
