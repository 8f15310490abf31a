import { expect } from 'vitest';

/** Checks the PNG signature, and the width and height in its header. */
export function expectPng(bytes: Buffer, side: number): void {
  expect(bytes.toString('latin1', 0, 8)).toBe('\x89PNG\r\n\x1a\n');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([side, side]);
}
