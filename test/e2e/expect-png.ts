import { expect } from 'vitest';

/** A PNG by its signature, of this width and height by its header. */
export function expectPng(bytes: Buffer, side: number): void {
  expect(bytes.toString('latin1', 0, 8)).toBe('\x89PNG\r\n\x1a\n');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([side, side]);
}
